// The conversation: events become blocks, in the order of their numbers.

import { announce, by, el } from './dom.js';
import { changesOf, sideBySide } from './diff.js';
import { approvalButtons, inputForm, summaryOf } from './forms.js';
import { markdown } from './markdown.js';
import { exactly, visible } from './visible.js';

export class Transcript {
  #tools = new Map();
  #prompts = new Map();
  #early = new Map();
  #speech = null;
  #dirty = false;
  #follow = true;
  #touched = -Infinity;
  lastSeq = 0;
  firstSeq = 0;

  // `answer` sends a frame and gives its reply, `isMine` says whether a client id is this page's.
  constructor({ answer, isMine, enable }) {
    Object.assign(this, { answer, isMine, enable });
    this.element = by('transcript');
    this.enabled = true;
    // Rows get their real height only when they come near the view, which scrolls too: only a person's scrolling ends
    // the following of the end.
    for (const kind of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
      this.element.addEventListener(kind, () => { this.#touched = performance.now(); }, { passive: true });
    }
    this.element.addEventListener('scroll', () => {
      if (this.#distance() < 80) this.#follow = true;
      else if (performance.now() - this.#touched < 1000) this.#follow = false;
    }, { passive: true });
  }

  clear() {
    this.element.replaceChildren();
    this.#tools.clear();
    this.#prompts.clear();
    this.#early.clear();
    this.#speech = null;
    this.#follow = true;
    this.lastSeq = 0;
    this.firstSeq = 0;
  }

  take({ seq, event }) {
    if (seq <= this.lastSeq) return;
    this.lastSeq = seq;
    if (!this.firstSeq) this.firstSeq = seq;
    const handler = HANDLERS[event.type];
    if (handler) handler(this, event.payload, event);
    this.#later();
  }

  // Lets the view catch up once for many events.
  #later() {
    if (this.#dirty) return;
    this.#dirty = true;
    requestAnimationFrame(() => {
      this.#dirty = false;
      if (this.#speech) this.#speech.render();
      this.#toEnd(10);
    });
  }

  // How far the view is from the end.
  #distance() {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    return scrollHeight - scrollTop - clientHeight;
  }

  // Scrolls to the end, again while the rows there still get their heights.
  #toEnd(frames) {
    if (!this.#follow) return;
    this.element.scrollTop = this.element.scrollHeight;
    if (!frames) return;
    requestAnimationFrame(() => {
      if (this.#distance() > 1) this.#toEnd(frames - 1);
    });
  }

  add(block) {
    this.element.append(block);
    this.#later();
    return block;
  }

  prepend(block) {
    this.element.prepend(block);
  }

  speech() {
    if (!this.#speech) {
      const body = el('div', { class: 'markdown' });
      const block = el('article', { class: 'message assistant', 'aria-label': 'Assistant' }, body);
      this.add(block);
      const speech = { text: '', shown: null, block };
      speech.render = () => {
        if (speech.shown === speech.text) return;
        speech.shown = speech.text;
        body.replaceChildren(markdown(speech.text));
      };
      this.#speech = speech;
    }
    return this.#speech;
  }

  endSpeech(text) {
    if (text === undefined && !this.#speech) return;
    const speech = this.speech();
    if (text !== undefined) speech.text = text;
    speech.render();
    speech.block.classList.add('done');
    this.#speech = null;
  }

  thinking(text) {
    let block = this.element.lastElementChild;
    if (!block?.classList.contains('thinking')) {
      block = this.add(el('details', { class: 'thinking' }, el('summary', {}, 'Thinking'), el('p', {})));
    }
    block.querySelector('p').append(text);
  }

  tool(id, name, args) {
    let card = this.#tools.get(id);
    if (!card) {
      card = this.#makeTool(name ?? 'tool');
      this.#tools.set(id, card);
      this.add(card.element);
    }
    if (args !== undefined) card.setArgs(args);
    return card;
  }

  #makeTool(name) {
    const state = el('span', { class: 'tool-state' }, 'waiting');
    const brief = el('span', { class: 'tool-brief' });
    const surface = el('div', { class: 'surface' });
    const details = el('div', { class: 'tool-args' });
    const result = el('div', { class: 'tool-result' });
    const element = el('details', { class: 'tool', 'data-tool': name },
      el('summary', {}, el('span', { class: 'tool-name' }, visible(name)), brief, state),
      details, surface, result);
    return {
      name, element, surface,
      setState(word) {
        state.textContent = word;
        element.dataset.state = word;
      },
      setArgs(args) {
        brief.replaceChildren(visible(briefly(args)));
        const changes = changesOf(name, args);
        details.replaceChildren(...(changes.length
          ? changes.map(([path, before, after]) => el('div', {}, el('p', { class: 'path' }, visible(path)), sideBySide(before, after, path)))
          : [exactly(typeof args === 'string' ? args : JSON.stringify(args, null, 2), 'Arguments')]));
      },
      setResult(payload) {
        const failed = !payload.ok;
        this.setState(failed ? 'failed' : 'done');
        const text = failed
          ? `${payload.error?.message ?? 'It failed.'}${payload.error?.typed ? ` (${payload.error.typed})` : ''}`
          : typeof payload.result === 'string' ? payload.result : JSON.stringify(payload.result, null, 2);
        const shown = text?.length > 20_000 ? `${text.slice(0, 20_000)}\n… ${text.length - 20_000} more characters` : text ?? '';
        result.replaceChildren(exactly(shown, 'Result'));
        if (failed) result.classList.add('failed');
      },
    };
  }

  // Shows the prompt of a tool in its place, in which the next one replaces it.
  prompt(payload) {
    const standalone = payload.presentation === 'questionnaire';
    const card = this.tool(payload.toolCallId, payload.toolName);
    let surface = card.surface;
    if (standalone) {
      card.element.hidden = true;
      card.standalone ??= this.add(el('section', { class: 'questionnaire', 'aria-label': `Questions of ${payload.toolName}` }));
      surface = card.standalone;
    } else {
      card.element.open = true;
      card.element.dataset.keep = 'true';
      card.element.classList.add('asking');
      card.setState('needs you');
    }
    const prompt = { payload, surface, card };
    this.#prompts.set(payload.interactionId, prompt);
    surface.replaceChildren(this.#pending(prompt));
    this.#applyMode(prompt);
    announce(`${payload.toolName} needs your answer`);
    const early = this.#early.get(payload.interactionId);
    if (early) this.answered(early);
    else if (this.enabled && !matchMedia('(pointer: coarse)').matches && isFree()) {
      prompt.body.querySelector('input, textarea, select, button')?.focus({ preventScroll: true });
    }
  }

  #pending(prompt) {
    const { payload } = prompt;
    const send = (answer) => this.#respond(prompt, answer);
    const cancel = () => send({ action: 'cancel' });
    const body = payload.interactionType === 'input'
      ? inputForm(payload, { submit: (input) => send({ action: 'submit', input }), cancel })
      : el('div', {},
        payload.error ?? payload.errorSummary ? el('p', { class: 'problem', role: 'alert' }, payload.error ?? payload.errorSummary) : null,
        el('p', { class: 'prompt-text' }, visible(payload.prompt ?? `Allow ${payload.toolName}?`)),
        approvalButtons(payload.approvalScopes ?? ['once', 'session'], {
          approve: (approvalScope) => send({ action: 'approve', approvalScope }),
          deny: () => send({ action: 'deny' }),
        }));
    prompt.problem = el('p', { class: 'problem', role: 'alert' });
    prompt.hint = el('p', { class: 'hint', hidden: true }, 'Interactive mode disabled — enable to respond ',
      el('button', { type: 'button', onclick: () => this.enable() }, 'Enable'));
    const pop = el('button', { type: 'button', class: 'pop', onclick: () => this.#popOut(prompt) }, 'Open in a window');
    prompt.body = el('div', { class: 'pending' }, body, prompt.problem);
    prompt.home = el('div', { class: 'home' }, prompt.hint, prompt.body, pop);
    prompt.home.dataset.interaction = payload.interactionId;
    return prompt.home;
  }

  #popOut(prompt) {
    const dialog = by('popout');
    by('popout-title').textContent = prompt.payload.toolName;
    by('popout-body').replaceChildren(prompt.body);
    const back = () => {
      if (prompt.body.parentElement === by('popout-body')) prompt.home.insertBefore(prompt.body, prompt.home.lastElementChild);
    };
    dialog.addEventListener('close', back, { once: true });
    dialog.showModal();
  }

  #respond(prompt, answer) {
    prompt.problem.textContent = '';
    const { payload } = prompt;
    this.answer({ type: 'tool_interaction_response', callId: payload.toolCallId, interactionId: payload.interactionId, ...answer })
      .then(() => by('input').focus())
      .catch((error) => { prompt.problem.textContent = error.message; });
  }

  answered(payload) {
    const prompt = this.#prompts.get(payload.interactionId);
    if (!prompt) {
      // It may come before the prompt that it answers.
      if (payload.toolCallId) this.#early.set(payload.interactionId, payload);
      return;
    }
    this.#prompts.delete(payload.interactionId);
    const dialog = by('popout');
    if (dialog.open && by('popout-body').contains(prompt.body)) dialog.close();
    const elsewhere = payload.answeredBy && !this.isMine(payload.answeredBy.clientId);
    prompt.surface.replaceChildren(summaryOf(prompt.payload, payload, elsewhere));
    if (prompt.card.element.dataset.state === 'needs you') prompt.card.setState('running');
  }

  queued(payload) {
    const prompt = this.#prompts.get(payload.interactionId);
    if (prompt) prompt.home.prepend(el('p', { class: 'quiet' }, 'The tool went on. You can still answer.'));
  }

  // A tool that failed takes its prompts with it, but for those that are still open by themselves.
  endTool(payload) {
    const card = this.tool(payload.toolCallId, payload.toolName);
    card.setResult(payload);
    if (card.element.dataset.keep !== 'true' && payload.ok) card.element.open = card.element.matches(':focus-within');
  }

  setEnabled(enabled) {
    this.enabled = enabled;
    for (const prompt of this.#prompts.values()) this.#applyMode(prompt);
  }

  #applyMode(prompt) {
    prompt.hint.hidden = this.enabled;
    for (const control of prompt.body.querySelectorAll('input, textarea, select, button')) control.disabled = !this.enabled;
  }

  note(text, kind = 'note') {
    return this.add(el('aside', { class: `message ${kind}` }, exactly(text, 'Note')));
  }

  problem(text) {
    return this.add(el('p', { class: 'message problem', role: 'alert' }, text));
  }
}

const isFree = () => {
  const active = document.activeElement;
  return !active || active === document.body || (active.id === 'input' && !active.value);
};

function briefly(args) {
  if (!args || typeof args !== 'object') return String(args ?? '');
  const first = args.command ?? args.path ?? args.pattern ?? args.url ?? args.question ?? Object.values(args)[0];
  const text = typeof first === 'string' ? first : JSON.stringify(first ?? '');
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}

const HANDLERS = {
  user_message(view, payload) {
    view.endSpeech();
    view.add(el('article', { class: 'message user', 'aria-label': 'You', 'data-input': String(payload.inputSeq) }, el('p', {}, payload.text)));
  },
  user_message_revised(view, payload) {
    const message = view.element.querySelector(`[data-input="${Number(payload.inputSeq)}"] p`);
    if (message) message.textContent = payload.text ?? '(removed)';
  },
  assistant_chunk(view, payload) {
    view.speech().text += payload.text;
  },
  assistant_done(view, payload) {
    view.endSpeech(payload.text);
  },
  thinking_chunk(view, payload) {
    view.thinking(payload.text);
  },
  tool_call(view, payload) {
    view.endSpeech();
    view.tool(payload.toolCallId, payload.toolName, payload.args);
  },
  tool_started(view, payload) {
    const card = view.tool(payload.toolCallId, payload.toolName, payload.args);
    card.setState('running');
  },
  tool_result(view, payload) {
    view.endTool(payload);
  },
  interaction_request(view, payload) {
    if (payload.interactionType) view.prompt(payload);
    else if (payload.toolCallId) view.tool(payload.toolCallId, payload.toolName).setState('asks for approval');
  },
  interaction_response(view, payload) {
    view.answered(payload);
  },
  interaction_queued(view, payload) {
    view.queued(payload);
  },
  note(view, payload) {
    view.note(payload.text);
  },
  interrupt(view) {
    view.endSpeech();
    view.add(el('p', { class: 'message quiet' }, 'Interrupted'));
  },
  context_compacted(view) {
    view.add(el('p', { class: 'message quiet' }, 'The beginning of the conversation was summarized.'));
  },
  error(view, payload) {
    view.endSpeech();
    view.problem(`${payload.message} (${payload.typed})`);
  },
  turn_end(view) {
    view.endSpeech();
    announce('The turn has ended');
  },
};
