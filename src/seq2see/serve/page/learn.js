// Learn: lessons that compute. The list, one of them, and its numbers to be changed.
import { lessonCards } from "/view/blocks.js";
import { make } from "/view/dom.js";
import { Latest, isAbort } from "/page/api.js";
import { button, card, empty, fault, note } from "/page/parts.js";
import { language, t } from "/page/texts.js";

export default class LearnTab {
  constructor(context) {
    Object.assign(this, context);
    this.asking = new Latest();
    this.list = make("nav", { class: "lessons", "aria-label": t("learn.list") });
    this.place = make("div", { class: "lesson stack", "aria-live": "polite" });
    this.element = make("div", { class: "learn" }, this.list, this.place);
    this.drawn = "";
  }

  show() {
    this.load();
  }

  hide() {
    this.asking.abort();
  }

  changed() {
    this.load();
  }

  get changes() {
    return this.store.get("set").filter(Boolean);
  }

  async load() {
    try {
      this.lessons ??= await this.api.get(`lessons?language=${language()}`);
    } catch (error) {
      this.place.replaceChildren(make("div", { class: "card" }, fault(error)));
      return;
    }
    const chosen = this.lessons.find((one) => one.name === this.store.get("lesson")) ?? null;
    this.showList(chosen);
    const wanted = JSON.stringify([chosen?.name, this.changes]);
    if (wanted !== this.drawn) await this.open(chosen, wanted);
  }

  showList(chosen) {
    const focused = [...this.list.querySelectorAll("button")].indexOf(document.activeElement);
    const items = this.lessons.map((one, place) => {
      const open = button("", () => this.choose({ lesson: one.name, set: [""] }), { class: "lesson-name", "aria-current": one === chosen ? "page" : null });
      open.append(make("span", { class: "place", "aria-hidden": "true" }, String(place + 1)), make("span", {}, make("b", {}, one.title), make("small", {}, one.summary, one.trains ? `. ${t("learn.trains")}` : "")));
      return make("li", {}, open);
    });
    this.list.replaceChildren(make("ol", {}, ...items));
    if (focused >= 0) this.list.querySelectorAll("button")[focused]?.focus();
  }

  async open(chosen, wanted) {
    if (!chosen) {
      this.drawn = wanted;
      this.place.replaceChildren(make("div", { class: "card" }, empty(t("learn.choose"))));
      return;
    }
    this.place.setAttribute("aria-busy", "true");
    this.place.replaceChildren(card(chosen.title, [], note(chosen.trains ? t("learn.training") : t("learn.computing"))));
    try {
      const body = { name: chosen.name, language: language(), changes: this.changes };
      this.data = await this.asking.run((signal) => this.api.post("lesson", body, { signal }));
    } catch (error) {
      if (isAbort(error)) return;
      this.data = null;
      this.drawn = "";
      this.place.replaceChildren(card(chosen.title, [], fault(error), this.back()));
      return;
    } finally {
      this.place.removeAttribute("aria-busy");
    }
    this.drawn = wanted;
    this.draw();
  }

  draw() {
    const changed = this.changes.length ? [make("div", { class: "card line" }, make("span", { class: "note" }, `${t("learn.changed")} ${this.changes.join(", ")}`), this.back())] : [];
    const host = {
      attempt: (changes) => button(t("learn.try"), () => this.change(changes)),
      follow: (lesson, command) => button(command, () => this.choose({ lesson, set: [""] }), { class: "link" }),
    };
    this.place.replaceChildren(make("h2", { class: "lesson-title", tabindex: -1 }, this.data.title), ...changed, ...lessonCards(this.data, host));
    if (!this.chose) return; // a link or the back button led here: the focus stays where it is
    this.chose = false;
    this.place.firstChild.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "start" });
  }

  choose(state) {
    this.chose = true;
    this.store.set(state, { push: true });
  }

  change(changes) {
    this.choose({ set: changes.length ? changes : [""] });
  }

  /** With its own numbers again. */
  back() {
    return button(t("learn.back"), () => this.change([]), { hidden: !this.changes.length });
  }

  exports() {
    if (!this.data) return null;
    const texts = this.data.sections.flatMap(({ title, blocks }) => blocks.map((block) => [title, block.kind, block.text ?? block.formula ?? block.title ?? block.name ?? ""]));
    return { name: `lesson-${this.store.get("lesson")}`, title: this.data.title, data: this.data, rows: [["section", "kind", "text"], ...texts] };
  }
}
