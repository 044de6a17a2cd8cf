/** Files that are being uploaded: a chip for each, with its progress, before the message that names them is sent. */

import { clean } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { sizeOf } from "../shared/times.js";

const MOST = 10;

/** @typedef {{name: string, size: number, done: number, file?: import("./state.js").File, problem?: string, left?: boolean, request?: XMLHttpRequest}} Upload
 * `left`: a message went out without it */

export class Uploads {
  #all = /** @type {Upload[]} */ ([]);

  /** @param {() => number} limit bytes of one file @param {() => void} changed */
  constructor(limit, changed) {
    this.limit = limit;
    this.changed = changed;
    this.element = h("div", { class: "uploads", role: "list", "aria-label": "Files to send", hidden: true });
  }

  /** @param {Iterable<Blob & {name?: string}>} files */
  add(files) {
    for (const file of files) {
      const upload = /** @type {Upload} */ ({ name: file.name || "pasted image.png", size: file.size, done: 0 });
      if (this.#all.filter((other) => !other.problem).length >= MOST) upload.problem = `at most ${MOST} files`;
      else if (file.size > this.limit()) upload.problem = `larger than ${sizeOf(this.limit())}`;
      else this.#start(upload, file);
      this.#all.push(upload);
    }
    this.#draw();
  }

  /** Whether some are still being uploaded. */
  get busy() {
    return this.#all.some((upload) => !upload.file && !upload.problem);
  }

  /** Whether an upload failed: the person then decides what to do with the message. */
  get failed() {
    return this.#all.some((upload) => upload.problem && !upload.left);
  }

  /** What has arrived; it is forgotten here. What could not be taken stays, with the reason, until it is removed.
   * @returns {import("./state.js").File[]} */
  take() {
    const files = this.#all.flatMap((upload) => (upload.file ? [upload.file] : []));
    this.#all = this.#all.flatMap((upload) => (upload.problem ? [{ ...upload, left: true }] : []));
    this.#draw();
    return files;
  }

  get count() {
    return this.#all.filter((upload) => upload.file).length;
  }

  /** @param {Upload} upload @param {Blob} file */
  #start(upload, file) {
    const request = (upload.request = new XMLHttpRequest());
    request.open("POST", `/files?name=${encodeURIComponent(upload.name)}`);
    request.setRequestHeader("Content-Type", file.type || "application/octet-stream");
    request.setRequestHeader("X-Rejoinder", "1");
    request.responseType = "json";
    request.upload.onprogress = ({ loaded }) => {
      upload.done = loaded;
      this.#draw();
    };
    request.onload = () => {
      if (request.status < 300) upload.file = request.response;
      else upload.problem = request.status === 413 ? `larger than ${sizeOf(this.limit())}` : (request.response?.error ?? "the server did not accept it");
      this.#draw();
    };
    request.onerror = () => {
      upload.problem = "the server could not be reached";
      this.#draw();
    };
    request.send(file);
  }

  /** @param {Upload} upload */
  #remove(upload) {
    upload.request?.abort();
    this.#all = this.#all.filter((other) => other !== upload);
    this.#draw();
  }

  #draw() {
    this.element.hidden = this.#all.length === 0;
    fill(this.element, ...this.#all.map((upload) => this.#chip(upload)));
    this.changed();
  }

  /** @param {Upload} upload */
  #chip(upload) {
    const name = clean(upload.name);
    const progress =
      upload.file || upload.problem
        ? null
        : h("progress", { max: upload.size || 1, value: upload.done, "aria-label": `Sending ${name}` });
    return h(
      "div",
      { class: upload.problem ? "chip problem" : "chip", role: "listitem" },
      icon(upload.problem ? "alert" : "file"),
      h("bdi", { class: "file-name" }, name),
      h("span", { class: "file-size" }, upload.problem ?? sizeOf(upload.size)),
      progress,
      h(
        "button",
        { type: "button", class: "quiet", "aria-label": `Remove ${name}`, onclick: () => this.#remove(upload) },
        icon("close"),
      ),
    );
  }
}
