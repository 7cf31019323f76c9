// Training: learning curves as they grow, a few sentences at each validation, and attention seen learning.
import { Chart } from "/view/chart.js";
import { make, makePicker, makeToggle } from "/view/dom.js";
import { MatrixView } from "/view/matrix.js";
import { AttentionMap } from "/view/weights.js";
import { Curves } from "/page/curves.js";
import { diffLine } from "/page/diff.js";
import { button, card, duration, empty, note, number, saying, table } from "/page/parts.js";
import { chartsPicture } from "/page/pictures.js";
import { t } from "/page/texts.js";

const EVERY = 2000; // milliseconds, while it can be seen
const SELDOM = 10_000; // while it cannot
const MOST = 4; // runs in one chart
const SCORES = { bleu: "BLEU", chrf: "chrF", exact: "%", accuracy: "%" };

export default class TrainingTab {
  constructor(context) {
    Object.assign(this, context, { context });
    this.curves = new Map(); // run -> its numbers so far
    this.charts = new Map(); // name -> Chart
    this.runsBar = make("div");
    this.tools = make("div", { class: "controls" });
    this.state = make("div", { class: "notes", "aria-live": "polite" });
    this.grid = make("div", { class: "charts" });
    this.sentences = make("div");
    this.matrix = new MatrixView((row, column, { speak }) => {
      this.matrix.setFocus(row, column);
      if (speak) this.announce(saying(this.matrix.matrix, row, column));
    });
    this.mapPlace = make("div");
    this.table = make("details", {}, make("summary", {}, t("training.table")), make("div"));
    this.element = make("div", { class: "stack" }, make("section", { class: "card" }, this.runsBar, this.tools, this.state), this.grid, this.sentences, this.table);
    addEventListener("visibilitychange", () => this.shown && !document.hidden && this.poll());
  }

  show() {
    this.shown = true;
    this.showTools();
    this.poll();
  }

  hide() {
    this.shown = false;
    clearTimeout(this.timer);
  }

  changed(names) {
    if (names.includes("watch")) {
      this.showRuns();
      this.poll();
    }
    if (names.some((name) => ["across", "log", "smooth", "range"].includes(name))) {
      this.showTools();
      this.draw();
    }
    if (names.some((name) => ["sentence", "at"].includes(name))) this.showSentence();
  }

  // ----- which runs

  get chosen() {
    const names = this.context.runs.map((run) => run.name);
    const asked = this.store.get("watch").filter((name) => names.includes(name));
    if (asked.length) return asked.slice(0, MOST);
    const running = this.context.runs.filter((run) => run.finished === false).map((run) => run.name);
    return (running.length ? running : this.context.runs.filter((run) => run.served !== false).map((run) => run.name)).slice(0, MOST);
  }

  showRuns() {
    const { chosen } = this;
    const { runs } = this.context;
    const focused = [...this.runsBar.querySelectorAll("input")].indexOf(document.activeElement);
    const toggles = runs.map((run) => {
      const toggle = makeToggle(run.name, chosen.includes(run.name), (on) => {
        const names = runs.map((one) => one.name).filter((name) => (name === run.name ? on : chosen.includes(name)));
        this.store.set({ watch: names.length ? names : [""], at: -1 }, { push: true });
      });
      toggle.querySelector("input").disabled = !chosen.includes(run.name) && chosen.length >= MOST;
      const state = run.finished === false ? make("span", { class: "run-state note" }, make("span", { class: "live-dot" }), t("training.unfinished")) : null;
      if (state) toggle.append(state);
      return toggle;
    });
    this.runsBar.replaceChildren(runs.length ? make("fieldset", { class: "pick-runs" }, make("legend", {}, t("training.title")), ...toggles) : empty(t("training.none")));
    if (focused >= 0) this.runsBar.querySelectorAll("input")[focused]?.focus();
  }

