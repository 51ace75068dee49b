// The input: sends what is typed, completes commands after a slash and files after an at sign.

import { by, el } from './dom.js';

export class Composer {
  #suggestions = [];
  #chosen = 0;
  #asked = 0;
  #history = [];
  #back = 0;

  // `say` sends a text, `stop` interrupts, `session` gives the id of the session that is shown.
  constructor({ wire, say, stop, session }) {
    Object.assign(this, { wire, say, stop, session });
    this.input = by('input');
    this.palette = by('palette');
    by('composer').addEventListener('submit', (event) => {
      event.preventDefault();
      this.#submit();
    });
    by('stop').addEventListener('click', () => this.stop());
    this.input.addEventListener('keydown', (event) => this.#key(event));
    this.input.addEventListener('input', () => {
      this.#grow();
      this.#suggest();
    });
    // A click on a suggestion takes the focus before it counts; what has the focus back by then stays as it is.
    this.input.addEventListener('blur', () => setTimeout(() => {
      if (document.activeElement !== this.input) this.#close();
    }, 150));
  }

  setRunning(running) {
    by('stop').hidden = !running;
  }

  async #submit() {
    const text = this.input.value;
    if (!text.trim()) return;
    this.#close();
    this.input.value = '';
    this.#grow();
    this.#history.push(text);
    this.#back = this.#history.length;
    if (!(await this.say(text)) && !this.input.value) {
      this.input.value = text;
      this.#grow();
    }
  }

  #grow() {
    this.input.style.height = 'auto';
    this.input.style.height = `${Math.min(this.input.scrollHeight + 2, 240)}px`;
  }

  #key(event) {
    if (event.isComposing) return;
    const open = !this.palette.hidden;
    if (open && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      const count = this.#suggestions.length;
      this.#choose((this.#chosen + (event.key === 'ArrowDown' ? 1 : count - 1)) % count);
    } else if (open && (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey && !this.#isComplete()))) {
      event.preventDefault();
      this.#take(this.#suggestions[this.#chosen]);
    } else if (event.key === 'Escape') {
      if (open) this.#close();
      else if (!this.input.value) this.stop();
    } else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      this.#submit();
    } else if ((event.key === 'ArrowUp' || event.key === 'ArrowDown') && !this.input.value.includes('\n')
      && (!this.input.value || this.#history[this.#back] === this.input.value)) {
      const next = this.#back + (event.key === 'ArrowUp' ? -1 : 1);
      if (next >= 0 && next <= this.#history.length) {
        event.preventDefault();
        this.#back = next;
        this.input.value = this.#history[next] ?? '';
        this.#grow();
      }
    }
  }

  // Whether what is typed is what would be put there anyway.
  #isComplete() {
    const chosen = this.#suggestions[this.#chosen];
    return chosen && chosen.text.trim() === this.input.value.trim();
  }

  async #suggest() {
    const { value, selectionStart: cursor } = this.input;
    const before = value.slice(0, cursor);
    const sessionId = this.session();
    const asked = ++this.#asked;
    const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
    if (!sessionId || (!before.startsWith('/') && !file)) {
      this.#close();
      return;
    }
    let found = [];
    try {
      if (before.startsWith('/')) {
        const bytes = new TextEncoder().encode(before).length;
        const reply = await this.wire.ask({ type: 'complete', sessionId, text: value, cursor: bytes });
        found = reply.completions.map(({ label, replacement, description }) => ({ label, description, text: replacement + value.slice(cursor) }));
      } else {
        const reply = await this.wire.ask({ type: 'complete_file', sessionId, prefix: file[1] });
        const start = before.slice(0, before.length - file[1].length);
        found = reply.files.map((path) => ({ label: path, text: `${start}${path} ${value.slice(cursor)}` }));
      }
    } catch {
      found = [];
    }
    if (asked !== this.#asked) return;
    this.#show(found.slice(0, 12));
  }

  #show(suggestions) {
    this.#suggestions = suggestions;
    if (!suggestions.length) {
      this.#close();
      return;
    }
    this.palette.replaceChildren(...suggestions.map((suggestion, index) => {
      const option = el('div', { role: 'option', id: `option-${index}`, class: 'option' },
        el('span', {}, suggestion.label), suggestion.description ? el('span', { class: 'quiet' }, suggestion.description) : null);
      option.addEventListener('mousedown', (event) => {
        event.preventDefault();
        this.#take(suggestion);
      });
      return option;
    }));
    this.palette.hidden = false;
    this.input.setAttribute('aria-expanded', 'true');
    this.#choose(0);
  }

  #choose(index) {
    this.#chosen = index;
    [...this.palette.children].forEach((option, at) => {
      option.setAttribute('aria-selected', at === index ? 'true' : 'false');
      if (at === index) option.scrollIntoView({ block: 'nearest' });
    });
    this.input.setAttribute('aria-activedescendant', `option-${index}`);
  }

  #take(suggestion) {
    this.input.value = suggestion.text;
    this.#close();
    this.#grow();
    this.input.focus();
  }

  #close() {
    this.#asked += 1;
    this.palette.hidden = true;
    this.palette.replaceChildren();
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }
}
