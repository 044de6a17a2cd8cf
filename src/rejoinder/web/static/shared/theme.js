/* Chooses light or dark before the first paint; a classic script, because modules come too late for that. */
(function () {
  const KEY = "rejoinder.theme";
  const dark = matchMedia("(prefers-color-scheme: dark)");

  function choice() {
    return localStorage.getItem(KEY) || "auto";
  }

  function apply() {
    const chosen = choice();
    document.documentElement.dataset.theme = chosen === "auto" ? (dark.matches ? "dark" : "light") : chosen;
    dispatchEvent(new CustomEvent("theme", { detail: chosen }));
  }

  dark.addEventListener("change", apply);
  addEventListener("storage", apply);
  window.theme = {
    choice,
    /** auto, light, dark, and round again. */
    next() {
      const order = ["auto", "light", "dark"];
      localStorage.setItem(KEY, order[(order.indexOf(choice()) + 1) % order.length]);
      apply();
    },
  };
  apply();
})();
