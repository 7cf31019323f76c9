// The blocks of a lesson: what the terminal shows, with charts to point at and maps to explore.
import { Chart } from "./chart.js";
import { make } from "./dom.js";
import { Explorer } from "./explorer.js";
import { onShade, shade, whenThemeChanges } from "./theme.js";

const BESIDE = 58; // letters of code that fit beside their formula

/** *this* is emphasis and `this` is code, as in a terminal or a notebook. */
function prose(text) {
  const parts = text.split(/(\*[^*\s][^*]*\*|`[^`]+`)/);
  return make("p", {}, ...parts.map((part, place) => (place % 2 ? make(part[0] === "*" ? "em" : "code", {}, part.slice(1, -1)) : part)));
}

function grid(head, rows) {
  return make("div", { class: "scroll", tabindex: 0 }, make("table", { class: "numbers" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

/** A cell as dark as its weight, in either theme. */
function shadedCell(text, weight) {
  const cell = make("td", { class: "number shaded" }, text);
  const paint = () => {
    cell.style.background = shade(weight);
    cell.style.color = onShade(weight);
  };
  whenThemeChanges(paint);
  paint();
  return cell;
}

function matrix({ name, columns, rows }) {
  const head = [name, ...columns].map((text, place) => make("th", { class: place ? "number" : "left", scope: "col" }, text));
  return grid(head, rows.map((row) => make("tr", {}, make("th", { class: "left", scope: "row" }, row.name), ...row.cells.map(([text, weight]) => (weight === null ? make("td", { class: "number" }, text) : shadedCell(text, weight))))));
}

function barOf(share) {
  const bar = make("span", { class: "bar inline" });
  bar.style.setProperty("--share", Math.max(0, Math.min(1, share)));
  return bar;
}

function table({ columns, rows }) {
  const kind = ({ number }) => (number ? "number" : "left");
  const head = columns.map((column) => make("th", { class: column.bar ? "barred" : kind(column), scope: "col" }, column.name));
  const cell = ([text, share], column) => make("td", { class: kind(column) }, text, column.bar && share !== null ? barOf(share) : null);
  return grid(head, rows.map((row) => make("tr", {}, ...row.map((value, place) => cell(value, columns[place])))));
}

function player([name, wav]) {
  const bytes = Uint8Array.from(atob(wav), (letter) => letter.charCodeAt(0));
  const src = URL.createObjectURL(new Blob([bytes], { type: "audio/wav" }));
  return make("figure", {}, make("figcaption", {}, name), make("audio", { controls: true, preload: "none", src, "aria-label": name }));
}

const blocks = {
  text: ({ text }) => prose(text),
  equation: ({ text }) => make("pre", { class: "sum", tabindex: 0 }, text),
  drawing: ({ text }) => make("pre", { class: "characters", tabindex: 0 }, text),
  command: ({ text, changes }, { attempt }) => make("div", { class: "attempt" }, make("pre", { class: "command", tabindex: 0 }, text), changes && attempt ? attempt(changes) : null),
  quote: ({ formula, code, place }) => make("div", { class: code.split("\n").some((line) => line.length > BESIDE) ? "quote stacked" : "quote" }, make("p", { class: "equation" }, formula), make("figure", {}, make("figcaption", {}, place), make("pre", { tabindex: 0 }, code))),
  matrix,
  table,
  chart: ({ title, chart }) => make("div", { class: "charted" }, make("h3", {}, title), new Chart(chart).element),
  sounds: ({ sounds }) => make("div", { class: "sounds" }, ...sounds.map(player)),
  map: ({ examples, note }) => make("div", {}, note ? make("p", { class: "note" }, note) : null, new Explorer(examples).element),
};

function card(title, ...inside) {
  return make("section", { class: "card" }, make("h2", {}, title), ...inside);
}

function lines({ title, lines: entries, lessons = [] }, first, { follow } = {}) {
  const name = (text, place) => (follow && lessons[place] ? follow(lessons[place], text) : make(first, {}, text));
  return card(title, make("ul", { class: "plain" }, ...entries.map(([one, other], place) => make("li", {}, one ? name(one, place) : null, other ? make("span", { class: "note" }, other) : null))));
}

/** data: of learn/render/page.py. attempt(changes): what stands below a command that changes something; follow(lesson,
 *  command): what leads to another lesson. In a file there is neither. */
export function lessonCards(data, host = {}) {
  const sections = data.sections.map(({ title, blocks: inside }) => card(title, ...inside.map((block) => blocks[block.kind](block, host))));
  return [...sections, lines(data.origins, "span"), lines(data.following, "code", host)];
}
