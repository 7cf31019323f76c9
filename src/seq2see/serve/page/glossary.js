// Terms that translations have to use: a table of two columns, kept in this browser.
import { make } from "/view/dom.js";
import { button, iconButton, note } from "/page/parts.js";
import { recall, remember } from "/page/store.js";
import { t } from "/page/texts.js";

const KEPT = "seq2see-glossary";
const MOST = 200;

export function glossary() {
  const { terms } = recall(KEPT);
  const whole = Array.isArray(terms) ? terms.filter((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === "string")) : [];
  return whole.slice(0, MOST);
}

/** {source term: target term} of those that a text holds. */
export function glossaryTerms(text) {
  const there = glossary().filter(([source, target]) => source.trim() && target.trim() && text.includes(source.trim()));
  return Object.fromEntries(there.map(([source, target]) => [source.trim(), target.trim()]));
}

export class Glossary {
  /** changed(): told when terms changed. */
  constructor(changed) {
    this.changed = changed;
    this.rows = make("tbody");
    const head = make("tr", {}, make("th", { scope: "col" }, t("glossary.source")), make("th", { scope: "col" }, t("glossary.target")), make("td"));
    this.element = make("div", { class: "glossary" }, note(t("glossary.note")), make("table", {}, make("thead", {}, head), this.rows), button(t("glossary.add"), () => this.add()));
    const terms = glossary();
    for (const pair of terms.length ? terms : [["", ""]]) this.row(pair);
  }

  row([source, target]) {
    const input = (value, label) => {
      const made = make("input", { type: "text", value, "aria-label": label, autocomplete: "off", spellcheck: "false", maxlength: 200 });
      made.addEventListener("input", () => this.save());
      return made;
    };
    const line = make("tr", {}, make("td", {}, input(source, t("glossary.source"))), make("td", {}, input(target, t("glossary.target"))));
    const remove = iconButton("clear", t("glossary.remove", { term: source }), () => {
      line.remove();
      this.save();
    });
    line.append(make("td", {}, remove));
    this.rows.append(line);
    return line;
  }

  add() {
    this.row(["", ""]).querySelector("input").focus();
  }

  save() {
    const terms = [...this.rows.rows].map((line) => [...line.querySelectorAll("input")].map((input) => input.value));
    remember({ terms: terms.filter(([source, target]) => source || target) }, KEPT);
    this.changed();
  }

  /** Which terms a text holds. */
  mark(text) {
    const found = glossaryTerms(text);
    for (const line of this.rows.rows) line.classList.toggle("found", Object.hasOwn(found, line.querySelector("input").value.trim()));
  }
}
