/** A place to talk: the messages, who is typing, the message box. The room is one, an open thread is another. */

import { h } from "../shared/dom.js";
import { face, namesOf } from "./faces.js";
import { Composer } from "./composer.js";
import { pickEmoji } from "./picker.js";
import { roomOf, threadOf } from "./state.js";
import { Timeline } from "./timeline.js";
import { Tools } from "./tools.js";

/** @typedef {import("./state.js").Message} Message */

const COPY = "Copy text";

export class Pane {
  place = "";
  #typingTimer = 0;

  /** @param {import("./app.js").App} app @param {{id: string, label: string, empty?: () => Node, escape: () => void}} options */
  constructor(app, { id, label, empty, escape }) {
    this.app = app;
    const { state, requests } = app;
    this.composer = new Composer(
      state,
      id,
      `Message to ${label}`,
      {
        say: (text, replyTo, files) => this.say(text, replyTo?.id ?? null, files),
        edit: (message, text) => app.ask({ type: "edit", message: message.id, text }),
        remove: (message) => app.remove(message),
        stop: () => app.ask({ type: "stop", room: roomOf(this.place), thread: threadOf(this.place) }),
        typing: () => app.line.send({ type: "typing", room: roomOf(this.place), thread: threadOf(this.place) }),
        lastOwn: () => state.lastOwn(this.place),
        note: (words) => app.note(words, this.place),
        escape,
        toMessages: () => this.#toMessages(),
      },
      () => app.completable(roomOf(this.place)),
    );
    this.tools = new Tools(this.#toolbar());
    this.timeline = new Timeline(state, requests, this.#actions(), { label, empty, seen: () => app.sawRoom() });
    this.typing = h("div", { class: "typing", "aria-live": "off" });
    this.element = h("div", { class: "pane" }, this.timeline.element, this.typing, this.composer.element);
    this.#takesDrops();
  }

  /** @param {string} place @param {{readTo?: number | null, placeholder?: string}} [options] */
  show(place, { readTo = null, placeholder } = {}) {
    this.place = place;
    this.composer.show(place, placeholder);
    this.timeline.show(place, readTo);
    this.showTyping();
  }

  /** @param {string} text @param {string | null} replyTo @param {import("./state.js").File[]} files */
  say(text, replyTo = null, files = []) {
    const frame = {
      type: "say",
      room: roomOf(this.place),
      thread: threadOf(this.place),
      text,
      reply_to: replyTo,
      files: files.map((file) => file.id),
    };
    this.app.ask(frame, files);
    this.timeline.toEnd();
  }

  showTyping() {
    clearTimeout(this.#typingTimer);
    const { state } = this.app;
    const members = state.typing(this.place, Date.now());
    this.composer.atWork(state.isAtWork(this.place, Date.now()));
    this.typing.replaceChildren();
    if (!members.length) return;
    const faces = members.slice(0, 3).map((member) => face(member, "tiny"));
    const dots = h("span", { class: "dots", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
    const words = `${namesOf(members)} ${members.length === 1 ? "is" : "are"} typing`;
    this.typing.append(...faces, h("span", {}, words), dots);
    this.#typingTimer = setTimeout(() => this.showTyping(), 1000);
  }

  /** Focuses the one message that Tab reaches, past the buttons between. @returns {boolean} whether there is one */
  #toMessages() {
    const message = /** @type {any} */ (this.timeline.element.querySelector(".message[tabindex='0']"));
    message?.focus();
    return Boolean(message);
  }

  /** @returns {import("./tools.js").Tool[]} */
  #toolbar() {
    const { app } = this;
    const mine = (/** @type {Message} */ message) => app.state.isMine(message);
    const open = (/** @type {Message} */ message) => !message.growing;
    return [
      { label: "Like", emoji: "👍", key: "+", when: open, act: (message) => this.#toggle(message, "👍") },
      { label: "React", icon: "smile", key: "e", when: open, act: (message, anchor) => this.#pick(message, anchor) },
      { label: "Reply", icon: "reply", key: "r", act: (message) => this.composer.replyTo(message) },
      {
        label: "Open thread",
        icon: "thread",
        key: "t",
        onGone: true,
        when: (message) => !message.thread && !threadOf(this.place) && !message.only_for,
        act: (message) => app.openThread(message),
      },
      {
        label: "Edit",
        icon: "edit",
        key: "u",
        when: (message) => app.state.canEdit(message),
        act: (message) => this.composer.edit(message),
      },
      { label: COPY, icon: "copy", key: "c", act: (message) => this.#copy(message) },
      {
        label: "Why? What was decided about it",
        icon: "why",
        key: "?",
        act: (message) => app.panel.openWhy(message),
      },
      { label: "Delete", icon: "trash", key: "Delete", when: mine, act: (message) => app.remove(message) },
    ];
  }

  /** @returns {import("./actions.js").Actions} */
  #actions() {
    const { app } = this;
    return {
      jump: (id) => app.navigation.jump(id, this),
      react: (message, emoji, remove) => app.ask({ type: "react", message: message.id, emoji, remove }),
      pick: (message, anchor) => this.#pick(message, anchor),
      openThread: (message) => app.openThread(message),
      press: (message, choice) => app.ask({ type: "press", message: message.id, says: choice.says }),
      retry: (client) => app.retry(client),
      discard: (client) => app.discard(client),
      latestDelivered: () => app.latestDelivered,
      history: (place, where) => app.history(place, where),
      offer: (message, element) => this.tools.offer(message, element),
      key: (key, message, element) => {
        if (key === "Escape") this.composer.focus();
        return key === "Escape" || this.tools.key(key, message, element);
      },
      focus: () => this.composer.focus(),
    };
  }

  /** @param {Message} message @param {any} anchor */
  #pick(message, anchor) {
    pickEmoji(anchor, (emoji) => this.#toggle(message, emoji));
  }

  /** @param {Message} message */
  async #copy(message) {
    const done = await this.app.copy(message);
    this.tools.remark(message, COPY, done ? "Copied" : "Not allowed");
  }

  /** @param {Message} message @param {string} emoji */
  #toggle(message, emoji) {
    const now = this.app.state.messages.get(message.id) ?? message;
    const given = now.reactions
      ?.find((reaction) => reaction.emoji === emoji)
      ?.who.includes(this.app.state.me?.id ?? "");
    this.app.ask({ type: "react", message: message.id, emoji, remove: Boolean(given) });
  }

  #takesDrops() {
    const { element } = this;
    const over = (/** @type {boolean} */ on) => element.classList.toggle("dropping", on);
    element.addEventListener("dragover", (/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      over(true);
    });
    element.addEventListener("dragleave", (/** @type {DragEvent} */ event) => {
      if (!element.contains(/** @type {Node} */ (event.relatedTarget))) over(false);
    });
    element.addEventListener("drop", (/** @type {DragEvent} */ event) => {
      over(false);
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.composer.uploads.add(event.dataTransfer.files);
      this.composer.focus();
    });
  }
}
