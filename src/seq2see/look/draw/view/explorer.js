// Everything there is to see of a few sentences: which one, which map, drawn how.
import { make, makeChoice, makePicker, makeToggle, share } from "./dom.js";
import { AttentionMap } from "./weights.js";
import { BeamView } from "./beam.js";
import { HeadsView } from "./heads.js";
import { LinesView } from "./lines.js";
import { MatrixView } from "./matrix.js";
import { Reading } from "./reading.js";
import { shade, whenThemeChanges } from "./theme.js";
import { say } from "./wording.js";

const KINDS = { cross: "Cross", encoder: "Encoder", decoder: "Decoder" };
const VIEWS = { matrix: "Matrix", lines: "Lines", heads: "Heads", beam: "Beam" };
const LARGE = 25; // tokens; above, a matrix may not fit on the screen
const HINT = "Point at a word or a cell, tap it, or move with the arrow keys: its row and column light up here with their numbers.";

export class Explorer {
  /** host: {state, changed}: what to begin with, and who is told of each change; both may be left out. */
  constructor(examples, host = {}) {
    this.host = host;
    this.rows = []; // selected together
    this.anchor = null; // the row that a selection was begun with
    this.examples = examples.map((example) => ({ ...example, maps: example.maps.map((map) => (map instanceof AttentionMap ? map : new AttentionMap(map))) }));
    this.state = { kind: "cross", view: "matrix", level: "piece", hide: false, rescale: false, whole: false, layer: null, head: null, ...host.state };
    this.pinned = null;
    const focus = (...given) => this.focus(...given);
    this.views = { matrix: new MatrixView(focus), lines: new LinesView(focus), heads: new HeadsView((...at) => this.open(...at)), beam: new BeamView() };
    this.reading = new Reading();
    this.texts = make("dl", { class: "texts" });
    this.controls = make("div", { class: "controls" });
    this.pickers = make("div", { class: "controls heads-of" });
    this.stage = make("div", { class: "drawing" });
    this.legend = make("div", { class: "legend" });
    this.body = make("div", { class: "body" }, make("div", { class: "left" }, this.stage, this.legend), this.reading.element);
    this.element = make("section", { class: "explorer" }, this.exampleBar(), this.texts, this.controls, this.pickers, this.body);
    whenThemeChanges(() => this.drawLegend());
    this.showExample(0);
  }

  get map() {
    return this.example.maps.find((map) => map.kind === this.state.kind) ?? null;
  }

  get matrix() {
    const { layer, head, level, hide, rescale } = this.state;
    return this.map.matrix(layer, head, level, hide, rescale);
  }

  // ----- which sentence

  exampleBar() {
    if (this.examples.length < 2) return null;
    const titles = this.examples.map((example, place) => [String(place), `${place + 1}. ${example.title}`]);
    const picker = makePicker(say("Sentence"), titles, "0", (value) => this.showExample(Number(value)));
    const step = (by, label, sign) => {
      const button = make("button", { type: "button", class: "quiet", "aria-label": label }, sign);
      button.addEventListener("click", () => this.showExample((this.at + by + this.examples.length) % this.examples.length));
      return button;
    };
    this.select = picker.querySelector("select");
    return make("div", { class: "examples" }, step(-1, say("Previous sentence"), "‹"), picker, step(1, say("Next sentence"), "›"));
  }

  showExample(place) {
    this.at = place;
    this.example = this.examples[place];
    if (this.select) this.select.value = String(place);
    this.texts.replaceChildren(...this.example.texts.flatMap(([label, text]) => [make("dt", {}, label), make("dd", { dir: "auto" }, text)]));
    const { opening } = this.example;
    if (opening) Object.assign(this.state, { kind: opening.kind, level: opening.level, hide: opening.hide, rescale: opening.rescale });
    const kinds = this.example.maps.map((map) => map.kind);
    if (!kinds.includes(this.state.kind)) this.state.kind = kinds[0] ?? null;
    const views = this.viewsOffered();
    if (!views.includes(this.state.view)) [this.state.view] = views;
    this.showControls(kinds, views);
    this.chooseKind(this.state.kind);
  }

  viewsOffered() {
    const { maps, tree } = this.example;
    const many = maps.some((map) => map.layers.length * map.heads.length > 1);
    return [...(maps.length ? ["matrix", "lines"] : []), ...(many ? ["heads"] : []), ...(tree ? ["beam"] : [])];
  }

