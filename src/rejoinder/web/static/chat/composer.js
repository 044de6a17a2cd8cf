/** The message box: drafts that survive a reload, replying, editing, files, completion. */

import { clean } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { Completion } from "./completion.js";
import { Recorder } from "./recorder.js";
import { Uploads } from "./uploads.js";
import { wordsOf } from "./words.js";

const LONGEST = 200_000; // the same as the protocol's `Words`
const TYPING_EVERY = 3_000;

/**
 * @typedef {import("./state.js").Message} Message
 * @typedef {object} Hands the functions that the box calls
 * @property {(text: string, replyTo: Message | null, files: import("./state.js").File[]) => void} say
 * @property {(message: Message, text: string) => void} edit
 * @property {(message: Message) => void} remove
 * @property {() => void} stop stop the agent that is working here
 * @property {() => void} typing
 * @property {() => Message | undefined} lastOwn
 * @property {(words: string) => void} note say what could not be done
 * @property {() => void} escape called for Escape if there is nothing left to cancel
 * @property {() => boolean} toMessages move the focus to the messages; returns whether there is one
 */

export class Composer {
  #place = "";
  #replyTo = /** @type {Message | null} */ (null);
  #editing = /** @type {Message | null} */ (null);
  #lastTyping = 0;
  #width = 0;
  #atWork = false;
  #stopping = false; // a stop was requested, and takes a moment
  #hurried = false; // sent before the page knew its room: goes out as soon as it does
  #waitsForFiles = false; // sent while files were uploading: goes out when all have arrived

  /** @param {import("./state.js").ChatState} state @param {string} id @param {string} label @param {Hands} hands
   * @param {() => any} known what can be completed */
  constructor(state, id, label, hands, known) {
    this.state = state;
    this.hands = hands;
    this.box = h("textarea", {
      id,
      rows: 1,
      maxlength: LONGEST,
      placeholder: "Message",
      "aria-label": label,
      autocomplete: "off",
      oninput: () => this.#typed(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
      onpaste: (/** @type {ClipboardEvent} */ event) => this.#pasted(event),
      onblur: () => this.completion.close(),
      dir: "auto",
    });
    this.completion = new Completion(this.box, known, `${id}-list`);
    this.uploads = new Uploads(
      () => state.uploadLimit,
      () => this.#uploaded(),
    );
    this.context = h("div", { class: "context", hidden: true });
    this.chooser = h("input", {
      type: "file",
      multiple: true,
      hidden: true,
      "aria-label": "Files",
      onchange: () => this.#chosen(),
    });
    this.button = h(
      "button",
      { type: "submit", class: "send", "aria-label": "Send", title: "Send (Enter)" },
      icon("send"),
    );
    const attach = h(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": "Attach files",
        title: "Attach files",
        onclick: () => this.chooser.click(),
      },
      icon("attach"),
    );
    this.recorder = new Recorder(
      (file) => this.#recorded(file),
      () => this.focus(),
      (words) => hands.note(words),
    );
    this.element = h(
      "form",
      { class: "composer", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), this.#press()) },
      this.completion.list,
      this.context,
      this.uploads.element,
      h("div", { class: "box" }, attach, this.chooser, this.box, this.recorder.button, this.button, this.recorder.element),
    );
    new ResizeObserver(() => this.#fit()).observe(this.element);
    this.#ready();
  }

