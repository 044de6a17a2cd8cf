/** Records a voice message: shows the level while the person speaks; a cancelled recording is not sent. */

import { h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { clock } from "./player.js";

const KINDS = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];
const NAMES = /** @type {Record<string, string>} */ ({ "audio/webm": "webm", "audio/ogg": "ogg", "audio/mp4": "m4a" });
export const NAME = "voice-message"; // the server recognises recordings by this name
const LONGEST = 600; // seconds
const LOOK_EVERY = 100;

export class Recorder {
  #recorder = /** @type {MediaRecorder | null} */ (null);
  #stream = /** @type {MediaStream | null} */ (null);
  #audio = /** @type {AudioContext | null} */ (null);
  #pieces = /** @type {Blob[]} */ ([]);
  #keeps = false;
  #timer = 0;
  #began = 0;

  /** @param {(file: File) => void} done @param {() => void} closed after it was sent or cancelled
   * @param {(words: string) => void} refused nothing can be recorded, and why */
  constructor(done, closed, refused) {
    this.done = done;
    this.closed = closed;
    this.refused = refused;
    this.button = h(
      "button",
      { type: "button", class: "quiet", "aria-label": "Record a voice message", title: "Record a voice message", hidden: !able(), onclick: () => this.start() },
      icon("microphone"),
    );
    this.level = h("meter", { min: 0, max: 1, value: 0, "aria-label": "Recording level" });
    this.time = h("span", { class: "recorded", role: "timer" }, clock(0));
    this.words = h("span", { role: "status" });
    const cancel = h(
      "button",
      { type: "button", class: "quiet", "aria-label": "Cancel the recording", title: "Cancel (Esc)", onclick: () => this.#end(false) },
      icon("trash"),
    );
    this.sendButton = h(
      "button",
      { type: "button", class: "send", "aria-label": "Send the recording", title: "Send (Enter)", onclick: () => this.#end(true) },
      icon("send"),
    );
    this.element = h(
      "div",
      { class: "recording", role: "group", "aria-label": "Recording", hidden: true, onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event) },
      cancel,
      this.words,
      this.level,
      this.time,
      this.sendButton,
    );
  }

  async start() {
    if (this.#stream) return;
    this.words.textContent = "";
    try {
      this.#stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    } catch (problem) {
      return this.refused(refusal(/** @type {DOMException} */ (problem)));
    }
    this.#pieces = [];
    this.#keeps = false;
    const recorder = (this.#recorder = new MediaRecorder(this.#stream, { mimeType: kind() }));
    recorder.ondataavailable = ({ data }) => data.size && this.#pieces.push(data);
    recorder.onstop = () => this.#stopped();
    recorder.start(1000);
    this.#began = performance.now();
    this.#watch(this.#stream);
    this.element.hidden = false;
    this.element.parentElement?.classList.add("records");
    this.words.textContent = "Recording";
    this.sendButton.focus();
  }

  /** @param {MediaStream} stream */
  #watch(stream) {
    const audio = (this.#audio = new AudioContext());
    const analyser = audio.createAnalyser();
    audio.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    this.#timer = window.setInterval(() => {
      analyser.getFloatTimeDomainData(samples);
      this.level.value = Math.min(1, Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length) * 4);
      const seconds = (performance.now() - this.#began) / 1000;
      this.time.textContent = clock(seconds);
      if (seconds > LONGEST) this.#end(true);
    }, LOOK_EVERY);
  }

  /** @param {boolean} keeps */
  #end(keeps) {
    this.#keeps = keeps;
    if (this.#recorder && this.#recorder.state !== "inactive") this.#recorder.stop();
    else this.#close();
  }

  #stopped() {
    const type = (this.#recorder?.mimeType ?? "").split(";")[0];
    const file = new File(this.#pieces, `${NAME}.${NAMES[type] ?? "webm"}`, { type });
    this.#close();
    if (this.#keeps && file.size) this.done(file);
  }

  #close() {
    window.clearInterval(this.#timer);
    this.#stream?.getTracks().forEach((track) => track.stop());
    this.#audio?.close();
    this.#stream = this.#recorder = this.#audio = null;
    this.element.hidden = true;
    this.element.parentElement?.classList.remove("records");
    this.level.value = 0;
    this.closed();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    this.#end(false);
  }
}

const able = () => Boolean(navigator.mediaDevices?.getUserMedia) && typeof MediaRecorder === "function";

const kind = () => KINDS.find((each) => MediaRecorder.isTypeSupported(each));

/** @param {DOMException} problem */
function refusal(problem) {
  if (problem.name === "NotAllowedError") return "The browser blocks the microphone for this page. Allow it in its settings, then try again.";
  if (problem.name === "NotFoundError") return "No microphone was found.";
  return `The microphone cannot be used: ${problem.message}`;
}
