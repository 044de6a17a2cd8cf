/** Times as people say them, in the browser's language. */

// Nobody writes 09:41 AM, and nobody writes 9:41 on a 24-hour clock.
const { hour12 } = new Intl.DateTimeFormat(undefined, { hour: "numeric" }).resolvedOptions();
const clock = new Intl.DateTimeFormat(undefined, { hour: hour12 ? "numeric" : "2-digit", minute: "2-digit" });
const seconds = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const short = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** @param {number} at */
export const clockOf = (at) => clock.format(at);

/** Without AM and PM, where there is no room for them. @param {number} at @param {Intl.DateTimeFormat} how */
const narrowed = (at, how) =>
  how
    .formatToParts(at)
    .map(({ type, value }) => (type === "dayPeriod" ? "" : value))
    .join("")
    .trim();

/** @param {number} at */
export const narrowOf = (at) => narrowed(at, clock);

/** To the second. @param {number} at */
export const secondsOf = (at) => narrowed(at, seconds);

/** @param {number} at */
export const fullOf = (at) => full.format(at);

/** A key that is the same for all times of one local day. @param {number} at */
export const dayKey = (at) => new Date(at).toDateString();

/** @param {number} at @param {number} now */
export function dayName(at, now) {
  if (dayKey(at) === dayKey(now)) return "Today";
  if (dayKey(at) === dayKey(now - 86_400_000)) return "Yesterday";
  return new Date(at).getFullYear() === new Date(now).getFullYear() ? day.format(at) : dayOfYear.format(at);
}

/** For the side bar and for search: a clock time today, else a date. @param {number} at @param {number} now */
export const shortOf = (at, now) => (dayKey(at) === dayKey(now) ? clock.format(at) : short.format(at));

/** @param {number} ms */
export function duration(ms) {
  if (ms === 0) return "0";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** @param {number} bytes */
export function sizeOf(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 ** 2) return `${Math.round(bytes / 1024)} KB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
