// Look: what the model looked at, in the drawings that also maps in files use, on live data; and what if it could not.
import { make, makeChoice } from "/view/dom.js";
import { Explorer } from "/view/explorer.js";
import { AttentionMap } from "/view/weights.js";
import { Latest, isAbort } from "/page/api.js";
import { diffLine } from "/page/diff.js";
import { button, card, empty, fault, iconButton, note } from "/page/parts.js";
import { linesPicture, matricesPicture, matrixPicture } from "/page/pictures.js";
import { Sentence } from "/page/sentence.js";
import { t } from "/page/texts.js";
import { say } from "/view/wording.js";

const OPINIONS = ["attention", "posterior", "occlusion"];
const SHOWN = ["view", "kind", "level", "layer", "head", "hide", "rescale", "rows"];
const MEAN = -2; // of layer and head in the address; -1: whatever reads best

export default class LookTab {
  constructor(context) {
    Object.assign(this, context);
    this.asking = new Latest();
    this.sentence = new Sentence(context);
    this.place = make("div");
    this.whatif = make("div");
    this.element = make("div", { class: "stack" }, this.sentence.element, this.place, this.whatif);
  }

  show() {
    this.sentence.refresh();
    this.load();
  }

  hide() {
    this.asking.abort();
    this.sentence.hide();
  }

  changed(names) {
    const drawn = names.every((name) => SHOWN.includes(name));
    if (!drawn) this.show();
    else if (this.explorer && !this.drawing) this.draw();
  }

  get edits() {
    return this.store.get("edits").filter(Boolean);
  }

  async load() {
    const run = this.run();
    try {
      const found = await this.asking.run((signal) => this.ask(signal));
      this.sentence.tell(found?.unit ?? null);
      this.found = found;
    } catch (error) {
      if (isAbort(error)) return;
      this.found = null;
      this.place.replaceChildren(make("div", { class: "card" }, fault(error)));
      this.showWhatIf();
      return;
    }
    if (!this.found) this.place.replaceChildren(make("div", { class: "card" }, empty(t("look.need"))));
    else if (!this.found.maps.length) this.place.replaceChildren(this.blind(run));
    else this.draw();
    this.showWhatIf();
  }

  /** {unit, answer, maps}: the translation, what look says of it, and the maps to draw. */
  async ask(signal) {
    const answer = await this.translations.current(signal);
    if (!answer) return null;
    const unit = this.translations.unit(answer);
    if (!this.run().layers) return { unit, answer: null, maps: [] };
    const opinion = this.store.get("opinion");
    const body = { run: this.run().name, source: unit.source, target_ids: unit.token_ids };
    if (this.edits.length) Object.assign(body, { edits: sorted(this.edits), beam: this.store.get("beam") });
    const seen = await this.api.post("look", { ...body, posterior: opinion === "posterior", occlusion: opinion === "occlusion" }, { signal });
    if (!seen.map) return { unit, answer: seen, maps: [] };
    const cross = new AttentionMap(seen.map);
    if (opinion === "occlusion") return { unit, answer: seen, maps: [new OcclusionMap(seen.occlusion, cross.target)] };
    if (opinion === "posterior") return { unit, answer: seen, maps: [cross] };
    const others = seen.kinds.filter((kind) => kind !== "cross");
    const more = await Promise.all(others.map((kind) => this.api.post("look", { ...body, kind }, { signal })));
    return { unit, answer: seen, maps: [cross, ...more.filter((one) => one.map).map((one) => new AttentionMap(one.map))] };
  }

  blind(run) {
    const seeing = this.textRuns().filter((other) => other.layers && other.name !== run.name);
    const links = seeing.map((other) => button(t("look.other", { run: other.name }), () => this.store.set({ run: other.name, prefix: [], pick: 0 }, { push: true })));
    return make("div", { class: "card" }, empty(t("look.no", { family: run.family }), ...links));
  }

  // ----- the drawing

