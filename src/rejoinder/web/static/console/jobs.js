/** The scheduled jobs and the heartbeats: the next run, the result of the last one, and the operator's buttons. */

import { clean } from "../shared/clean.js";
import { h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { since, until } from "./card.js";

/** @param {any} answer @param {import("./card.js").Card} card */
export const drawJobs = ({ jobs }, card) =>
  jobs.length
    ? [h("ul", { class: "rows" }, ...jobs.map((/** @type {any} */ job) => drawJob(job, card)))]
    : [h("p", { class: "nothing" }, "No scheduled job or heartbeat is configured.")];

/** @param {any} job @param {import("./card.js").Card} card */
function drawJob(job, card) {
  const name = clean(job.name);
  const path = `jobs/${encodeURIComponent(job.name)}`;
  const failed = passedLast(job) ? false : job.outcome === "failed" || job.state === "quarantined";
  return h(
    "li",
    { class: failed ? "bad" : job.paused ? "warn" : "" },
    icon(failed ? "alert" : "clock"),
    h("strong", {}, name),
    h("span", { class: "quiet-text" }, clean(when(job)), " · ", next(job)),
    h(
      "span",
      { class: "actions" },
      card.button(`${path}/run`, { label: `Run ${name} now` }, "Run"),
      job.paused
        ? card.button(`${path}/resume`, { label: `Resume ${name}` }, "Resume")
        : card.button(`${path}/pause`, { label: `Pause ${name}` }, "Pause"),
    ),
    h("p", { class: "reason" }, ...last(job)),
  );
}

/** A length of time has no blank in it. @param {any} job */
const when = (job) => (job.schedule.includes(" ") ? job.schedule : `every ${job.schedule}`);

/** @param {any} job */
const next = (job) => (job.paused ? "paused" : job.next ? until(job.next) : "no further run");

/** Whether a tick without a turn came after the last one with. @param {any} job */
const passedLast = (job) => Boolean(job.passed && (!job.fired || job.passed > job.fired));

/** @param {any} job @returns {import("../shared/dom.js").Child[]} */
function last(job) {
  if (passedLast(job)) return ["skipped ", since(job.passed), `: ${clean(job.reason)}`];
  if (!job.fired) return ["not run yet"];
  const became = job.state === "over" ? (job.outcome ?? "over") : (job.state ?? "over");
  return [`${became} · `, since(job.fired), job.detail ? `: ${clean(job.detail)}` : ""];
}
