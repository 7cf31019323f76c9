// The translation that every tab speaks of: of the text, by the run, with the words that were pinned.
import { glossaryTerms } from "/page/glossary.js";

const KEPT = 24; // answers

export class Translations {
  /** run(): the one that is chosen; null: none. */
  constructor(store, api, run) {
    this.store = store;
    this.api = api;
    this.run = run;
    this.answers = new Map();
  }

  /** What has to be asked; null: there is nothing to translate. */
  request(changes = {}) {
    const { text, prefix, beam } = this.store.values;
    const run = this.run();
    if (!text.trim() || !run) return null;
    const required = glossaryTerms(text);
    const body = { run: run.name, text, beam, nbest: beam };
    if (prefix.length) body.prefix_ids = prefix;
    if (Object.keys(required).length) body.required = required;
    return { ...body, ...changes };
  }

  /** The answer, asked for once; null for no text. */
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

  /** What maps, beams and steps are of: the picked hypothesis, or of a long text one of its parts. */
  unit(answer) {
    const { parts = [] } = answer;
    if (!parts.length) return { ...this.picked(answer), source: answer.source, parts };
    return { ...parts[Math.min(this.store.get("part"), parts.length - 1)], parts };
  }

  /** The hypothesis that was picked among the n best. */
  picked(answer) {
    const all = answer.nbest?.length ? answer.nbest : [answer];
    return all[this.store.get("pick")] ?? all[0];
  }
}
