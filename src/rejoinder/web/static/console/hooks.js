/** The programs that get events: how many events wait for them, and why. */

import { clean } from "../shared/clean.js";
import { h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { since } from "./card.js";

/** @param {any} answer */
export const drawHooks = ({ hooks }) =>
  hooks.length
    ? [h("ul", { class: "rows" }, ...hooks.map(drawHook))]
    : [h("p", { class: "nothing" }, "No webhook is configured ([hooks.NAME]).")];

/** @param {any} each */
function drawHook(each) {
  const bad = Boolean(each.error) || each.dead > 0;
  return h(
    "li",
    { class: bad ? "bad" : "good" },
    icon(bad ? "alert" : "check"),
    h("strong", {}, clean(each.hook)),
    h("span", { class: "state" }, each.waiting ? `${each.waiting} waiting` : "nothing waiting"),
    each.dead ? h("span", { class: "state" }, `${each.dead} given up`) : null,
    each.oldest ? h("span", { class: "quiet-text" }, since(each.oldest)) : null,
    each.error ? h("p", { class: "reason" }, clean(each.error)) : null,
  );
}
