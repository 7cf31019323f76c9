// Beam: every candidate of the search, and a way to go on from any of them.
import { BeamView } from "/view/beam.js";
import { make } from "/view/dom.js";
import { Latest, isAbort } from "/page/api.js";
import { button, card, debounced, empty, fault, note, number, table } from "/page/parts.js";
import { beamPicture } from "/page/pictures.js";
import { Sentence } from "/page/sentence.js";
import { t } from "/page/texts.js";

export default class BeamTab {
  constructor(context) {
    Object.assign(this, context);
    this.asking = new Latest();
    this.width = make("input", { type: "range", min: 1, max: 12, step: 1, "aria-label": t("beam.width") });
    this.told = make("output", { class: "number" });
    const soon = debounced(200, () => this.store.set({ beam: Number(this.width.value), pick: 0 }));
    this.width.addEventListener("input", () => {
      this.told.textContent = this.width.value;
      soon();
    });
    this.going = make("p", { class: "line", hidden: true });
    this.sentence = new Sentence(context, this.going);
    this.view = new BeamView((tokens, node) => this.goOn(tokens, node));
    this.place = make("div");
    this.final = make("div", { class: "hypotheses" });
    const slider = make("label", { class: "slider" }, make("span", {}, t("beam.width")), this.width, this.told);
    this.searched = card(t("tab.beam"), [slider], note(t("beam.continue")), this.view.element, this.final);
    this.element = make("div", { class: "stack" }, this.sentence.element, this.place, this.searched);
  }

  show() {
    this.sentence.refresh();
    this.width.value = this.store.get("beam");
    this.told.textContent = this.width.value;
    this.load();
  }

  hide() {
    this.asking.abort();
    this.sentence.hide();
  }

  changed() {
    this.show();
  }

  async load() {
    const { text, beam, prefix } = this.store.values;
    this.searched.hidden = !text.trim();
    if (!text.trim()) {
      this.found = null;
      this.sentence.tell(null);
      this.tellPrefix(null);
      this.place.replaceChildren(make("div", { class: "card" }, empty(t("beam.need"))));
      return;
    }
    try {
      const body = { run: this.run().name, text, beam, ...(prefix.length ? { prefix_ids: prefix } : {}) };
      this.found = await this.asking.run((signal) => this.api.post("beam", body, { signal }));
    } catch (error) {
      if (isAbort(error)) return;
      this.found = null;
      this.searched.hidden = true;
      this.place.replaceChildren(make("div", { class: "card" }, fault(error)));
      return;
    }
    this.place.replaceChildren();
    const { tree, translation } = this.found;
    this.sentence.tell({ ...translation, parts: [] });
    this.tellPrefix(translation);
    const at = this.element.contains(document.activeElement) && document.activeElement.closest(".candidate");
    this.view.show(tree);
    if (at) this.view.buttons.values().next().value?.focus();
    this.showFinal(translation);
  }


  tellPrefix(translation) {
    const { prefix } = this.store.values;
    this.going.hidden = !prefix.length || !translation;
    if (this.going.hidden) return;
    const words = translation.words.filter((word) => word.pieces && word.pieces[1] <= prefix.length).map((word) => word.text);
    this.going.replaceChildren(make("span", { class: "note" }, t("beam.going", { text: words.join(" ") || translation.tokens.slice(0, prefix.length).join("") })), button(t("beam.restart"), () => this.store.set({ prefix: [], pick: 0 }, { push: true })));
  }

  /** A candidate that ends the sentence leads nowhere further than the piece before it. */
  goOn(tokens, node) {
    const prefix = node.fate === "ended" ? tokens.slice(0, -1) : tokens;
    if (prefix.some((token) => !Number.isInteger(token) || token < 3)) return;
    this.store.set({ prefix, pick: 0 }, { push: true });
  }

  showFinal(translation) {
    const all = translation.nbest ?? [translation];
    const rows = all.map((one, place) => {
      const pick = button(one.text, () => this.store.set({ pick: place, tab: "translate" }, { push: true }), { class: "link", dir: "auto" });
      return [String(place + 1), pick, numeric(one.token_scores?.reduce((sum, score) => sum + score, 0)), numeric(one.score)];
    });
    this.rows = all.map((one, place) => [place + 1, one.text, one.token_scores?.reduce((sum, score) => sum + score, 0), one.score]);
    this.final.replaceChildren(make("h3", {}, t("beam.final")), table([[t("beam.rank"), t("beam.text"), t("beam.raw"), t("beam.ranked")], ...rows]));
  }

  exports() {
    if (!this.found) return null;
    return { name: "beam", title: this.store.get("text").trim(), data: this.found, rows: [["rank", "text", "log_probability", "score"], ...this.rows], picture: () => beamPicture(this.view) };
  }
}

function numeric(value) {
  return make("span", { class: "number" }, number(value, 3));
}
