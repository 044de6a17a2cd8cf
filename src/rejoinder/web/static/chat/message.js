/**
 * One message on the page. It keeps the same element from the moment it is sent until it is complete: each part is
 * redrawn only when its contents have changed.
 */

import { clean } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { read } from "../shared/markdown.js";
import { patch } from "../shared/patch.js";
import { clockOf, fullOf, narrowOf, shortOf, sizeOf } from "../shared/times.js";
import { player } from "./player.js";
import { face, nameOf, namesOf } from "./faces.js";
import { wordsOf } from "./words.js";

/**
 * @typedef {import("./state.js").Message} Message
 * @typedef {{message: Message, sending?: import("./requests.js").Request | null, delivered?: boolean, kind?: string}} Shown
 *   `kind`: "command", "told" for the gateway's answer to one, or neither
 * @typedef {import("./actions.js").Actions} Actions
 */

const ONLY_EMOJI = /^(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|\u200d|\ufe0f|\s){1,16}$/u;
const PICTURES = /^image\/(png|jpeg|gif|webp|avif)$/;

export class MessageView {
  #drawn = /** @type {Message | null} */ (null);
  #sending = /** @type {any} */ (undefined);
  compact = /** @type {boolean | undefined} */ (undefined);
  kind = "";
  #delivered = false;
  #undrawn = false;

  /** @param {import("./state.js").ChatState} state @param {Actions} actions @param {boolean} inThread */
  constructor(state, actions, inThread) {
    this.state = state;
    this.actions = actions;
    this.inThread = inThread;
    this.side = h("div", { class: "side" });
    this.head = h("div", { class: "head" });
    this.quote = h("div", { class: "quote-place" });
    this.body = h("div", { class: "body" });
    this.files = h("div", { class: "files" });
    this.transcript = h("div", { class: "transcript", role: "note", "aria-label": "Transcript", dir: "auto", hidden: true });
    this.choices = h("div", { class: "choices" });
    this.reactions = h("div", { class: "reactions" });
    this.under = h("div", { class: "under" });
    this.status = h("div", { class: "status" });
    const parts = [this.head, this.quote, this.body, this.files, this.transcript, this.choices, this.reactions, this.under, this.status];
    this.element = h("article", { class: "message", tabIndex: -1 }, this.side, h("div", { class: "main" }, parts));
  }

