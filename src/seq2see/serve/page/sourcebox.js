// A field for a text whose words can light up: the field itself is transparent, and a copy of the text lies behind it.
import { make } from "/view/dom.js";

export class SourceBox {
  /** typed(text), point(word): the number of the word under the pointer or the caret, -1 for none. */
  constructor({ label, placeholder, rows = 4, typed, point = () => {} }) {
    this.behind = make("div", { class: "behind", "aria-hidden": "true" });
    this.field = make("textarea", { rows, placeholder, "aria-label": label, dir: "auto", spellcheck: "false", autocapitalize: "off" });
    this.element = make("div", { class: "source-box" }, this.behind, this.field);
    this.lit = new Map();
    this.terms = [];
    this.field.addEventListener("input", () => {
      this.fit();
      this.draw();
      typed(this.field.value);
    });
    this.field.addEventListener("pointermove", (event) => point(this.wordAt(offsetAt(event, this.field))));
    this.field.addEventListener("pointerleave", () => point(-1));
    this.field.addEventListener("keyup", () => point(this.wordAt(this.field.selectionStart)));
    this.field.addEventListener("blur", () => point(-1));
    new ResizeObserver(() => this.fit()).observe(this.element);
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    if (this.field.value === text) return;
    this.field.value = text;
    this.lit = new Map();
    this.fit();
    this.draw();
  }

  /** [[start, end], ...] in the units of JavaScript texts, which are those of the field. */
  get words() {
    return wordSpans(this.text);
  }

  wordAt(offset) {
    return offset === null ? -1 : this.words.findIndex(([start, end]) => offset >= start && offset <= end);
  }

  /** shares: word -> 0 to 1. */
  light(shares) {
    this.lit = shares;
    this.draw();
  }

  /** Terms of the glossary get a mark. */
  mark(terms) {
    this.terms = terms;
    this.draw();
  }

  fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${this.field.scrollHeight}px`;
  }

  draw() {
    const { text } = this;
    const parts = [];
    let at = 0;
    this.words.forEach(([start, end], place) => {
      parts.push(text.slice(at, start));
      const word = text.slice(start, end);
      const share = this.lit.get(place) ?? 0;
      const term = this.terms.some((one) => word.includes(one));
      const shown = share > 0.02 || term ? make("mark", { class: term ? "term" : null }, word) : word;
      if (share > 0.02) shown.style.setProperty("--share", share.toFixed(3));
      parts.push(shown);
      at = end;
    });
    this.behind.replaceChildren(...parts, `${text.slice(at)}\u200b`);
  }
}

export function wordSpans(text) {
  return [...text.matchAll(/\S+/g)].map((match) => [match.index, match.index + match[0].length]);
}

/** The place in the field's text below a pointer, where the browser can tell. */
function offsetAt(event, field) {
  const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  return caret && (caret.offsetNode === field || field.contains(caret.offsetNode)) ? caret.offset : null;
}
