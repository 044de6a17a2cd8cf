/** Plays a recording: one button, and its waveform as the bar for seeking. */

import { clean } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { icon, SVG } from "../shared/icons.js";
import { isVoice } from "./words.js";

const BARS = 48;
const SEEN = 2_000_000; // bytes: a larger recording gets no waveform

let playing = /** @type {HTMLAudioElement | null} */ (null);

/** @param {number} seconds */
export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/** @param {import("./state.js").File} file @param {() => Node} download what is shown if it is no recording */
export function player(file, download) {
  const name = isVoice(file) ? "Voice message" : `Recording ${clean(file.name)}`;
  const audio = /** @type {HTMLAudioElement} */ (h("audio", { src: file.url, preload: "metadata" }));
  const waves = document.createElementNS(SVG, "svg");
  const seek = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Position" });
  const time = h("span", { class: "played" }, "");
  const button = h("button", { type: "button", class: "play", onclick: () => (audio.paused ? audio.play() : audio.pause()) });
  const element = h("div", { class: "player", role: "group", "aria-label": name }, button, h("div", { class: "waves" }, waves, seek), time, audio);
  let known = 0; // seconds, if the recording itself does not say
  const length = () => (Number.isFinite(audio.duration) && audio.duration ? audio.duration : known);
  const draw = () => {
    const at = audio.currentTime;
    button.setAttribute("aria-label", audio.paused ? "Play" : "Pause");
    fill(button, icon(audio.paused ? "play" : "pause"));
    seek.max = String(length() || 1);
    seek.value = String(at);
    seek.setAttribute("aria-valuetext", `${clock(at)} of ${clock(length())}`);
    time.textContent = clock(audio.paused && !at ? length() : at);
    waves.querySelectorAll("rect").forEach((bar, number) => {
      bar.classList.toggle("past", length() > 0 && number / BARS < at / length());
    });
  };
  audio.onplay = () => {
    if (playing !== audio) playing?.pause();
    playing = audio;
    draw();
  };
  audio.onpause = audio.ontimeupdate = audio.onloadedmetadata = draw;
  audio.onended = () => {
    audio.currentTime = 0;
    draw();
  };
  audio.onerror = () => element.replaceWith(download());
  seek.oninput = () => {
    audio.currentTime = Number(seek.value);
    draw();
  };
  waves.setAttribute("viewBox", `0 0 ${BARS * 4} 32`);
  waves.setAttribute("preserveAspectRatio", "none");
  waves.setAttribute("aria-hidden", "true");
  bars(waves, new Array(BARS).fill(0.1));
  if (file.size <= SEEN) {
    heights(file.url).then((found) => {
      known = found.seconds;
      bars(waves, found.levels);
      draw();
    }, () => {}); // it plays anyway
  }
  draw();
  return element;
}

/** @param {SVGElement} waves @param {number[]} levels from 0 to 1 */
function bars(waves, levels) {
  waves.replaceChildren(
    ...levels.map((level, number) => {
      const bar = document.createElementNS(SVG, "rect");
      const height = Math.max(2, level * 30);
      const place = { x: number * 4 + 0.5, y: 16 - height / 2, width: 3, height, rx: 1.5 };
      for (const [name, value] of Object.entries(place)) bar.setAttribute(name, String(value));
      return bar;
    }),
  );
}

/** @param {string} url */
async function heights(url) {
  const response = await fetch(url);
  const context = new OfflineAudioContext(1, 1, 16_000);
  const sound = await context.decodeAudioData(await response.arrayBuffer());
  const samples = sound.getChannelData(0);
  const step = Math.max(1, Math.floor(samples.length / BARS));
  const levels = Array.from({ length: BARS }, (_, number) => {
    let loudest = 0;
    for (let at = number * step; at < (number + 1) * step; at += 8) loudest = Math.max(loudest, Math.abs(samples[at] ?? 0));
    return loudest;
  });
  const most = Math.max(...levels, 0.01);
  return { seconds: sound.duration, levels: levels.map((level) => level / most) };
}
