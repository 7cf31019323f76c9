// The numbers beside a drawing, in words: what a row looked at, who looked at a column.
import { make, share } from "./dom.js";
import { say } from "./wording.js";

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
    this.element = make("aside", { class: "reading", "aria-label": say("Numbers") }, this.body, this.voice);
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
    const title = titleOf(words, row >= 0, name);
    const listed = found.slice(0, SHOWN);
    if (row >= 0 && column >= 0 && !listed.some(([place]) => place === column)) {
      listed.push([column, matrix.at(row, column)]);
    }
    const parts = [heading(title, pinned), list(listed, names, row >= 0 ? column : -1, matrix.most)];
    const others = found.length - listed.length;
    const rest = found.reduce((sum, [, weight]) => sum + weight, 0) - listed.reduce((sum, [, weight]) => sum + weight, 0);
    if (row >= 0 && others > 0) parts.push(note(say("{count} others together: {share}", { count: others, share: share(Math.max(0, rest)) })));
    if (row >= 0 && matrix.hidden) parts.push(note(say("On special tokens, not shown: {share}", { share: share(matrix.hidden[row]) })));
    this.body.replaceChildren(...parts);
    if (speak) this.say(title, row >= 0 && column >= 0 ? [[column, matrix.at(row, column)]] : found.slice(0, 3), names);
  }

  /** Rows that are selected together: their weights are added. */
  showSeveral(matrix, kind, rows, { speak = false } = {}) {
    const found = matrix.ofRows(rows);
    const listed = found.slice(0, SHOWN);
    const title = titleOf(SAYING[kind], true, rows.map((row) => matrix.rows[row]).join(" + "));
    const most = Math.max(...found.map(([, weight]) => weight), 0);
    this.body.replaceChildren(heading(title, false), list(listed, matrix.columns, -1, most), note(say("selected rows ({count}): {share}", { count: rows.length, share: share(found.reduce((sum, [, weight]) => sum + weight, 0)) })));
    if (speak) this.say(title, found.slice(0, 3), matrix.columns);
  }

  /** A row that is only passed, beside those that are selected. */
  sayRow(matrix, kind, row) {
    this.say(titleOf(SAYING[kind], true, matrix.rows[row]), matrix.ofRow(row).slice(0, 3), matrix.columns);
  }

  say(title, found, names) {
    this.voice.textContent = `${title.join(" ")}: ${found.map(([place, weight]) => `${names[place]} ${share(weight)}`).join(", ")}`;
  }
}

/** What stands before the word and behind it. */
function titleOf(words, isRow, name) {
  const text = isRow ? `${words.row} {word} ${words.looked}` : `{word} ${words.column.toLowerCase()}`;
  const [before, behind] = say(text).split("{word}");
  return [before.trim(), name, behind.trim()];
}

function heading([before, name, behind], pinned) {
  const title = make("h3", {}, before ? `${before} ` : "", make("bdi", { class: "token" }, name), ` ${behind}`);
  if (pinned) title.append(" ", make("span", { class: "pinned" }, say("pinned")));
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
