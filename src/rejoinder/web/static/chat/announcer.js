/** Announces whole messages to screen readers, each once: a growing message would be read again with every word. */

import { clean, oneLine } from "../shared/clean.js";
import { h } from "../shared/dom.js";

const KEPT = 5;

export class Announcer {
  element = h("div", { class: "sr-only", role: "status", "aria-live": "polite", "aria-relevant": "additions" });

  /** @param {string} name @param {string} text */
  say(name, text) {
    this.element.append(h("p", {}, `${clean(name)}: ${oneLine(text, 500)}`));
    while (this.element.children.length > KEPT) this.element.firstChild.remove();
  }
}
