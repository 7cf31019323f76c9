// Every layer and head at a glance; each one is a button that opens it.
import { make, share } from "./dom.js";
import { shadePixels, whenThemeChanges } from "./theme.js";
import { say } from "./wording.js";

const SIDE = 84; // pixels of a picture

export class HeadsView {
  /** open(layer, head): told which one was chosen. */
  constructor(open) {
    this.open = open;
    this.element = make("div", { class: "heads" });
    whenThemeChanges(() => this.paint());
  }

  show(map, { level, hide, rescale, layer: chosenLayer, head: chosenHead }) {
    this.pictures = [];
    const grid = make("table", {}, make("caption", { class: "unseen" }, say("Every layer and head")));
    map.layers.forEach((layerName, layer) => {
      const line = make("tr", {}, make("th", { scope: "row" }, say("Layer {layer}", { layer: layerName })));
      map.heads.forEach((headName, head) => line.append(make("td", {}, this.button(map, layer, head, map.make(layer, head, level, hide, rescale), layer === chosenLayer && head === chosenHead))));
      grid.append(line);
    });
    this.element.replaceChildren(grid, ...(map.summary(0, 0) ? [this.numbers(map)] : []));
    this.paint();
  }

  /** Every head in numbers: the same that `seq2see look --summary` prints. */
  numbers(map) {
    const titles = ["Layer", "Head", "Entropy", "Order", "On special tokens", "Coverage"].map((title) => make("th", { scope: "col" }, say(title)));
    const rows = map.layers.flatMap((layerName, layer) => map.heads.map((headName, head) => {
      const [entropy, order, rest, coverage] = map.summary(layer, head);
      const cells = [entropy.toFixed(2), order.toFixed(2), share(rest), share(coverage)].map((text) => make("td", {}, text));
      return make("tr", {}, make("th", { scope: "row" }, layerName), make("th", { scope: "row" }, headName), ...cells);
    }));
    return make("table", { class: "numbers" }, make("caption", {}, say("Every head in numbers")), make("thead", {}, make("tr", {}, ...titles)), make("tbody", {}, ...rows));
  }

  button(map, layer, head, matrix, chosen) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const name = say("Layer {layer}, head {head}", { layer: map.layers[layer], head: map.heads[head] });
    const button = make("button", { type: "button", "aria-label": name, title: name }, canvas, make("span", {}, say("Head {head}", { head: map.heads[head] })));
    button.classList.toggle("chosen", chosen);
    button.addEventListener("click", () => this.open(layer, head));
    this.pictures.push([canvas, shrunk(matrix)]);
    return button;
  }

  paint() {
    for (const [canvas, { width, height, strengths }] of this.pictures ?? []) {
      [canvas.width, canvas.height] = [width, height];
      canvas.getContext("2d").putImageData(new ImageData(shadePixels(strengths, 1), width, height), 0, 0);
    }
  }
}

/** At most SIDE x SIDE, the strongest of what falls together; so nothing that stands out is lost. */
function shrunk(matrix) {
  const [rows, columns] = [matrix.rows.length, matrix.columns.length];
  const [height, width] = [Math.min(rows, SIDE), Math.min(columns, SIDE)];
  const strengths = new Float32Array(width * height);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      const at = Math.floor((row * height) / rows) * width + Math.floor((column * width) / columns);
      strengths[at] = Math.max(strengths[at], matrix.strength(row, column));
    }
  }
  return { width, height, strengths };
}
