/** The console's state of the flow: frames in, journeys of messages out. It uses no page and no clock. */

/**
 * @typedef {{stage: string, decision: string, reason?: string | null, took?: number}} Step
 * @typedef {{id: string, channel: string, chat: string, message: string, at: number, sender: string, text: string,
 *   entry: string, outcome: string, steps: Step[], turns: any[], sent: any[], session: string}} Journey one message on its way
 */

const KEPT = 200;
const POINTS = 900;

export class ConsoleState {
  journeys = /** @type {Map<string, Journey>} */ (new Map());
  sessions = /** @type {any[]} */ ([]);
  points = /** @type {any[]} */ ([]);
  #turns = /** @type {Map<number, {journeys: Journey[], sent: any[]}>} */ (new Map());

  /** @param {any} frame @returns {string | null} the journey that changed, `gauges`, or null */
  apply(frame) {
    if (frame.type === "gauges") {
      if (frame.at > (this.points.at(-1)?.at ?? 0)) this.points.push(frame);
      if (this.points.length > POINTS) this.points.shift();
      return "gauges";
    }
    if (frame.type === "session") {
      this.sessions = [frame, ...this.sessions].slice(0, 20);
      return "session";
    }
    if (frame.type === "sent") return this.#sent(frame);
    if (frame.type === "tick") return this.#ticked(frame);
    const journey = frame.type === "turn" && !frame.message ? this.#unasked(frame) : this.#journey(frame);
    if (frame.type === "received")
      Object.assign(journey, { sender: frame.sender, text: frame.text, entry: frame.entry ?? "text", at: frame.at });
    else if (frame.type === "decided") Object.assign(journey, { outcome: frame.outcome, steps: frame.steps });
    else if (frame.type === "turn") this.#ended(journey, frame);
    else return null;
    return journey.id;
  }

  /** The earlier points of the charts. @param {any[]} points */
  addSeries(points) {
    const first = this.points[0]?.at ?? Infinity;
    this.points = [...points.filter((point) => point.at < first), ...this.points].slice(-POINTS);
  }

  /** The newest first. @returns {Journey[]} */
  newest() {
    return [...this.journeys.values()].reverse().sort((a, b) => b.at - a.at);
  }

  /** @param {any} frame */
  #journey({ channel, chat, message, at }, id = `${channel}\n${chat}\n${message}`) {
    let journey = this.journeys.get(id);
    if (!journey) {
      journey = {
        id,
        channel,
        chat,
        message,
        at,
        sender: "",
        text: "",
        entry: "text",
        outcome: "",
        steps: [],
        turns: [],
        sent: [],
        session: "",
      };
      this.journeys.set(id, journey);
      if (this.journeys.size > KEPT) this.journeys.delete(/** @type {string} */ (this.journeys.keys().next().value));
    }
    return journey;
  }

  /** A scheduled job, which is not a message. @param {any} frame */
  #ticked({ at, job, agent, session, why }) {
    const journey = this.#journey({ channel: "clock", chat: agent, message: "", at }, `clock\n${job}\n${at}`);
    const step = { stage: "clock", decision: why ? "drop" : "turn", reason: why };
    Object.assign(journey, {
      sender: job,
      text: "is due",
      entry: "tick",
      session,
      outcome: step.decision,
      steps: [step],
    });
    return journey.id;
  }

  /** The journey of a turn that answers no message: the tick of its session that has none yet. @param {any} frame */
  #unasked({ session, agent, at, turn }) {
    const isIts = (/** @type {Journey} */ each) =>
      each.session === session && each.outcome === "turn" && !each.turns.length;
    return (
      this.newest().findLast(isIts) ??
      Object.assign(this.#journey({ channel: "clock", chat: agent, message: "", at }, `turn\n${turn}`), {
        sender: session,
        entry: "tick",
        session,
      })
    );
  }

  /** @param {Journey} journey @param {any} frame */
  #ended(journey, frame) {
    journey.turns = [...journey.turns, frame];
    if (frame.turn === undefined) return;
    const turn = this.#turn(frame.turn);
    turn.journeys.push(journey);
    journey.sent = [...journey.sent, ...turn.sent];
  }

  /** What an agent says belongs to all messages of its turn, before and after it ended; what the gateway says, to the
   * newest of the chat that it answered. @param {any} frame */
  #sent(frame) {
    const { channel, chat, turn } = frame;
    const answered = (/** @type {Journey} */ each) =>
      each.channel === channel && each.chat === chat && each.outcome === "answer";
    if (turn !== undefined) this.#turn(turn).sent.push(frame);
    const journeys = turn === undefined ? this.newest().filter(answered).slice(0, 1) : this.#turn(turn).journeys;
    for (const journey of journeys) journey.sent = [...journey.sent, frame];
    return journeys.at(-1)?.id ?? null;
  }

  /** @param {number} number */
  #turn(number) {
    let turn = this.#turns.get(number);
    if (!turn) {
      this.#turns.set(number, (turn = { journeys: [], sent: [] }));
      if (this.#turns.size > KEPT) this.#turns.delete(/** @type {number} */ (this.#turns.keys().next().value));
    }
    return turn;
  }
}

/** How a journey stands, in one word. @param {Journey} journey @returns {"waiting" | "turn" | "answer" | "drop" | "answered" | "silent" | "failed" | "cancelled"} */
export function standing(journey) {
  const last = journey.turns.at(-1);
  if (last) return last.outcome;
  return /** @type {any} */ (journey.outcome || "waiting");
}

/** The reason of the stage that ended it, or of the turn that failed. @param {Journey} journey */
export function reasonOf(journey) {
  const failed = journey.turns.findLast((turn) => turn.why);
  if (failed) return failed.why;
  const last = journey.steps.at(-1);
  return last && last.decision !== "continue" ? (last.reason ?? "") : "";
}
