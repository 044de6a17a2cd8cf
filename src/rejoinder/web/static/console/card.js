/** A card of the console: requested and redrawn again and again, with ages that count up while one looks at them. */

import { sentence } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { fullOf } from "../shared/times.js";
import { get, post } from "../shared/api.js";

/** Shows what failed. */
export class Card {
  #last = "";

  /** @param {string} id @param {string} title @param {string} path @param {(answer: any, card: Card) => Node[]} draw */
  constructor(id, title, path, draw) {
    this.path = path;
    this.draw = draw;
    this.content = h("div", { class: "content" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.element = h(
      "section",
      { class: "card", id, "aria-label": title },
      h("header", {}, h("h2", {}, title)),
      this.problem,
      this.content,
    );
  }

  async refresh() {
    try {
      const answer = await get(this.path);
      this.problem.hidden = true;
      const text = JSON.stringify(answer);
      if (text === this.#last && !this.element.querySelector("[data-since], [data-until]")) return;
      if (text === this.#last) return age(this.element);
      this.#last = text;
      const unfolded = new Set([...this.content.querySelectorAll("details[open] > summary")].map(words));
      fill(this.content, ...this.draw(answer, this));
      for (const summary of this.content.querySelectorAll("details > summary"))
        if (unfolded.has(words(summary))) /** @type {any} */ (summary.parentElement).open = true;
      age(this.element);
    } catch (error) {
      this.tell(/** @type {Error} */ (error).message);
    }
  }

  /** @param {string} path @param {any} button */
  async act(path, button) {
    button.disabled = true;
    try {
      await post(path);
      this.#last = "";
      await this.refresh();
    } catch (error) {
      button.disabled = false;
      this.tell(/** @type {Error} */ (error).message);
    }
  }

  /** A button that does something by a POST. @param {string} path @param {{label: string, sure?: string}} how
   * `sure`: what the button asks before it does it @param {...import("../shared/dom.js").Child} words */
  button(path, { label, sure }, ...words) {
    let isSure = !sure;
    const press = () => {
      if (isSure) return this.act(path, button);
      isSure = true;
      fill(button, sure);
      button.classList.add("sure");
      button.setAttribute("aria-label", `${label}: ${sure}`);
    };
    const calm = () => {
      if (!sure || button.disabled) return;
      isSure = false;
      fill(button, ...words);
      button.classList.remove("sure");
      button.setAttribute("aria-label", label);
    };
    const button = h(
      "button",
      { type: "button", class: "plain", "aria-label": label, onclick: press, onblur: calm },
      ...words,
    );
    return button;
  }

  /** @param {string} words */
  tell(words) {
    this.problem.textContent = sentence(words);
    this.problem.hidden = false;
  }
}

/** @param {Element} element */
const words = (element) => element.textContent;

/** An age that counts up. @param {string} moment */
export const since = (moment) => h("time", { datetime: moment, "data-since": moment });

/** A time in the future that counts down. @param {string} moment */
export const until = (moment) => h("time", { datetime: moment, "data-until": moment });

/** @param {Element} element */
function age(element) {
  for (const time of element.querySelectorAll("[data-since], [data-until]")) {
    const moment = Date.parse(time.getAttribute("datetime") ?? "");
    const left = moment - Date.now();
    const coming = left > 0 ? `in ${rounded(left)}` : "now";
    const words = time.hasAttribute("data-until") ? coming : `${rounded(Math.max(0, -left))} ago`;
    if (time.textContent !== words) time.textContent = words;
    time.setAttribute("title", fullOf(moment));
  }
}

/** @param {number} ms */
function rounded(ms) {
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}
