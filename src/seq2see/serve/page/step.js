// Step: one piece of the translation, from the query to the word, in the model's own numbers.
import { clamp, make } from "/view/dom.js";
import { shade, whenThemeChanges } from "/view/theme.js";
import { say } from "/view/wording.js";
import { Latest, isAbort } from "/page/api.js";
import { button, card, empty, fault, iconButton, note, number, percent, table } from "/page/parts.js";
import { Sentence } from "/page/sentence.js";
import { t } from "/page/texts.js";

const SHOWN = 12; // numbers of a vector that are written out
const WIDEST = 160; // cells of a vector that are drawn

export default class StepTab {
  constructor(context) {
    Object.assign(this, context);
    this.asking = new Latest();
    this.stepper = make("div", { class: "stepper" });
    this.pieces = make("ol", { class: "pieces" });
    this.sentence = new Sentence(context, this.stepper, this.pieces);
    this.place = make("div");
    this.element = make("div", { class: "stack" }, this.sentence.element, this.place);
    this.element.addEventListener("keydown", (event) => this.key(event));
    whenThemeChanges(() => this.walk && this.element.isConnected && this.draw());
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
    if (names.length === 1 && names[0] === "temperature") this.showWeights?.();
    else this.show();
  }

  key(event) {
    if (event.target.closest("textarea, input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !this.walk) return;
    event.preventDefault();
    this.go(this.walk.step + by);
  }

  go(step) {
    if (this.walk) this.store.set({ step: clamp(step, 1, this.walk.steps) }, { push: true });
  }

  async load() {
    try {
      this.walk = await this.asking.run((signal) => this.ask(signal));
    } catch (error) {
      if (isAbort(error)) return;
      this.walk = null;
      this.place.replaceChildren(make("div", { class: "card" }, fault(error)));
      return;
    }
    this.draw();
  }

  async ask(signal) {
    const answer = await this.translations.current(signal);
    this.unit = answer && this.translations.unit(answer);
    this.sentence.tell(this.unit);
    if (!answer) return null;
    const { step, layer, head } = this.store.values;
    const body = { run: this.run().name, source: this.unit.source, target_ids: this.unit.token_ids, step: clamp(step, 1, this.unit.token_ids.length + 1) };
    const run = this.run();
    if (run.layers) Object.assign(body, { layer: layer >= 0 ? layer : (run.head?.layer ?? run.layers - 1), head: head >= 0 ? head : (run.head?.head ?? 0) });
    return this.api.post("explain", body, { signal });
  }

  // ----- drawing

  draw() {
    const { walk } = this;
    this.stepper.hidden = this.pieces.hidden = !walk;
    if (!walk) {
      this.place.replaceChildren(make("div", { class: "card" }, empty(t("step.need"))));
      return;
    }
    const kept = this.element.contains(document.activeElement) ? document.activeElement.id : "";
    this.drawStepper();
    const cards = walk.attention ? this.attentionCards(walk.attention) : [this.instead(walk)];
    const before = walk.attention ? way(t("step.before"), walk.before) : way(t("step.rest"), walk.before.slice(1));
    this.place.replaceChildren(make("div", { class: "stack" }, ...(walk.attention ? before : []), make("div", { class: "cards" }, ...cards), ...(walk.attention ? way(t("step.after"), walk.after) : before)));
    if (kept) document.getElementById(kept)?.focus();
    this.announce(`${t("step.position", { step: walk.step, steps: walk.steps })}: ${walk.target.token} ${percent(walk.target.probability)}`);
  }

  drawStepper() {
    const { walk } = this;
    const run = this.run();
    const back = iconButton("back", t("step.previous"), () => this.go(walk.step - 1), { id: "step-back", disabled: walk.step === 1 });
    const on = iconButton("on", t("step.next"), () => this.go(walk.step + 1), { id: "step-on", disabled: walk.step === walk.steps });
    const copy = button(t("step.numpy"), async () => {
      await navigator.clipboard.writeText(walk.numpy);
      this.announce(t("translate.copied"));
      copy.textContent = t("translate.copied");
      setTimeout(() => (copy.textContent = t("step.numpy")), 1500);
    }, { id: "step-numpy" });
    const pickers = walk.attention ? [picker(t("step.layer"), "layer", run.layers, walk.attention.layer, this.store), picker(t("step.head"), "head", run.heads, walk.attention.head, this.store)] : [];
    const lesson = button(t("step.lesson"), () => this.store.set({ tab: "learn", lesson: "dot", set: [""] }, { push: true }), { class: "link" });
    this.stepper.replaceChildren(back, make("span", { class: "position" }, t("step.position", { step: walk.step, steps: walk.steps })), on, ...pickers, copy, lesson);
    const tokens = [...this.unit.tokens ?? [], "</s>"].slice(0, walk.steps);
    this.pieces.replaceChildren(...tokens.map((token, place) => {
      const made = make("button", { type: "button", id: `step-${place + 1}`, class: place + 1 > walk.step ? "later" : "", "aria-current": place + 1 === walk.step ? "step" : null }, make("bdi", {}, token));
      made.addEventListener("click", () => this.go(place + 1));
      return make("li", {}, made);
    }));
  }

  attentionCards(look) {
    const own = look.kind === "decoder";
    const side = own ? t("step.keys.own") : t("step.keys.side");
    const allowed = look.allowed.filter(Boolean).length;
    const maskNote = allowed === look.allowed.length ? t("step.mask.all") : t("step.mask.some", { count: allowed, all: look.allowed.length });
    return [
      stepCard(1, t("step.query"), t("step.query.side"), note(meaningOf(look.query_meaning)), vector(look.query), digits(look.query), ...(look.query_formula ? [formula(look.query_formula), parts(look.query_formula)] : [])),
      stepCard(2, t("step.keys"), side, note(say(look.keys_meaning)), vectors(look.tokens, look.keys)),
      stepCard(3, t("step.scores"), "", formula(look.score), bars(look.tokens, look.scores, { digits: 3, signed: true })),
      stepCard(4, t("step.mask"), "", note(maskNote), mask(look)),
      this.weightsCard(look),
      stepCard(6, t("step.sum"), side, note(t("step.context")), vector(look.context), digits(look.context), make("h3", {}, t("step.choices")), this.choices()),
    ];
  }

  /** The slider moves only this drawing: the model has spoken already. */
  weightsCard(look) {
    const drawn = make("div");
    const input = make("input", { type: "range", min: 0.1, max: 4, step: 0.05, id: "temperature", value: this.store.get("temperature") });
    const told = make("output", { class: "number" });
    this.showWeights = () => {
      const heat = this.store.get("temperature");
      input.value = heat;
      told.textContent = number(heat, 2);
      drawn.replaceChildren(bars(look.tokens, heat === 1 ? look.weights : warmed(look, heat), { digits: 3, most: 1 }));
    };
    input.addEventListener("input", () => this.store.set({ temperature: Number(input.value) }));
    this.showWeights();
    const slider = make("label", { class: "slider" }, make("span", {}, t("step.temperature")), input, told);
    return stepCard(5, t("step.softmax"), "", formula(look.normaliser), slider, drawn, note(t("step.temperature.note")));
  }

  choices() {
    const { choices, target } = this.walk;
    const shown = choices.some((one) => one.id === target.id) ? choices : [...choices, target];
    return bars(shown.map((one) => one.token), shown.map((one) => one.probability), { digits: 4, most: 1, chosen: shown.findIndex((one) => one.id === target.id) });
  }

  instead(walk) {
    const told = walk.before.slice(0, 1).flatMap((first) => [formula(first), parts(first)]);
    return make("section", { class: "card step-card" }, note(t("step.no", { family: walk.family })), ...told, make("h3", {}, t("step.choices")), this.choices());
  }

  exports() {
    const { walk } = this;
    if (!walk) return null;
    const look = walk.attention;
    const rows = look ? look.tokens.map((token, place) => [token, look.scores[place] ?? "", look.allowed[place], look.weights[place]]) : walk.choices.map((one) => [one.token, one.logit, "", one.probability]);
    return { name: `step-${walk.step}`, title: `${walk.step} / ${walk.steps}: ${walk.target.token}`, data: walk, rows: [look ? ["token", "score", "allowed", "weight"] : ["token", "logit", "", "probability"], ...rows] };
  }
}

/** Of several heads the query is projected first: `W_Q x: ...`, `R_t RMSNorm(W_Q x): ...`. */
function meaningOf(text) {
  const [, projected, rest] = text.match(/^([^:]*W_Q x[^:]*: )?(.*)$/s);
  return (projected ?? "") + say(rest);
}

/** A text with numbers in it is looked up with {n0}, {n1} in their places. */
function worded(text) {
  const numbers = [];
  const template = text.replace(/(?<![\w(])\d+(?!\w)/g, (digits) => `{n${numbers.push(digits) - 1}}`);
  const exact = say(text);
  return exact === text && numbers.length ? say(template, Object.fromEntries(numbers.map((digits, place) => [`n${place}`, digits]))) : exact;
}

/** What is computed before or after the look, formula by formula. */
function way(title, formulas) {
  return formulas.length ? [card(title, [], make("div", { class: "stack way" }, ...formulas.map((made) => make("section", {}, make("h3", {}, worded(made.name)), formula({ ...made, name: "" }), parts(made)))))] : [];
}

function stepCard(place, title, side, ...inside) {
  const head = make("div", { class: "card-head" }, make("span", { class: "place", "aria-hidden": "true" }, String(place)), make("h2", {}, title), side ? make("span", { class: "side-of" }, side) : "");
  return make("section", { class: "card step-card", "data-card": place }, head, ...inside);
}

function picker(label, name, size, chosen, store) {
  const select = make("select", { id: `step-${name}` }, ...Array.from({ length: size }, (_, place) => make("option", { value: place, selected: place === chosen }, String(place))));
  select.addEventListener("change", () => store.set({ [name]: Number(select.value) }));
  return make("label", { class: "picker" }, make("span", {}, label), select);
}

/** Numbers as a strip: the darker, the further from zero. */
function vector(values) {
  const most = Math.max(...values.map(Math.abs), 1e-9);
  const strip = make("div", { class: "vector", "aria-hidden": "true" });
  for (const value of values.slice(0, WIDEST)) {
    const cell = make("i");
    cell.style.background = shade(Math.abs(value) / most);
    strip.append(cell);
  }
  return strip;
}

function digits(values) {
  const shown = values.slice(0, SHOWN).map((value) => number(value, 3)).join("  ");
  const more = values.length > SHOWN ? ` … ${t("step.more", { shown: SHOWN, count: values.length })}` : "";
  return make("p", { class: "digits" }, `[${shown}]${more}`);
}

function vectors(names, rows) {
  const grid = make("div", { class: "vectors" });
  names.forEach((name, place) => grid.append(make("bdi", {}, name), vector(rows[place])));
  return make("div", {}, grid, note(t("step.numbers", { count: `${rows.length} × ${rows[0]?.length ?? 0}` })));
}

/** What may be looked at; the rest is struck through. */
function mask({ tokens, allowed }) {
  return make("div", { class: "chips" }, ...tokens.map((token, place) => make("bdi", { class: allowed[place] ? "" : "off", title: allowed[place] ? t("step.allowed") : t("step.forbidden") }, token)));
}

/** A bar for each value; signed: from zero to both sides. */
function bars(names, values, { digits: places = 2, signed = false, most = null, chosen = -1 } = {}) {
  const known = values.filter((value) => value !== null);
  const low = signed ? Math.min(0, ...known) : 0;
  const high = Math.max(most ?? 0, ...known, low + 1e-9);
  const top = known.length ? Math.max(...known) : 0;
  const grid = make("div", { class: "bars" });
  values.forEach((value, place) => {
    const bar = make("span", { class: "signed" });
    const [from, to] = [Math.min(0, value ?? 0), Math.max(0, value ?? 0)];
    bar.style.setProperty("--from", ((from - low) / (high - low)).toFixed(4));
    bar.style.setProperty("--size", ((to - from) / (high - low)).toFixed(4));
    const strong = chosen >= 0 ? place === chosen : value === top;
    grid.append(make("bdi", { class: strong ? "most" : "" }, names[place]), bar, make("span", { class: "number" }, value === null ? "−∞" : number(value, places)));
  });
  return grid;
}

function formula({ name, text, paper }) {
  const from = [worded(name), paper].filter(Boolean).join(", ");
  return make("p", { class: "formula", tabindex: 0 }, worded(text), from ? make("small", {}, `  ${from}`) : "");
}

/** What the letters of a formula stand for. */
function parts({ parts: named }) {
  const rows = Object.entries(named).map(([symbol, { meaning, value }]) => [make("span", { class: "symbol" }, symbol), worded(meaning), make("span", { class: "digits" }, written(value))]);
  return table([[t("step.symbol"), t("step.meaning"), t("step.value")], ...rows], { class: "scroll wrap", tabindex: 0 });
}

function written(value) {
  const flat = [value].flat(Infinity);
  const shown = flat.slice(0, 6).map((one) => (typeof one === "number" ? number(one, 3) : String(one))).join("  ");
  return flat.length > 6 ? `[${shown} …] ${t("step.numbers", { count: flat.length })}` : Array.isArray(value) ? `[${shown}]` : shown;
}

/** softmax(scores / temperature) over what may be looked at. */
export function warmed({ scores, allowed }, temperature) {
  const top = Math.max(...scores.map((score, place) => (allowed[place] && score !== null ? score : -Infinity)));
  const powers = scores.map((score, place) => (allowed[place] && score !== null ? Math.exp((score - top) / temperature) : 0));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => (sum > 0 ? power / sum : 0));
}
