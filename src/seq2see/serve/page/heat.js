// A picture of numbers over time: time goes right, everything else up.
import { make, makeSvg } from "/view/dom.js";
import { shadePixels, tones, whenThemeChanges } from "/view/theme.js";

export class Heat {
  /** value(column, row): 0 to 1; row 0 is the lowest. */
  constructor(label, columns, rows, value, height) {
    Object.assign(this, { columns, rows, value });
    this.canvas = make("canvas", { class: "heat", width: columns, height: rows, role: "img", "aria-label": label });
    this.canvas.style.height = `${height}px`;
    this.head = make("div", { class: "playhead", hidden: true });
    this.element = make("div", { class: "under-playhead" }, this.canvas, this.head);
    this.paint();
    whenThemeChanges(() => this.element.isConnected && this.paint());
  }

  paint() {
    const strengths = new Float32Array(this.columns * this.rows);
    for (let row = 0; row < this.rows; row += 1) {
      for (let column = 0; column < this.columns; column += 1) strengths[(this.rows - 1 - row) * this.columns + column] = this.value(column, row);
    }
    this.canvas.getContext("2d").putImageData(new ImageData(shadePixels(strengths, 1), this.columns, this.rows), 0, 0);
  }

  /** at: 0 to 1. */
  playhead(at) {
    this.head.hidden = false;
    this.head.style.left = `${(100 * at).toFixed(2)}%`;
  }

  picture() {
    const [width, height] = [Math.max(480, 4 * this.columns), Math.max(160, 6 * this.rows)];
    const svg = makeSvg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    svg.append(makeSvg("rect", { width: "100%", height: "100%", fill: tones().paper }), makeSvg("image", { href: this.canvas.toDataURL(), width, height, preserveAspectRatio: "none" }));
    return svg;
  }
}

/** {frames, mels, cells}: a byte for each number -> 0 to 1. */
export function unpackMel({ cells }) {
  const text = atob(cells);
  return Float32Array.from({ length: text.length }, (_, at) => text.charCodeAt(at) / 255);
}
