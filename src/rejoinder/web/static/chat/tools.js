/** The small bar with what one can do with a message. There is one of it; it moves to the message that is meant. */

import { fill, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

/**
 * @typedef {import("./state.js").Message} Message
 * @typedef {{label: string, icon?: string, emoji?: string, key?: string, when?: (message: Message) => boolean, act: (message: Message, button: any) => void}} Tool
 */

export class Tools {
  #message = /** @type {Message | null} */ (null);

  /** @param {Tool[]} tools in the order they are drawn; their keys work on a focused message */
  constructor(tools) {
    this.tools = tools;
    this.element = h("div", { class: "tools", role: "toolbar", "aria-label": "Message" });
  }

  /** @param {Message} message @param {Element} element */
  offer(message, element) {
    if (this.#message?.id === message.id && this.element.parentElement === element) return;
    if (this.element.contains(document.activeElement)) return;
    this.#message = message;
    fill(this.element, ...this.#fitting(message).map((tool) => this.#button(tool, message)));
    element.append(this.element);
  }

  /** @param {string} key @param {Message} message @param {any} element @returns {boolean} */
  key(key, message, element) {
    const tool = this.#fitting(message).find((candidate) => candidate.key === key);
    tool?.act(message, element);
    return tool !== undefined;
  }

  /** @param {Message} message */
  #fitting(message) {
    return this.tools.filter((tool) => !tool.when || tool.when(message));
  }

  /** @param {Tool} tool @param {Message} message */
  #button(tool, message) {
    const title = tool.key ? `${tool.label} (${tool.key === "Delete" ? "Del" : tool.key})` : tool.label;
    const act = (/** @type {Event} */ event) => tool.act(message, event.currentTarget);
    return h(
      "button",
      { type: "button", title, "aria-label": tool.label, onclick: act },
      tool.emoji ?? icon(tool.icon ?? ""),
    );
  }
}
