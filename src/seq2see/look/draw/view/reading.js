// The numbers beside a drawing, in words: what a row looked at, who looked at a column.
import { make, share } from "./dom.js";

const SHOWN = 8;
const SAYING = {
  cross: { row: "Saying", looked: "it looked at", column: "Looked at while saying" },
  encoder: { row: "Reading", looked: "it looked at", column: "Looked at while reading" },
  decoder: { row: "Saying", looked: "it looked back at", column: "Looked back at while saying" },
};

export class Reading {
  constructor() {
    this.body = make("div");
    this.voice = make("div", { class: "unseen", "aria-live": "polite" });
    this.element = make("aside", { class: "reading", "aria-label": "Numbers" }, this.body, this.voice);
  }

  hint(text) {
    this.body.replaceChildren(make("p", { class: "hint" }, text));
  }

  /** What is in focus; speak: say it to a screen reader as well. */
  show(matrix, kind, row, column, { speak = false, pinned = false } = {}) {
    const words = SAYING[kind];
    const found = row >= 0 ? matrix.ofRow(row) : matrix.ofColumn(column);
    const names = row >= 0 ? matrix.columns : matrix.rows;
    const name = row >= 0 ? matrix.rows[row] : matrix.columns[column];
    const title = row >= 0 ? [words.row, name, words.looked] : ["", name, words.column.toLowerCase()];
    const listed = found.slice(0, SHOWN);
    if (row >= 0 && column >= 0 && !listed.some(([place]) => place === column)) {
      listed.push([column, matrix.at(row, column)]);
    }
    const parts = [heading(title, pinned), list(listed, names, row >= 0 ? column : -1, matrix.most)];
    const others = found.length - listed.length;
    const rest = found.reduce((sum, [, weight]) => sum + weight, 0) - listed.reduce((sum, [, weight]) => sum + weight, 0);
    if (row >= 0 && others > 0) parts.push(note(`${others} others together: ${share(Math.max(0, rest))}`));
    if (row >= 0 && matrix.hidden) parts.push(note(`On special tokens, not shown: ${share(matrix.hidden[row])}`));
    this.body.replaceChildren(...parts);
    if (speak) this.say(title, row >= 0 && column >= 0 ? [[column, matrix.at(row, column)]] : found.slice(0, 3), names);
  }

  say(title, found, names) {
    this.voice.textContent = `${title.join(" ")}: ${found.map(([place, weight]) => `${names[place]} ${share(weight)}`).join(", ")}`;
  }
}

function heading([before, name, behind], pinned) {
  const title = make("h3", {}, before ? `${before} ` : "", make("bdi", { class: "token" }, name), ` ${behind}`);
  if (pinned) title.append(" ", make("span", { class: "pinned" }, "pinned"));
  return title;
}

function list(found, names, chosen, most) {
  const rows = found.map(([place, weight]) => {
    const bar = make("span", { class: "bar" });
    bar.style.setProperty("--share", most > 0 ? (weight / most).toFixed(3) : 0);
    const line = make("li", {}, make("bdi", {}, names[place]), bar, make("span", { class: "number" }, share(weight)));
    line.classList.toggle("chosen", place === chosen);
    return line;
  });
  return make("ol", {}, ...rows);
}

function note(text) {
  return make("p", { class: "note" }, text);
}
