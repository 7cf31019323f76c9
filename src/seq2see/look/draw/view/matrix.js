// The map as a matrix: a row for what was said, a column for what was looked at, a star on the text each row looked at most.
import { clamp, several, share } from "./dom.js";
import { Stage, cutText } from "./stage.js";
import { font, onShade, shade, shadePixels, themeName, tones } from "./theme.js";
import { say } from "./wording.js";

const SLANT = Math.PI / 4;
const WIDEST = 80; // of a cell
const NARROWEST = 20; // slanted names need as much
const NAMES = { cross: ["target ↓", "source →"], encoder: ["source ↓", "source →"], decoder: ["target ↓", "so far →"] };

export class MatrixView {
  /** focus(row, column, how): told where the eye is; -1 for none. how: {pin, move, speak, add, extend, along};
   *  add: to other rows; extend: from row `extend` on; along: rows that are selected stay so. */
  constructor(focus) {
    this.tell = focus;
    this.focus = [-1, -1];
    this.also = []; // rows that are selected together
    this.cursor = -1; // the row among or beside them that keys go on from
    this.stage = new Stage("matrix", (context, view) => this.draw(context, view));
    this.stage.onResize = () => this.layout();
    this.element = this.stage.element;
    this.element.tabIndex = 0;
    this.element.setAttribute("role", "application");
    this.element.setAttribute("aria-roledescription", say("matrix of weights"));
    this.listen();
  }

  /** whole: all of it at once, however small its cells. */
  show(matrix, kind, whole = false) {
    this.matrix = matrix;
    this.kind = kind;
    this.whole = whole;
    this.image = null;
    this.element.setAttribute("aria-label", say("Attention matrix, {rows} rows, {columns} columns. Move with the arrow keys; S goes to the strongest of a row, Enter pins, Escape lets go.", { rows: matrix.rows.length, columns: matrix.columns.length }));
    this.layout();
  }

  setFocus(row, column, also = [], cursor = -1) {
    this.focus = [row, column];
    this.also = also;
    this.cursor = cursor;
    this.stage.redraw();
  }

  layout() {
    if (!this.matrix || !this.stage.width) return;
    const { rows, columns, hidden } = this.matrix;
    const context = this.stage.canvas.getContext("2d");
    context.font = font(13, 700); // as the one in focus is written
    const widest = (names) => names.reduce((most, name) => Math.max(most, context.measureText(name).width), 0);
    const wide = this.stage.width;
    this.label = Math.ceil(clamp(widest(rows) + 18, 58, Math.max(72, Math.min(200, wide * 0.32))));
    context.font = font(13);
    const names = widest(columns);
    const extra = hidden ? 58 : 0;
    const room = wide - this.label - extra - 10;
    this.slanted = names + 8 > clamp(room / columns.length, NARROWEST, WIDEST);
    const lean = this.slanted ? Math.min(names, 130) * Math.sin(SLANT) + 6 : 0;
    this.cell = Math.floor(clamp((room - lean) / columns.length, NARROWEST, WIDEST));
    this.row = Math.floor(clamp(this.cell, 23, 34));
    this.head = Math.ceil(this.slanted ? Math.max(lean + 16, 40) : 40);
    this.extra = extra;
    const most = Math.max(320, Math.min(0.74 * window.innerHeight, 760));
    if (this.whole) {
      this.cell = Math.min(WIDEST, (room - lean) / columns.length);
      this.row = Math.min(this.row, (most - this.head - 8) / rows.length);
    }
    const width = this.label + this.cell * columns.length + extra + Math.max(lean, 8);
    this.stage.spreadTo(width, this.head + this.row * rows.length + 8, most);
  }

  draw(context, view) {
    if (!this.matrix || !this.cell) return;
    const first = [Math.floor(view.top / this.row), Math.floor(view.left / this.cell)];
    const last = [
      Math.min(this.matrix.rows.length, Math.ceil((view.top + view.height - this.head) / this.row)),
      Math.min(this.matrix.columns.length, Math.ceil((view.left + view.width - this.label) / this.cell)),
    ];
    context.save();
    context.beginPath();
    context.rect(this.label, this.head, view.width, view.height);
    context.clip();
    context.translate(this.label - view.left, this.head - view.top);
    if (this.cell < 8 || this.row < 8) this.drawImage(context);
    else this.drawCells(context, first, last);
    if (this.extra) this.drawHidden(context, first[0], last[0]);
    this.drawFrame(context);
    context.restore();
    this.drawRowNames(context, view, first[0], last[0]);
    this.drawColumnNames(context, view, first[1], last[1]);
    this.drawCorner(context);
  }

