// What is shown, as SVG to be saved: the same numbers, the colours of the moment, texts as texts.
import { makeSvg } from "/view/dom.js";
import { onShade, shade, tones } from "/view/theme.js";

const FONT = 'system-ui, "Noto Sans", "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans CJK KR", sans-serif';
const CELL = 34;

function sheet(width, height, ...inside) {
  const svg = makeSvg("svg", { width: Math.ceil(width), height: Math.ceil(height), viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, "font-family": FONT, "font-size": 13 });
  svg.append(makeSvg("rect", { width: "100%", height: "100%", fill: tones().paper }), ...inside);
  return svg;
}

function words(x, y, text, attributes = {}) {
  return makeSvg("text", { x, y, fill: tones().text, ...attributes }, text);
}

/** About as wide as a text is drawn: letters of Hangul and kanji are twice as wide. */
function wide(text) {
  return [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) > 0x1100 ? 13 : 7.4), 0);
}

export function matrixPicture(matrix) {
  const left = Math.max(...matrix.rows.map(wide), 40) + 16;
  const longest = Math.max(...matrix.columns.map(wide), 20);
  const slanted = longest > CELL;
  const top = slanted ? longest * 0.72 + 20 : 32;
  const cells = matrix.rows.flatMap((_, row) => matrix.columns.flatMap((__, column) => cellOf(matrix, row, column, left, top)));
  const rows = matrix.rows.map((name, row) => words(left - 8, top + (row + 0.5) * CELL + 4, name, { "text-anchor": "end" }));
  const columns = matrix.columns.map((name, column) => {
    const at = [left + (column + 0.5) * CELL, top - 8];
    return slanted ? words(0, 0, name, { transform: `translate(${at.join(" ")}) rotate(-45)` }) : words(...at, name, { "text-anchor": "middle" });
  });
  const width = left + matrix.columns.length * CELL + (slanted ? longest * 0.72 : 0) + 16;
  return sheet(width, top + matrix.rows.length * CELL + 16, ...cells, ...rows, ...columns);
}

function cellOf(matrix, row, column, left, top) {
  const strength = matrix.strength(row, column);
  const [x, y] = [left + column * CELL, top + row * CELL];
  const value = matrix.at(row, column).toFixed(2).replace(/^0/, "");
  return [
    makeSvg("rect", { x, y, width: CELL - 1, height: CELL - 1, fill: shade(strength) }),
    words(x + CELL / 2, y + CELL / 2 + 4, value, { "text-anchor": "middle", "font-size": 10.5, fill: onShade(strength) }),
  ];
}

export function linesPicture(matrix) {
  const step = 30;
  const left = Math.max(...matrix.columns.map(wide), 40) + 32;
  const right = left + 260;
  const width = right + Math.max(...matrix.rows.map(wide), 40) + 32;
  const y = (place) => 24 + place * step;
  const curves = [];
  matrix.rows.forEach((_, row) => {
    matrix.columns.forEach((__, column) => {
      const strength = matrix.strength(row, column);
      if (strength < 0.03) return;
      const middle = (left + right) / 2;
      curves.push([strength, makeSvg("path", { d: `M${left} ${y(column)}C${middle} ${y(column)} ${middle} ${y(row)} ${right} ${y(row)}`, fill: "none", stroke: tones().ink, "stroke-width": 0.8 + 2.6 * strength, opacity: strength.toFixed(3) })]);
    });
  });
  curves.sort((a, b) => a[0] - b[0]);
  const sources = matrix.columns.map((name, place) => words(left - 8, y(place) + 4, name, { "text-anchor": "end" }));
  const targets = matrix.rows.map((name, place) => words(right + 8, y(place) + 4, name));
  return sheet(width, 24 + Math.max(matrix.rows.length, matrix.columns.length) * step, ...curves.map(([, curve]) => curve), ...sources, ...targets);
}

/** Several matrices under each other, each with its name. [[name, matrix], ...] */
export function matricesPicture(named) {
  let [height, width] = [8, 0];
  const inside = [];
  for (const [name, matrix] of named) {
    const one = matrixPicture(matrix);
    inside.push(words(16, height + 16, name, { "font-weight": 600 }));
    one.setAttribute("y", height + 24);
    inside.push(one);
    height += 40 + Number(one.getAttribute("height"));
    width = Math.max(width, Number(one.getAttribute("width")), wide(name) + 32);
  }
  return sheet(width, height, ...inside);
}

/** What a BeamView shows: its boxes and lines. */
export function beamPicture(view) {
  const [width, height] = [parseFloat(view.spread.style.width), parseFloat(view.spread.style.height)];
  const lines = [...view.edges].map(([place, path]) => {
    const first = view.best[place] === 1;
    return makeSvg("path", { d: path.getAttribute("d"), fill: "none", stroke: first ? tones().ink : tones().dim, "stroke-width": first ? 2.4 : 1, opacity: first ? 1 : 0.5 });
  });
  const boxes = [...view.buttons].flatMap(([place, button]) => {
    const node = view.nodes[place];
    const [x, y] = [parseFloat(button.style.left), parseFloat(button.style.top)];
    return [
      makeSvg("rect", { x, y, width: 122, height: 32, rx: 7, fill: tones().paper, stroke: view.best[place] === 1 ? tones().ink : tones().line }),
      words(x + 8, y + 20, node.piece.slice(0, 12)),
      words(x + 116, y + 20, node.total.toFixed(2), { "text-anchor": "end", "font-size": 11, fill: tones().dim }),
    ];
  });
  return sheet(width, height, ...lines, ...boxes);
}

/** Charts under each other, with the colours of the page written into them. [[title, Chart], ...] */
export function chartsPicture(charts) {
  let [height, width] = [8, 0];
  const inside = [];
  for (const [title, chart] of charts) {
    const copy = chart.svg.cloneNode(true);
    paintAs(chart.svg, copy);
    copy.setAttribute("y", height + 24);
    inside.push(words(16, height + 16, title, { "font-weight": 600 }), copy);
    height += 32 + Number(chart.svg.getAttribute("height") ?? 0);
    width = Math.max(width, Number(chart.svg.getAttribute("width") ?? 0));
  }
  return sheet(width, height, ...inside);
}

/** A copy outside the page has no style sheet: what it says is written onto each element. */
function paintAs(from, to) {
  const style = getComputedStyle(from);
  for (const name of ["fill", "stroke", "stroke-width", "opacity", "stroke-dasharray", "font-size"]) to.setAttribute(name, style.getPropertyValue(name));
  [...from.children].forEach((child, place) => paintAs(child, to.children[place]));
}
