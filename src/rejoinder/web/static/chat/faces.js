import { h } from "../shared/dom.js";
import { clean } from "../shared/clean.js";
import { portrait } from "./portrait.js";

/** Somebody's face: an emoji, or one drawn for them, on a colour of their own. The name beside it says who it is.
 * @param {import("./state.js").Member} member @param {string} [size] */
export function face(member, size = "") {
  const { emoji, hue } = member.face;
  const kind = `${emoji ? "emoji" : "drawn"} ${member.id === "" ? "gateway" : ""} ${size}`;
  const looks = emoji || portrait(member.id, Boolean(member.agent));
  return h("span", { class: `face ${kind}`, hue, "aria-hidden": "true" }, looks);
}

/** A name that cannot turn the words around it. @param {import("./state.js").Member} member */
export const nameOf = (member) => h("bdi", { class: "name", hue: member.face.hue }, clean(member.name));

/** @param {import("./state.js").Member[]} members */
export function namesOf(members) {
  const names = members.map((member) => clean(member.name));
  if (names.length <= 1) return names.join("");
  if (names.length > 3) return `${names.slice(0, 2).join(", ")} and ${names.length - 2} others`;
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