  draw() {
    const { view, kind, level, hide, rescale, rows, opinion } = this.store.values;
    const [layer, head] = this.headShown();
    const { maps } = this.found;
    const names = maps.map((map) => map.kind);
    const opening = { kind: names.includes(kind) ? kind : names[0], level, hide, rescale, layer, head };
    const example = { title: "", texts: [], maps, tree: null, best: null, opening };
    this.explorer = new Explorer([example], { state: { view }, changed: (state, chosen) => this.drawn(state, chosen) });
    if (rows.length && (view === "matrix" || view === "lines")) this.explorer.select(rows);
    const choice = makeChoice(t("look.opinion"), OPINIONS.map((name) => [name, t(`look.${name}`)]), opinion, (value) => this.store.set({ opinion: value, layer: -1, head: -1, rows: [], kind: "cross" }));
    this.explorer.controls.prepend(choice);
    this.explorer.element.dataset.opinion = opinion;
    const hint = matchMedia("(hover: hover)").matches ? ` ${t("look.several")}` : "";
    this.explorer.element.append(make("p", { class: "footnote" }, `${t(`look.${opinion}.note`)} ${t("look.footnote")}${hint}`));
    const focused = this.place.contains(document.activeElement) ? [...this.place.querySelectorAll("input, select")].indexOf(document.activeElement) : -1;
    this.place.replaceChildren(this.explorer.element);
    if (focused >= 0) [...this.place.querySelectorAll("input, select")][focused]?.focus();
  }

  /** null: the mean of all. */
  headShown() {
    const best = this.store.get("opinion") === "occlusion" ? null : this.found.answer.head;
    const one = (asked, usual) => (asked === MEAN ? null : asked >= 0 ? asked : (usual ?? null));
    return [one(this.store.get("layer"), best?.layer), one(this.store.get("head"), best?.head)];
  }

  /** The explorer was used: the address follows, and nothing is drawn anew. */
  drawn(state, rows) {
    this.drawing = true;
    const at = (place) => (place === null ? MEAN : place);
    this.store.set({ view: state.view, kind: state.kind, level: state.level, hide: state.hide, rescale: state.rescale, layer: at(state.layer), head: at(state.head), rows });
    this.drawing = false;
  }

  // ----- what if

  showWhatIf() {
    if (!this.found?.maps.length && !this.edits.length) {
      this.whatif.replaceChildren();
      return;
    }
    const chips = make("ul", { class: "edits" }, ...this.edits.map((edit) => {
      const worded = this.worded(edit);
      return make("li", { title: edit }, make("bdi", {}, worded), iconButton("clear", t("whatif.remove", { edit: worded }), () => this.change(this.edits.filter((one) => one !== edit))));
    }));
    const kept = this.whatif.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    this.whatif.replaceChildren(card(t("whatif.title"), [], chips, this.forms(), this.outcome()));
    if (kept === null) return;
    const controls = [...this.whatif.querySelectorAll("button, select, input")];
    (controls.find((one) => one.getAttribute("aria-label") === kept) ?? controls[0])?.focus();
  }

  get sourceWords() {
    return (this.found?.unit.source ?? this.store.get("text")).split(/\s+/).filter(Boolean);
  }

