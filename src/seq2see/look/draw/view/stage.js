// A drawing larger than the screen: it scrolls, but its canvas is never larger than what can be seen of it.
import { make } from "./dom.js";
import { whenThemeChanges } from "./theme.js";

export class Stage {
  /** draw(context, view): view = {left, top, width, height} of the part that can be seen. */
  constructor(name, draw) {
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.spread = make("div", { class: "spread" }, this.canvas);
    this.element = make("div", { class: `stage ${name}` }, this.spread);
    this.draw = draw;
    this.waiting = false;
    this.onResize = () => {};
    this.element.addEventListener("scroll", () => this.redraw(), { passive: true });
    this.size = [0, 0];
    new ResizeObserver(() => this.resized()).observe(this.element);
    whenThemeChanges(() => this.redraw());
  }

  get width() {
    return this.element.clientWidth;
  }

  /** How large the whole drawing is, and how much of its height is shown at most. */
  spreadTo(width, height, most) {
    this.spread.style.width = `${width}px`;
    this.spread.style.height = `${height}px`;
    // A scroll bar takes room of its own in some browsers.
    const bar = width > this.element.clientWidth ? this.element.offsetHeight - this.element.clientHeight : 0;
    this.element.style.height = `${Math.min(height, most) + bar}px`;
    this.redraw();
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.paint();
    });
  }

  /** Where a pointer is, in the drawing. */
  locate(event) {
    const box = this.element.getBoundingClientRect();
    return [event.clientX - box.left - this.element.clientLeft, event.clientY - box.top - this.element.clientTop];
  }

  paint() {
    const width = this.element.clientWidth;
    const height = this.element.clientHeight;
    if (!width || !height) return;
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== wide || this.canvas.height !== high) {
      [this.canvas.width, this.canvas.height] = [wide, high];
      this.canvas.style.width = `${width}px`;
      this.canvas.style.height = `${height}px`;
    }
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    this.draw(context, { left: this.element.scrollLeft, top: this.element.scrollTop, width, height });
  }

  resized() {
    const size = [this.element.clientWidth, this.element.clientHeight];
    if (size[0] !== this.size[0]) this.onResize();
    this.size = size;
    this.redraw();
  }
}

/** Text cut to a width, with the sign for "more" behind it. */
export function cutText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const characters = [...text];
  let [low, high] = [0, characters.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${characters.slice(0, middle).join("")}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join("")}…`;
}
