// Making elements. Text always becomes text nodes, so nothing that anyone sends is ever read as HTML.

export function el(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === 'class') element.className = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export const by = (id) => document.getElementById(id);

let last = 0;
export function uniqueId(prefix) {
  last += 1;
  return `${prefix}-${last}`;
}

export function announce(text) {
  by('announcer').textContent = text;
}
