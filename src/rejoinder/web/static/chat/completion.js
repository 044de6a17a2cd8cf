/**
 * Completes `/commands` at the beginning, `@names` and `:emoji:` anywhere: a list above the message box.
 *
 * Enter sends a command whose name, or an alias, was typed completely, even if a longer command begins with it; after
 * an arrow key, Enter takes the chosen entry of the list instead. An unknown command is text for the agent. If it looks
 * like a typo, the nearest command is offered, and Enter still sends what was typed.
 */

import { fill, h } from "../shared/dom.js";
import { emojiCalled, findEmoji } from "./emoji.js";

/**
 * @typedef {{insert: string, label: string, detail: string, mark?: Node | string, guessed?: boolean}} Offer
 * @typedef {{from: number, to: number, offers: Offer[], whole?: boolean}} Found `whole`: what stands there is a command
 * @typedef {{name: string, description: string, aliases?: string[]}} Command
 */

const MOST = 8;
const SLIPS = 2; // letters that may be wrong, missing, extra or in a different order

/**
 * What could be completed at the cursor; pure, so that tests need no page.
 * @param {string} text @param {number} cursor
 * @param {{commands: Command[], people: {id: string, name: string}[]}} known
 * @returns {Found | null}
 */
export function completions(text, cursor, known) {
  const before = text.slice(0, cursor);
  const command = /^\/([\w-]*)$/.exec(before);
  if (command) {
    const typed = command[1].toLowerCase();
    const begins = (/** @type {string} */ word) => bare(word).startsWith(typed);
    const fitting = [
      ...known.commands.filter(({ name }) => begins(name)),
      ...known.commands.filter(({ name, aliases = [] }) => !begins(name) && aliases.some(begins)),
    ];
    const whole = known.commands.some(({ name, aliases = [] }) =>
      [name, ...aliases].some((word) => bare(word) === typed),
    );
    const guessed = !fitting.length;
    const offers = (guessed ? nearest(typed, known.commands) : fitting).map(({ name, description }) => ({
      insert: `/${bare(name)} `,
      label: `/${bare(name)}`,
      detail: guessed ? `Did you mean this? ${description}` : description,
      guessed,
    }));
    const there = found(0, cursor, offers);
    return there && { ...there, whole };
  }
  const mention = /(?:^|[\s(])@([\p{L}\p{N}_.-]*)$/u.exec(before);
  if (mention) {
    const query = mention[1].toLowerCase();
    const people = [...known.people, { id: "all", name: "Everybody here" }];
    const fitting = people.filter(
      ({ id, name }) => id.toLowerCase().startsWith(query) || name.toLowerCase().startsWith(query),
    );
    const offers = fitting.map(({ id, name }) => ({ insert: `@${id} `, label: `@${id}`, detail: name }));
    return found(cursor - query.length - 1, cursor, offers);
  }
  const emoji = /(?:^|\s):([a-z_+-][a-z0-9_+-]+)(:?)$/i.exec(before);
  if (emoji) {
    const [, query, closed] = emoji;
    const offers = (closed ? emojiCalled(query) : findEmoji(query)).map((entry) => ({
      insert: `${entry.emoji} `,
      label: entry.name,
      detail: entry.others,
      mark: entry.emoji,
    }));
    return found(cursor - query.length - closed.length - 1, cursor, offers);
  }
  return null;
}

/** @param {string} typed @param {{name: string, description: string}[]} commands */
function nearest(typed, commands) {
  const far = (/** @type {{name: string}} */ { name }) => slips(typed, bare(name));
  const least = Math.min(...commands.map(far));
  // In a short word, too few letters would be left.
  return least <= SLIPS && least * 2 < typed.length ? commands.filter((each) => far(each) === least) : [];
}

/** The number of typos that turn one word into the other. @param {string} a @param {string} b */
function slips(a, b) {
  let [before, last] = [/** @type {number[]} */ ([]), Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], before[j - 2] + 1);
    }
    [before, last] = [last, row];
  }
  return last[b.length];
}

/** @param {string} name */
const bare = (name) => name.replace(/^\//, "").toLowerCase();

/** @param {number} from @param {number} to @param {Offer[]} offers @returns {Found | null} */
const found = (from, to, offers) => (offers.length ? { from, to, offers: offers.slice(0, MOST) } : null);

export class Completion {
  #found = /** @type {Found | null} */ (null);
  #chosen = 0;
  #moved = false; // an arrow key was pressed, so Enter is for the list

  /** @param {any} box the message box @param {() => any} known @param {string} id */
  constructor(box, known, id) {
    this.box = box;
    this.known = known;
    this.list = h("ul", { class: "completion", role: "listbox", id, "aria-label": "Suggestions", hidden: true });
    box.setAttribute("role", "combobox");
    box.setAttribute("aria-autocomplete", "list");
    box.setAttribute("aria-controls", id);
    this.#draw();
  }

  update() {
    const { value, selectionStart, selectionEnd } = this.box;
    this.#found = selectionStart === selectionEnd ? completions(value, selectionStart, this.known()) : null;
    this.#chosen = 0;
    this.#moved = false;
    this.#draw();
  }

  close() {
    this.#found = null;
    this.#draw();
  }

  /** @param {KeyboardEvent} event @returns {boolean} whether the key was the list's */
  key(event) {
    if (!this.#found) return false;
    const count = this.#found.offers.length;
    if (event.key === "ArrowDown") this.#choose((this.#chosen + 1) % count);
    else if (event.key === "ArrowUp") this.#choose((this.#chosen + count - 1) % count);
    else if (event.key === "Escape") this.close();
    else if (event.key === "Tab" || (event.key === "Enter" && !this.#isWhole())) this.#take(this.#chosen);
    else return false;
    event.preventDefault();
    return true;
  }

  /** Whether Enter sends the text: it does if the command is complete, or if our offer is only a guess. */
  #isWhole() {
    const { from, to, offers, whole } = /** @type {Found} */ (this.#found);
    const { insert, guessed } = offers[this.#chosen];
    return !this.#moved && (whole || guessed || insert.trim() === this.box.value.slice(from, to));
  }

  /** @param {number} index */
  #choose(index) {
    this.#chosen = index;
    this.#moved = true;
    this.#draw();
  }

  /** @param {number} index */
  #take(index) {
    const { from, to, offers } = /** @type {Found} */ (this.#found);
    this.box.setRangeText(offers[index].insert, from, to, "end");
    this.close();
    this.box.dispatchEvent(new Event("input", { bubbles: true }));
    this.box.focus();
  }

  #draw() {
    const offers = this.#found?.offers ?? [];
    this.list.hidden = offers.length === 0;
    this.box.setAttribute("aria-expanded", String(offers.length > 0));
    const rows = offers.map((offer, i) =>
      h(
        "li",
        {
          role: "option",
          id: `${this.list.id}-${i}`,
          "aria-selected": String(i === this.#chosen),
          onpointerdown: (/** @type {Event} */ event) => (event.preventDefault(), this.#take(i)),
        },
        offer.mark ? h("span", { class: "glyph" }, offer.mark) : null,
        h("strong", {}, offer.label),
        h("span", {}, offer.detail),
      ),
    );
    fill(this.list, ...rows);
    if (offers.length) this.box.setAttribute("aria-activedescendant", `${this.list.id}-${this.#chosen}`);
    else this.box.removeAttribute("aria-activedescendant");
    rows[this.#chosen]?.scrollIntoView({ block: "nearest" });
  }
}
