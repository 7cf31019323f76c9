// The map as two columns of words with lines between them: the stronger the weight, the stronger the line.
import { clamp, make, several, share } from "./dom.js";
import { Stage } from "./stage.js";
import { tones } from "./theme.js";
import { say } from "./wording.js";

const STEP = 30; // from one word to the next
const MIDDLE = 20; // of the first word
const FAINTEST = 0.03; // of the strongest; below, a line could not be seen
const SAID = 0.005; // below, a number would read 0.00

export class LinesView {
  constructor(focus) {
    this.tell = focus;
    this.focus = [-1, -1];
    this.also = [];
    this.how = {}; // what the next focus is told with
    this.stage = new Stage("lines", (context, view) => this.draw(context, view));
    this.stage.onResize = () => this.layout();
    this.element = this.stage.element;
    this.sides = [make("div", { class: "side source", role: "group" }), make("div", { class: "side target", role: "group" })];
    this.stage.spread.append(...this.sides);
    this.element.addEventListener("pointerleave", () => this.tell(-1, -1, {}));
  }

  show(matrix, kind) {
    this.matrix = matrix;
    const names = { cross: ["Source", "Target"], encoder: ["Source", "Source"], decoder: ["So far", "Target"] }[kind];
    this.words = [this.list(0, matrix.columns, say(names[0])), this.list(1, matrix.rows, say(names[1]))];
    this.lines = strongLines(matrix);
    this.layout();
    this.setFocus(-1, -1);
  }

  setFocus(row, column, also = []) {
    this.focus = [row, column];
    this.also = also;
    this.mark();
    this.stage.redraw();
  }

  /** The words of one side as buttons: one stop for the tab key, arrows go on from there. */
  list(side, names, title) {
    this.sides[side].replaceChildren();
    this.sides[side].setAttribute("aria-label", say("{title}: {count} tokens, move with the arrow keys", { title, count: names.length }));
    const words = names.map((name, place) => {
      const number = make("span", { class: "number" });
      const button = make("button", { type: "button", class: "word", tabindex: place ? -1 : 0 }, make("bdi", {}, name), number);
      button.style.top = `${place * STEP}px`;
      const at = side === 0 ? [-1, place] : [place, -1];
      button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.tell(...at, {}));
      button.addEventListener("focus", () => button.matches(":focus-visible") && this.tell(...at, { move: true, speak: true, ...this.how }));
      button.addEventListener("click", (event) => this.tell(...at, { pin: true, add: several(event) }));
      button.addEventListener("keydown", (event) => this.key(event, side, place));
      return { button, number };
    });
    this.sides[side].append(...words.map((word) => word.button));
    return words;
  }

  key(event, side, place) {
    const other = event.key === "ArrowLeft" ? 0 : event.key === "ArrowRight" ? 1 : side;
    const moves = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: Infinity, ArrowLeft: place, ArrowRight: place };
    if (event.key === "Escape") this.tell(-1, -1, { pin: true, speak: true });
    const further = side === 1 && (event.key === "ArrowUp" || event.key === "ArrowDown");
    const beside = event.ctrlKey || event.metaKey;
    if (!(event.key in moves) || event.altKey || (beside && !further)) return;
    this.how = further && event.shiftKey ? { extend: place } : further && beside ? { along: true } : {};
    const target = this.words[other][clamp(moves[event.key], 0, this.words[other].length - 1)].button;
    for (const { button } of this.words[other]) button.tabIndex = button === target ? 0 : -1;
    target.focus();
    this.how = {};
    event.preventDefault();
  }

  layout() {
    if (!this.matrix || !this.stage.width) return;
    const wide = this.stage.width;
    const middle = clamp(wide * 0.36, 90, 420);
    const each = Math.floor(Math.min((wide - middle) / 2, 260));
    this.left = Math.floor((wide - middle) / 2);
    this.right = Math.ceil(this.left + middle);
    this.sides[0].style.left = `${this.left - each}px`;
    this.sides[1].style.left = `${this.right}px`;
    for (const side of this.sides) side.style.width = `${each}px`;
    const most = Math.max(320, Math.min(0.74 * window.innerHeight, 760));
    this.stage.spreadTo(wide, Math.max(this.words[0].length, this.words[1].length) * STEP + 12, most);
  }

  /** Numbers beside the words on the other side of the one in focus. */
  mark() {
    const [row, column] = this.focus;
    const { matrix, also } = this;
    const looked = (place) => (also.length ? matrix.sumOf(also, place) : row >= 0 ? matrix.at(row, place) : null);
    this.words[0].forEach((word, place) => setWord(word, place === column, looked(place)));
    this.words[1].forEach((word, place) => setWord(word, place === row || also.includes(place), column >= 0 ? matrix.at(place, column) : null));
  }

  draw(context, view) {
    if (!this.matrix || this.left === undefined) return;
    const [row, column] = this.focus;
    const quiet = row >= 0 || column >= 0 || this.also.length > 0;
    const middle = (this.left + this.right) / 2;
    for (const [y, x, strength] of this.lines) {
      const ends = [x * STEP + MIDDLE - view.top, y * STEP + MIDDLE - view.top];
      if (Math.max(...ends) < 0 || Math.min(...ends) > view.height) continue;
      const lit = this.also.length ? this.also.includes(y) : quiet && (row < 0 || y === row) && (column < 0 || x === column);
      context.globalAlpha = quiet && !lit ? strength * 0.08 : strength;
      context.strokeStyle = lit ? tones().focus : tones().ink;
      context.lineWidth = 0.8 + 2.6 * strength;
      context.beginPath();
      context.moveTo(this.left + 6, ends[0]);
      context.bezierCurveTo(middle, ends[0], middle, ends[1], this.right - 6, ends[1]);
      context.stroke();
    }
    context.globalAlpha = 1;
  }
}

/** [row, column, strength], faint ones first, so that strong ones lie on top. */
function strongLines(matrix) {
  const found = [];
  matrix.rows.forEach((_, row) => {
    matrix.columns.forEach((__, column) => {
      const strength = matrix.strength(row, column);
      if (strength >= FAINTEST) found.push([row, column, strength]);
    });
  });
  return found.sort((a, b) => a[2] - b[2]);
}

function setWord({ button, number }, chosen, weight) {
  button.classList.toggle("chosen", chosen);
  const text = weight !== null && weight >= SAID ? share(weight) : "";
  if (number.textContent !== text) number.textContent = text;
  button.style.setProperty("--share", weight === null ? 0 : clamp(weight, 0, 1).toFixed(3));
}
