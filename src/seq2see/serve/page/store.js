// What the page shows, all of it in the part of the address behind "#": a link, a reload and the back button keep it.

const KEPT = "seq2see"; // in the browser's storage: what the next visit begins with

export class Store {
  /** defaults: {name: value}; a value is a text, a number, true or false, a list of numbers or a list of texts ([""]).
   *  remembered: names that a new visit begins with. */
  constructor(defaults, remembered = []) {
    this.defaults = defaults;
    this.remembered = remembered;
    this.listeners = new Set();
    this.values = { ...defaults, ...this.read(location.hash) };
    addEventListener("popstate", () => this.load());
  }

  get(name) {
    return this.values[name];
  }

  /** push: the back button comes back to how it was before. */
  set(changes, { push = false } = {}) {
    const changed = Object.keys(changes).filter((name) => !same(changes[name], this.values[name]));
    if (!changed.length) return;
    this.values = { ...this.values, ...changes };
    for (const name of changed) if (this.remembered.includes(name)) remember({ ...recall(), [name]: this.values[name] });
    const address = this.address();
    if (address !== location.hash) history[push ? "pushState" : "replaceState"](null, "", address || location.pathname + location.search);
    this.tell(changed);
  }

  /** listener(names): the names that changed. Gives back a function that ends it. */
  subscribe(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  load() {
    const values = { ...this.defaults, ...this.read(location.hash) };
    const changed = Object.keys(values).filter((name) => !same(values[name], this.values[name]));
    this.values = values;
    if (changed.length) this.tell(changed);
  }

  tell(changed) {
    for (const listener of [...this.listeners]) listener(changed);
  }

  /** Only what differs from the beginning. */
  address() {
    const parts = new URLSearchParams();
    for (const [name, value] of Object.entries(this.values)) {
      if (same(value, this.defaults[name])) continue;
      if (Array.isArray(value) && typeof this.defaults[name][0] === "string") value.forEach((text) => parts.append(name, text));
      else parts.set(name, Array.isArray(value) ? value.join(".") : String(value));
    }
    const text = parts.toString();
    return text ? `#${text}` : "";
  }

  read(hash) {
    const found = {};
    const kept = recall();
    for (const name of this.remembered) if (typeof kept[name] === typeof this.defaults[name]) found[name] = kept[name];
    const parts = new URLSearchParams(hash.slice(1));
    for (const [name, usual] of Object.entries(this.defaults)) if (parts.has(name)) found[name] = parse(parts.getAll(name), usual);
    return found;
  }
}

function parse(texts, usual) {
  const [text] = texts;
  if (typeof usual === "number") return Number.isFinite(Number(text)) ? Number(text) : usual;
  if (typeof usual === "boolean") return text === "true";
  if (!Array.isArray(usual)) return text;
  if (typeof usual[0] === "string") return texts;
  return text === "" ? [] : text.split(".").map(Number).filter((id) => Number.isInteger(id) && id >= 0);
}

function same(a, b) {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** The storage may be switched off; then nothing is kept. */
export function recall(name = KEPT) {
  try {
    const kept = JSON.parse(localStorage.getItem(name));
    return kept !== null && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
}

export function remember(value, name = KEPT) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // nothing is kept
  }
}
