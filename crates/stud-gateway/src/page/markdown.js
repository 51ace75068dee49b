// Markdown as elements. What is not Markdown is text; pictures and links to anything but the web stay text too.

import { el } from './dom.js';
import { highlight } from './highlight.js';

export function markdown(text) {
  const fragment = document.createDocumentFragment();
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  blocks(lines, fragment, 0);
  return fragment;
}

function blocks(lines, into, depth) {
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    let found;
    if (!line.trim()) {
      at += 1;
    } else if ((found = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(line))) {
      const [, fence, language] = found;
      const body = [];
      at += 1;
      const end = new RegExp(`^ {0,3}${fence[0]}{${fence.length},}\\s*$`);
      while (at < lines.length && !end.test(lines[at])) body.push(lines[at++]);
      at += 1;
      into.append(codeBlock(body.join('\n'), language.toLowerCase()));
    } else if ((found = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line))) {
      // The page has a heading of its own, so those of an answer stand below it.
      into.append(el(`h${Math.min(6, found[1].length + 2)}`, {}, inline(found[2])));
      at += 1;
    } else if (/^ {0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      into.append(el('hr'));
      at += 1;
    } else if (/^ {0,3}>/.test(line) && depth < 8) {
      const body = [];
      while (at < lines.length && /^ {0,3}>/.test(lines[at])) body.push(lines[at++].replace(/^ {0,3}> ?/, ''));
      const quote = el('blockquote');
      blocks(body, quote, depth + 1);
      into.append(quote);
    } else if (isItem(line) && depth < 8) {
      at = list(lines, at, into, depth);
    } else if (line.includes('|') && /^\s*\|?[\s:|-]*-[\s:|-]*$/.test(lines[at + 1] ?? '')) {
      at = table(lines, at, into);
    } else {
      const body = [];
      while (at < lines.length && lines[at].trim() && !startsBlock(lines[at])) body.push(lines[at++]);
      if (!body.length) body.push(lines[at++]);
      into.append(el('p', {}, inline(body.join('\n'))));
    }
  }
}

const ITEM = /^(\s{0,8})([-*+]|\d{1,9}[.)])\s+(.*)$/;
const isItem = (line) => ITEM.test(line);
const startsBlock = (line) => /^ {0,3}(`{3,}|~{3,}|#{1,6}\s|>)/.test(line) || isItem(line);

function list(lines, at, into, depth) {
  const [, indent, marker] = ITEM.exec(lines[at]);
  const ordered = /\d/.test(marker);
  const element = el(ordered ? 'ol' : 'ul');
  if (ordered && parseInt(marker, 10) !== 1) element.start = parseInt(marker, 10);
  while (at < lines.length) {
    const found = ITEM.exec(lines[at]);
    if (!found || found[1].length !== indent.length || /\d/.test(found[2]) !== ordered) break;
    const body = [found[3]];
    at += 1;
    while (at < lines.length) {
      const line = lines[at];
      const inner = line.length - line.trimStart().length;
      if (line.trim() && inner <= indent.length && (isItem(line) || startsBlock(line) || !lines[at - 1].trim())) break;
      if (!line.trim() && !(lines[at + 1] ?? '').startsWith(`${indent}  `)) break;
      body.push(line.slice(Math.min(inner, indent.length + 2)));
      at += 1;
    }
    const item = el('li');
    blocks(body, item, depth + 1);
    const only = item.childNodes.length === 1 && item.firstChild.nodeName === 'P' ? item.firstChild : null;
    if (only) item.replaceChildren(...only.childNodes);
    element.append(item);
    while (at < lines.length && !lines[at].trim() && isItem(lines[at + 1] ?? '')) at += 1;
  }
  into.append(element);
  return at;
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => cell.trim());
}

function table(lines, at, into) {
  const head = el('tr', {}, cells(lines[at]).map((cell) => el('th', { scope: 'col' }, inline(cell))));
  const body = el('tbody');
  at += 2;
  while (at < lines.length && lines[at].includes('|') && lines[at].trim()) {
    body.append(el('tr', {}, cells(lines[at]).map((cell) => el('td', {}, inline(cell)))));
    at += 1;
  }
  into.append(el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table' }, el('table', {}, el('thead', {}, head), body)));
  return at;
}

function codeBlock(code, language) {
  const block = el('pre', { class: 'code', tabindex: '0', role: 'region', 'aria-label': language ? `Code, ${language}` : 'Code' },
    el('code', {}, highlight(code, language)));
  const copy = el('button', { class: 'copy', type: 'button', onclick: async () => {
    await navigator.clipboard?.writeText(code);
    copy.textContent = 'Copied';
    setTimeout(() => { copy.textContent = 'Copy'; }, 1500);
  } }, 'Copy');
  return el('div', { class: 'code-block' }, block, copy);
}

const INLINE = /(`+)([\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]*?\S)\*\*|~~(?=\S)([\s\S]*?\S)~~|\*(?=[^\s*])([^*]*?[^\s*])\*|(?<![\w_])_(?=[^\s_])([^_]*?[^\s_])_(?![\w_])|!?\[([^\]\n]*)\]\(([^)\s]+)(?:\s+"[^"]*")?\)|(https?:\/\/[^\s<>()]*[^\s<>().,;:!?'"])/g;

function inline(text, depth = 0) {
  const parts = [];
  let from = 0;
  const plain = (end) => {
    const lines = text.slice(from, end).split('\n');
    lines.forEach((line, index) => {
      if (index) parts.push(el('br'));
      if (line) parts.push(line);
    });
  };
  if (depth > 6) return [text];
  for (const found of text.matchAll(INLINE)) {
    const [all, , code, bold, struck, emphasis, underscored, label, target, bare] = found;
    plain(found.index);
    if (code !== undefined) parts.push(el('code', {}, code.trim() || code));
    else if (bold !== undefined) parts.push(el('strong', {}, inline(bold, depth + 1)));
    else if (struck !== undefined) parts.push(el('del', {}, inline(struck, depth + 1)));
    else if (emphasis !== undefined || underscored !== undefined) parts.push(el('em', {}, inline(emphasis ?? underscored, depth + 1)));
    else if (bare) parts.push(link(bare, [bare]));
    else parts.push(link(target, label ? inline(label, depth + 1) : [target]) ?? all);
    from = found.index + all.length;
  }
  plain(text.length);
  return parts;
}

function link(target, content) {
  let address;
  try {
    address = new URL(target);
  } catch {
    return null;
  }
  if (!['http:', 'https:', 'mailto:'].includes(address.protocol)) return null;
  return el('a', { href: address.href, target: '_blank', rel: 'noopener noreferrer', title: address.href }, content);
}
