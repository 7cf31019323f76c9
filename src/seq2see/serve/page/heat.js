// A picture of numbers over time: time goes right, everything else up.
import { clamp, make, makeSvg } from "/view/dom.js";
import { shadePixels, tones, whenThemeChanges } from "/view/theme.js";

export class Heat {
  /** value(column, row): 0 to 1; row 0 is the lowest. seek(column): told where one wants to be. */
  constructor(label, columns, rows, value, height, seek) {
    Object.assign(this, { columns, rows, value, seek, at: 0 });
    this.canvas = make("canvas", { class: "heat", width: columns, height: rows, "aria-hidden": "true" });
    this.canvas.style.height = `${height}px`;
    this.head = make("div", { class: "playhead", hidden: true });
    this.element = make("div", { class: "under-playhead", role: "slider", tabindex: 0, "aria-label": label, "aria-valuemin": 0, "aria-valuemax": columns - 1, "aria-valuenow": 0 }, this.canvas, this.head);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("click", (event) => {
      const box = this.canvas.getBoundingClientRect();
      this.seek(clamp(Math.floor(((event.clientX - box.left) / box.width) * columns), 0, columns - 1));
    });
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

  key(event) {
    const goal = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, PageDown: this.at - 10, PageUp: this.at + 10, Home: 0, End: this.columns - 1 }[event.key];
    if (goal === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.seek(clamp(goal, 0, this.columns - 1));
  }

  /** share: 0 to 1; text: what stands there. */
  playhead(share, text) {
    this.at = Math.min(this.columns - 1, Math.floor(share * this.columns));
    this.head.hidden = false;
    this.head.style.left = `${(100 * share).toFixed(2)}%`;
    this.element.setAttribute("aria-valuenow", this.at);
    this.element.setAttribute("aria-valuetext", text);
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