  showTools() {
    const { across, log, smooth, range } = this.store.values;
    const focused = [...this.tools.querySelectorAll("input, select")].indexOf(document.activeElement);
    const choices = ["step", "epoch", "minutes", "positions"].map((name) => [name, t(`training.${name}`)]);
    const slider = make("input", { type: "range", min: 0, max: 0.98, step: 0.02, value: smooth });
    const told = make("output", { class: "number" }, number(smooth, 2));
    slider.addEventListener("input", () => this.store.set({ smooth: Number(slider.value) }));
    const whole = button(t("training.whole"), () => this.store.set({ range: "" }), { hidden: !range });
    this.tools.replaceChildren(makePicker(t("training.across"), choices, across, (value) => this.store.set({ across: value, range: "" })), whole, makeToggle(t("training.log"), log, (on) => this.store.set({ log: on })), make("label", { class: "slider" }, make("span", {}, t("training.smooth")), slider, told));
    if (focused >= 0) this.tools.querySelectorAll("input, select")[focused]?.focus();
  }

  // ----- numbers as they come

  async poll() {
    clearTimeout(this.timer);
    const turn = (this.turn = (this.turn ?? 0) + 1);
    try {
      this.context.runs = await this.api.get("runs");
      const news = await Promise.all(this.chosen.map((name) => this.more(name)));
      if (!this.shown || turn !== this.turn) return;
      this.showRuns();
      if (news.some(Boolean) || this.drawn !== this.chosen.join("\n")) this.draw();
    } catch {
      // the banner says so; it is asked again
    }
    if (!this.shown || turn !== this.turn) return;
    const running = this.context.runs.some((run) => run.finished === false);
    if (running || !this.context.runs.length) this.timer = setTimeout(() => this.poll(), document.hidden ? SELDOM : EVERY);
  }

  /** Whether there was anything new. */
  async more(name) {
    if (!this.curves.has(name)) this.curves.set(name, new Curves());
    const curves = this.curves.get(name);
    if (curves.finished) return false;
    const path = `runs/${encodeURIComponent(name)}`;
    const since = curves.inode === null ? "" : `&after=${curves.next}&inode=${curves.inode}`;
    const answer = await this.api.get(`${path}/metrics?points=1000${since}`);
    const fresh = curves.add(answer);
    if (fresh && answer.validations.length) curves.maps = await this.api.get(`${path}/maps`);
    return fresh;
  }

  // ----- drawing

  draw() {
    const names = this.chosen;
    this.drawn = names.join("\n");
    const known = names.filter((name) => this.curves.get(name)?.rows.length);
    const lines = known.map((name) => this.summary(name)).filter(Boolean);
    const hint = matchMedia("(hover: hover)").matches ? [note(t("training.zoom"))] : [];
    this.state.replaceChildren(...(known.length ? [...lines.map((line) => note(line)), ...hint] : [note(t("training.waiting"))]));
    const wanted = known.length ? this.chartsOf(known) : [];
    for (const [key] of this.charts) if (!wanted.some((one) => one.key === key)) this.charts.delete(key);
    for (const { key, chart } of wanted) {
      if (this.charts.has(key)) this.charts.get(key).update(chart);
      else this.charts.set(key, new Chart(chart, { zoom: (range) => this.zoom(range) }));
    }
    const cards = wanted.map(({ key, chart }) => {
      const drawn = this.charts.get(key).element;
      return drawn.closest("section") ?? card(chart.label, [], drawn);
    });
    if (cards.length !== this.grid.children.length || cards.some((one, place) => this.grid.children[place] !== one)) this.grid.replaceChildren(...cards);
    this.table.hidden = !known.length;
    this.table.lastChild.replaceChildren(known.length ? table(this.rows(known).map((row) => row.map((cell) => (typeof cell === "number" ? Number(cell.toPrecision(5)) : cell)))) : "");
    this.showSentence();
  }

  /** All charts show the same part; without one they follow the newest point. */
  zoom(range) {
    const short = (value) => Number(value.toPrecision(6));
    this.store.set({ range: range ? range.map(short).join("-") : "" });
  }

