// Small pieces that every tab is made of.
import { make, makeSvg } from "/view/dom.js";
import { language, t } from "/page/texts.js";

export function button(label, act, attributes = {}) {
  const made = make("button", { type: "button", class: "quiet", ...attributes }, label);
  made.addEventListener("click", act);
  return made;
}

/** A title, a bar of tools beside it, what stands below. */
export function card(title, tools, ...inside) {
  const head = make("div", { class: "card-head" }, make("h2", {}, title), make("div", { class: "tools" }, ...tools));
  return make("section", { class: "card" }, head, ...inside);
}

export function note(text, attributes = {}) {
  return make("p", { class: "note", ...attributes }, text);
}

export function empty(text, ...more) {
  return make("div", { class: "empty" }, make("p", {}, text), ...more);
}

export function fault(error) {
  return make("p", { class: "fault", role: "alert" }, `${t("refused")} ${error.message}`);
}

export function field(label, input, attributes = {}) {
  return make("label", { class: "field", ...attributes }, make("span", {}, label), input);
}

/** Rows of cells; the first row names the columns. */
export function table(rows, attributes = {}) {
  const [names, ...lines] = rows;
  const isNumber = (value) => typeof value === "number" || (value instanceof Node && value.classList.contains("number"));
  const numeric = names.map((_, place) => lines.length > 0 && lines.every((line) => isNumber(line[place])));
  const cell = (tag, value, place) => make(tag, { class: numeric[place] || isNumber(value) ? "number" : "left", scope: tag === "th" ? "col" : null }, value instanceof Node ? value : String(value ?? ""));
  const head = make("thead", {}, make("tr", {}, ...names.map((name, place) => cell("th", name, place))));
  const body = make("tbody", {}, ...lines.map((line) => make("tr", {}, ...line.map((value, place) => cell("td", value, place)))));
  return make("div", { class: "scroll", ...attributes }, make("table", { class: "numbers" }, head, body));
}

export function number(value, digits = 2) {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

export function percent(value) {
  const hundred = 100 * value;
  return `${hundred >= 99.95 || hundred === 0 ? hundred.toFixed(0) : hundred >= 0.1 ? hundred.toFixed(1) : "<0.1"} %`;
}

export function count(value) {
  return value.toLocaleString("en");
}

/** 1,234,567 -> 1.2 M, 123만 */
export function short(value) {
  if (language() === "ko") return value.toLocaleString("ko", { notation: "compact", maximumSignificantDigits: 3 });
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  return value >= 1e4 ? `${Math.round(value / 1e3)} k` : count(value);
}

/** What a place in a matrix says: its row, its column, what the row looked at most. */
export function saying(matrix, row, column) {
  const said = row >= 0 ? matrix.ofRow(row).slice(0, 3).map(([place, weight]) => `${matrix.columns[place]} ${weight.toFixed(2)}`) : [];
  return [matrix.rows[row], matrix.columns[column], ...said].filter(Boolean).join(", ");
}

/** 95 -> 2 min; 4000 -> 1 h 7 min */
export function duration(seconds) {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  const told = [hours ? t("hours", { count: hours }) : "", rest || !hours ? t("minutes", { count: rest || 1 }) : ""];
  return told.filter(Boolean).join(" ");
}

/** Waits until nothing came for a while. */
export function debounced(milliseconds, act) {
  let timer = null;
  const call = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => act(...given), milliseconds);
  };
  call.now = (...given) => {
    clearTimeout(timer);
    act(...given);
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}

/** One stop for the tab key; arrows go on from there. keys: [back, forth] */
export function roving(list, keys = ["ArrowLeft", "ArrowRight"]) {
  list.addEventListener("keydown", (event) => {
    const items = [...list.querySelectorAll("[data-stop]")];
    const at = items.indexOf(event.target.closest("[data-stop]"));
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const goal = { [keys[0]]: at - 1, [keys[1]]: at + 1, Home: 0, End: items.length - 1 }[event.key];
    if (goal === undefined || !items[goal]) return;
    event.preventDefault();
    stopAt(items, items[goal]);
    items[goal].focus();
  });
  list.addEventListener("focusin", (event) => {
    const item = event.target.closest("[data-stop]");
    if (item) stopAt([...list.querySelectorAll("[data-stop]")], item);
  });
  return list;
}

function stopAt(items, item) {
  for (const one of items) one.tabIndex = one === item ? 0 : -1;
}

const ICONS = {
  copy: "M5.5 5.5V2.5h8v8h-3M2.5 5.5h8v8h-8z",
  clear: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  swap: "M2.5 5.5h10l-3-3M13.5 10.5h-10l3 3",
  back: "M10 3L5 8l5 5",
  on: "M6 3l5 5-5 5",
  undo: "M6 3L2.5 6.5 6 10M2.5 6.5h7a4 4 0 0 1 0 7.5H7",
  pin: "M6 2.5h4l-.5 4 2 2.500h-7l2-2.500zM8 9v5",
  play: "M4.500 2.500v11l9-5.500z",
  down: "M8 2v8M4.500 7L8 10.500 11.500 7M2.500 13.500h11",
};

/** Drawn, not a letter: the same in every font. */
export function icon(name) {
  const svg = makeSvg("svg", { class: "icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
  svg.append(makeSvg("path", { d: ICONS[name] }));
  return svg;
}

export function iconButton(name, label, act, attributes = {}) {
  const made = make("button", { type: "button", class: "icon-button", "aria-label": label, title: label, ...attributes }, icon(name));
  made.addEventListener("click", act);
  return made;
}
