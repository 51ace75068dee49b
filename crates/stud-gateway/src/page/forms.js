// Forms of tools: every kind of field, filled in, checked, and shown again with what was wrong.

import { el, uniqueId } from './dom.js';

export function fieldsOf(schema) {
  return schema?.fields ?? (schema?.sections ?? []).flatMap((section) => section.fields);
}

// A form for a prompt. `submit` gets the values by field, `cancel` nothing.
export function inputForm(prompt, { submit, cancel }) {
  const schema = prompt.inputSchema ?? {};
  const controls = [];
  const make = (field) => {
    const control = fieldControl(field, initialValue(schema, field), prompt.fieldErrors?.[field.id]);
    controls.push(control);
    return control.element;
  };
  const problem = prompt.error ?? prompt.errorSummary;
  const body = schema.sections
    ? schema.sections.map((section) => el('fieldset', {},
      el('legend', {}, section.title ?? section.id),
      section.description ? el('p', { class: 'quiet' }, section.description) : null,
      section.fields.map(make)))
    : (schema.fields ?? []).map(make);
  const form = el('form', { class: 'prompt-form', novalidate: true, autocomplete: 'off' },
    problem ? el('p', { class: 'problem', role: 'alert' }, problem) : null,
    schema.title ? el('h3', {}, schema.title) : null,
    prompt.prompt ? el('p', { class: 'prompt-text' }, prompt.prompt) : null,
    schema.description ? el('p', { class: 'quiet' }, schema.description) : null,
    body,
    el('div', { class: 'row' },
      el('button', { type: 'button', onclick: () => cancel() }, schema.cancelLabel ?? 'Cancel'),
      el('button', { type: 'submit', class: 'primary' }, schema.submitLabel ?? 'Submit')));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const skipped = new Set((schema.sections ?? [])
      .filter((section) => section.optional && section.fields.every((field) => isEmpty(controls.find((control) => control.field === field))))
      .flatMap((section) => section.fields));
    const wrong = controls.filter((control) => !skipped.has(control.field) && !control.check());
    if (wrong.length) {
      wrong[0].focus();
      return;
    }
    submit(Object.fromEntries(controls.map((control) => [control.field.id, control.value()])));
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && event.target.tagName === 'TEXTAREA' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
  return form;
}

function initialValue(schema, field) {
  return schema.initialValues && field.id in schema.initialValues ? schema.initialValues[field.id] : field.defaultValue;
}

function isEmpty(control) {
  const value = control.value();
  return value === null || value === '' || value === false || (Array.isArray(value) && !value.length);
}

const TYPES = { number: 'number', date: 'date', time: 'time', datetime: 'datetime-local' };

function fieldControl(field, initial, error) {
  const id = uniqueId('field');
  const help = field.description ? el('p', { id: `${id}-help`, class: 'quiet' }, field.description) : null;
  const problem = el('p', { id: `${id}-problem`, class: 'problem' }, error ?? '');
  const described = [help ? `${id}-help` : null, `${id}-problem`].filter(Boolean).join(' ');
  const common = { id, name: field.id, 'aria-describedby': described, 'aria-required': field.required ? 'true' : null };
  const star = field.required ? el('span', { class: 'required', 'aria-hidden': 'true' }, ' *') : null;
  const control = { field };
  const box = field.type === 'checkbox' || field.type === 'boolean';
  const options = field.options ?? [];
  if (field.type === 'radio' || field.type === 'multiselect') {
    const type = field.type === 'radio' ? 'radio' : 'checkbox';
    const chosen = [initial ?? []].flat();
    const inputs = options.map((option) => el('input', { type, name: id, value: option.value, checked: chosen.includes(option.value) }));
    control.element = el('fieldset', { class: 'field', 'aria-describedby': described },
      el('legend', {}, field.label, star), help,
      options.map((option, index) => el('label', { class: 'choice' }, inputs[index], ' ', option.label)), problem);
    control.inputs = inputs;
    const values = () => inputs.filter((input) => input.checked).map((input) => input.value);
    control.value = () => (type === 'radio' ? values()[0] ?? null : values());
  } else if (box) {
    const input = el('input', { ...common, type: 'checkbox', role: field.type === 'boolean' ? 'switch' : null, checked: initial === true });
    control.element = el('div', { class: 'field' }, el('label', { class: 'choice' }, input, ' ', field.label, star), help, problem);
    control.inputs = [input];
    control.value = () => input.checked;
  } else {
    let input;
    if (field.type === 'textarea') input = el('textarea', { ...common, rows: '4', placeholder: field.placeholder });
    else if (field.type === 'select') {
      input = el('select', common, el('option', { value: '' }, field.placeholder ?? 'Choose…'),
        options.map((option) => el('option', { value: option.value }, option.label)));
    } else {
      input = el('input', { ...common, type: TYPES[field.type] ?? 'text', placeholder: field.placeholder,
        min: field.min, max: field.max, step: field.type === 'number' ? field.step ?? 'any' : null });
    }
    if (initial !== undefined && initial !== null) input.value = String(initial);
    control.element = el('div', { class: 'field' }, el('label', { for: id }, field.label, star), help, input, problem);
    control.inputs = [input];
    control.value = () => {
      if (field.type === 'number') return input.value.trim() === '' ? null : Number(input.value);
      return field.type === 'select' && input.value === '' ? null : input.value;
    };
  }
  control.focus = () => control.inputs[0]?.focus();
  control.check = () => {
    const wrong = field.validateOnClient === false ? null : complaint(field, control.value());
    problem.textContent = wrong ?? '';
    for (const input of control.inputs) input.setAttribute('aria-invalid', wrong ? 'true' : 'false');
    return !wrong;
  };
  if (error) control.inputs.forEach((input) => input.setAttribute('aria-invalid', 'true'));
  return control;
}

