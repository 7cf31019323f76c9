// The translation that every tab speaks of: of the text, by the run, with the words that were pinned.
import { glossaryTerms } from "/page/glossary.js";

const KEPT = 24; // answers

export class Translations {
  constructor(store, api, runs) {
    this.store = store;
    this.api = api;
    this.runs = runs;
    this.answers = new Map();
  }

  get run() {
    const runs = this.runs().filter((run) => run.kind === "text");
    return runs.find((run) => run.name === this.store.get("run")) ?? runs[0] ?? null;
  }

  /** What has to be asked; null: there is nothing to translate. */
  request(changes = {}) {
    const { text, prefix, beam } = this.store.values;
    if (!text.trim() || !this.run) return null;
    const required = glossaryTerms(text);
    const body = { run: this.run.name, text, beam, nbest: beam };
    if (prefix.length) body.prefix_ids = prefix;
    if (Object.keys(required).length) body.required = required;
    return { ...body, ...changes };
  }

  /** The answer, asked for once; {text: ""} alone for no text. */
  async current(signal, changes = {}) {
    const body = this.request(changes);
    if (!body) return null;
    const key = JSON.stringify(body);
    if (!this.answers.has(key)) {
      const answer = await this.api.post("translate", body, { signal });
      if (this.answers.size >= KEPT) this.answers.delete(this.answers.keys().next().value);
      this.answers.set(key, answer);
    }
    return this.answers.get(key);
  }

  /** The hypothesis that was picked among the n best. */
  picked(answer) {
    const all = answer.nbest?.length ? answer.nbest : [answer];
    return all[this.store.get("pick")] ?? all[0];
  }
}
