// Charts in SVG, drawn at the width there is, so that their text keeps its size. Point or use the arrow keys for values.
import { clamp, make, makeSvg } from "./dom.js";
import { say } from "./wording.js";

const HEIGHT = 290;
const TOLD = 10; // curves whose values are told at once
const SHORTEST = 8; // pixels of a part that is chosen with the pointer
const EDGE = { top: 14, right: 16, left: 46 };
const MARKS = [
  (x, y) => makeSvg("circle", { cx: x, cy: y, r: 4.2 }),
  (x, y) => makeSvg("rect", { x: x - 4, y: y - 4, width: 8, height: 8 }),
  (x, y) => makeSvg("path", { d: `M${x} ${y - 5.2}L${x + 5} ${y + 4}L${x - 5} ${y + 4}Z` }),
  (x, y) => makeSvg("path", { d: `M${x} ${y - 5.4}L${x + 5} ${y}L${x} ${y + 5.4}L${x - 5} ${y}Z` }),
];

/** chart: {label, across, from, digits, ticks: [[name, below], ...] or null, series: [{name, colour, dashed, faint, marked, best, points}]}
 *  log: a logarithmic scale; digits: decimals of values; points: [x, y, low, high]; y null: a gap; low and high null: no band. With ticks, x counts them.
 *  best: the x of a point that gets a ring; range: [from, to], the part of x that is shown, or nothing for all of it. */
export class Chart {
  /** pick(x): told what was clicked. zoom([from, to] or null): told which part is wanted; whoever is told gives it back as `range`. */
  constructor(chart, { pick = null, zoom = null } = {}) {
    this.chart = within(chart);
    this.pick = pick;
    this.zoom = zoom;
    this.from = null; // where a part of x begins that is being chosen
    this.svg = makeSvg("svg", { tabindex: 0, role: "img", "aria-label": chart.label });
    this.tip = make("div", { class: "tip", hidden: true });
    this.voice = make("div", { class: "unseen", "aria-live": "polite" });
    this.part = make("div", { class: "part", hidden: true });
    this.element = make("div", { class: "chart" }, legendOf(chart), make("div", { class: "plot" }, this.svg, this.part, this.tip), this.voice);
    this.places = placesOf(this.chart);
    this.chosen = -1;
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.svg.addEventListener("pointermove", (event) => this.moved(event));
    this.svg.addEventListener("pointerleave", () => this.point(-1));
    this.svg.addEventListener("blur", () => this.point(-1));
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("click", (event) => this.picked(this.nearest(event)));
    this.svg.classList.toggle("picking", pick !== null);
    if (zoom) this.listenForParts();
  }

  /** Other values in the same place; what is pointed at stays pointed at. */
  update(chart) {
    const at = this.places[this.chosen];
    this.chart = within(chart);
    this.places = placesOf(this.chart);
    this.element.firstChild.replaceWith(legendOf(chart));
    this.width = 0;
    this.draw();
    if (at !== undefined) this.point(this.places.indexOf(at));
  }

  draw() {
    const width = this.element.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    this.foot = this.chart.ticks ? 58 : 44;
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("height", HEIGHT);
    this.scales(width);
    this.rule = makeSvg("line", { class: "rule", y1: EDGE.top, y2: HEIGHT - this.foot, visibility: "hidden" });
    const { series } = this.chart;
    this.svg.replaceChildren(
      ...this.axes(),
      ...series.map((one) => this.band(one)),
      this.rule,
      ...series.flatMap((one) => [this.line(one), ...this.marks(one)]),
    );
    this.point(-1);
  }

