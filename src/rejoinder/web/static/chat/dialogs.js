/** Small dialogs above the page: go to a room, make one, change the name, confirm a deletion. */

import { clean } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { face } from "./faces.js";
import { wordsOf } from "./words.js";

export class Dialogs {
  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
  }

  get isOpen() {
    return document.querySelector("dialog[open]") !== null;
  }

  close() {
    /** @type {HTMLDialogElement | null} */ (document.querySelector("dialog[open]"))?.close();
  }

  switcher() {
    const { state } = this.app;
    const input = h("input", {
      type: "search",
      placeholder: "Go to a room or chat",
      role: "combobox",
      "aria-label": "Go to a room or chat",
      "aria-controls": "switcher-list",
      "aria-expanded": "true",
      "aria-autocomplete": "list",
      autocomplete: "off",
      oninput: () => draw(0),
      onkeydown: key,
    });
    const list = h("ul", { id: "switcher-list", role: "listbox", "aria-label": "Rooms and direct chats" });
    const dialog = open("switcher", "Go to", input, list);
    let chosen = 0;
    const fitting = () => {
      const query = input.value.trim().toLowerCase();
      const rooms = [...state.rooms.values()].filter((room) => room.title.toLowerCase().includes(query));
      return rooms.sort((a, b) => b.unread - a.unread || (b.latest?.at ?? 0) - (a.latest?.at ?? 0));
    };
    const go = (/** @type {string} */ id) => (dialog.close(), this.app.navigation.openRoom(id), this.app.drawer(false));
    function draw(/** @type {number} */ at) {
      const rooms = fitting();
      chosen = Math.max(0, Math.min(rooms.length - 1, at));
      const rows = rooms.map((room, i) => {
        const agent = room.kind === "direct" ? state.member(room.agents[0] ?? "") : null;
        const looks = agent ? face(agent, "small") : h("span", { class: "hash", "aria-hidden": "true" }, "#");
        const unread = room.unread ? h("span", { class: "unread" }, room.unread) : null;
        return h(
          "li",
          { role: "option", id: `switch-${i}`, "aria-selected": String(i === chosen), onclick: () => go(room.id) },
          looks,
          h("bdi", {}, clean(room.title)),
          unread,
        );
      });
      fill(list, ...rows);
      if (!rows.length)
        fill(list, h("li", { class: "nothing", role: "option", "aria-selected": "false" }, "No room with that name."));
      input.setAttribute("aria-activedescendant", `switch-${chosen}`);
      rows[chosen]?.scrollIntoView({ block: "nearest" });
    }
    function key(/** @type {KeyboardEvent} */ event) {
      if (event.key === "ArrowDown") draw(chosen + 1);
      else if (event.key === "ArrowUp") draw(chosen - 1);
      else if (event.key === "Enter" && fitting()[chosen]) go(fitting()[chosen].id);
      else if (event.key === "Escape") dialog.close(); // the browser would only empty the box first
      else return;
      event.preventDefault();
    }
    draw(0);
    input.focus();
  }

  makeRoom() {
    const title = h("input", {
      type: "text",
      required: true,
      maxlength: 80,
      id: "room-title",
      autocomplete: "off",
      placeholder: "review",
    });
    const agents = [...this.app.state.members.values()].filter((member) => member.agent);
    const boxes = agents.map((member) => {
      const box = h("input", { type: "checkbox", checked: true, value: member.id });
      return { box, label: h("label", { class: "agent-choice" }, box, face(member, "small"), clean(member.name)) };
    });
    const problem = h("p", { class: "hint problem", role: "alert" });
    const form = h(
      "form",
      { method: "dialog", oninput: () => (problem.textContent = "") },
      h("label", { htmlFor: "room-title" }, "Name"),
      title,
      h("fieldset", {}, h("legend", {}, "Agents"), ...boxes.map(({ label }) => label)),
      problem,
      buttons("Create room"),
    );
    const dialog = open("make-room", "New room", form);
    form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      const chosen = boxes.filter(({ box }) => box.checked).map(({ box }) => box.value);
      const name = title.value.trim().replace(/\s+/g, " ");
      problem.textContent = this.#whyNot(name, chosen);
      if (problem.textContent) return;
      dialog.close();
      this.app.makeRoom(name, chosen);
    });
    title.focus();
  }

  /** Why this room cannot be made; empty if it can. @param {string} name @param {string[]} agents */
  #whyNot(name, agents) {
    if (!name) return "Give it a name.";
    const same = (/** @type {import("./state.js").Room} */ room) => room.title.toLowerCase() === name.toLowerCase();
    if ([...this.app.state.rooms.values()].some((room) => room.kind === "group" && same(room)))
      return "There is a room of that name already.";
    return agents.length ? "" : "Choose at least one agent."; // for the server, nobody chosen means everybody
  }

  name() {
    const { me, knownBy } = this.app.state;
    const login = knownBy === "login";
    if (login && me?.id !== OWNER) {
      const words = `You are ${clean(me?.name ?? "")}: you logged in with the owner's invitation.`;
      return open("renaming", "Who are you?", h("p", { class: "hint" }, words), logOut());
    }
    const input = h("input", {
      type: "text",
      maxlength: 40,
      id: "own-name",
      autocomplete: "off",
      value: this.app.name,
      placeholder: "You",
    });
    const form = h(
      "form",
      { method: "dialog" },
      h("label", { htmlFor: "own-name" }, "Your name"),
      input,
      h("p", { class: "hint" }, login ? BY_LOGIN : BY_NAME),
      buttons("Save"),
    );
    const dialog = open("renaming", "Who are you?", form, ...(login ? [logOut()] : []));
    form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      dialog.close();
      this.app.rename(input.value.trim());
    });
    input.focus();
  }

  /** @param {import("./state.js").Message} message @param {() => void} yes */
  remove(message, yes) {
    const form = h(
      "form",
      { method: "dialog" },
      h("blockquote", { dir: "auto" }, wordsOf(message, this.app.state.mentions())),
      h("p", { class: "hint" }, `It disappears for everybody.${message.under ? " The thread under it stays." : ""}`),
      buttons("Delete", "danger"),
    );
    const dialog = open("remove", "Delete this message?", form);
    form.addEventListener("submit", () => (dialog.close(), yes()));
    form.querySelector("button[type=submit]").focus();
  }

  keys() {
    const rows = KEYS.map(([keys, meaning]) =>
      h(
        "tr",
        {},
        h(
          "th",
          { scope: "row" },
          ...keys.split(" ").flatMap((key, i) => (i ? [" ", h("kbd", {}, key)] : [h("kbd", {}, key)])),
        ),
        h("td", {}, meaning),
      ),
    );
    open("keys", "Keyboard shortcuts", h("table", { class: "keys" }, h("tbody", {}, ...rows)), closing());
  }

  /** @param {string} title @param {string} words */
  tell(title, words) {
    open("notice", title, h("p", {}, words), closing());
  }
}

