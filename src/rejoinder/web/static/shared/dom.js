/** Building elements without markup strings: nothing an agent says can become HTML. */

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, any>} Props
 */

/**
 * `h("button", {class: "send", onclick: send, "aria-label": "Send"}, icon("send"))`.
 * A prop that is null, undefined or false is left out; `on…` listens; `hue` colours; `value`, `checked` and their
 * like are set as properties because their attributes only mean the beginning.
 * @param {string} tag
 * @param {Props} [props]
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "hue") element.style.setProperty("--hue", String(value));
    else if (PROPERTIES.has(name)) /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(
    ...children
      .flat()
      .filter(present)
      .map((child) => /** @type {Node | string} */ (asNode(child))),
  );
  return element;
}

const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "htmlFor", "tabIndex"]);

/** @param {Child} child */
const present = (child) => child !== null && child !== undefined && child !== false;

/** @param {Child} child */
const asNode = (child) => (typeof child === "number" ? String(child) : child);

/** @param {Element} element @param {...Child} children */
export function fill(element, ...children) {
  element.replaceChildren(...children.filter(present).map((child) => /** @type {any} */ (asNode(child))));
}

/** @param {string} id @returns {any} */
export const byId = (id) => document.getElementById(id);

/** Whether the person asked for less motion. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether side bar and panels lie above the room instead of beside it. */
export const narrow = () => matchMedia("(max-width: 760px)").matches;
