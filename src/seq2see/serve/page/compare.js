// Compare: one sentence, up to four models. What they say, word by word; what they looked at; how they fare with length.
import { Chart } from "/view/chart.js";
import { make, makePicker, makeToggle } from "/view/dom.js";
import { MatrixView } from "/view/matrix.js";
import { AttentionMap } from "/view/weights.js";
import { Latest, isAbort } from "/page/api.js";
import { diffLine } from "/page/diff.js";
import { button, card, debounced, empty, fault, field, note, number, saying } from "/page/parts.js";
import { matricesPicture } from "/page/pictures.js";
import { Sentence } from "/page/sentence.js";
import { t } from "/page/texts.js";

const MOST = 4;

export default class CompareTab {
  constructor(context) {
    Object.assign(this, context);
    this.asking = new Latest();
    this.runsBar = make("div");
    this.reference = make("input", { type: "text", dir: "auto", autocomplete: "off", spellcheck: "false" });
    const soon = debounced(300, () => this.store.set({ reference: this.reference.value }));
    this.reference.addEventListener("input", soon);
    this.sentence = new Sentence(context, this.runsBar, field(t("compare.reference"), this.reference));
    this.rows = make("div", { class: "rows", "aria-live": "polite" });
    this.maps = make("div", { class: "maps" });
    this.mapsCard = card(t("compare.maps"), [], this.maps);
    this.lengths = make("div");
    this.outputs = make("section", { class: "card" }, this.rows);
    this.element = make("div", { class: "stack" }, this.sentence.element, this.outputs, this.mapsCard, card(t("compare.lengths"), [], this.lengths));
  }

  show() {
    this.sentence.refresh();
    this.sentence.tell(null);
    if (document.activeElement !== this.reference) this.reference.value = this.store.get("reference");
    this.showRuns();
    this.load();
    this.loadLengths();
  }

  hide() {
    this.asking.abort();
    this.sentence.hide();
  }

  changed(names) {
    if (names.length === 1 && names[0] === "reference" && this.found) this.showOutputs();
    else this.show();
  }

  /** Those that were chosen; at first all, the one in the header first. */
  get chosen() {
    const names = this.textRuns().map((run) => run.name);
    const asked = this.store.get("runs").filter((name) => names.includes(name));
    return (asked.length ? asked : names).slice(0, MOST);
  }

  showRuns() {
    const { chosen } = this;
    const runs = this.textRuns();
    const toggles = runs.map((run) => {
      const toggle = makeToggle(run.name, chosen.includes(run.name), (on) => {
        const names = runs.map((one) => one.name).filter((name) => (name === run.name ? on : chosen.includes(name)));
        this.store.set({ runs: names.length ? names : [""] }, { push: true });
        [...this.runsBar.querySelectorAll("input")][runs.indexOf(run)]?.focus();
      });
      const input = toggle.querySelector("input");
      input.disabled = input.checked ? chosen.length === 1 : chosen.length >= MOST;
      return toggle;
    });
    const more = runs.length < 2 ? note(t("compare.one")) : runs.length > MOST ? note(t("compare.most")) : null;
    this.runsBar.replaceChildren(make("fieldset", { class: "pick-runs" }, make("legend", {}, t("compare.runs")), ...toggles, ...[more].filter(Boolean)));
  }

  async load() {
    const text = this.store.get("text");
    if (!text.trim()) {
      this.found = null;
      this.outputs.hidden = false;
      this.mapsCard.hidden = true;
      this.rows.replaceChildren(empty(t("compare.need")));
      return;
    }
    try {
      const body = { runs: this.chosen, text, beam: this.store.get("beam") };
      const answer = await this.asking.run((signal) => this.api.post("compare", body, { signal }));
      this.found = answer.runs;
    } catch (error) {
      if (isAbort(error)) return;
      this.found = null;
      this.mapsCard.hidden = true;
      this.rows.replaceChildren(fault(error));
      return;
    }
    this.showOutputs();
    this.showMaps();
  }

  // ----- what they say

  showOutputs() {
    const reference = this.store.get("reference").trim();
    const first = this.found[0].translation.text;
    const against = reference || first;
    const lines = this.found.map((one, place) => this.row(one, reference || place ? against : null));
    const legend = this.found.length > 1 || reference ? [note(t("compare.legend", { name: reference ? t("compare.reference.short") : this.found[0].run }), { class: "note legend-of" })] : [];
    this.rows.replaceChildren(...lines, ...legend);
  }

  row({ run, translation }, against) {
    const facts = this.textRuns().find((one) => one.name === run);
    const open = button(run, () => this.store.set({ run, tab: "translate", prefix: [], pick: 0 }, { push: true }), { class: "link" });
    const who = make("div", { class: "who" }, open, make("small", {}, facts?.layers ? facts.family : `${facts?.family ?? ""}, ${t("compare.blind")}`));
    const says = make("div", { class: "says", dir: "auto", lang: facts?.target ?? "" }, against === null ? translation.text : diffLine(against, translation.text));
    const figures = [`${t("compare.score")} ${number(translation.score, 3)}`, t("compare.tokens.count", { count: translation.tokens.length }), t("translate.ms", { ms: Math.round(translation.ms) })];
    return make("div", { class: "compared" }, who, says, make("div", { class: "figures" }, figures.join(" · ")));
  }

  // ----- what they looked at: one pointer for all

