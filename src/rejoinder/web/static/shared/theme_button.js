import { fill, h } from "./dom.js";
import { icon } from "./icons.js";

const SHOWN = /** @type {Record<string, [string, string]>} */ ({
  auto: ["auto", "Theme: same as the system"],
  light: ["sun", "Theme: light"],
  dark: ["moon", "Theme: dark"],
});

/** The switch between the system's theme, light and dark. */
export function themeButton() {
  const button = h("button", {
    class: "quiet",
    type: "button",
    onclick: () => /** @type {any} */ (window).theme.next(),
  });
  const show = () => {
    const [name, label] = SHOWN[/** @type {any} */ (window).theme.choice()];
    fill(button, icon(name));
    button.setAttribute("aria-label", label);
    button.title = label;
  };
  addEventListener("theme", show);
  show();
  return button;
}
