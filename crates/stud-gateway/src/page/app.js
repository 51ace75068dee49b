// The page: one connection, one session in view, and the list of all others.

import { Composer } from './composer.js';
import { by, el } from './dom.js';
import { Dock } from './prompts.js';
import { Sessions } from './sessions.js';
import { Transcript } from './transcript.js';
import { Wire } from './wire.js';

// How many events are shown at first, and how many times as many after each "Load earlier".
const TAIL = 400;
const MORE = 4;

const stored = {
  get(key) {
    try { return localStorage.getItem(key); } catch { return null; }
  },
  set(key, value) {
    try { localStorage.setItem(key, value); } catch { /* A private window keeps nothing. */ }
  },
};

const wire = new Wire();
wire.enabled = stored.get('interactive') !== 'off';
let current = null;
let tail = TAIL;
// The number of the last opening, so that a slow one does not come before a later one.
let opening = 0;
// Whether the session in view was closed by another client.
let closed = false;
// Resolves when a new connection has subscribed to the session in view again: the server takes nothing for a session
// from a connection that has not subscribed to it.
let joined = Promise.resolve();

const transcript = new Transcript({
  answer: (frame) => answer({ ...frame, sessionId: current }),
  isMine: (clientId) => clientId === wire.clientId,
  enable: () => setInteractive(true),
});
const dock = new Dock(answer);
const sessions = new Sessions({ wire, open: (id) => { location.hash = `#/s/${id}`; }, deleted: (id) => gone(id) });
const composer = new Composer({ wire, say, stop, session: () => current });

async function answer(frame) {
  await joined;
  return wire.ask(frame);
}

async function say(text) {
  try {
    await joined;
    if (!current) {
      const created = await wire.ask({ type: 'session_create' });
      await show(created.sessionId, created);
    } else if (closed) {
      await wire.ask({ type: 'session_create', sessionId: current });
      await subscribe({ sinceSeq: transcript.lastSeq });
    }
    const reply = await wire.ask({ type: 'text_input', sessionId: current, text });
    if (reply.type === 'command_result') commandResult(reply);
    else sessions.refresh();
    return true;
  } catch (error) {
    transcript.problem(error.message);
    return false;
  }
}

function commandResult(reply) {
  const text = reply.status === 'blocked' ? reply.reason : reply.rendered;
  if (text) transcript.note(`${reply.line}\n${text}`, 'command');
}

function stop() {
  if (current) wire.send({ type: 'control', action: 'cancel', target: 'output', sessionId: current });
}

// Opens a session that may be closed, and shows its last events.
async function open(id) {
  const mine = ++opening;
  try {
    const created = await wire.ask({ type: 'session_create', sessionId: id });
    if (mine === opening) await show(id, created);
  } catch (error) {
    if (mine !== opening) return;
    welcome();
    transcript.problem(error.message);
  }
}

async function show(id, created) {
  if (current && current !== id) wire.send({ type: 'unsubscribe', sessionId: current });
  current = id;
  tail = TAIL;
  history.replaceState(null, '', `#/s/${id}`);
  sessions.setCurrent(id);
  by('title').textContent = created.cwd ? created.cwd.split('/').pop() || created.cwd : 'stud';
  by('title').title = created.cwd ?? '';
  transcript.clear();
  dock.clear();
  await subscribe({ tail });
  by('input').focus();
}

async function subscribe(from) {
  closed = false;
  const reply = await wire.ask({ type: 'subscribe', sessionId: current, state: true, ...from });
  if (reply.sinceSeq > 0 && !transcript.lastSeq) {
    transcript.prepend(el('button', { type: 'button', class: 'earlier', onclick: async () => {
      tail *= MORE;
      transcript.clear();
      await subscribe({ tail });
    } }, 'Load earlier messages'));
  }
}

function welcome() {
  current = null;
  sessions.setCurrent(null);
  transcript.clear();
  dock.clear();
  by('title').textContent = 'stud';
  by('meter').hidden = true;
  composer.setRunning(false);
  transcript.add(el('p', { class: 'message quiet' }, 'Say something to begin a session, or choose one from the list.'));
}

function gone(id) {
  sessions.refresh();
  if (id !== current) return;
  history.replaceState(null, '', location.pathname);
  welcome();
}