  /** @param {string} place @param {string} [placeholder] */
  show(place, placeholder = "Message") {
    if (place === this.#place) return;
    const early = this.#place === "" ? this.box.value : "";
    this.#place = place;
    this.#replyTo = this.#editing = null;
    this.box.value = early || (localStorage.getItem(this.#draftKey) ?? "");
    this.box.placeholder = placeholder;
    this.box.setAttribute("aria-label", placeholder);
    this.#context();
    this.#grow();
    this.#ready();
    if (early) this.completion.update(); // there was nothing to offer before the room was known
    if (this.#hurried) this.submit();
    this.#hurried = false;
  }

  focus() {
    this.box.focus();
  }

  /** Whether there is something to stop here. @param {boolean} now */
  atWork(now) {
    if (now === this.#atWork) return;
    this.#atWork = now;
    this.#stopping = false;
    this.#ready();
  }

  /** @param {string} text */
  put(text) {
    this.box.value = text;
    this.#typed();
    this.focus();
  }

  /** @param {Message} message */
  replyTo(message) {
    if (this.#editing) this.#restoreDraft();
    this.#replyTo = message;
    this.#context();
    this.focus();
  }

  /** @param {Message} message */
  edit(message) {
    this.#editing = message;
    this.#replyTo = null;
    this.box.value = message.text;
    this.#context();
    this.#grow();
    this.#ready();
    this.focus();
    this.box.setSelectionRange(message.text.length, message.text.length);
  }

  submit() {
    if (!this.#place) {
      this.#hurried = true;
      return;
    }
    const text = this.box.value.trim();
    this.#waitsForFiles = this.uploads.busy;
    if (this.uploads.busy || (!text && !this.#editing && !this.uploads.count)) return;
    if (this.#editing) {
      if (!text) this.hands.remove(this.#editing); // asks for confirmation
      else if (text !== this.#editing.text) this.hands.edit(this.#editing, text);
      this.#restoreDraft();
    } else {
      this.hands.say(text, this.#replyTo, this.uploads.take());
      this.box.value = "";
      localStorage.removeItem(this.#draftKey);
    }
    this.#replyTo = null;
    this.#lastTyping = 0;
    this.completion.close();
    this.#context();
    this.#grow();
    this.#ready();
  }

  #uploaded() {
    this.#ready();
    if (!this.#waitsForFiles || this.uploads.busy) return;
    this.#waitsForFiles = false;
    if (!this.uploads.failed) this.submit();
  }

  get #mayStop() {
    return this.#atWork && !this.#editing && !this.box.value.trim() && !this.uploads?.count;
  }

  #press() {
    if (!this.#mayStop) return this.submit();
    this.#stopping = true;
    this.#ready();
    this.hands.stop();
    this.focus();
  }

  get #draftKey() {
    return `rejoinder.draft.${this.#place}`;
  }

  #restoreDraft() {
    this.#editing = null;
    this.box.value = localStorage.getItem(this.#draftKey) ?? "";
    this.#context();
    this.#grow();
    this.#ready();
  }

  #typed() {
    this.#waitsForFiles = false;
    if (!this.#editing && this.#place) {
      if (this.box.value) localStorage.setItem(this.#draftKey, this.box.value);
      else localStorage.removeItem(this.#draftKey);
    }
    if (this.#place && this.box.value && Date.now() - this.#lastTyping > TYPING_EVERY) {
      this.#lastTyping = Date.now();
      this.hands.typing();
    }
    this.completion.update();
    this.#grow();
    this.#ready();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing || this.completion.key(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (this.#editing) this.#restoreDraft();
      else if (this.#replyTo) this.#cancelReply();
      else this.hands.escape();
    } else if (event.key === "Tab" && event.shiftKey) {
      if (this.hands.toMessages()) event.preventDefault(); // else the button before the box is next
    } else if (event.key === "ArrowUp" && !this.box.value) {
      const own = this.hands.lastOwn();
      if (own) {
        event.preventDefault();
        this.edit(own);
      }
    }
  }

  #cancelReply() {
    this.#replyTo = null;
    this.#context();
  }

  /** @param {ClipboardEvent} event */
  #pasted(event) {
    const files = [...(event.clipboardData?.files ?? [])];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const { value, selectionStart, selectionEnd } = this.box;
    // The box would silently cut it off; as a file it stays whole.
    if (!files.length && value.length - (selectionEnd - selectionStart) + text.length > LONGEST)
      files.push(new File([text], "pasted text.txt", { type: "text/plain" }));
    if (!files.length) return;
    event.preventDefault();
    this.uploads.add(files);
  }

  /** Sends a recording as soon as it is uploaded, with the text in the box. @param {File} file */
  #recorded(file) {
    this.uploads.add([file]);
    this.submit();
  }

  #chosen() {
    this.uploads.add(this.chooser.files);
    this.chooser.value = "";
    this.focus();
  }

  #context() {
    const meant = this.#editing ?? this.#replyTo;
    this.context.hidden = meant === null;
    if (!meant) return fill(this.context);
    const words = this.#editing ? "Editing your message" : `Replying to ${clean(this.state.member(meant.author).name)}`;
    const cancel = () => {
      if (this.#editing) this.#restoreDraft();
      else this.#cancelReply();
      this.focus();
    };
    fill(
      this.context,
      icon(this.#editing ? "edit" : "reply"),
      h("strong", {}, words),
      h("span", { dir: "auto" }, wordsOf(meant, this.state.mentions())),
      h(
        "button",
        { type: "button", class: "quiet", "aria-label": "Cancel", title: "Cancel (Esc)", onclick: cancel },
        icon("close"),
      ),
    );
  }

  /** One button: if there is text it sends it, otherwise it stops the working agent. */
  #ready() {
    const stops = this.#mayStop;
    const empty = !this.box.value.trim() && !this.uploads?.count && !this.#editing;
    this.button.disabled = stops ? this.#stopping : Boolean(empty || this.uploads?.busy);
    this.button.title = stops ? "Stop (/stop)" : this.uploads?.busy ? "Waiting for the upload" : "Send (Enter)";
    if (this.button.classList.toggle("stops", stops) === (this.button.getAttribute("aria-label") === "Stop")) return;
    this.button.setAttribute("aria-label", stops ? "Stop" : "Send");
    fill(this.button, icon(stops ? "stop" : "send"));
  }

  /** With a different width the text wraps differently, and on a phone the letters are larger. */
  #fit() {
    const { clientWidth } = this.element;
    if (clientWidth === this.#width) return;
    this.#width = clientWidth;
    requestAnimationFrame(() => this.#grow());
  }

  #grow() {
    this.box.style.setProperty("height", "auto");
    this.box.style.setProperty("height", `${this.box.scrollHeight}px`);
  }
}
