// Questions to the server. A server that does not answer is asked again until it does: nothing typed is lost.

const ROOT = "/api/v1/";
const AGAIN = 1500; // milliseconds until a server that is away is asked again
const KEY = "seq2see-key";

/** The server understood, and says no. */
export class Refused extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

export class Api {
  /** connection(state): "here", "away" (no answer), "starting" (models are loaded) or "key" (a key is wanted). */
  constructor(connection) {
    this.connection = connection;
    this.state = "here";
  }

  get(path, options = {}) {
    return this.ask(path, { method: "GET" }, options);
  }

  post(path, body, options = {}) {
    return this.ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }, options);
  }

  /** A recording, as it is. */
  send(path, blob, type, options = {}) {
    return this.ask(path, { method: "POST", headers: { "Content-Type": type }, body: blob }, options);
  }

  /** A file of the page that is fetched when it is first wanted: like an answer, waited for. */
  async part(name) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const found = await import(`/page/${name}.js${attempt ? `?again=${attempt}` : ""}`); // a browser may remember that it was not there
        if (attempt) this.tell("here");
        return found;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error; // it came, and has a fault
        this.tell("away");
        await pause(AGAIN);
      }
    }
  }

  useKey(key) {
    sessionStorage.setItem(KEY, key);
  }

  /** patient: wait for a server that is away instead of failing. */
  async ask(path, init, { signal, patient = true } = {}) {
    for (;;) {
      const answer = await this.fetch(path, init, signal);
      if (answer !== null && answer.status !== 503) return this.read(answer, path);
      this.tell(answer === null ? "away" : "starting");
      if (!patient) throw new Refused(answer?.status ?? 0, "");
      await pause(AGAIN, signal);
    }
  }

  /** null: nobody answers. */
  async fetch(path, init, signal) {
    const key = sessionStorage.getItem(KEY);
    const headers = { ...init.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
    try {
      return await fetch(path.startsWith("/") ? path : ROOT + path, { ...init, headers, signal });
    } catch (error) {
      if (error.name === "AbortError") throw error;
      return null;
    }
  }

  async read(answer, path) {
    let data = null;
    try {
      data = await answer.json();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refused(answer.status, `HTTP ${answer.status}`);
    }
    const refused = answer.ok ? null : new Refused(answer.status, data?.error ?? `HTTP ${answer.status}`);
    const wanted = refused && /API key/.test(refused.message);
    // What needs no key, such as /frontend/settings, does not tell that there is one.
    if (wanted) this.tell("key");
    else if (this.state !== "key" || !path.startsWith("/")) this.tell("here");
    if (refused) throw refused;
    return data;
  }

  tell(state) {
    if (state === this.state) return;
    this.state = state;
    this.connection(state);
  }
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("aborted", "AbortError"));
    });
  });
}

/** The newest question counts: an earlier one that is still open is called off. */
export class Latest {
  async run(ask) {
    this.abort();
    const control = new AbortController();
    this.control = control;
    try {
      return await ask(control.signal);
    } finally {
      if (this.control === control) this.control = null;
    }
  }

  abort() {
    this.control?.abort();
    this.control = null;
  }
}

export function isAbort(error) {
  return error?.name === "AbortError";
}