function state(frame) {
  composer.setRunning(frame.running);
  const { id, modelId } = frame.provider ?? {};
  const { attached, currentStage } = frame.stateMachine ?? {};
  const stage = attached && currentStage ? `stage ${currentStage}` : null;
  by('model').textContent = [modelId ?? id, frame.session?.mode, stage].filter(Boolean).join(' · ');
  const { usedTokens = 0, windowTokens } = frame.context ?? {};
  const { inputTotal = 0, outputTotal = 0 } = frame.tokens ?? {};
  by('meter').hidden = !(inputTotal + outputTotal + usedTokens);
  by('meter-bar').hidden = !windowTokens;
  if (windowTokens) by('meter-bar').value = Math.min(100, (100 * usedTokens) / windowTokens);
  by('meter-text').textContent = `${short(usedTokens)}${windowTokens ? ` / ${short(windowTokens)}` : ''} · ↑${short(inputTotal)} ↓${short(outputTotal)}`;
  by('meter').title = `${usedTokens} tokens of the context used; ${inputTotal} sent and ${outputTotal} received in all`;
}

const short = (count) => (count < 1000 ? String(count) : count < 1e6 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1e6).toFixed(1)}M`);

function setInteractive(enabled) {
  wire.enabled = enabled;
  by('interactive').checked = enabled;
  stored.set('interactive', enabled ? 'on' : 'off');
  wire.send({ type: 'set_interaction_mode', enabled });
  transcript.setEnabled(enabled);
}

wire.addEventListener('frame', ({ detail: frame }) => {
  if (frame.sessionId && frame.sessionId !== current) return;
  switch (frame.type) {
    case 'chat_event':
      transcript.take(frame);
      if (frame.event.type === 'turn_start') composer.setRunning(true);
      if (frame.event.type === 'turn_end') {
        composer.setRunning(false);
        sessions.refresh();
      }
      break;
    case 'session_state': state(frame); break;
    case 'interaction_prompt': dock.show(frame); break;
    case 'interaction_prompt_closed': dock.close(frame.interactionId); break;
    case 'session_closed':
      transcript.problem('The session was closed. Say something to open it again.');
      closed = true;
      break;
    case 'session_deleted': gone(frame.sessionId); break;
    default:
  }
});

// Takes part in the session in view again, over a new connection.
async function rejoin() {
  dock.clear();
  try {
    // The server may have been started again meanwhile.
    await wire.ask({ type: 'session_create', sessionId: current });
    await subscribe({ sinceSeq: transcript.lastSeq });
  } catch (error) {
    transcript.problem(error.message);
  }
}

wire.addEventListener('ready', () => {
  by('connection').hidden = true;
  document.body.dataset.connected = 'true';
  sessions.refresh();
  if (current) joined = rejoin();
  else route();
});

wire.addEventListener('lost', async ({ detail }) => {
  document.body.dataset.connected = 'false';
  const notice = by('connection');
  notice.hidden = false;
  notice.replaceChildren(`The connection was lost; looking again in ${Math.ceil(detail.delay / 1000)} s. `,
    el('button', { type: 'button', onclick: () => wire.retry() }, 'Now'));
  try {
    const answer = await fetch('/', { method: 'HEAD', cache: 'no-store' });
    if (answer.status === 401) notice.textContent = 'stud was started again with another token. Open the address that it printed.';
  } catch {
    // It is not there at all, which the notice says.
  }
});

function route() {
  const found = /^#\/s\/([\w-]+)$/.exec(location.hash);
  if (found) {
    if (found[1] !== current) open(found[1]);
  } else {
    welcome();
  }
}

addEventListener('hashchange', () => {
  closeMenu();
  route();
});
addEventListener('online', () => wire.retry());

by('new').addEventListener('click', async () => {
  const mine = ++opening;
  try {
    const created = await wire.ask({ type: 'session_create' });
    if (mine === opening) await show(created.sessionId, created);
  } catch (error) {
    transcript.problem(error.message);
  }
  closeMenu();
});
by('interactive').checked = wire.enabled;
transcript.setEnabled(wire.enabled);
by('interactive').addEventListener('change', (event) => setInteractive(event.target.checked));
by('popout-close').addEventListener('click', () => by('popout').close());

function closeMenu() {
  document.body.classList.remove('menu');
  by('menu').setAttribute('aria-expanded', 'false');
}
by('menu').addEventListener('click', () => {
  const open_ = document.body.classList.toggle('menu');
  by('menu').setAttribute('aria-expanded', String(open_));
});

const theme = (name) => {
  if (name) document.documentElement.dataset.theme = name;
};
theme(stored.get('theme'));
by('theme').addEventListener('click', () => {
  const dark = document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches;
  theme(dark ? 'light' : 'dark');
  stored.set('theme', dark ? 'light' : 'dark');
});

wire.start();