  get range() {
    const [from, to] = this.store.get("range").split("-").map(Number);
    return Number.isFinite(from) && to > from ? [from, to] : null;
  }

  summary(name) {
    const curves = this.curves.get(name);
    const [score, label] = curves.score(SCORES);
    const best = curves.best(score ?? "loss", !score);
    const last = curves.rows[curves.rows.length - 1];
    const parts = [`${t("training.step")} ${last.step.toLocaleString("en")}`, best ? `${label ?? t("training.validation")}: ${t("training.best", { value: number(best.value, score ? 1 : 3), step: best.step.toLocaleString("en") })}` : null, curves.finished ? t("training.finished") : left(curves), curves.finished ? null : t("training.live")];
    return `${name} · ${parts.filter(Boolean).join(" · ")}`;
  }

  /** [{key, chart}]: what Chart draws. */
  chartsOf(names) {
    const { across, log, smooth } = this.store.values;
    const axis = { across: t(`training.${across}`), from: undefined, ticks: null, shortest: 1e-6, range: this.range };
    const of = (pick) => names.flatMap((name, place) => pick(this.curves.get(name), name, place % 4));
    const line = (name, colour, points, more = {}) => ({ name, colour, dashed: false, marked: false, points, ...more });
    const loss = of((curves, name, colour) => {
      const raw = curves.points("mean", across, ["low", "high"]);
      const valid = curves.validPoints("loss", across);
      const told = smooth > 0 ? [line(name, colour, raw, { faint: true }), line(t("training.smoothed", { name }), colour, smoothed(raw, smooth))] : [line(name, colour, raw)];
      return valid.length ? [...told, line(`${name}, ${t("training.validation.short")}`, colour, valid, { marked: true, dashed: true, best: curves.bestPlace("loss", across) })] : told;
    });
    const found = [{ key: "loss", chart: { ...axis, label: t("training.loss"), digits: 3, log, series: loss } }];
    for (const [metric, title] of Object.entries(SCORES)) {
      const series = of((curves, name, colour) => {
        const points = curves.validPoints(metric, across);
        return points.length ? [line(name, colour, points, { marked: true, best: curves.bestPlace(metric, across) })] : [];
      });
      const label = title === "%" ? t(`training.${metric}`) : title;
      if (series.length) found.push({ key: metric, chart: { ...axis, label: t("training.score", { name: label }), digits: 1, from: 0, series } });
    }
    const plain = [["rate", 5], ["norm", 2], ["speed", 0]];
    for (const [name, digits] of plain) {
      const series = of((curves, run, colour) => [line(run, colour, smooth > 0 && name !== "rate" ? smoothed(curves.points(name, across), smooth) : curves.points(name, across))]);
      found.push({ key: name, chart: { ...axis, label: t(`training.${name}`), digits, from: 0, log: log && name !== "speed", series } });
    }
    return found;
  }

  // ----- sentences and maps

  showSentence() {
    const told = this.chosen.filter((one) => this.curves.get(one)?.samples.length);
    const name = told.find((one) => this.curves.get(one).maps.length) ?? told[0];
    if (!name) {
      const any = this.chosen.some((one) => this.curves.get(one)?.validations.length);
      this.sentences.replaceChildren(...(any ? [card(t("training.sentences"), [], note(t("training.nosentences")))] : []));
      this.sentenceCard = null;
      return;
    }
    const curves = this.curves.get(name);
    const { sentence, at } = this.store.values;
    const place = at < 0 ? curves.samples.length - 1 : Math.min(at, curves.samples.length - 1);
    const { step, samples } = curves.samples[place];
    const map = curves.maps.find((one) => one.step === step);
    const ofMap = samples.findIndex(([text]) => text === curves.maps[0]?.source); // always the same one
    const chosen = sentence < 0 ? Math.max(0, ofMap) : Math.min(sentence, samples.length - 1); // at first the one whose map is kept
    const [source, reference, output] = samples[chosen];
    if (!this.sentenceCard) this.buildSentence();
    const { title, picker, slider, when, texts } = this.sentenceCard;
    title.textContent = `${t("training.sentences")} · ${name}`;
    picker.replaceChildren(...samples.map(([text], number1) => make("option", { value: number1, selected: number1 === chosen }, `${number1 + 1}. ${text.slice(0, 48)}`)));
    slider.max = curves.samples.length - 1;
    slider.value = place;
    slider.disabled = curves.samples.length < 2;
    slider.setAttribute("aria-valuetext", `${t("training.step")} ${step}`);
    when.textContent = `${t("training.step")} ${step.toLocaleString("en")}`;
    const pair = (label, value) => [make("dt", {}, label), make("dd", { dir: "auto" }, value)];
    texts.replaceChildren(...pair(t("source"), source), ...pair(t("training.reference"), reference), ...pair(t("target"), diffLine(reference, output)));
    this.showMap(map, ofMap < 0 || ofMap === chosen ? null : ofMap);
  }

