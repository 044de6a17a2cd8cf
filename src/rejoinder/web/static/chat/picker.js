/** A small window with emoji: the common ones, a search, all of them. Arrows walk, Escape closes. */

import { fill, h } from "../shared/dom.js";
import { COMMON, EMOJI, findEmoji } from "./emoji.js";

const COLUMNS = 8;

/** @param {Element} anchor @param {(emoji: string) => void} choose */
export function pickEmoji(anchor, choose) {
  const back = /** @type {any} */ (document.activeElement);
  const grid = h("div", { class: "grid", role: "group", "aria-label": "Emoji" });
  const search = h("input", {
    type: "search",
    placeholder: "Search emoji",
    "aria-label": "Search emoji",
    autocomplete: "off",
    oninput: () => show(),
  });
  const popup = h(
    "div",
    { class: "picker", role: "dialog", "aria-label": "Choose a reaction", onkeydown: key },
    search,
    grid,
  );

  const close = () => {
    removeEventListener("pointerdown", outside, true);
    popup.remove();
    back?.focus?.({ preventScroll: true });
  };
  const outside = (/** @type {any} */ event) => {
    if (!popup.contains(event.target)) close();
  };
  const button = (/** @type {string} */ emoji, /** @type {string} */ words) =>
    h(
      "button",
      {
        type: "button",
        class: "emoji-button",
        title: words,
        "aria-label": `${emoji} ${words}`,
        tabIndex: -1,
        onclick: () => (close(), choose(emoji)),
      },
      emoji,
    );

  function show() {
    const query = search.value.trim();
    const words = new Map(EMOJI.map((entry) => [entry.emoji, entry.words]));
    const found = query
      ? findEmoji(query)
      : [
          ...COMMON.map((emoji) => ({ emoji, words: words.get(emoji) ?? "" })),
          ...EMOJI.filter((entry) => !COMMON.includes(entry.emoji)),
        ];
    fill(grid, ...found.map((entry) => button(entry.emoji, entry.words)));
    if (!found.length) fill(grid, h("p", { class: "nothing" }, "No such emoji."));
    else grid.firstChild.tabIndex = 0;
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const all = [...grid.querySelectorAll("button")];
    const at = all.indexOf(/** @type {any} */ (document.activeElement));
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: at < 0 ? 1 : COLUMNS, ArrowUp: -COLUMNS }[event.key];
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && at < 0 && all.length) all[0].click();
    else if (step === undefined || (at < 0 && event.key !== "ArrowDown")) return;
    else if (at + step < 0) search.focus();
    else all[Math.min(all.length - 1, at + step)]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  show();
  document.body.append(popup);
  const box = anchor.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popup;
  const left = Math.max(8, Math.min(innerWidth - width - 8, box.right - width));
  const below = box.bottom + 6 + height < innerHeight;
  popup.style.setProperty("left", `${left}px`);
  popup.style.setProperty("top", `${Math.max(8, below ? box.bottom + 6 : box.top - height - 6)}px`);
  addEventListener("pointerdown", outside, true);
  search.focus({ preventScroll: true });
}
