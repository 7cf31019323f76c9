// What else could stand in the place of a word: a list below it, with probabilities, and a field for a word of one's own.
import { make, makeToggle } from "/view/dom.js";
import { Latest, isAbort } from "/page/api.js";
import { button, fault, iconButton, percent, roving } from "/page/parts.js";
import { t } from "/page/texts.js";

export class Alternatives {
  /** choose({ids} or {word}, keep): what was chosen; release(): free the word again. */
  constructor(api, { choose, release, closed }) {
    this.api = api;
    this.chosen = choose;
    this.release = release;
    this.closed = closed;
    this.asking = new Latest();
    this.element = make("div", { class: "alternatives", role: "dialog", hidden: true });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.close();
    });
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.hidden && !this.element.contains(event.target) && !this.anchor?.contains(event.target)) this.close(false);
    });
  }

  /** Below `anchor`, a button inside the parent of this element. */
  async open(anchor, request, word, pinned) {
    this.anchor = anchor;
    this.keep = false;
    anchor.setAttribute("aria-expanded", "true");
    const title = t("words.title", { word });
    this.element.setAttribute("aria-label", title);
    this.list = roving(make("div", { class: "choices", "aria-busy": "true" }, make("p", { class: "note" }, t("words.wait"))), ["ArrowUp", "ArrowDown"]);
    const head = make("div", { class: "card-head" }, make("h3", {}, title), iconButton("clear", t("close"), () => this.close()));
    const keep = makeToggle(t("words.keep"), false, (on) => (this.keep = on));
    const free = pinned ? button(t("words.release"), () => this.finish(() => this.release())) : null;
    this.element.replaceChildren(head, this.list, this.field(), keep, ...[free].filter(Boolean), make("p", { class: "note" }, t("words.hint")));
    this.element.hidden = false;
    this.place();
    this.element.querySelector("input").focus({ preventScroll: true });
    try {
      const answer = await this.asking.run((signal) => this.api.post("alternatives", request, { signal }));
      this.fill(answer.alternatives ?? answer, word);
    } catch (error) {
      if (!isAbort(error)) this.list.replaceChildren(fault(error));
    }
    this.list.removeAttribute("aria-busy");
    this.place();
  }

  fill(found, word) {
    if (!found.length) {
      this.list.replaceChildren(make("p", { class: "note" }, t("words.none")));
      return;
    }
    const most = Math.max(...found.map((one) => one.probability), 1e-9);
    const lines = found.map((one, place) => {
      const bar = make("span", { class: "bar" });
      bar.style.setProperty("--share", (one.probability / most).toFixed(3));
      const line = make("button", { type: "button", class: "option", tabindex: place ? -1 : 0, "data-stop": "" }, make("bdi", {}, one.word), bar, make("span", { class: "number" }, percent(one.probability)));
      line.classList.toggle("now", one.word === word);
      line.addEventListener("click", () => this.finish(() => this.chosen(one, this.keep)));
      return line;
    });
    const waiting = this.element.contains(document.activeElement) && !this.element.querySelector("input[type=text]").value;
    this.list.replaceChildren(...lines);
    if (waiting) lines[0].focus({ preventScroll: true });
  }

  field() {
    const input = make("input", { type: "text", "aria-label": t("words.other"), placeholder: t("words.other"), autocomplete: "off", spellcheck: "false", maxlength: 200 });
    const use = () => input.value.trim() && this.finish(() => this.chosen({ word: input.value.trim() }, this.keep));
    input.addEventListener("keydown", (event) => event.key === "Enter" && use());
    return make("div", { class: "own-word" }, input, button(t("words.use"), use));
  }

  finish(act) {
    this.close(false);
    act();
  }

  place() {
    const around = this.element.offsetParent;
    if (!around) return;
    const [box, at] = [around.getBoundingClientRect(), this.anchor.getBoundingClientRect()];
    const left = Math.max(0, Math.min(at.left - box.left, box.width - this.element.offsetWidth));
    this.element.style.left = `${left}px`;
    this.element.style.top = `${at.bottom - box.top + 6}px`;
  }

  close(back = true) {
    this.asking.abort();
    if (this.element.hidden) return;
    this.element.hidden = true;
    this.anchor?.removeAttribute("aria-expanded");
    if (back) this.anchor?.focus();
    this.closed?.();
  }
}