// What is wrong with a value. The tool checks again, and patterns are for it alone.
function complaint(field, value) {
  const box = field.type === 'checkbox' || field.type === 'boolean';
  const empty = value === null || (typeof value === 'string' && !value.trim()) || (Array.isArray(value) && !value.length)
    || (box && value !== true) || Number.isNaN(value);
  if (empty) {
    if (!field.required) return null;
    return box ? 'This has to be ticked.' : 'This has to be filled in.';
  }
  if (typeof value === 'number') {
    if (field.min !== undefined && value < field.min) return `At least ${field.min}.`;
    if (field.max !== undefined && value > field.max) return `At most ${field.max}.`;
  }
  if (typeof value === 'string') {
    const length = [...value].length;
    if (field.minLength !== undefined && length < field.minLength) return `At least ${field.minLength} characters.`;
    if (field.maxLength !== undefined && length > field.maxLength) return `At most ${field.maxLength} characters.`;
  }
  return null;
}

const SCOPES = { once: 'Allow once', session: 'Allow for this session', always: 'Always allow in this project' };

// The buttons of an approval: no, and yes for each scope that is offered.
export function approvalButtons(scopes, { approve, deny }) {
  return el('div', { class: 'row' },
    el('button', { type: 'button', class: 'danger', onclick: () => deny() }, 'Deny'),
    scopes.map((scope) => el('button', { type: 'button', class: scope === 'once' ? 'primary' : null, onclick: () => approve(scope) },
      SCOPES[scope] ?? scope)));
}

// A prompt that was answered: what was submitted, read-only.
export function summaryOf(prompt, response, elsewhere) {
  const input = response.input ?? {};
  const view = prompt.completedView ?? {};
  const parts = [];
  const word = { approve: 'Approved', deny: 'Denied', submit: 'Answered', cancel: 'Cancelled' }[response.action] ?? response.action;
  if (view.summaryTemplate) {
    const values = { ...input, ...response };
    parts.push(el('p', {}, view.summaryTemplate.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (_, name) => plain(values[name]))));
  } else {
    const scope = response.action === 'approve' && response.approvalScope ? ` (${response.approvalScope})` : '';
    parts.push(el('p', { class: 'outcome' }, `${response.action === 'cancel' || response.action === 'deny' ? '✕' : '✓'} ${word}${scope}`));
  }
  if (response.reason) parts.push(el('p', { class: 'quiet' }, reasonText(response.reason)));
  if (response.action === 'submit' && view.showInputs !== false) {
    const rows = fieldsOf(prompt.inputSchema).filter((field) => field.id in input);
    if (rows.length) {
      parts.push(el('dl', {}, rows.map((field) => [el('dt', {}, field.label), el('dd', {}, plain(input[field.id], field))])));
    }
  }
  if (elsewhere) parts.push(el('p', { class: 'quiet' }, 'Answered on another device'));
  return el('div', { class: 'completed' }, prompt.prompt ? el('p', { class: 'prompt-text' }, prompt.prompt) : null, parts);
}

function plain(value, field) {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map((one) => plain(one, field)).join(', ');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const option = (field?.options ?? []).find((known) => known.value === value);
  return option ? option.label : String(value);
}

function reasonText(reason) {
  return {
    timeout: 'Nobody answered in time.',
    interrupted: 'The turn was interrupted.',
    server_restarted: 'stud was restarted meanwhile.',
    session_closed: 'The session was closed.',
  }[reason] ?? reason;
}
