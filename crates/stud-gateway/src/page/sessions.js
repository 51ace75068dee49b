// The list of sessions, and what can be done with each.

import { by, el } from './dom.js';

export class Sessions {
  #timer = null;

  constructor({ wire, open, deleted }) {
    Object.assign(this, { wire, open, deleted });
    this.current = null;
    by('search').addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.refresh(), 150);
    });
  }

  async refresh() {
    let listed;
    try {
      listed = await this.wire.ask({ type: 'sessions_list', query: by('search').value.trim(), limit: 200 });
    } catch {
      return;
    }
    by('no-sessions').hidden = listed.sessions.length > 0;
    by('sessions').replaceChildren(...listed.sessions.map((session) => this.#item(session)));
  }

  setCurrent(id) {
    this.current = id;
    for (const link of by('sessions').querySelectorAll('a')) {
      if (link.dataset.session === id) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
    }
  }

  #item(session) {
    const title = session.title?.trim() || 'Untitled';
    const isCurrent = session.sessionId === this.current;
    return el('li', {},
      el('a', { href: `#/s/${session.sessionId}`, 'data-session': session.sessionId, 'aria-current': isCurrent ? 'page' : null },
        el('span', { class: 'session-title' }, title),
        el('span', { class: 'quiet' }, `${session.live ? '● ' : ''}${ago(session.updatedAt)} · ${session.cwd ?? ''}`)),
      el('span', { class: 'session-actions' },
        el('button', { type: 'button', 'aria-label': `Fork ${title}`, title: 'Fork', onclick: () => this.#fork(session) }, 'Fork'),
        el('button', { type: 'button', 'aria-label': `Delete ${title}`, title: 'Delete', onclick: () => this.#delete(session, title) }, '✕')));
  }

  async #fork(session) {
    const forked = await this.wire.ask({ type: 'session_fork', sessionId: session.sessionId });
    await this.refresh();
    this.open(forked.sessionId);
  }

  #delete(session, title) {
    const dialog = by('confirm');
    by('confirm-text').textContent = `Delete “${title}” for good? It cannot be brought back.`;
    dialog.returnValue = 'no';
    dialog.addEventListener('close', async () => {
      if (dialog.returnValue !== 'yes') return;
      try {
        await this.wire.ask({ type: 'session_delete', sessionId: session.sessionId });
      } catch {
        // One that this page shows is told by a frame of its own.
      }
      this.deleted(session.sessionId);
      await this.refresh();
    }, { once: true });
    dialog.showModal();
  }
}

function ago(time) {
  const minutes = Math.round((Date.now() - Date.parse(time)) / 60_000);
  if (!Number.isFinite(minutes) || minutes < 1) return 'now';
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} h`;
  return new Date(time).toLocaleDateString();
}
