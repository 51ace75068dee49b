// The connection: it comes back by itself, and asks for what it missed.

export class Wire extends EventTarget {
  #socket = null;
  #delay = 500;
  #timer = null;
  #requests = new Map();
  #lastRequest = 0;
  clientId = null;
  enabled = true;

  start() {
    clearTimeout(this.#timer);
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const socket = new WebSocket(`${scheme}://${location.host}/ws`);
    this.#socket = socket;
    socket.onopen = () => {
      this.send({ type: 'hello', interaction: { supported: true, enabled: this.enabled } });
    };
    socket.onmessage = ({ data }) => this.#take(JSON.parse(data));
    socket.onclose = () => this.#lost(socket);
  }

  #lost(socket) {
    if (socket !== this.#socket) return;
    this.#socket = null;
    for (const { reject } of this.#requests.values()) reject(new Error('the connection was lost'));
    this.#requests.clear();
    this.dispatchEvent(new CustomEvent('lost', { detail: { delay: this.#delay } }));
    this.#timer = setTimeout(() => this.start(), this.#delay);
    this.#delay = Math.min(this.#delay * 2, 10_000);
  }

  #take(frame) {
    if (frame.type === 'hello_ack') {
      this.clientId = frame.clientId;
      this.#delay = 500;
      this.dispatchEvent(new Event('ready'));
      return;
    }
    const request = this.#requests.get(frame.requestId);
    if (request) {
      this.#requests.delete(frame.requestId);
      if (frame.type === 'error') request.reject(Object.assign(new Error(frame.message), { code: frame.code, details: frame.details }));
      else request.resolve(frame);
      if (frame.type === 'error') return;
    }
    this.dispatchEvent(new CustomEvent('frame', { detail: frame }));
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  send(frame) {
    if (this.isOpen) this.#socket.send(JSON.stringify(frame));
  }

  // Sends a frame and gives the reply to it.
  ask(frame) {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) {
        reject(new Error('there is no connection now'));
        return;
      }
      this.#lastRequest += 1;
      this.#requests.set(this.#lastRequest, { resolve, reject });
      this.send({ ...frame, requestId: this.#lastRequest });
    });
  }

  // Looks again at once, for a person who does not want to wait.
  retry() {
    if (!this.#socket) this.start();
  }
}
