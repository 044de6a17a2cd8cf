/**
 * A WebSocket that comes back: it waits longer after each failure, at once when the network returns, and asks
 * whether the line is alive when nothing was heard for long, when a request has no answer, or the network went.
 */

const SHORTEST = 400;
const LONGEST = 15_000;
const QUIET = 25_000;
const UNANSWERED = 3_000;
const PATIENCE = 5_000;

/**
 * @typedef {{frame: (frame: any) => void, open: () => void, down: (code: number, tries: number) => void}} Ears
 */

export class Line {
  #socket = /** @type {WebSocket | null} */ (null);
  #tries = 0;
  #timer = 0;
  #heard = 0;
  #asked = 0; // when it was asked whether the line is alive; 0: it was not
  #waits = 0; // since when a request has no answer; 0: none has

  /** @param {string} path @param {Ears} ears @param {{pings?: boolean}} [options] */
  constructor(path, ears, { pings = true } = {}) {
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
    this.ears = ears;
    addEventListener("online", () => this.#soon(0));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && !this.#socket) this.#soon(0);
    });
    if (!pings) return;
    setInterval(() => this.#check(), 1_000);
    addEventListener("offline", () => this.#ask()); // what runs on this machine is there anyway
  }

  connect() {
    clearTimeout(this.#timer);
    const socket = (this.#socket = new WebSocket(this.url));
    socket.onopen = () => {
      this.#heard = Date.now();
      this.#asked = this.#waits = 0;
      this.ears.open();
    };
    socket.onmessage = ({ data }) => {
      this.#heard = Date.now();
      this.#asked = this.#waits = 0;
      this.ears.frame(JSON.parse(data));
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#tries += 1;
      this.ears.down(code, this.#tries);
      // A little chance keeps many pages from coming back in the same moment.
      this.#soon(Math.min(LONGEST, SHORTEST * 2 ** (this.#tries - 1)) * (0.75 + Math.random() / 2));
    };
  }

  /** The server has let us in: the next failure starts to count again. */
  settled() {
    this.#tries = 0;
  }

  /** @param {any} frame one with a `client` is answered @returns {boolean} whether the line took it */
  send(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    if (frame.client) this.#waits ||= Date.now();
    return true;
  }

  /** Ends the connection and makes a new one, as after a failure. */
  renew() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#soon(0);
  }

  /** @param {number} wait */
  #soon(wait) {
    if (this.#socket) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.connect(), wait);
  }

  #check() {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const now = Date.now();
    if (this.#asked && now - this.#asked > PATIENCE) {
      this.#asked = 0;
      this.ears.down(0, 1);
      this.renew();
    } else if (now - this.#heard > QUIET || (this.#waits && now - this.#waits > UNANSWERED)) this.#ask();
  }

  #ask() {
    if (!this.#asked && this.send({ type: "ping" })) this.#asked = Date.now();
  }
}
