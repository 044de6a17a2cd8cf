/** Announces messages that come while nobody looks: always by the number in the title, if wanted by notifications. */

import { clean } from "../shared/clean.js";
import { wordsOf } from "./words.js";

const KEY = "rejoinder.notify";
const BLOCKED = "The browser blocks notifications for this page. Allow them in its settings for this site, then try again.";
const NONE = "The browser does not support notifications on this page.";

export class Notifier {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
  }

  get on() {
    return localStorage.getItem(KEY) === "1" && "Notification" in window && Notification.permission === "granted";
  }

  async toggle() {
    if (this.on) localStorage.removeItem(KEY);
    else await this.#turnOn();
    this.app.sidebar.draw();
  }

  async #turnOn() {
    if (!("Notification" in window)) return this.app.dialogs.tell("Notifications", NONE);
    const answer = await Notification.requestPermission();
    if (answer === "granted") localStorage.setItem(KEY, "1");
    else if (answer === "denied") this.app.dialogs.tell("Notifications", BLOCKED); // it does not even ask
  }

  /** Called when a message is complete. @param {import("./state.js").Message} message */
  tell(message) {
    if (!this.on || !document.hidden || message.silent || this.app.state.isMine(message)) return;
    const author = this.app.state.member(message.author);
    const room = this.app.state.rooms.get(message.room);
    const shown = new Notification(clean(`${author.name} · ${room?.title ?? ""}`), {
      body: wordsOf(message, this.app.state.mentions()),
      tag: message.room,
      icon: "/static/icon.svg",
    });
    shown.onclick = () => {
      window.focus();
      this.app.navigation.goTo(message);
    };
  }

  count() {
    const unread = this.app.state.unread();
    const room = this.app.state.rooms.get(this.app.navigation.room);
    document.title = `${unread ? `(${unread}) ` : ""}${room ? `${clean(room.title)} · ` : ""}rejoinder`;
  }
}
