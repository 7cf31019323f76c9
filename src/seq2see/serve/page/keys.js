// The list of keys, as a dialog.
import { make } from "/view/dom.js";
import { button, table } from "/page/parts.js";
import { t } from "/page/texts.js";

const KEYS = [
  [["1", "…", "8"], "keys.tabs"],
  [["/"], "keys.type"],
  [["Ctrl", "Enter"], "keys.now"],
  [["←", "→"], "keys.words"],
  [["Ctrl", "Z"], "keys.undo"],
  [["Esc"], "keys.escape"],
  [["←", "↑", "↓", "→"], "keys.matrix"],
  [["Shift", "↑", "↓"], "keys.several"],
  [["Shift", "Enter"], "keys.one"],
  [["←", "↑", "↓", "→"], "keys.beam"],
  [["←", "→"], "keys.step"],
  [["←", "→", "+", "−"], "keys.chart"],
  [["?"], "keys.help"],
];

export function openKeys() {
  const rows = KEYS.map(([keys, does]) => [make("span", { class: "key-list" }, ...keys.map((key) => make("kbd", {}, key))), t(does)]);
  const dialog = make("dialog", { class: "keys-dialog", "aria-label": t("keys.title") });
  const close = button(t("close"), () => dialog.close());
  dialog.append(make("div", { class: "card-head" }, make("h2", {}, t("keys.title")), close), table([[t("keys.key"), t("keys.does")], ...rows]));
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}
