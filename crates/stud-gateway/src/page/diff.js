// Two texts side by side.

import { el } from './dom.js';
import { visible } from './visible.js';

// The longest common subsequence takes time and space that grow with the product of the two lengths.
const MOST_CELLS = 1_000_000;

function pairs(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const a = before.slice(start, before.length - end);
  const b = after.slice(start, after.length - end);
  const rows = [];
  for (let i = 0; i < start; i += 1) rows.push([before[i], after[i]]);
  if (a.length * b.length > MOST_CELLS) {
    a.forEach((line) => rows.push([line, null]));
    b.forEach((line) => rows.push([null, line]));
  } else {
    middle(a, b, rows);
  }
  for (let i = end; i > 0; i -= 1) rows.push([before[before.length - i], after[after.length - i]]);
  return rows;
}

function middle(a, b, rows) {
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = a[i] === b[j]
        ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  let [i, j] = [0, 0];
  let [gone, come] = [[], []];
  const settle = () => {
    for (let k = 0; k < Math.max(gone.length, come.length); k += 1) rows.push([gone[k] ?? null, come[k] ?? null]);
    [gone, come] = [[], []];
  };
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      settle();
      rows.push([a[i++], b[j++]]);
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      gone.push(a[i++]);
    } else {
      come.push(b[j++]);
    }
  }
  settle();
}

function cell(line, number, kind) {
  return [
    el('td', { class: `line-number ${kind}` }, number === null ? '' : String(number)),
    el('td', { class: `line ${kind}`, dir: 'ltr' }, line === null ? '' : visible(line)),
  ];
}

export function sideBySide(before, after, title) {
  const lines = (text) => (text === '' ? [] : text.split('\n'));
  const rows = pairs(lines(before), lines(after));
  const body = el('tbody');
  let [left, right] = [0, 0];
  for (const [one, other] of rows) {
    const same = one !== null && other !== null && one === other;
    if (one !== null) left += 1;
    if (other !== null) right += 1;
    body.append(el('tr', {},
      cell(one, one === null ? null : left, one === null ? 'empty' : same ? '' : 'gone'),
      cell(other, other === null ? null : right, other === null ? 'empty' : same ? '' : 'come')));
  }
  const head = el('thead', {}, el('tr', {}, el('th', { colspan: '2', scope: 'col' }, 'Before'), el('th', { colspan: '2', scope: 'col' }, 'After')));
  return el('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `Changes to ${title}` },
    el('table', { class: 'diff' }, head, body));
}

// What a call of `edit`, `multi_edit` or `write` changes; nothing for other tools.
export function changesOf(tool, args) {
  if (!args || typeof args !== 'object') return [];
  const text = (value) => (typeof value === 'string' ? value : '');
  if (tool === 'edit') return [[text(args.path), text(args.oldString), text(args.newString)]];
  if (tool === 'write') return [[text(args.path), '', text(args.content)]];
  if (/^multi[-_]edit$/.test(tool) && Array.isArray(args.edits)) {
    return args.edits.map((edit) => [text(edit?.path ?? args.path), text(edit?.oldString), text(edit?.newString)]);
  }
  return [];
}
