/** What was decided about a message, as chat and console show it. */

import { clean } from "./clean.js";
import { h } from "./dom.js";
import { duration } from "./times.js";

/** @typedef {{stage: string, decision: string, reason?: string | null, took?: number}} Step */

/** The stages, one in a row. @param {Step[]} list */
export function steps(list) {
  if (!list.length) return h("p", { class: "nothing" }, "No stage has decided yet.");
  const rows = list.map((step) =>
    h(
      "tr",
      { class: step.decision },
      h("th", { scope: "row" }, step.stage),
      h("td", {}, step.decision),
      h("td", {}, clean(step.reason ?? "")),
      h("td", { class: "number" }, step.took ? duration(step.took * 1000) : ""),
    ),
  );
  return h(
    "div",
    { class: "scrolls", tabIndex: 0, role: "region", "aria-label": "Stages" },
    h(
      "table",
      { class: "steps" },
      h(
        "thead",
        {},
        h("tr", {}, ...["Stage", "Decision", "Reason", "Took"].map((name) => h("th", { scope: "col" }, name))),
      ),
      h("tbody", {}, ...rows),
    ),
  );
}