  /** The transcript of a voice note. @param {Message} message */
  #drawTranscript({ transcript = "" }) {
    this.transcript.hidden = !transcript;
    this.transcript.textContent = clean(transcript);
  }

  /** @param {Shown} shown @param {boolean} compact whether it follows a message of the same author */
  update({ message, sending = null, delivered = false, kind = "" }, compact) {
    const before = this.#drawn;
    const changed = (/** @type {any} */ field) => before === null || /** @type {any} */ (before)[field] !== /** @type {any} */ (message)[field];
    const moved = this.compact !== compact || this.kind !== kind;
    if (changed("author") || changed("at") || moved) this.#drawAuthor(message, compact, kind);
    if (changed("edited") || changed("only_for") || moved) this.#drawHead(message, compact);
    if (changed("reply_to")) this.#drawQuote(message);
    this.#undrawn ||= ["text", "growing", "edited", "stopped", "outdated", "gone"].some((field) => changed(field));
    if (changed("files")) fill(this.files, ...(message.files ?? []).map(drawFile));
    if (changed("transcript")) this.#drawTranscript(message);
    if (changed("choices")) this.#drawChoices(message);
    if (changed("reactions")) this.#drawReactions(message);
    if (changed("under")) this.#drawUnder(message);
    if (this.#sending !== sending?.state || this.#delivered !== delivered || changed("id")) {
      this.#drawStatus(sending, delivered);
    }
    const { element } = this;
    element.dataset.id = message.id;
    element.classList.toggle("compact", compact);
    element.classList.toggle("mine", this.state.isMine(message) || sending !== null);
    element.classList.toggle("gateway", message.author === "");
    element.classList.toggle("command", kind === "command");
    element.classList.toggle("told", kind === "told");
    element.classList.toggle("private", Boolean(message.only_for));
    element.classList.toggle("growing", Boolean(message.growing));
    element.classList.toggle("sending", sending?.state === "waiting");
    element.classList.toggle("failed", sending?.state === "failed");
    this.#drawn = message;
    this.compact = compact;
    this.kind = kind;
    this.#sending = sending?.state;
    this.#delivered = delivered;
  }

  /** Draws the text if it has changed. Separate from `update`, because it may need a whole frame.
   * @returns {number} what it cost, in nodes */
  drawBody() {
    if (!this.#undrawn || !this.#drawn) return 0;
    this.#undrawn = false;
    return this.#drawBody(this.#drawn);
  }

  /** @param {Message} message @param {boolean} compact @param {string} kind */
  #drawAuthor(message, compact, kind) {
    const author = this.state.member(message.author);
    const time = h(
      "time",
      { datetime: new Date(message.at).toISOString(), title: fullOf(message.at) },
      narrowOf(message.at),
    );
    fill(this.side, kind === "command" ? face(author, "tiny") : compact ? time : face(author));
    this.element.setAttribute("aria-label", `${clean(author.name)}, ${clockOf(message.at)}`);
  }

  /** @param {Message} message @param {boolean} compact */
  #drawHead(message, compact) {
    const author = this.state.member(message.author);
    const badge = author.agent ? h("span", { class: "badge" }, "agent") : null;
    const time = h(
      "time",
      { datetime: new Date(message.at).toISOString(), title: fullOf(message.at) },
      clockOf(message.at),
    );
    const alone = message.only_for ? h("span", { class: "only" }, icon("eye"), "Only you can see this") : null;
    fill(this.head, ...(compact ? [alone] : [nameOf(author), badge, time, alone]));
  }

  /** @param {Message} message */
  #drawQuote(message) {
    const quoted = message.reply_to;
    if (!quoted) return fill(this.quote);
    const author = this.state.member(quoted.author ?? "");
    const words = quoted.text ? wordsOf(quoted, this.state.mentions()) : "deleted message";
    const label = `In reply to ${clean(author.name)}: ${words}. Jump to it`;
    fill(
      this.quote,
      h(
        "button",
        {
          class: "quote",
          type: "button",
          hue: author.face.hue,
          "aria-label": label,
          onclick: () => this.actions.jump(quoted.id),
        },
        quoted.text || quoted.author ? face(author, "tiny") : null,
        quoted.text || quoted.author ? nameOf(author) : null,
        h("span", { class: "words", dir: "auto" }, words),
      ),
    );
  }

  /** @param {Message} message @returns {number} */
  #drawBody(message) {
    const { trees, cost } = read(message.text, { growing: message.growing, mentions: this.state.mentions() });
    if (message.edited && !message.growing) mark(trees, "edited", "(edited)");
    if (message.gone) trees.push(DELETED);
    if (message.stopped) mark(trees, "stopped", "■ stopped");
    patch(this.body, message.outdated ? [outdated(trees)] : trees);
    this.body.classList.toggle("jumbo", ONLY_EMOJI.test(message.text) && message.text.trim() !== "");
    this.body.hidden = trees.length === 0 && !message.growing;
    return cost;
  }

  /** @param {Message} message */
  #drawChoices(message) {
    const buttons = (message.choices ?? []).map((choice) => {
      const button = h("button", { type: "button", class: "choice", onclick: () => press() }, clean(choice.label));
      const press = () => {
        for (const other of this.choices.children) other.disabled = true;
        button.classList.add("pressed");
        this.actions.press(message, choice);
      };
      return button;
    });
    fill(this.choices, ...buttons);
    if (buttons.length) this.choices.setAttribute("role", "group");
    else this.choices.removeAttribute("role");
    if (buttons.length) this.choices.setAttribute("aria-label", "Choices");
    else this.choices.removeAttribute("aria-label");
  }

  /** @param {Message} message */
  #drawReactions(message) {
    const me = this.state.me?.id ?? "";
    const chips = (message.reactions ?? []).map(({ emoji, who }) => {
      const mine = who.includes(me);
      const names = namesOf(
        who.map((id) => (id === me ? { ...this.state.member(id), name: "you" } : this.state.member(id))),
      );
      return h(
        "button",
        {
          type: "button",
          class: mine ? "reaction mine" : "reaction",
          "aria-pressed": String(mine),
          "aria-label": `${emoji} ${who.length}: ${names}`,
          title: names,
          "data-emoji": emoji,
          onclick: () => this.actions.react(message, emoji, mine),
        },
        h("span", { class: "glyph" }, clean(emoji)),
        h("span", { class: "count" }, who.length),
      );
    });
    if (chips.length) {
      const more = h(
        "button",
        {
          type: "button",
          class: "reaction add",
          "aria-label": "Add a reaction",
          title: "Add a reaction",
          onclick: (/** @type {Event} */ e) => this.actions.pick(message, e.currentTarget),
        },
        icon("smile"),
      );
      chips.push(more);
    }
    fill(this.reactions, ...chips);
  }

  /** @param {Message} message */
  #drawUnder(message) {
    if (!message.under || this.inThread) return fill(this.under);
    const { replies, latest } = message.under;
    const count = `${replies} ${replies === 1 ? "reply" : "replies"}`;
    fill(
      this.under,
      h(
        "button",
        { type: "button", class: "thread-link", onclick: () => this.actions.openThread(message) },
        icon("thread"),
        h("strong", {}, count),
        h("span", {}, `last ${shortOf(latest, Date.now())}`),
      ),
    );
  }

  /** @param {import("./requests.js").Request | null} sending @param {boolean} delivered */
  #drawStatus(sending, delivered) {
    if (sending?.state === "failed") {
      const { client } = sending.frame;
      return fill(
        this.status,
        icon("alert"),
        h("span", {}, sending.reason ?? "Not sent."),
        h("button", { type: "button", onclick: () => this.actions.retry(client) }, "Try again"),
        h("button", { type: "button", onclick: () => this.actions.discard(client) }, "Discard"),
      );
    }
    if (sending)
      return fill(
        this.status,
        h("span", { class: "mark", title: "Sending", role: "img", "aria-label": "Sending" }, icon("clock")),
      );
    if (delivered)
      return fill(
        this.status,
        h("span", { class: "mark", title: "Sent", role: "img", "aria-label": "Sent" }, icon("check")),
      );
    fill(this.status);
  }
}

