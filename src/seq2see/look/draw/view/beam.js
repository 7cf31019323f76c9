// What a beam search considered: a column for each step, lines from each candidate to what it continues.
import { clamp, make, makeSvg, makeToggle } from "./dom.js";
import { say } from "./wording.js";

const WIDE = 150; // of a step
const BOX = 122;
const HIGH = 38; // of a candidate
const HEAD = 26;
const MANY = 500; // candidates; above, those that were dropped are shown only on request

export class BeamView {
  /** choose(tokens, node): told when a candidate is clicked, with the tokens up to it; none: nothing happens then. */
  constructor(choose = null) {
    this.choose = choose;
    this.note = make("p", { class: "note" });
    this.tools = make("div", { class: "tools" });
    this.spread = make("div", { class: "spread" });
    this.scroll = make("div", { class: "stage beam", role: "group", "aria-label": say("Beam search; move with the arrow keys") }, this.spread);
    this.story = make("div", { class: "story", "aria-live": "polite" });
    this.element = make("div", {}, this.note, this.story, this.tools, this.scroll);
  }

  show(tree) {
    this.tree = tree;
    this.nodes = tree.nodes.map(([step, parent, piece, logProb, total, fate, rule, rank, token], place) => {
      return { place, step, parent, piece, logProb, total, fate, rule, rank, token };
    });
    this.best = bestRanks(this.nodes);
    const dropped = this.nodes.filter((node) => ["pruned", "blocked"].includes(node.fate)).length;
    this.note.textContent = tree.summary.replace(/(\d+) ([a-z]+(?: [a-z]+)?)/g, (_, count, words) => say("{count} {words}", { count, words: say(words) }));
    const all = this.nodes.length <= MANY;
    this.tools.replaceChildren(...(dropped ? [makeToggle(say("Show the {count} that were dropped", { count: dropped }), all, (on) => this.layout(on))] : []));
    this.layout(all);
  }

  layout(all) {
    const columns = [];
    for (const node of this.nodes) {
      if (all || !["pruned", "blocked"].includes(node.fate)) (columns[node.step] ??= []).push(node);
    }
    columns.forEach((column) => column.sort((a, b) => order(this.best, a) - order(this.best, b) || b.total - a.total));
    columns.forEach((column) => column.forEach((node, line) => Object.assign(node, { line })));
    this.columns = columns;
    const most = Math.max(...columns.map((column) => column.length), 1);
    const [width, height] = [columns.length * WIDE + 8, HEAD + most * HIGH + 8];
    this.spread.style.width = `${width}px`;
    this.spread.style.height = `${height}px`;
    const svg = makeSvg("svg", { width, height, "aria-hidden": "true" });
    const shown = columns.flat();
    this.edges = new Map(shown.filter((node) => node.parent !== null).map((node) => [node.place, this.edge(node)]));
    svg.append(...[...this.edges.entries()].sort((a, b) => this.weight(a[0]) - this.weight(b[0])).map(([, path]) => path));
    this.buttons = new Map(shown.map((node) => [node.place, this.button(node)]));
    const titles = columns.map((_, step) => placed(make("div", { class: "step" }, say("step {number}", { number: step + 1 })), step * WIDE + 4, 2));
    this.spread.replaceChildren(svg, ...titles, ...this.buttons.values());
    this.start();
  }

  weight(place) {
    return this.best[place] === null ? 0 : 1 / this.best[place];
  }

