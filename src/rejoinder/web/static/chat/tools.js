/** The small bar with the tools for a message. There is only one; it moves to the message under pointer or focus. */

import { fill, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/**
 * @typedef {import("./state.js").Message} Message
 * @typedef {{label: string, icon?: string, emoji?: string, key?: string, when?: (message: Message) => boolean, onGone?: boolean, act: (message: Message, button: any) => void}} Tool
 *   `onGone`: also with what is left of a deleted message
 */

const REMARK_LASTS = 1500; // the same as for a block of code

export class Tools {
  #message = /** @type {Message | null} */ (null);

  /** @param {Tool[]} tools in the order they are drawn; their keys work on a focused message */
  constructor(tools) {
    this.tools = tools;
    this.element = h("div", { class: "tools", role: "toolbar", "aria-label": "Message" });
  }

  /** Shows what can be done with a message as it is now. @param {Message} message @param {Element} element */
  offer(message, element) {
    if (this.#message === message && this.element.parentElement === element) return;
    // It stays for people who use the keyboard; a click leaves the focus there, too, but then the pointer decides.
    const held = this.element.contains(document.activeElement);
    if (held && this.#message?.id !== message.id && document.activeElement?.matches(":focus-visible")) return;
    const label = held ? document.activeElement?.getAttribute("aria-label") : null;
    this.#message = message;
    const buttons = this.#fitting(message).map((tool) => this.#button(tool, message));
    fill(this.element, ...buttons);
    this.element.hidden = !buttons.length;
    if (this.element.parentElement !== element) element.append(this.element);
    else if (label) buttons.find((button) => button.getAttribute("aria-label") === label)?.focus({ preventScroll: true });
  }

  /** @param {string} key @param {Message} message @param {any} element @returns {boolean} */
  key(key, message, element) {
    const tool = this.#fitting(message).find((candidate) => candidate.key === key);
    tool?.act(message, element);
    return tool !== undefined;
  }

  /** Says for a moment what a tool has done, in the place of its picture. @param {Message} message @param {string} label
   * @param {string} words */
  remark(message, label, words) {
    const tool = this.tools.find((each) => each.label === label);
    const button = [...this.element.children].find((each) => each.getAttribute("aria-label") === label);
    if (!tool || !button || this.#message?.id !== message.id) return;
    fill(button, words);
    button.classList.add("remark");
    setTimeout(() => {
      fill(button, looks(tool));
      button.classList.remove("remark");
    }, REMARK_LASTS);
  }

  /** @param {Message} message */
  #fitting(message) {
    return this.tools.filter((tool) => (!message.gone || tool.onGone) && (!tool.when || tool.when(message)));
  }

  /** @param {Tool} tool @param {Message} message */
  #button(tool, message) {
    const title = tool.key ? `${tool.label} (${tool.key === "Delete" ? "Del" : tool.key})` : tool.label;
    const act = (/** @type {Event} */ event) => tool.act(message, event.currentTarget);
    return h("button", { type: "button", title, "aria-label": tool.label, onclick: act }, looks(tool));
  }
}

/** @param {Tool} tool */
const looks = (tool) => tool.emoji ?? icon(tool.icon ?? "");