  scales(width) {
    const { series, ticks, from, log = false } = this.chart;
    const points = series.flatMap((one) => one.points).filter((point) => point[1] !== null && (!log || point[1] > 0));
    const values = points.flatMap(([, y, low, high]) => [y, low ?? y, high ?? y]);
    const low = values.reduce((a, b) => Math.min(a, b), from ?? Infinity);
    const top = values.reduce((a, b) => Math.max(a, b), low + 1e-9);
    const flat = !(top - low > 1e-8); // or no value at all
    this.levels = log ? logTicks(values.filter((value) => value > 0)) : niceTicks(Number.isFinite(low) ? low : 0, flat ? (Number.isFinite(low) ? low : 0) + 1 : top, 5);
    this.start = Math.max(EDGE.left, 14 + 7 * Math.max(...this.levels.map((level) => tidy(level).length))); // room for the longest
    const [y0, y1] = [this.levels[0], this.levels[this.levels.length - 1]];
    const ends = this.places.length ? [this.places[0], this.places[this.places.length - 1]] : [0, 1];
    const whole = ticks ? [-0.5, ticks.length - 0.5] : [Math.min(ends[0], 0), Math.max(ends[1], this.chart.shortest ?? 1)];
    const [first, last] = (this.ends = this.chart.range ?? whole);
    const [wide, high] = [width - this.start - EDGE.right, HEIGHT - EDGE.top - this.foot];
    this.x = (value) => this.start + ((value - first) / (last - first)) * wide;
    const linear = (value, a, b) => EDGE.top + (1 - (value - a) / (b - a)) * high;
    this.y = log ? (value) => linear(Math.log(Math.max(value, y0)), Math.log(y0), Math.log(y1)) : (value) => linear(value, y0, y1);
    this.valueAt = (x) => clamp(first + ((x - this.start) / wide) * (last - first), first, last);
    this.steps = ticks ? null : niceTicks(first, last, clamp(Math.floor(wide / 90), 2, 8)).filter((step) => step >= first && step <= last);
  }

  axes() {
    const right = this.width - EDGE.right;
    const bottom = HEIGHT - this.foot;
    const found = this.levels.flatMap((level) => [
      makeSvg("line", { class: "grid", x1: this.start, x2: right, y1: this.y(level), y2: this.y(level) }),
      words(this.start - 8, this.y(level) + 4, tidy(level), "end"),
    ]);
    if (this.chart.ticks) found.push(...this.tickNames(bottom));
    else found.push(...this.steps.map((step) => words(this.x(step), bottom + 18, tidy(step), "middle")));
    found.push(words((this.start + right) / 2, HEIGHT - 6, this.chart.across, "middle", "axis"));
    return found;
  }

  /** As many as there is room for. */
  tickNames(bottom) {
    const { ticks } = this.chart;
    const room = (this.width - this.start - EDGE.right) / ticks.length;
    const longest = Math.max(...ticks.map(([name, below]) => Math.max(name.length * 8, below.length * 6.2)));
    const each = Math.ceil((longest + 6) / room);
    return ticks.flatMap(([name, below], place) =>
      place % each ? [] : [words(this.x(place), bottom + 17, name, "middle"), words(this.x(place), bottom + 31, below, "middle", "below")],
    );
  }

  band({ points, colour }) {
    const found = makeSvg("g", { class: `band c${colour}` });
    for (const part of parts(points.map((point) => (point[2] === null || point[3] === null ? [point[0], null] : point)))) {
      const there = part.map(([x, , , high]) => `${this.x(x)} ${this.y(high)}`);
      const back = part.map(([x, , low]) => `${this.x(x)} ${this.y(low)}`).reverse();
      found.append(makeSvg("path", { d: `M${[...there, ...back].join("L")}Z` }));
      if (part.length === 1) {
        const [x, , low, high] = part[0];
        found.append(makeSvg("line", { x1: this.x(x), x2: this.x(x), y1: this.y(low), y2: this.y(high) }));
      }
    }
    return found;
  }

  line({ points, colour, dashed, faint }) {
    const path = parts(points).map((part) => `M${part.map(([x, y]) => `${this.x(x)} ${this.y(y)}`).join("L")}`).join("");
    return makeSvg("path", { class: `line c${colour}${dashed ? " dashed" : ""}${faint ? " faint" : ""}`, d: path });
  }

