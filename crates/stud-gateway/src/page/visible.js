// Text as it is: characters that hide, reorder or control others are shown by their numbers.

import { el } from './dom.js';

const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

const NAMES = {
  0x00: 'NULL', 0x07: 'BELL', 0x08: 'BACKSPACE', 0x0d: 'CARRIAGE RETURN', 0x1b: 'ESCAPE', 0x7f: 'DELETE',
  0xad: 'SOFT HYPHEN', 0x200b: 'ZERO WIDTH SPACE', 0x200c: 'ZERO WIDTH NON-JOINER', 0x200d: 'ZERO WIDTH JOINER',
  0x200e: 'LEFT-TO-RIGHT MARK', 0x200f: 'RIGHT-TO-LEFT MARK', 0x202a: 'LEFT-TO-RIGHT EMBEDDING',
  0x202b: 'RIGHT-TO-LEFT EMBEDDING', 0x202c: 'POP DIRECTIONAL FORMATTING', 0x202d: 'LEFT-TO-RIGHT OVERRIDE',
  0x202e: 'RIGHT-TO-LEFT OVERRIDE', 0x2066: 'LEFT-TO-RIGHT ISOLATE', 0x2067: 'RIGHT-TO-LEFT ISOLATE',
  0x2068: 'FIRST STRONG ISOLATE', 0x2069: 'POP DIRECTIONAL ISOLATE', 0xfeff: 'BYTE ORDER MARK',
};

export function visible(text) {
  const fragment = document.createDocumentFragment();
  let from = 0;
  for (const found of text.matchAll(HIDDEN)) {
    fragment.append(text.slice(from, found.index));
    const code = found[0].codePointAt(0);
    const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
    const title = NAMES[code] ? `${number} ${NAMES[code]}` : number;
    fragment.append(el('span', { class: 'hidden-character', title }, `⟨${number}⟩`));
    from = found.index + found[0].length;
  }
  fragment.append(text.slice(from));
  return fragment;
}

export function hasHidden(text) {
  HIDDEN.lastIndex = 0;
  return HIDDEN.test(text);
}

// A block that shows a text byte for byte. Its direction is fixed, so that no letter moves another.
export function exactly(text, label) {
  return el('pre', { class: 'exact', dir: 'ltr', tabindex: '0', 'aria-label': label, role: 'region' }, visible(text));
}