  drawCells(context, first, last) {
    const [row, column] = this.focus;
    const quiet = row >= 0 || column >= 0 || this.also.length > 0;
    const numbers = this.cell >= 29;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let y = first[0]; y < last[0]; y += 1) {
      for (let x = first[1]; x < last[1]; x += 1) {
        const strength = this.matrix.strength(y, x);
        const lit = !quiet || y === row || x === column || this.also.includes(y);
        context.globalAlpha = lit ? 1 : 0.32;
        context.fillStyle = shade(strength);
        context.fillRect(x * this.cell, y * this.row, this.cell - 1, this.row - 1);
        const number = numbers && quiet && lit;
        if (number) this.drawNumber(context, y, x, strength);
        if (this.matrix.peaks[y] === x) this.drawStar(context, y, x, strength, number);
      }
    }
    context.globalAlpha = 1;
  }

  /** Cells too small to be drawn one by one: a picture of all of them, the row and column in focus on top. */
  drawImage(context) {
    const [row, column] = this.focus;
    const { rows, columns } = this.matrix;
    const [width, height] = [columns.length, rows.length];
    if (this.image?.theme !== themeName()) this.image = { theme: themeName(), canvas: pictureOf(this.matrix) };
    const part = (x, y, wide, high) => {
      const from = [x, y, wide, high];
      context.drawImage(this.image.canvas, ...from, x * this.cell, y * this.row, wide * this.cell, high * this.row);
    };
    context.imageSmoothingEnabled = this.cell < 1 || this.row < 1;
    context.globalAlpha = row >= 0 || column >= 0 || this.also.length ? 0.32 : 1;
    part(0, 0, width, height);
    context.globalAlpha = 1;
    for (const one of row >= 0 ? [row, ...this.also] : this.also) part(0, one, width, 1);
    if (column >= 0) part(column, 0, 1, height);
  }

  drawNumber(context, y, x, strength) {
    context.fillStyle = onShade(strength);
    context.font = font(this.cell >= 36 ? 12 : 10.5, 500);
    context.fillText(share(this.matrix.at(y, x)).replace(/^0/, ""), (x + 0.5) * this.cell - 0.5, (y + 0.5) * this.row + 1);
  }

  drawStar(context, y, x, strength, cornered) {
    context.fillStyle = onShade(strength);
    context.font = font(cornered ? 7 : Math.min(12, this.cell * 0.62));
    const at = cornered ? [(x + 1) * this.cell - 7, y * this.row + 6] : [(x + 0.5) * this.cell - 0.5, (y + 0.5) * this.row];
    context.fillText("★", ...at);
  }

  /** What the columns that are left out had of each row. */
  drawHidden(context, first, last) {
    const left = this.matrix.columns.length * this.cell + 12;
    context.textAlign = "left";
    context.textBaseline = "middle";
    for (let y = first; y < last; y += 1) {
      if (crowded(y, this.focus[0], 15 / this.row)) continue;
      const value = this.matrix.hidden[y];
      context.globalAlpha = this.focus[0] >= 0 && this.focus[0] !== y ? 0.4 : 1;
      context.fillStyle = tones().line;
      if (this.row > 15) context.fillRect(left, (y + 1) * this.row - 5, 40, 3);
      context.fillStyle = tones().dim;
      if (this.row > 15) context.fillRect(left, (y + 1) * this.row - 5, 40 * value, 3);
      context.font = font(11.5);
      context.fillText(share(value), left, (y + 0.5) * this.row - 2);
    }
    context.globalAlpha = 1;
  }

  drawFrame(context) {
    const [row, column] = this.focus;
    const { rows, columns } = this.matrix;
    context.strokeStyle = tones().focus;
    context.lineWidth = 2;
    const around = this.cell < 8 || this.row < 8 ? 2 : 0; // small cells would vanish below their frame
    for (const one of row >= 0 ? [row, ...this.also] : this.also) context.strokeRect(1, one * this.row - around, columns.length * this.cell - 3, this.row - 1 + 2 * around);
    if (column >= 0) context.strokeRect(column * this.cell - around, 1, this.cell - 1 + 2 * around, rows.length * this.row - 3);
    if (this.cursor < 0 || !this.also.length) return;
    context.setLineDash([4, 3]);
    context.strokeStyle = tones().text;
    context.strokeRect(1, this.cursor * this.row - around, columns.length * this.cell - 3, this.row - 1 + 2 * around);
    context.setLineDash([]);
  }

  drawRowNames(context, view, first, last) {
    context.save();
    context.beginPath();
    context.rect(0, this.head, this.label, view.height);
    context.clip();
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (let y = first; y < last; y += 1) {
      if (crowded(y, this.focus[0], 15 / this.row)) continue;
      this.style(context, y === this.focus[0] || this.also.includes(y), this.focus[0] >= 0 || this.also.length > 0);
      const name = cutText(context, this.matrix.rows[y], this.label - 14);
      context.fillText(name, this.label - 8, this.head - view.top + Math.max(7, (y + 0.5) * this.row));
    }
    context.restore();
  }

  drawColumnNames(context, view, first, last) {
    context.save();
    context.beginPath();
    context.rect(this.slanted ? this.label - 4 : this.label, 0, view.width, this.head);
    context.clip();
    const names = this.matrix.columns;
    for (let x = Math.max(0, first - 6); x < last; x += 1) {
      if (crowded(x, this.focus[1], NARROWEST / this.cell)) continue;
      this.style(context, x === this.focus[1], this.focus[1] >= 0);
      this.drawColumnName(context, this.label - view.left + (x + 0.5) * this.cell, names[x]);
    }
    if (this.extra) {
      this.style(context, false, false);
      context.fillStyle = tones().dim;
      context.textAlign = "left";
      context.textBaseline = "alphabetic";
      context.fillText(say("hidden"), this.label - view.left + names.length * this.cell + 10, this.head - 8);
    }
    context.restore();
  }

  drawColumnName(context, at, name) {
    context.save();
    context.translate(at, this.head - 8);
    if (this.slanted) context.rotate(-SLANT);
    context.textAlign = this.slanted ? "left" : "center";
    context.textBaseline = this.slanted ? "middle" : "alphabetic";
    context.fillText(cutText(context, name, this.slanted ? 130 : this.cell), 0, 0);
    context.restore();
  }

  drawCorner(context) {
    if (this.label < 56) return;
    const [down, across] = NAMES[this.kind].map((name) => say(name));
    context.font = font(11);
    context.fillStyle = tones().dim;
    context.textAlign = "right";
    context.textBaseline = "alphabetic";
    context.fillText(across, this.label - 8, this.head - 20);
    context.fillText(down, this.label - 8, this.head - 6);
  }

  style(context, chosen, quiet) {
    context.font = font(13, chosen ? 700 : 400);
    context.fillStyle = chosen ? tones().focus : quiet ? tones().dim : tones().text;
  }

  // ----- pointer and keys

  listen() {
    const { element } = this;
    element.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse") this.tell(...this.hit(event), {});
    });
    element.addEventListener("pointerleave", () => this.tell(-1, -1, {}));
    element.addEventListener("click", (event) => this.tell(...this.hit(event), { pin: true, add: several(event) }));
    element.addEventListener("focus", () => {
      if (element.matches(":focus-visible") && this.focus[0] < 0 && this.focus[1] < 0 && !this.also.length) this.moveTo(0, -1);
    });
    element.addEventListener("keydown", (event) => this.key(event));
  }

  /** The row and column below a pointer; above a name, only its row or its column. */
  hit(event) {
    const [x, y] = this.stage.locate(event);
    const { rows, columns } = this.matrix;
    const lean = this.slanted && y < this.head ? this.head - 8 - y : 0;
    const inside = (at, most) => (at >= 0 && at < most ? at : -1);
    const row = y < this.head ? -1 : Math.floor((y - this.head + this.element.scrollTop) / this.row);
    const column = x < this.label ? -1 : Math.floor((x - lean - this.label + this.element.scrollLeft) / this.cell);
    return [inside(row, rows.length), inside(column, columns.length)];
  }

  key(event) {
    const [row, column] = this.also.length ? [this.cursor, -1] : this.focus;
    const { rows, columns, peaks } = this.matrix;
    const page = Math.max(1, Math.floor((this.element.clientHeight - this.head) / this.row) - 1);
    const moves = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - page, column],
      PageDown: [row + page, column],
      Home: [row, column < 0 ? -1 : 0],
      End: [row, columns.length - 1],
      s: [row, row < 0 ? column : peaks[row]],
    };
    if (event.altKey) return;
    if (event.key === "Enter" || event.key === " ") this.tell(row, column, { pin: true, speak: true, add: several(event) });
    else if (event.key === "Escape") this.tell(-1, -1, { pin: true, speak: true });
    else if (moves[event.key]) {
      const [down, across] = moves[event.key];
      const further = event.key.startsWith("Page") || event.key === "ArrowUp" || event.key === "ArrowDown";
      const how = further && event.shiftKey ? { extend: row } : further && (event.ctrlKey || event.metaKey) ? { along: true } : {};
      if ((event.ctrlKey || event.metaKey) && !how.along) return; // a key of the browser
      this.moveTo(clamp(down, column < 0 || how.extend !== undefined ? 0 : -1, rows.length - 1), clamp(across, -1, columns.length - 1), how);
    } else return;
    event.preventDefault();
  }

  moveTo(row, column, how = {}) {
    const { element } = this;
    const reach = (at, size, seen, from) => Math.min(at * size, Math.max(from, (at + 1) * size - seen));
    if (row >= 0) element.scrollTop = reach(row, this.row, element.clientHeight - this.head - 10, element.scrollTop);
    if (column >= 0) element.scrollLeft = reach(column, this.cell, element.clientWidth - this.label - 30, element.scrollLeft);
    this.tell(row, column, { move: true, speak: true, ...how });
  }
}

/** Whether a name has no room: only each so-many-th has, and the one in focus takes the room of its neighbours. */
function crowded(place, focus, apart) {
  if (apart <= 1 || place === focus) return false;
  return place % Math.ceil(apart) !== 0 || (focus >= 0 && Math.abs(place - focus) < apart);
}

/** A pixel for each cell. */
function pictureOf(matrix) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [matrix.columns.length, matrix.rows.length];
  const context = canvas.getContext("2d");
  const pixels = shadePixels(matrix.values, matrix.most);
  context.putImageData(new ImageData(pixels, canvas.width, canvas.height), 0, 0);
  return canvas;
}