  showControls(kinds, views) {
    const bars = [];
    const named = (names, labels) => names.map((name) => [name, say(labels[name])]);
    if (views.length > 1) bars.push(makeChoice(say("View"), named(views, VIEWS), this.state.view, (view) => this.set({ view })));
    if (kinds.length > 1) bars.push(makeChoice(say("Attention"), named(kinds, KINDS), this.state.kind, (kind) => this.chooseKind(kind, true)));
    this.controls.replaceChildren(...bars);
    this.viewInputs = [...this.controls.querySelectorAll("input")].filter((input) => views.includes(input.value));
  }

  // ----- which map

  chooseKind(kind, asked = false) {
    this.state.kind = kind;
    const { map } = this;
    if (map) {
      const { opening } = this.example;
      const best = opening?.kind === kind ? [opening.layer, opening.head] : kind === "cross" && this.example.best;
      const fits = best && (best[0] ?? 0) < map.layers.length && (best[1] ?? 0) < map.heads.length;
      const mean = [map.layers.length > 1 ? null : 0, map.heads.length > 1 ? null : 0];
      [this.state.layer, this.state.head] = fits ? best.map((place, at) => place ?? mean[at]) : mean;
      if (map.level === "word") this.state.level = "word";
      if (map.rescaled) this.state.rescale = true;
      this.showPickers(map);
    }
    this.draw();
    if (asked) this.host.changed?.(this.state, this.rows);
  }

  showPickers(map) {
    const bars = [];
    const picker = (what, names, chosen, change) => {
      const mean = names.length > 1 ? [["mean", say("mean")]] : [];
      const choices = [...mean, ...names.map((name, place) => [String(place), name])];
      return makePicker(what, choices, chosen === null ? "mean" : String(chosen), (value) => change(value === "mean" ? null : Number(value)));
    };
    bars.push(picker(say("Layer"), map.layers, this.state.layer, (layer) => this.set({ layer })));
    bars.push(picker(say("Head"), map.heads, this.state.head, (head) => this.set({ head })));
    if (map.level === "piece") {
      const levels = [["piece", say("Pieces")], ["word", say("Words")]];
      bars.push(makeChoice(say("Shown as"), levels, this.state.level, (level) => this.set({ level })));
    }
    if (map.sinks.length && !map.alwaysHidden) {
      const names = [...new Set(map.sinks)].slice(0, 3).join(" ");
      bars.push(makeToggle(say("Hide {names}", { names }), this.state.hide, (hide) => this.set({ hide })));
    }
    this.rescaling = map.hiddenNames.length ? makeToggle(say("Rescale rows"), this.state.rescale, (rescale) => this.set({ rescale })) : null;
    if (this.rescaling) bars.push(this.rescaling);
    if (Math.max(map.source.tokens.length, map.target.tokens.length) > LARGE) {
      const toggle = makeToggle(say("All at once"), this.state.whole, (whole) => this.set({ whole }));
      toggle.classList.add("whole");
      bars.push(toggle);
    }
    this.pickers.replaceChildren(...bars);
    this.selects = this.pickers.querySelectorAll("select");
  }

  set(change) {
    Object.assign(this.state, change);
    this.draw();
    this.host.changed?.(this.state, this.rows);
  }

  /** A head that was chosen among all of them. */
  open(layer, head) {
    [this.selects[0].value, this.selects[1].value] = [String(layer), String(head)];
    for (const input of this.viewInputs) input.checked = input.value === "matrix";
    this.set({ layer, head, view: "matrix" });
    this.views.matrix.element.focus();
  }

  // ----- how it is drawn

  draw() {
    const { view, kind } = this.state;
    this.pinned = null;
    this.rows = [];
    this.anchor = null;
    const drawing = this.views[view];
    this.element.dataset.view = view ?? "none";
    this.pickers.hidden = view === "beam" || !this.map;
    if (this.rescaling) this.rescaling.hidden = !this.state.hide && !this.map?.alwaysHidden;
    this.body.hidden = !view;
    this.reading.element.hidden = view === "heads" || view === "beam";
    if (!view) return;
    if (drawing.element.parentNode !== this.stage) this.stage.replaceChildren(drawing.element);
    if (view === "beam") drawing.show(this.example.tree);
    else if (view === "heads") drawing.show(this.map, this.state);
    else drawing.show(this.matrix, kind, this.state.whole);
    this.focus(-1, -1, {});
    this.drawLegend();
  }