const OWNER = "you";
const BY_NAME =
  "There is no login here, so a name proves nothing: anyone at this machine can type any name. Each name is a person " +
  "with their own read marks and direct chats, who may use commands once the owner allows it (/allowlist add). " +
  "Leave it empty to be the owner.";
const BY_LOGIN = "You have logged in as the owner. This is the name that others see. To invite somebody, write /invite NAME.";

const logOut = () =>
  h("form", { method: "post", action: "/logout" }, h("button", { type: "submit", class: "plain" }, "Log out"));

const closing = () =>
  h("form", { method: "dialog" }, h("div", { class: "buttons" }, h("button", { type: "submit" }, "Close")));

const KEYS = [
  ["Ctrl K", "go to a room or chat"],
  ["Ctrl Shift F", "search"],
  ["↑", "in an empty message box: edit your last message"],
  ["Shift Tab", "from the message box to the messages"],
  ["↑ ↓", "move through the messages"],
  ["r", "reply to the message"],
  ["e", "react with an emoji"],
  ["+", "👍"],
  ["t", "open its thread"],
  ["u", "edit your message"],
  ["Del", "delete your message"],
  ["c", "copy its text"],
  ["?", "show what was decided about it"],
  ["Esc", "back to the message box; close a panel or dialog"],
];

/** @param {string} does @param {string} [kind] */
const buttons = (does, kind = "") =>
  h(
    "div",
    { class: "buttons" },
    h(
      "button",
      { type: "button", class: "plain", onclick: (/** @type {any} */ event) => event.target.closest("dialog").close() },
      "Cancel",
    ),
    h("button", { type: "submit", class: `primary ${kind}` }, does),
  );

/** @param {string} kind @param {string} title @param {...Node} content */
function open(kind, title, ...content) {
  const dialog = h("dialog", { class: kind, "aria-label": title }, h("h2", {}, title), ...content);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (/** @type {Event} */ event) => {
    if (event.target === dialog) dialog.close();
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