const DELETED = { tag: "p", attrs: { class: "gone" }, children: ["This message was deleted."] };

/** Puts a remark behind the last words. @param {import("../shared/patch.js").Tree[]} trees @param {string} kind
 * @param {string} words */
function mark(trees, kind, words) {
  const remark = { tag: "span", attrs: { class: kind }, children: [` ${words}`] };
  const last = trees.at(-1);
  if (last && typeof last !== "string" && last.tag === "p") last.children = [...(last.children ?? []), remark];
  else trees.push({ tag: "p", children: [remark] });
}

/** @param {import("../shared/patch.js").Tree[]} trees @returns {import("../shared/patch.js").Tree} */
const outdated = (trees) => ({
  tag: "details",
  attrs: { class: "rest" },
  children: [{ tag: "summary", children: ["Answer to the message as it was before the edit"] }, ...trees],
});

/** @param {import("./state.js").File} file */
function drawFile(file) {
  const name = clean(file.name);
  if (file.mime.startsWith("audio/")) return player(file, () => drawDownload(file));
  if (!PICTURES.test(file.mime)) return drawDownload(file);
  const picture = h(
    "a",
    { class: "picture", href: file.url, download: name, title: `${name}, ${sizeOf(file.size)}` },
    h("img", {
      src: file.url,
      alt: name,
      loading: "lazy",
      onerror: () => picture.replaceWith(drawDownload(file)), // it only claims to be a picture
    }),
  );
  return picture;
}

/** @param {import("./state.js").File} file */
function drawDownload(file) {
  const name = clean(file.name);
  return h(
    "a",
    { class: "file", href: file.url, download: name },
    icon("file"),
    h("span", { class: "file-name" }, h("bdi", {}, name)),
    h("span", { class: "file-size" }, sizeOf(file.size)),
  );
}