  /** Where the eye is. A pinned place stays until another one is pinned, or let go. */
  focus(row, column, { pin = false, move = false, speak = false, add = false, extend = null, along = false }) {
    const { view, kind } = this.state;
    if (view !== "matrix" && view !== "lines") return;
    if (add && row >= 0) {
      this.anchor = row;
      this.select(this.rows.includes(row) ? this.rows.filter((one) => one !== row) : [...this.rows, row], speak, row);
      return;
    }
    if (extend !== null && row >= 0) {
      this.anchor ??= extend < 0 ? row : extend;
      const [first, last] = [Math.min(this.anchor, row), Math.max(this.anchor, row)];
      this.select(Array.from({ length: last - first + 1 }, (_, place) => first + place), speak, row);
      return;
    }
    if (along && this.rows.length) {
      this.views[view].setFocus(-1, -1, this.rows, row);
      if (speak) this.reading.sayRow(this.matrix, kind, row);
      return;
    }
    if (this.rows.length) {
      if (!pin && !move) return;
      this.select([]);
    }
    if (pin && this.pinned && this.pinned[0] === row && this.pinned[1] === column) [row, column] = [-1, -1]; // let go
    const none = row < 0 && column < 0;
    if (pin || move) this.pinned = none ? null : [row, column];
    else if (this.pinned) return;
    [this.element.dataset.row, this.element.dataset.column] = [row, column];
    this.views[view].setFocus(row, column);
    if (none) this.reading.hint(say(HINT));
    else this.reading.show(this.matrix, kind, row, column, { speak, pinned: this.pinned !== null });
  }

  /** Rows whose weights are added; none: back to one at a time. cursor: the row that keys go on from. */
  select(rows, speak = false, cursor = rows[rows.length - 1] ?? -1) {
    this.rows = rows.filter((row) => row < this.matrix.rows.length);
    if (!this.rows.length) this.anchor = null;
    this.pinned = null;
    this.element.dataset.rows = this.rows.join(" ");
    this.views[this.state.view].setFocus(-1, -1, this.rows, cursor);
    if (this.rows.length) this.reading.showSeveral(this.matrix, this.state.kind, this.rows, { speak });
    else this.reading.hint(say(HINT));
    this.host.changed?.(this.state, this.rows);
  }

  drawLegend() {
    const { view } = this.state;
    this.legend.hidden = view !== "matrix" && view !== "lines";
    if (this.legend.hidden || !this.map) return;
    const { matrix } = this;
    const bar = make("span", { class: "ramp", "aria-hidden": "true" });
    bar.style.background = `linear-gradient(to right, ${[0, 0.2, 0.4, 0.6, 0.8, 1].map(shade).join(",")})`;
    const parts = [make("span", {}, say("weight 0")), bar, make("span", {}, share(matrix.most))];
    if (view === "matrix") parts.push(make("span", { class: "star" }, `★ ${say("the word looked at most")}`));
    if (matrix.hidden) {
      const mean = matrix.hidden.reduce((sum, value) => sum + value, 0) / Math.max(1, matrix.hidden.length);
      const note = say("{names} hidden: {share} % of the attention lies there", { names: this.map.hiddenNames.slice(0, 3).join(" "), share: (100 * mean).toFixed(0) });
      const scaled = matrix.rescaled ? say("; rows rescaled to sum to one without it") : "";
      parts.push(make("span", { class: "hidden-share" }, note + scaled));
    }
    const measures = this.state.layer !== null && this.state.head !== null ? this.map.summary(this.state.layer, this.state.head) : undefined;
    if (measures) { // a second opinion that the page computes has none
      const [entropy, order, rest, coverage] = measures;
      parts.push(make("span", { class: "measures" }, say("entropy {entropy}, order {order}, {rest} on special tokens, coverage {coverage}", { entropy: entropy.toFixed(2), order: order.toFixed(2), rest: share(rest), coverage: share(coverage) })));
    }
    this.legend.replaceChildren(...parts);
  }
}