  edge(node) {
    const parent = this.nodes[node.parent];
    const [x1, y1] = [parent.step * WIDE + 4 + BOX, HEAD + (parent.line + 0.5) * HIGH - 2];
    const [x2, y2] = [node.step * WIDE + 4, HEAD + (node.line + 0.5) * HIGH - 2];
    const middle = (x1 + x2) / 2;
    return makeSvg("path", { d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`, class: this.names(node) });
  }

  names(node) {
    const rank = this.best[node.place];
    return `${node.fate}${rank === null ? "" : rank === 1 ? " ranked first" : " ranked"}`;
  }

  button(node) {
    const rank = node.rank === null ? null : make("span", { class: "rank" }, `#${node.rank}`);
    const total = make("span", { class: "number" }, node.total.toFixed(2));
    const button = make(
      "button",
      { type: "button", class: `candidate ${this.names(node)}`, tabindex: -1, "aria-label": this.told(node) },
      make("bdi", {}, node.piece),
      total,
      rank,
    );
    placed(button, node.step * WIDE + 4, HEAD + node.line * HIGH);
    button.addEventListener("pointerenter", () => this.light(node));
    button.addEventListener("focus", () => this.light(node));
    button.addEventListener("keydown", (event) => this.key(event, node));
    if (this.choose) button.addEventListener("click", () => this.choose(this.tokens(node), node));
    return button;
  }

  told(node) {
    return `${say("step {number}", { number: node.step + 1 })}, ${node.piece}, ${node.total.toFixed(2)}, ${say(node.fate)}`;
  }

  /** The tab key comes to the first token of the best hypothesis. */
  start() {
    const first = this.columns[0]?.[0];
    this.buttons.get(first?.place)?.setAttribute("tabindex", "0");
    this.scroll.classList.remove("quiet");
    const best = this.nodes.find((node) => node.rank === 1);
    if (best) this.tell(best);
    else this.story.replaceChildren(make("p", { class: "hint" }, say("Point at a candidate to read what became of it, and why.")));
  }

  light(node) {
    const path = new Set(this.path(node));
    this.scroll.classList.add("quiet");
    for (const [place, button] of this.buttons) button.classList.toggle("lit", path.has(place));
    for (const [place, edge] of this.edges) edge.classList.toggle("lit", path.has(place));
    this.tell(node);
  }

  /** Places from this node back to the first token. */
  path(node) {
    const found = [];
    for (let at = node.place; at !== null; at = this.nodes[at].parent) found.push(at);
    return found;
  }

  /** The tokens that lead to a candidate, itself included. */
  tokens(node) {
    return this.path(node).reverse().map((place) => this.nodes[place].token);
  }

  /** What became of a candidate, and why. */
  tell(node) {
    const said = this.path(node).reverse().map((place) => this.nodes[place].piece);
    const reason = node.rule === null ? this.tree.reasons[node.fate] : this.tree.rules[node.rule];
    const rank = node.rank === null ? "" : ` ${say("It is hypothesis #{rank}, with a score of {score}.", { rank: node.rank, score: this.tree.scores[node.rank - 1].toFixed(3) })}`;
    this.story.replaceChildren(
      make("p", { class: "said" }, ...said.map((piece) => make("bdi", {}, piece))),
      make("p", {}, make("b", {}, say(node.fate)), `: ${say(reason)}.${rank}`),
      make("p", { class: "note" }, say("This token: probability {share}, log {log}. All so far: log {total}.", { share: probability(node.logProb), log: node.logProb.toFixed(3), total: node.total.toFixed(3) })),
    );
  }

  key(event, node) {
    const column = this.columns[node.step];
    const children = (this.columns[node.step + 1] ?? []).filter((one) => one.parent === node.place);
    const goals = {
      ArrowUp: column[node.line - 1],
      ArrowDown: column[node.line + 1],
      ArrowLeft: node.parent === null ? undefined : this.nodes[node.parent],
      ArrowRight: children[0],
      Home: this.columns[0][0],
    };
    if (!(event.key in goals)) return;
    event.preventDefault();
    const goal = goals[event.key];
    if (!goal) return;
    this.buttons.forEach((button, place) => button.setAttribute("tabindex", place === goal.place ? "0" : "-1"));
    this.buttons.get(goal.place).focus();
  }
}

/** For each node the best hypothesis that goes through it; null for none. Parents stand before their children. */
function bestRanks(nodes) {
  const ranks = nodes.map((node) => node.rank);
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const { parent } = nodes[at];
    if (parent !== null && ranks[at] !== null) ranks[parent] = Math.min(ranks[parent] ?? Infinity, ranks[at]);
  }
  return ranks;
}

/** Hypotheses first, then what lived, then what was dropped, then what was forbidden. */
function order(best, node) {
  const fates = { kept: 1, ended: 1, cut: 1, hopeless: 2, pruned: 3, blocked: 4 };
  return best[node.place] !== null ? best[node.place] / 1e6 : fates[node.fate];
}

function placed(element, left, top) {
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
  return element;
}

function probability(logProb) {
  const value = clamp(Math.exp(logProb), 0, 1);
  return value >= 0.001 ? value.toFixed(3) : value.toExponential(1);
}