  buildSentence() {
    const picker = make("select");
    picker.addEventListener("change", () => this.store.set({ sentence: Number(picker.value) }));
    const slider = make("input", { type: "range", min: 0, step: 1, class: "over-time", "aria-label": t("training.at") });
    slider.addEventListener("input", () => this.store.set({ at: Number(slider.value) === Number(slider.max) ? -1 : Number(slider.value) }));
    const when = make("output", { class: "number" });
    const texts = make("dl", { class: "then" });
    const made = card(t("training.sentences"), [make("label", { class: "picker" }, make("span", {}, t("training.sentence")), picker)], make("label", { class: "slider wide" }, make("span", {}, t("training.at")), slider, when), texts, this.mapPlace);
    this.sentenceCard = { title: made.querySelector("h2"), picker, slider, when, texts };
    this.sentences.replaceChildren(made);
  }

  /** elsewhere: which sentence the map is of, where it is not the one that is shown. */
  showMap(stored, elsewhere) {
    this.mapPlace.hidden = !stored;
    if (!stored) return;
    if (elsewhere !== null) {
      const open = button(`${elsewhere + 1}. ${stored.source}`, () => this.store.set({ sentence: -1 }), { class: "link", dir: "auto" });
      this.mapPlace.replaceChildren(make("p", { class: "note" }, `${t("training.map.other")} `, open));
      return;
    }
    this.mapPlace.replaceChildren(make("h3", {}, t("training.map")), this.matrix.element);
    stored.drawn ??= new AttentionMap(stored.map);
    const { layers, heads } = stored.drawn;
    this.matrix.show(stored.drawn.matrix(layers.length > 1 ? null : 0, heads.length > 1 ? null : 0, "word", false), "cross");
  }

  // ----- to be saved

  rows(names) {
    const lines = names.flatMap((name) => this.curves.get(name).validations.map((one) => [name, one.step, one.validation.loss ?? "", one.validation.chrf ?? "", one.validation.bleu ?? "", one.validation.exact ?? ""]));
    return [["run", "step", "loss", "chrf", "bleu", "exact"], ...lines];
  }

  exports() {
    const names = this.chosen.filter((name) => this.curves.get(name)?.rows.length);
    if (!names.length) return null;
    const data = names.map((name) => ({ run: name, updates: this.curves.get(name).rows, validations: this.curves.get(name).validations }));
    return { name: "training", title: names.join(", "), data, rows: this.rows(names), picture: () => chartsPicture([...this.charts.values()].map((chart) => [chart.chart.label, chart])) };
  }
}

/** How long it will take from here on, where its settings say when it ends. */
function left(curves) {
  const seconds = curves.secondsLeft();
  return seconds === null ? null : t("training.left", { time: duration(seconds) });
}

/** Moving average that does not begin at zero (bias-corrected); 0: as it is. */
export function smoothed(points, weight) {
  let [sum, left] = [0, 1];
  return points.map(([x, y]) => {
    if (y === null) return [x, null, null, null];
    sum = weight * sum + (1 - weight) * y;
    left *= weight;
    return [x, sum / (1 - left), null, null];
  });
}