  marks({ points, colour, marked, best = null }) {
    if (!marked) return [];
    const seen = points.filter((point) => point[1] !== null);
    const rings = seen.filter(([x]) => x === best).map(([x, y]) => makeSvg("circle", { class: `best c${colour}`, cx: this.x(x), cy: this.y(y), r: 8.5 }));
    return [...rings, makeSvg("g", { class: `marks c${colour}` }, ...seen.map(([x, y]) => MARKS[colour % MARKS.length](this.x(x), this.y(y))))];
  }

  // ----- values

  nearest(event) {
    const at = event.clientX - this.svg.getBoundingClientRect().left;
    let best = -1;
    this.places.forEach((place, number) => {
      if (best < 0 || Math.abs(this.x(place) - at) < Math.abs(this.x(this.places[best]) - at)) best = number;
    });
    return best;
  }

  picked(number) {
    if (this.pick && !this.chose && this.places[number] !== undefined) this.pick(this.places[number]);
    this.chose = false;
  }

  // ----- a part of x: drawn with the pointer, or + and - around the chosen point; 0 is all of it again

  listenForParts() {
    this.svg.addEventListener("pointerdown", (event) => {
      if (event.button || event.pointerType === "touch") return; // a finger scrolls
      this.from = this.left(event);
      this.svg.setPointerCapture(event.pointerId);
    });
    this.svg.addEventListener("pointerup", (event) => this.partEnds(this.left(event)));
    this.svg.addEventListener("pointercancel", () => this.partEnds(this.from));
    this.svg.addEventListener("dblclick", () => this.zoom(null));
  }

  left(event) {
    return clamp(event.clientX - this.svg.getBoundingClientRect().left, this.start, this.width - EDGE.right);
  }

  moved(event) {
    this.point(this.nearest(event));
    if (this.from === null) return;
    const [from, to] = [this.from, this.left(event)].sort((a, b) => a - b);
    this.part.hidden = to - from < SHORTEST;
    this.part.style.left = `${from}px`;
    this.part.style.width = `${to - from}px`;
    this.part.style.top = `${EDGE.top}px`;
    this.part.style.height = `${HEIGHT - EDGE.top - this.foot}px`;
  }

  partEnds(at) {
    const from = this.from;
    this.from = null;
    this.part.hidden = true;
    if (from === null || Math.abs(at - from) < SHORTEST) return;
    this.chose = true; // and not a click
    this.zoom([from, at].sort((a, b) => a - b).map(this.valueAt));
  }

  zoomBy(factor) {
    const [first, last] = this.ends;
    const middle = this.places[this.chosen] ?? (first + last) / 2;
    const half = ((last - first) * factor) / 2;
    this.zoom([Math.max(0, middle - half), middle + half]);
  }

  key(event) {
    const zooming = { "+": () => this.zoomBy(0.5), "=": () => this.zoomBy(0.5), "-": () => this.zoomBy(2), 0: () => this.zoom(null) }[event.key];
    if (this.zoom && zooming && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      event.stopPropagation();
      zooming();
      return;
    }
    if (event.key === "Enter") this.picked(this.chosen);
    const move = { ArrowLeft: this.chosen - 1, ArrowRight: this.chosen + 1, Home: 0, End: this.places.length - 1 }[event.key];
    if (event.key === "Escape") this.point(-1);
    if (move === undefined || !this.places.length) return;
    event.preventDefault();
    this.point(clamp(move, 0, this.places.length - 1));
    this.voice.textContent = this.tip.textContent;
  }

  point(number) {
    this.chosen = number;
    const place = this.places[number];
    this.tip.hidden = place === undefined;
    this.rule?.setAttribute("visibility", this.tip.hidden ? "hidden" : "visible");
    if (this.tip.hidden) return;
    const x = this.x(place);
    this.rule.setAttribute("x1", x);
    this.rule.setAttribute("x2", x);
    const lines = this.chart.series.flatMap((one) => {
      const found = one.points.find((point) => point[0] === place);
      return found && found[1] !== null ? [valueLine(one, found, this.chart.digits)] : [];
    });
    const more = lines.length > TOLD ? make("div", {}, say("and {count} more", { count: lines.length - TOLD })) : "";
    this.tip.replaceChildren(make("b", {}, this.placeName(place)), ...lines.slice(0, TOLD), more);
    const wide = this.tip.offsetWidth;
    this.tip.style.left = `${clamp(x + 14 + wide > this.width ? x - wide - 14 : x + 14, 0, Math.max(0, this.width - wide))}px`;
  }