  /** An edit in words; what an address says in another way stays as it is. */
  worded(edit) {
    const named = (number) => this.sourceWords[number - 1] ?? `#${number}`;
    const [, layer, head] = edit.match(/^ablate cross(?::(\d+)(?:\.(\d+))?)?$/) ?? [null];
    if (edit.startsWith("ablate cross") && layer !== null) {
      const what = head !== undefined ? say("Layer {layer}, head {head}", { layer, head }) : layer !== undefined ? say("Layer {layer}", { layer }) : t("whatif.heads");
      return t("whatif.is.off", { what });
    }
    const [, scaled, factor] = edit.match(/^scale #(\d+)=(\S+)$/) ?? [];
    if (scaled) return `${named(scaled)} × ${factor}`;
    const [, step, forced] = edit.match(/^force (\d+):#(\d+)=1$/) ?? [];
    return forced ? t("whatif.is.forced", { step, word: named(forced) }) : edit;
  }

  change(edits) {
    this.store.set({ edits: edits.length ? edits : [""], rows: [] }, { push: true });
  }

  forms() {
    const run = this.run();
    const words = this.sourceWords;
    const steps = this.found?.unit.token_ids.length ?? 0;
    const select = (label, choices) => make("select", { "aria-label": label }, ...choices.map(([value, text]) => make("option", { value }, text)));
    const amount = (label, value, max) => make("input", { type: "number", "aria-label": label, value, min: 0, max, step: "any" });
    const numbered = words.map((word, place) => [`#${place + 1}`, word]);
    const form = (title, fields, make1) => {
      const add = button(t("whatif.add"), () => this.change([...new Set([...this.edits, make1()])]), { "aria-label": `${title}: ${t("whatif.add")}` });
      return make("fieldset", { class: "edit-form" }, make("legend", {}, title), ...fields, add);
    };
    const every = (size) => [["", t("whatif.all")], ...Array.from({ length: size }, (_, place) => [String(place), String(place)])];
    const [layer, head] = [select(t("whatif.layer"), every(run.layers)), select(t("whatif.head"), every(run.heads))];
    head.disabled = true; // all layers: all heads
    layer.addEventListener("change", () => {
      head.disabled = layer.value === "";
      if (head.disabled) head.value = "";
    });
    const [scaled, factor] = [select(t("whatif.word"), numbered), amount(t("whatif.factor"), "0", 1000)];
    const [step, forced] = [select(t("whatif.step"), Array.from({ length: steps }, (_, place) => [String(place + 1), `${place + 1}`])), select(t("whatif.word"), numbered)];
    return make("div", { class: "edit-forms" },
      form(t("whatif.off"), [layer, head], () => `ablate cross${layer.value === "" ? "" : `:${layer.value}${head.value === "" ? "" : `.${head.value}`}`}`),
      form(t("whatif.scale"), [scaled, make("span", {}, "×"), factor], () => `scale ${scaled.value}=${Number(factor.value) || 0}`),
      form(t("whatif.force"), [step, make("span", {}, "→"), forced], () => `force ${step.value}:${forced.value}=1`),
    );
  }

  outcome() {
    const answer = this.found?.answer;
    if (!answer?.after) return note(t("whatif.none"));
    const same = answer.before.text === answer.after.text;
    const after = same ? `${answer.after.text} — ${t("whatif.same")}` : diffLine(answer.before.text, answer.after.text);
    const lines = make("dl", { class: "outcome", "aria-live": "polite" }, make("dt", {}, t("whatif.before")), make("dd", { dir: "auto" }, answer.before.text), make("dt", {}, t("whatif.after")), make("dd", { dir: "auto" }, after));
    return make("div", {}, lines, note(t("whatif.note")));
  }

  // ----- to be saved

  exports() {
    if (!this.explorer || !this.found?.maps.length) return null;
    const { explorer } = this;
    const { matrix, map, state } = explorer;
    const rows = matrix.rows.map((name, row) => [name, ...matrix.columns.map((_, column) => matrix.at(row, column).toFixed(4))]);
    const all = () => map.layers.flatMap((layer, l) => map.heads.map((head, h) => [`${layer}.${head}`, map.make(l, h, state.level, state.hide, state.rescale)]));
    const pictures = { matrix: () => matrixPicture(matrix), lines: () => linesPicture(matrix), heads: () => matricesPicture(all()) };
    const data = { run: this.run().name, source: this.found.unit.source, target: this.found.unit.text, opinion: this.store.get("opinion"), ...state, rows: matrix.rows, columns: matrix.columns, weights: rows.map(([, ...weights]) => weights.map(Number)), selected: explorer.rows };
    return { name: "attention", title: `${this.found.unit.source.trim()} → ${this.found.unit.text}`, data, rows: [["", ...matrix.columns], ...rows], picture: pictures[state.view] };
  }
}

/** What leaving a source word out costs each piece, drawn like a map: gains count as nothing, rows sum to one. */
class OcclusionMap extends AttentionMap {
  constructor({ words, loss }, target) {
    const source = { tokens: words, special: [], words, groups: words.map((_, place) => [place]) };
    super({ kind: "cross", level: "piece", layers: ["–"], heads: ["–"], source, target, hidden: false, hidden_tokens: [], rescaled: false });
    const [height, width] = [target.tokens.length, words.length];
    this.shares = new Float32Array(height * width);
    for (let row = 0; row < height; row += 1) {
      const costs = words.map((_, column) => Math.max(0, loss[column][row] ?? 0));
      const sum = costs.reduce((a, b) => a + b, 0);
      if (sum > 0) costs.forEach((cost, column) => (this.shares[row * width + column] = cost / sum));
    }
  }

  mean() {
    const height = this.target.tokens.length;
    const width = this.source.tokens.length;
    return { width, values: this.shares, text: new Float32Array(height).fill(1), rest: new Float32Array(height) };
  }
}

/** "ablate cross:0.1" -> {ablate: ["cross:0.1"]} */
function sorted(edits) {
  const found = {};
  for (const edit of edits) {
    const [kind, ...rest] = edit.split(" ");
    if (["ablate", "force", "scale"].includes(kind)) (found[kind] ??= []).push(rest.join(" "));
  }
  return found;
}
