// Every layer and head at a glance; each one is a button that opens it.
import { make } from "./dom.js";
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
    this.element.replaceChildren(grid);
    this.paint();
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
