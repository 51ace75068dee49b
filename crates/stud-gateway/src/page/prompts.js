// What core asks: approvals with the exact bytes that would run, choices, confirmations, logins.

import { announce, by, el, uniqueId } from './dom.js';
import { approvalButtons } from './forms.js';
import { changesOf, sideBySide } from './diff.js';
import { exactly, hasHidden, visible } from './visible.js';

export class Dock {
  #open = new Map();

  // `answer` gets the frame that answers a prompt.
  constructor(answer) {
    this.answer = answer;
    this.element = by('dock');
  }

  show(request) {
    if (this.#open.has(request.interactionId)) return;
    const card = this.#card(request);
    this.#open.set(request.interactionId, card);
    this.element.append(card);
    this.element.hidden = false;
    announce(`Waiting for you: ${card.querySelector('h2').textContent}`);
    if (!document.activeElement || document.activeElement === document.body || document.activeElement.id === 'input') {
      card.focus();
    }
  }

  close(interactionId) {
    const card = this.#open.get(interactionId);
    if (!card) return;
    const hadFocus = card.contains(document.activeElement);
    card.remove();
    this.#open.delete(interactionId);
    this.element.hidden = !this.element.childElementCount;
    if (hadFocus) by('input').focus();
  }

  clear() {
    for (const id of [...this.#open.keys()]) this.close(id);
    this.element.replaceChildren();
    this.element.hidden = true;
  }

  #card(request) {
    const { kind, payload } = request;
    const title = uniqueId('prompt');
    const status = el('p', { class: 'problem', role: 'alert' });
    const send = (status_, value, reason) => {
      status.textContent = '';
      this.answer({ type: 'interaction_response', sessionId: request.sessionId, interactionId: request.interactionId, status: status_, value, reason })
        .catch((error) => {
          if (error.code === 'interaction_already_answered') this.close(request.interactionId);
          else status.textContent = error.message;
        });
    };
    const accept = (value) => send('accepted', value);
    const make = KINDS[kind] ?? KINDS.unknown;
    const { heading, body } = make(payload, accept, (reason) => send('rejected', undefined, reason), request);
    const chip = request.subagentId
      ? el('span', { class: 'chip' }, `Subagent ${payload.label ?? request.subagentId.slice(0, 8)}`)
      : null;
    return el('section', { class: 'prompt-card', tabindex: '-1', 'aria-labelledby': title, 'data-interaction': request.interactionId, 'data-kind': kind },
      el('h2', { id: title }, heading), chip, body, status);
  }
}

function textArea(label, multiline) {
  const id = uniqueId('text');
  const input = multiline ? el('textarea', { id, rows: '2' }) : el('input', { id, type: 'text' });
  return [el('div', { class: 'field' }, el('label', { for: id }, label), input), input];
}

const KINDS = {
  Approve(payload, accept, reject) {
    const args = payload.args;
    const [reasonField, reason] = textArea('Reason, if you deny (optional)', false);
    const changes = changesOf(payload.toolId, args);
    const texts = args && typeof args === 'object' ? Object.entries(args) : [];
    const exact = args === undefined
      ? [exactly(payload.description, 'What would run')]
      : texts.length
        ? texts.map(([name, value]) => [el('h3', {}, name), exactly(typeof value === 'string' ? value : JSON.stringify(value, null, 2), `Argument ${name}`)])
        : [exactly(JSON.stringify(args), 'Arguments')];
    const hidden = hasHidden(JSON.stringify(args ?? payload.description)) || texts.some(([, value]) => typeof value === 'string' && hasHidden(value));
    const offered = payload.approvalScopes ?? ['once', 'session'];
    const order = ['once', 'session', 'always'].filter((scope) => offered.includes(scope));
    const scopes = (payload.scopes ?? []).filter((offer) => order.includes(offer.scope));
    return {
      heading: `Allow ${payload.toolId}?`,
      body: [
        payload.reason ? el('p', {}, visible(payload.reason)) : null,
        hidden ? el('p', { class: 'warning' }, 'This contains characters that are hidden or change the order of others. They are shown by their numbers.') : null,
        exact,
        payload.cwd ? el('p', { class: 'quiet' }, 'In ', el('code', {}, visible(payload.cwd))) : null,
        payload.preview ? exactly(payload.preview, 'Preview') : changes.map(([path, before, after]) => sideBySide(before, after, path)),
        scopes.length ? el('ul', { class: 'scopes quiet' }, scopes.map((offer) => el('li', {}, el('strong', {}, offer.scope), ': ', visible(offer.covers), '; ', visible(offer.kept)))) : null,
        reasonField,
        approvalButtons(order, {
          approve: (scope) => accept({ decision: 'approve', scope }),
          deny: () => reject(reason.value.trim() || undefined),
        }),
      ],
    };
  },
  Ask(payload, accept, reject) {
    const [field, input] = textArea(payload.prompt, true);
    input.value = payload.defaultValue ?? '';
    if (payload.placeholder) input.placeholder = payload.placeholder;
    return {
      heading: 'A question',
      body: form([field], 'Answer', () => accept({ text: input.value }), reject),
    };
  },
  Select(payload, accept, reject) {
    const name = uniqueId('select');
    const inputs = payload.options.map((option, index) => el('label', { class: 'choice' },
      el('input', { type: 'radio', name, value: String(index), checked: index === 0 }), ' ', visible(option)));
    return {
      heading: 'Choose one',
      body: form([el('fieldset', {}, el('legend', {}, visible(payload.prompt)), inputs)], 'Choose', (element) => {
        accept({ index: Number(new FormData(element).get(name)) });
      }, reject),
    };
  },
  Confirm(payload, accept) {
    return {
      heading: 'Please confirm',
      body: [
        el('p', {}, visible(payload.prompt)),
        el('div', { class: 'row' },
          el('button', { type: 'button', onclick: () => accept({ confirmed: false }) }, 'No'),
          el('button', { type: 'button', class: 'primary', onclick: () => accept({ confirmed: true }) }, 'Yes')),
      ],
    };
  },
  'Auth.Password'(payload, accept, reject) {
    const id = uniqueId('secret');
    const input = el('input', { id, type: 'password', autocomplete: 'off' });
    return {
      heading: 'A password is needed',
      body: form([el('div', { class: 'field' }, el('label', { for: id }, visible(payload.prompt)), input)], 'Give it', () => {
        const secret = input.value;
        input.value = '';
        accept({ secret });
      }, reject),
    };
  },
  'Auth.DeviceCode'(payload, accept, reject) {
    const isWeb = /^https?:\/\//i.test(payload.url);
    return {
      heading: 'Log in',
      body: [
        el('p', {}, 'Open ', isWeb ? el('a', { href: payload.url, target: '_blank', rel: 'noopener noreferrer' }, visible(payload.url)) : visible(payload.url), ' and enter this code:'),
        exactly(payload.code, 'Code'),
        el('div', { class: 'row' },
          el('button', { type: 'button', onclick: () => reject() }, 'Cancel'),
          el('button', { type: 'button', class: 'primary', onclick: () => accept({ completed: true }) }, 'I have logged in')),
      ],
    };
  },
  grantStageTool(payload, accept) {
    const [field, note] = textArea('Note (optional)', false);
    const say = (outcome) => accept({ outcome, ...(note.value.trim() ? { note: note.value.trim() } : {}) });
    return {
      heading: `Allow ${payload.tool} in this stage, once?`,
      body: [
        payload.reason ? el('p', {}, visible(payload.reason)) : null,
        exactly(payload.argsSummary, 'Arguments'),
        field,
        el('div', { class: 'row' },
          el('button', { type: 'button', class: 'danger', onclick: () => say('deny') }, 'Deny'),
          el('button', { type: 'button', onclick: () => say('defer') }, 'Not now'),
          el('button', { type: 'button', class: 'primary', onclick: () => say('approve') }, 'Allow once')),
      ],
    };
  },
  approveSubagentEnvelope(payload, accept) {
    const [field, note] = textArea('Note (optional)', false);
    const say = (outcome) => accept({ outcome, ...(note.value.trim() ? { note: note.value.trim() } : {}) });
    return {
      heading: 'Open a subagent?',
      body: [
        el('p', {}, 'It may use these tools unasked, as long as it lives:'),
        el('ul', {}, payload.requestedEnvelope.map((tool) => el('li', {}, el('code', {}, visible(tool))))),
        exactly(payload.promptSummary, 'Its task'),
        payload.model ? el('p', { class: 'quiet' }, visible(`${payload.model.providerId} ${payload.model.modelId}, depth ${payload.depth}`)) : null,
        field,
        el('div', { class: 'row' },
          el('button', { type: 'button', class: 'danger', onclick: () => say('deny') }, 'Deny'),
          el('button', { type: 'button', class: 'primary', onclick: () => say('approve') }, 'Allow')),
      ],
    };
  },
  ToolApproval(payload, accept) {
    return {
      heading: `Allow ${payload.toolName}?`,
      body: [
        payload.prompt ? el('p', {}, visible(payload.prompt)) : null,
        approvalButtons(payload.approvalScopes ?? ['once', 'session'], {
          approve: (approvalScope) => accept({ action: 'approve', approvalScope }),
          deny: () => accept({ action: 'deny' }),
        }),
      ],
    };
  },
  unknown(payload, accept, reject, request) {
    return {
      heading: `${request.kind}`,
      body: [
        exactly(JSON.stringify(payload, null, 2), 'What is asked'),
        el('div', { class: 'row' }, el('button', { type: 'button', onclick: () => reject() }, 'Refuse')),
      ],
    };
  },
};

function form(content, label, submit, reject) {
  const element = el('form', { novalidate: true }, content,
    el('div', { class: 'row' },
      el('button', { type: 'button', onclick: () => reject() }, 'Cancel'),
      el('button', { type: 'submit', class: 'primary' }, label)));
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    submit(element);
  });
  return element;
}
