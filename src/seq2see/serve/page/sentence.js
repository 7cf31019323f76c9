// The sentence that a tab speaks of, to be changed there, and its translation.
import { make, makePicker } from "/view/dom.js";
import { debounced } from "/page/parts.js";
import { SourceBox } from "/page/sourcebox.js";
import { t } from "/page/texts.js";

const PAUSE = 400;

export class Sentence {
  /** tools: what stands behind the translation. */
  constructor({ store, run }, ...tools) {
    this.store = store;
    this.run = run;
    this.soon = debounced(PAUSE, (text) => store.set({ text, prefix: [], pick: 0, part: 0, rows: [], edits: [""], step: 1 }));
    this.box = new SourceBox({ label: t("source"), placeholder: t("translate.placeholder"), rows: 1, typed: (text) => this.soon(text) });
    this.box.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.soon.now(this.box.text);
    });
    this.translation = make("bdi", { class: "translation" });
    this.parts = make("span", { hidden: true });
    this.line = make("p", { class: "line" }, this.translation, this.parts);
    this.element = make("section", { class: "card sentence" }, this.box.element, this.line, ...tools);
  }

  /** What the store says; a text that is being typed stays. */
  refresh() {
    if (document.activeElement !== this.box.field || !this.box.text) this.box.text = this.store.get("text");
    this.box.field.lang = this.run()?.source ?? "";
    this.translation.lang = this.run()?.target ?? "";
  }

  hide() {
    this.soon.cancel();
  }

  /** unit: of Translations.unit; null: there is none. */
  tell(unit) {
    this.translation.textContent = unit?.text ?? "";
    this.line.hidden = !unit;
    const parts = unit?.parts ?? [];
    this.parts.hidden = parts.length < 2;
    if (this.parts.hidden) return;
    const choices = parts.map((part, place) => [String(place), `${place + 1}. ${part.source.trim().slice(0, 40)}`]);
    this.parts.replaceChildren(makePicker(t("part"), choices, String(this.store.get("part")), (value) => this.store.set({ part: Number(value), rows: [], edits: [""], step: 1 })));
  }
}
