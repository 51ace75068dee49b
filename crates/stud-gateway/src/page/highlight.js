// Colors for code: comments, strings, numbers and keywords of the common languages.

import { el } from './dom.js';

const words = (text) => new Set(text.split(' '));
const C_LIKE = 'if else for while do switch case default break continue return new delete try catch throw class enum struct const static void true false null this import export from as async await function let var typeof instanceof in of extends super yield public private protected interface implements package final int long double float bool boolean char string';
const LANGUAGES = {
  rust: [words('as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while'), '//'],
  python: [words('and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield'), '#'],
  shell: [words('if then else elif fi for while until do done case esac in function return export local set unset exit echo cd'), '#'],
  sql: [words('select from where insert into values update delete create table drop alter join left right inner outer on group by order limit and or not null as distinct union'), '--'],
  toml: [words('true false'), '#'],
  generic: [words(C_LIKE), '//'],
};
const ALIASES = { rs: 'rust', py: 'python', sh: 'shell', bash: 'shell', zsh: 'shell', console: 'shell', yaml: 'toml', yml: 'toml', ini: 'toml', json: 'generic' };

export function highlight(code, language = '') {
  const name = ALIASES[language] ?? language;
  const [keywords, comment] = LANGUAGES[name] ?? LANGUAGES.generic;
  const fragment = document.createDocumentFragment();
  if (code.length > 50_000 || name === 'text' || name === 'diff') {
    fragment.append(code);
    return fragment;
  }
  const escaped = comment.replace(/[/-]/g, '\\$&');
  const tokens = new RegExp(
    `(${escaped}[^\\n]*|/\\*[\\s\\S]*?(?:\\*/|$))|("(?:[^"\\\\\\n]|\\\\.)*"?|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\`?)|(\\b\\d[\\w.]*\\b)|([A-Za-z_]\\w*)`,
    'g',
  );
  let from = 0;
  for (const found of code.matchAll(tokens)) {
    const [text, isComment, isString, isNumber, word] = found;
    const kind = isComment ? 'comment' : isString ? 'string' : isNumber ? 'number' : keywords.has(word) ? 'keyword' : null;
    if (!kind) continue;
    fragment.append(code.slice(from, found.index), el('span', { class: `code-${kind}` }, text));
    from = found.index + text.length;
  }
  fragment.append(code.slice(from));
  return fragment;
}