  showMaps() {
    this.mapsCard.hidden = false;
    this.views = [];
    const seeing = this.found.filter(({ map }) => map);
    const blind = this.found.filter(({ map }) => !map);
    const drawn = [...seeing, ...blind].map(({ run, map }) => {
      const title = make("h3", {}, run);
      if (!map) return make("div", {}, title, make("p", { class: "blind" }, t("compare.blind.text")));
      const view = new MatrixView((row, column, how) => this.point(view, row, column, how));
      this.views.push({ run, view, matrix: new AttentionMap(map).matrix(map.layers.length > 1 ? null : 0, map.heads.length > 1 ? null : 0, "word", false) });
      return make("div", {}, title, view.element);
    });
    this.maps.replaceChildren(...drawn);
    for (const { view, matrix } of this.views) view.show(matrix, "cross");
  }

  /** A source word lights up in every map; a target word only where it stands. */
  point(from, row, column, { speak }) {
    for (const { view, matrix } of this.views) {
      const own = view === from;
      view.setFocus(own ? row : -1, column < matrix.columns.length ? column : -1);
      if (own && speak) this.announce(saying(matrix, row, column));
    }
  }

  // ----- how they fare with length

  async loadLengths() {
    const names = this.chosen;
    const key = names.join("\n");
    if (this.lengthsOf === key) return;
    this.lengthsOf = key;
    try {
      const stored = await Promise.all(names.map((name) => this.api.get(`runs/${encodeURIComponent(name)}/evaluations`, { patient: false })));
      this.showLengths(names, stored);
    } catch {
      this.lengths.replaceChildren(note(t("compare.lengths.none")));
    }
  }

  showLengths(names, stored) {
    const chart = lengthChart(names, stored);
    if (!chart) {
      this.lengths.replaceChildren(note(t("compare.lengths.none")));
      return;
    }
    this.worst = make("div", { class: "worst", "aria-live": "polite" });
    const picker = makePicker(t("compare.worst"), [["", "–"], ...chart.ticks.map(([name], place) => [String(place), name])], "", (value) => this.showWorst(chart, value));
    const drawn = new Chart(chart, {
      pick: (place) => {
        picker.querySelector("select").value = String(place);
        this.showWorst(chart, String(place));
      },
    });
    this.lengths.replaceChildren(note(`${chart.label} ${t("compare.worst.hint")}`), drawn.element, picker, this.worst);
  }

  /** What the runs got most wrong among the sentences of one length; each leads to Translate. */
  showWorst(chart, place) {
    const parts = place === "" ? [] : chart.worst.flatMap(({ run, buckets }) => {
      const found = buckets[Number(place)] ?? [];
      return found.length ? [make("h3", {}, run), ...found.map((one) => this.worstLine(run, one))] : [];
    });
    this.worst.replaceChildren(...(parts.length || place === "" ? parts : [note(t("compare.worst.none"))]));
  }

  worstLine(run, { source, reference, output, chrf }) {
    const open = button(source, () => this.store.set({ run, text: source, reference, tab: "translate", prefix: [], pick: 0, part: 0 }, { push: true }), { class: "link", dir: "auto", title: t("compare.worst.open") });
    const here = button(t("compare.worst.here"), () => this.store.set({ text: source, reference, prefix: [], pick: 0, part: 0 }, { push: true }), { class: "chip" });
    const said = make("dl", { class: "then" }, make("dt", {}, t("training.reference")), make("dd", { dir: "auto" }, reference), make("dt", {}, t("target")), make("dd", { dir: "auto" }, diffLine(reference, output)));
    return make("div", { class: "worst-of" }, make("div", { class: "line" }, open, make("span", { class: "note" }, `chrF ${number(chrf, 1)}`), here), said);
  }

  // ----- to be saved

  exports() {
    if (!this.found) return null;
    const rows = this.found.map(({ run, translation }) => [run, translation.text, translation.score, translation.tokens.length, translation.ms]);
    const picture = this.views.length ? () => matricesPicture(this.views.map(({ run, matrix }) => [run, matrix])) : null;
    return { name: "comparison", title: this.store.get("text").trim(), data: this.found, rows: [["run", "translation", "score", "tokens", "ms"], ...rows], picture };
  }
}

/** Quality by length of the runs that were evaluated on one test set: one that most of them share. null: there is none. */
export function lengthChart(names, stored) {
  const tests = stored.flatMap((evaluations) => evaluations.map((one) => one.test));
  const shared = (test) => stored.filter((evaluations) => evaluations.some((one) => one.test === test)).length;
  const test = tests.reduce((best, one) => (best === null || shared(one) > shared(best) ? one : best), null);
  const tables = stored.map((evaluations) => evaluations.find((one) => one.test === test)?.by_length ?? null);
  const buckets = [...new Map(tables.flatMap((table) => table?.buckets ?? []).map((one) => [one.from, one])).values()].sort((a, b) => a.from - b.from);
  if (!buckets.length) return null;
  const known = tables.find(Boolean);
  const series = tables.flatMap((table, place) => {
    const points = (table?.buckets ?? []).map((one) => [buckets.findIndex((bucket) => bucket.from === one.from), one.score, one.low, one.high]);
    return points.length ? [{ name: names[place], colour: place % 4, dashed: false, marked: true, points }] : [];
  });
  const ticks = buckets.map((one) => [one.to === null ? `${one.from}+` : `${one.from}–${one.to}`, String(one.sentences)]);
  const worst = stored.flatMap((evaluations, place) => {
    const one = evaluations.find((evaluation) => evaluation.test === test);
    if (!one?.worst || !one.by_length) return [];
    const at = (bucket) => one.by_length.buckets.findIndex((own) => own.from === bucket.from);
    return [{ run: names[place], buckets: buckets.map((bucket) => one.worst[at(bucket)] ?? []) }];
  });
  return { worst, label: `${known.label ?? known.metric.toUpperCase()} · ${test}.`, across: t("compare.across", { unit: t(`unit.${known.unit === "words" ? "words" : "characters"}`), side: t(`side.${known.side === "source" ? "source" : "reference"}`) }), from: 0, digits: 1, ticks, series };
}