  placeName(place) {
    const { ticks, across } = this.chart;
    return ticks ? `${ticks[place][0]} (${ticks[place][1]}) ` : `${across} ${tidy(place)} `;
  }
}

function valueLine(series, [, y, low, high], digits) {
  const range = low === null || high === null ? "" : ` (${say("{low} to {high}", { low: decimals(low, digits), high: decimals(high, digits) })})`;
  return make("div", {}, make("span", { class: `dot c${series.colour}` }), `${series.name}: `, make("b", {}, decimals(y, digits)), range);
}

function legendOf({ series }) {
  const entries = series.filter((one) => !one.faint).map((one) => {
    const key = makeSvg("svg", { width: 30, height: 14, "aria-hidden": "true" });
    key.append(makeSvg("path", { class: `line c${one.colour}${one.dashed ? " dashed" : ""}`, d: "M2 7L28 7" }));
    if (one.marked) key.append(makeSvg("g", { class: `marks c${one.colour}` }, MARKS[one.colour % MARKS.length](15, 7)));
    return make("span", {}, key, make("bdi", {}, one.name));
  });
  return make("div", { class: "keys" }, ...entries);
}

/** A chart with the points of its range alone. */
function within(chart) {
  if (!chart.range) return chart;
  const [from, to] = chart.range;
  return { ...chart, series: chart.series.map((one) => ({ ...one, points: one.points.filter(([x]) => x >= from && x <= to) })) };
}

/** Runs of points without a gap. */
function parts(points) {
  const found = [[]];
  for (const point of points) {
    if (point[1] === null) found.push([]);
    else found[found.length - 1].push(point);
  }
  return found.filter((part) => part.length);
}

function words(x, y, text, anchor, kind = "tick") {
  return makeSvg("text", { x, y, "text-anchor": anchor, class: kind }, text);
}

/** Round numbers that reach from low to high. */
function niceTicks(low, high, count) {
  const rough = (high - low || 1) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const first = Math.floor(low / step + 1e-9);
  const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
  return Array.from({ length: last - first + 1 }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

/** 1, 2 and 5 times powers of ten that reach from the lowest to the highest of the values. */
function logTicks(values) {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const top = values.reduce((a, b) => Math.max(a, b), 0);
  if (!(top > 0)) return [0.1, 1];
  const all = Array.from({ length: 40 }, (_, place) => place - 20).flatMap((power) => [1, 2, 5].map((one) => Number((one * 10 ** power).toPrecision(3))));
  const first = all.findLastIndex((one) => one <= low * 1.0001);
  const last = Math.max(all.findIndex((one) => one >= top * 0.9999), first + 1);
  const found = all.slice(Math.max(first, 0), last + 1);
  if (found.length <= 8) return found;
  const ends = [found[0], found[found.length - 1]];
  const powers = found.filter((one) => Number.isInteger(Number(Math.log10(one).toFixed(9))) && one > 3 * ends[0] && 3 * one < ends[1]);
  const each = Math.ceil(powers.length / 6);
  return [ends[0], ...powers.filter((_, place) => place % each === each - 1), ends[1]];
}

function placesOf(chart) {
  return [...new Set(chart.series.flatMap((one) => one.points.map((point) => point[0])))].sort((a, b) => a - b);
}

function tidy(value) {
  return value !== 0 && Math.abs(value) < 1e-4 ? value.toExponential() : value.toLocaleString("en", { maximumFractionDigits: 6 });
}

/** With so many decimals; a value that they would round to nothing, as a power of ten. */
function decimals(value, digits) {
  return value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits ? value.toExponential(1) : value.toFixed(digits);
}
