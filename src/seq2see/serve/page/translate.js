// Translate: a text on the left, its translation on the right, each word of it a door to others.
import { make } from "/view/dom.js";
import { AttentionMap } from "/view/weights.js";
import { Latest, isAbort } from "/page/api.js";
import { Glossary, glossaryTerms } from "/page/glossary.js";
import { button, card, count, debounced, fault, icon, iconButton, note, number, percent, roving } from "/page/parts.js";
import { SourceBox } from "/page/sourcebox.js";
import { language, languageName, t } from "/page/texts.js";

const MOST = 5000; // characters, unless the server says otherwise
const PAUSE = 400; // milliseconds after the last key

export default class TranslateTab {
  constructor(context) {
    Object.assign(this, context, { context });
    this.asking = new Latest();
    this.looking = new Latest();
    this.earlier = []; // prefixes before the last choices, for undo
    this.answer = null;
    this.map = null;
    this.soon = debounced(PAUSE, () => this.translate());
    this.build();
  }

  // ----- what stands where

  build() {
    this.box = new SourceBox({
      label: t("source"),
      placeholder: t("translate.placeholder"),
      typed: (text) => this.typed(text),
      point: (word) => this.lightTargets(word),
    });
    this.box.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.soon.now();
    });
    this.counter = make("span", { class: "counter" });
    this.samples = make("div", { class: "samples" });
    this.output = roving(make("div", { class: "output", dir: "auto", role: "group", "aria-label": t("target") }));
    this.output.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.undo();
      }
    });
    this.alternatives = null; // made with the first word that is clicked
    this.notes = make("div", { class: "notes" });
    this.figures = make("span", { class: "figures" });
    this.undoing = iconButton("undo", t("translate.undo"), () => this.undo(), { disabled: true });
    this.freeing = button(t("translate.unpin"), () => this.pin(0), { hidden: true });
    this.nbest = make("ol", { class: "nbest" });
    this.glossary = new Glossary(() => this.soon());
    this.element = make("div", { class: "translate" }, make("div", { class: "two" }, this.sourceCard(), this.targetCard()), this.below());
  }

  sourceCard() {
    this.sourceName = make("h2", {});
    this.swapping = iconButton("swap", t("translate.swap"), () => this.swap(), { hidden: true });
    const clear = iconButton("clear", t("translate.clear"), () => {
      this.box.text = "";
      this.typed("");
      this.soon.now();
      this.box.field.focus();
    });
    return make("section", { class: "card text" }, make("div", { class: "card-head" }, this.sourceName, make("div", { class: "tools" }, this.swapping, clear)), this.box.element, make("div", { class: "card-foot" }, this.samples, this.counter));
  }

  targetCard() {
    this.targetName = make("h2", {});
    const copy = iconButton("copy", t("translate.copy"), () => this.copy());
    this.saying = iconButton("play", t("translate.speak"), () => this.store.set({ tab: "speak", say: this.shown?.text ?? "" }, { push: true }), { hidden: true });
    const foot = make("div", { class: "card-foot" }, this.figures, this.freeing);
    return make("section", { class: "card text" }, make("div", { class: "card-head" }, this.targetName, make("div", { class: "tools" }, this.undoing, this.saying, copy)), this.output, this.notes, foot);
  }

  below() {
    const width = make("input", { type: "range", min: 1, max: 12, step: 1, "aria-label": t("nbest.width") });
    const told = make("output", { class: "number" });
    const show = () => (told.textContent = width.value);
    width.addEventListener("input", () => {
      show();
      this.store.set({ beam: Number(width.value), pick: 0 });
      this.soon();
    });
    this.setWidth = () => {
      width.value = this.store.get("beam");
      show();
    };
    const slider = make("label", { class: "slider" }, make("span", {}, t("nbest.width")), width, told);
    return make("div", { class: "two" }, card(t("nbest.title"), [slider], this.nbest, note(t("nbest.note"))), card(t("glossary.title"), [], this.glossary.element));
  }

  // ----- the tab is opened, something changed elsewhere

  show() {
    const run = this.run();
    this.sourceName.textContent = languageName(run?.source) || t("source");
    this.targetName.textContent = languageName(run?.target) || t("target");
    this.output.lang = run?.target ?? language();
    this.swapping.hidden = !this.reverse();
    this.saying.hidden = !this.voiceRuns().length;
    this.setWidth();
    this.showSamples(run);
    this.box.text = this.store.get("text");
    this.tellCount();
    if (!matchMedia("(pointer: coarse)").matches && document.activeElement === document.body) this.box.field.focus();
    this.translate();
  }

  hide() {
    this.asking.abort();
    this.looking.abort();
    this.soon.cancel();
    this.alternatives?.close(false);
  }

  changed(names) {
    if (this.typing) return;
    if (names.includes("run") || this.box.text !== this.store.get("text")) this.show();
    else if (names.includes("prefix")) this.translate();
    else if (names.includes("pick") && this.answer) this.showAnswer();
  }

  /** Sentences of the run's own validation; nothing where it kept none. */
  async showSamples(run) {
    if (this.sampledRun === run?.name) return;
    this.sampledRun = run?.name;
    this.samples.replaceChildren();
    if (!run) return;
    let texts = [];
    try {
      const { validations } = await this.api.get(`runs/${encodeURIComponent(run.name)}/metrics?points=1`, { patient: false });
      texts = [...new Set((validations.findLast((one) => one.samples?.length)?.samples ?? []).map(([source]) => source))];
    } catch {
      return; // the page does without
    }
    if (this.sampledRun !== run.name || !texts.length) return;
    const chips = texts.slice(0, 3).map((text) => {
      const use = () => {
        this.box.text = text;
        this.typed(text);
        this.soon.now();
      };
      return button(text, use, { class: "chip", dir: "auto", title: text });
    });
    this.samples.replaceChildren(make("span", { class: "note" }, t("translate.samples")), ...chips);
  }

  reverse() {
    const run = this.run();
    return run?.source && run.target ? this.textRuns().find((other) => other.source === run.target && other.target === run.source) : undefined;
  }

  swap() {
    const text = this.shown?.text ?? "";
    this.store.set({ run: this.reverse().name, text, prefix: [], pick: 0 }, { push: true });
  }

  // ----- translating

  typed(text) {
    this.earlier = [];
    this.alternatives?.close(false);
    this.typing = true;
    this.store.set({ text, prefix: [], pick: 0 });
    this.typing = false;
    this.tellCount();
    this.soon();
  }

  get most() {
    return this.context.settings.charLimit ?? MOST;
  }

  tellCount() {
    const size = [...this.box.text].length;
    this.counter.textContent = `${count(size)} / ${count(this.most)}`;
    this.counter.setAttribute("aria-label", t("translate.characters", { count: size, most: this.most }));
    this.counter.classList.toggle("over", size > this.most);
    return size;
  }

  async translate() {
    const size = this.tellCount();
    this.glossary.mark(this.box.text);
    this.box.mark(Object.keys(glossaryTerms(this.box.text)));
    if (size > this.most) {
      this.asking.abort();
      this.notes.replaceChildren(note(t("translate.long", { count: count(size), most: count(this.most) })));
      return;
    }
    const answer = await this.ask();
    if (answer === undefined) return;
    this.answer = answer;
    this.showAnswer();
  }

  /** undefined: another question came in between, or it was refused, which is then shown. */
  async ask(changes = {}) {
    this.element.setAttribute("aria-busy", "true");
    try {
      return await this.asking.run((signal) => this.translations.current(signal, changes));
    } catch (error) {
      if (isAbort(error)) return undefined;
      this.answer = null;
      this.showAnswer();
      this.notes.replaceChildren(fault(error));
      return undefined;
    } finally {
      this.element.removeAttribute("aria-busy");
    }
  }

  // ----- the translation

  get shown() {
    return this.answer && this.translations.picked(this.answer);
  }

  get words() {
    return this.shown?.words ?? [];
  }

  showAnswer() {
    const { answer, shown } = this;
    this.map = null;
    this.box.light(new Map());
    this.undoing.disabled = !this.earlier.length;
    this.freeing.hidden = !this.store.get("prefix").length;
    this.showNbest();
    this.notes.replaceChildren();
    this.figures.replaceChildren();
    if (!answer) {
      this.output.replaceChildren(make("p", { class: "hint" }, t("translate.output")));
      return;
    }
    const focused = this.refocus || this.output.contains(document.activeElement);
    this.output.replaceChildren(...this.pieces(shown));
    if (focused) this.wordButtons[Math.min(this.at ?? 0, this.wordButtons.length - 1)]?.focus();
    this.figures.append(make("span", { title: t("translate.score.title") }, t("translate.score", { score: number(shown.score, 3) })), " · ", t("translate.ms", { ms: Math.round(answer.ms) }), " · ", t("translate.underline"));
    this.showNotes(answer, shown);
    this.announce(this.chosen ? t("words.chosen", { word: this.chosen, text: shown.text }) : t("translate.translated", { text: shown.text }));
    [this.refocus, this.chosen] = [false, null];
    this.look(shown);
  }

  /** The words as buttons, and what stands between them as it is. */
  pieces(shown) {
    const letters = [...shown.text];
    const cuts = this.cuts();
    const found = [];
    let at = 0;
    this.wordButtons = shown.words.map((word, place) => {
      found.push(letters.slice(at, word.span[0]).join(""));
      if (cuts.has(place)) found.push(make("span", { class: "part-cut", "aria-hidden": "true" }));
      const made = this.word(word, place, letters.slice(...word.span).join(""));
      found.push(made);
      at = word.span[1];
      return made;
    });
    return [...found, letters.slice(at).join("")];
  }

  /** The first word of each part of a long text but the first. */
  cuts() {
    const parts = this.answer.parts ?? [];
    const cuts = new Set();
    let words = 0;
    for (const part of parts.slice(0, -1)) cuts.add((words += part.words.length));
    return cuts;
  }

  word(word, place, text) {
    const pinned = this.isPinned(word);
    const sure = word.probability === null ? "" : percent(word.probability);
    const label = sure ? t("translate.word", { word: text, share: sure }) : text;
    const made = make("button", { type: "button", class: "said-word", tabindex: place ? -1 : 0, "data-stop": "", title: sure || null, "aria-label": pinned ? `${label}, ${t("translate.pinned")}` : label, "aria-haspopup": word.pieces ? "dialog" : null }, text);
    made.style.setProperty("--sure", word.probability === null ? 0 : word.probability.toFixed(3));
    made.classList.toggle("pinned-word", pinned);
    if (pinned) made.append(icon("pin"));
    made.addEventListener("pointerenter", () => this.lightSources(place));
    made.addEventListener("pointerleave", () => this.lightSources(-1));
    made.addEventListener("focus", () => this.lightSources(place));
    made.addEventListener("blur", () => this.lightSources(-1));
    made.addEventListener("click", () => this.open(place));
    return made;
  }

  isPinned(word) {
    return word.pieces !== null && word.pieces[1] <= this.store.get("prefix").length;
  }

  showNotes(answer, shown) {
    const found = [];
    if (shown.truncated) found.push(note(t("translate.truncated")));
    if (shown.unknown_terms?.length) found.push(note(t("translate.unknown", { terms: shown.unknown_terms.map((term) => term.term ?? term.text ?? "").join(", ") })));
    if (answer.parts) found.push(note(t("translate.parts", { count: answer.parts.length })));
    this.notes.replaceChildren(...found);
  }

  showNbest() {
    const all = this.answer?.nbest ?? (this.answer ? [this.answer] : []);
    const lines = all.map((one, place) => {
      const chosen = one === this.shown;
      const pick = make("button", { type: "button", class: "hypothesis", "aria-pressed": String(chosen), "aria-label": `${t("nbest.pick", { rank: place + 1, score: number(one.score, 3) })}: ${one.text}` }, make("span", { class: "rank number" }, String(place + 1)), make("bdi", {}, one.text), make("span", { class: "number" }, number(one.score, 3)));
      pick.addEventListener("click", () => this.pick(place));
      return make("li", {}, pick);
    });
    this.nbest.replaceChildren(...lines);
    this.nbest.hidden = !lines.length;
  }

  pick(place) {
    this.store.set({ pick: place }, { push: true });
    this.nbest.querySelectorAll("button")[place]?.focus();
  }

  async copy() {
    if (!this.shown) return;
    await navigator.clipboard.writeText(this.shown.text);
    this.announce(t("translate.copied"));
  }

  // ----- other words

  async open(place) {
    const { shown } = this;
    const word = this.words[place];
    if (!word?.pieces) return;
    if (!this.alternatives) {
      const { Alternatives } = await this.api.part("alternatives");
      if (shown !== this.shown) return; // another translation came in between
      this.alternatives ??= new Alternatives(this.api, {
        choose: (one, keep) => this.choose(one, keep),
        release: () => this.pin(this.words[this.at].pieces[0]),
      });
      this.output.after(this.alternatives.element);
    }
    this.at = place;
    const request = { run: this.run().name, source: this.store.get("text"), target_ids: this.shown.token_ids, word: place };
    this.alternatives.open(this.wordButtons[place], request, word.text, this.isPinned(word));
  }

  /** one: {ids} up to and with an alternative, or a {word} that was typed. What stands before stays, the rest is new. */
  async choose(one, keep) {
    const { shown, at } = this;
    const required = keep ? this.following(shown, at) : [];
    const start = [...shown.text].slice(0, shown.words[at].span[0]).join("");
    let prefix = one.ids ?? null;
    if (!prefix || required.length) {
      const changes = { prefix_ids: prefix ?? undefined, prefix: prefix ? undefined : start + one.word };
      const answer = await this.ask({ ...changes, ...(required.length ? { required } : {}) });
      if (!answer) return;
      // An address holds pieces: those of the word that was typed, or of all that was to be kept.
      prefix = required.length ? answer.token_ids : spoken(answer, start + one.word);
    }
    this.earlier.push(this.store.get("prefix"));
    this.refocus = true;
    this.store.set({ prefix, pick: 0 }, { push: true });
    this.chosen = one.word;
  }

  /** What follows a word, to be said somewhere; a mark alone is no phrase. */
  following(shown, at) {
    const terms = Object.values(glossaryTerms(this.store.get("text")));
    const words = shown.words.slice(at + 1).map((word) => word.text).filter((text) => /\p{L}|\p{N}/u.test(text));
    return [...new Set([...words, ...terms])];
  }

  /** Pins everything before a piece and nothing from there on. */
  pin(pieces) {
    this.earlier.push(this.store.get("prefix"));
    this.store.set({ prefix: this.store.get("prefix").slice(0, pieces), pick: 0 }, { push: true });
  }

  undo() {
    if (!this.earlier.length) return;
    this.store.set({ prefix: this.earlier.pop(), pick: 0 }, { push: true });
  }

  // ----- what looks at what

  async look(shown) {
    const run = this.run();
    if (!run.layers || !shown.token_ids.length || this.answer.parts) return;
    try {
      const request = { run: run.name, source: this.store.get("text"), target_ids: shown.token_ids };
      const packed = await this.looking.run((signal) => this.api.post("look", request, { signal, patient: false }));
      const map = new AttentionMap(packed.map ?? packed);
      const { layer = null, head = null } = run.head ?? {};
      this.map = map.matrix(layer, head, "word", true, true);
    } catch {
      this.map = null; // the page goes on without the light
    }
  }

  lightSources(place) {
    const fits = this.map && place >= 0 && this.map.columns.length === this.box.words.length && place < this.map.rows.length;
    this.box.light(new Map(fits ? this.map.columns.map((_, column) => [column, this.map.strength(place, column)]) : []));
  }

  lightTargets(place) {
    const fits = this.map && place >= 0 && this.map.columns.length === this.box.words.length;
    (this.wordButtons ?? []).forEach((made, row) => {
      const share = fits && row < this.map.rows.length ? this.map.strength(row, place) : 0;
      made.style.setProperty("--lit", share > 0.02 ? share.toFixed(3) : 0);
    });
  }

  // ----- to be saved

  exports() {
    if (!this.answer) return null;
    const rows = this.words.map((word) => [word.text, word.probability ?? "", ...word.span]);
    return { name: "translation", title: `${this.answer.source.trim()} → ${this.shown.text}`, data: this.answer, rows: [["word", "probability", "from", "to"], ...rows] };
  }
}

/** The pieces of an answer that say no more than `text`. */
function spoken(answer, text) {
  const size = [...text].length;
  const words = answer.words.filter((word) => word.pieces && word.span[1] <= size);
  return words.length ? answer.token_ids.slice(0, words[words.length - 1].pieces[1]) : [];
}
