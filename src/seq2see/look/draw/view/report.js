// The report of `compare`, `demo` and `study`: whatever sections there is data for.
import { Chart } from "./chart.js";
import { make } from "./dom.js";
import { Explorer } from "./explorer.js";
import { makeThemePicker } from "./theme.js";

const data = JSON.parse(document.querySelector("script.data").textContent);

function table({ columns, rows, left = 1 }) {
  const cell = (tag, text, place) => make(tag, { class: place < left ? "left" : "number", scope: tag === "th" ? "col" : null }, text);
  const head = make("tr", {}, ...columns.map((text, place) => cell("th", text, place)));
  const lines = rows.map((row) => make("tr", {}, ...row.map((text, place) => cell("td", text, place))));
  return make("div", { class: "scroll" }, make("table", { class: "numbers" }, make("thead", {}, head), make("tbody", {}, ...lines)));
}

function folded(title, ...inside) {
  return make("details", {}, make("summary", {}, title), ...inside);
}

function texts(lines) {
  return make("dl", { class: "texts" }, ...lines.flatMap(([label, text]) => [make("dt", {}, label), make("dd", { dir: "auto" }, text)]));
}

const sections = {
  scores: ["Scores", ({ verdicts, ...rest }) => [...verdicts.map((line) => make("p", { class: "verdict" }, line)), table(rest)]],
  lengths: ["Quality by length", ({ chart, ...rest }) => [make("p", { class: "note" }, rest.title), new Chart(chart).element, folded("As a table", table(rest))]],
  tables: ["Tables", (tables) => tables.flatMap(({ title, notes, ...rest }) => [make("h3", {}, title), table(rest), ...notes.map((line) => make("p", { class: "note" }, line))])],
  training: ["Training", (charts) => [make("div", { class: "charts" }, ...charts.map((chart) => make("div", {}, make("h3", {}, chart.label), new Chart(chart).element)))]],
  examples: ["What it looked at", (examples) => [data.note ? make("p", { class: "note" }, data.note) : null, new Explorer(examples).element]],
  sentences: ["Sentences they differ in", (groups) => groups.flatMap(({ title, items }) => [make("h3", { dir: "auto" }, title), ...items.map(texts)])],
  environment: ["How it was made", (lines) => [texts(lines)]],
};

const shown = Object.entries(sections).filter(([name]) => data[name] && data[name].length !== 0);
const main = make("main", { class: "report" }, data.lead ? make("p", { class: "lead", dir: "auto" }, data.lead) : null);
const contents = make("nav", { "aria-label": "Contents" });
for (const [name, [title, build]] of shown) {
  const section = make("section", { class: `card of-${name}`, id: `s2s-${name}` }, make("h2", { tabindex: -1 }, title));
  section.append(...build(data[name]).filter(Boolean));
  main.append(section);
  const link = make("a", { href: `#s2s-${name}` }, title);
  contents.append(link);
}
document.body.append(make("header", { class: "top" }, make("h1", { dir: "auto" }, data.title), makeThemePicker()), shown.length > 1 ? contents : "", main);
