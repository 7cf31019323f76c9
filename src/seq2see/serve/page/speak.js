// Speak: a text as sound, its style set token by token, and what the voice reads while it speaks.
import { clamp, make, makePicker } from "/view/dom.js";
import { AttentionMap } from "/view/weights.js";
import { Latest, isAbort } from "/page/api.js";
import { download } from "/page/export.js";
import { Heat, unpackMel } from "/page/heat.js";
import { button, card, empty, fault, field, iconButton, note, number, percent } from "/page/parts.js";
import { t } from "/page/texts.js";

const TAKES = 6;
const LETTER = 15; // pixels that the name of a letter needs
const LARGEST = 2 * 2 ** 20; // bytes of a recording

export default class SpeakTab {
  constructor(context) {
    Object.assign(this, context);
    this.asking = new Latest();
    this.takes = [];
    this.style = null; // of a recording: {id, name, weights}
    this.build();
  }

  build() {
    this.voicePlace = make("div");
    this.text = make("textarea", { rows: 2, placeholder: t("speak.example"), dir: "auto", maxlength: 2000, spellcheck: "false" });
    this.text.addEventListener("input", () => this.store.set({ say: this.text.value }));
    this.text.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.speak());
    this.fault = make("div");
    this.tokens = make("div", { class: "tokens" });
    this.bar = make("div", { class: "share-bar", "aria-hidden": "true" });
    this.rest = make("p", { class: "note", "aria-live": "polite" });
    this.styleName = make("span", { class: "note" });
    this.file = make("input", { type: "file", accept: ".wav,audio/wav", class: "unseen", tabindex: -1, "aria-label": t("speak.choose") });
    this.file.addEventListener("change", () => this.file.files[0] && this.hear(this.file.files[0]));
    this.drop = make("div", { class: "drop" }, make("span", {}, t("speak.drop")), button(t("speak.choose"), () => this.file.click()), this.file);
    for (const name of ["dragover", "dragleave", "drop"]) this.drop.addEventListener(name, (event) => this.dragged(event));
    this.list = make("ul", { class: "takes" });
    this.shownPlace = make("div", { class: "stack" });
    const head = card(t("tab.speak"), [this.voicePlace], field(t("speak.text"), this.text), make("div", { class: "card-foot" }, button(t("speak.speak"), () => this.speak(), { class: "primary", id: "speak-now" })), this.fault);
    this.styleCard = card(t("speak.style"), [this.styleName, button(t("speak.reset"), () => this.reset())], this.tokens, this.bar, this.rest, this.drop);
    this.takesCard = card(t("speak.takes"), [], this.list);
    this.none = make("div", { class: "card" }, empty(t("speak.none")));
    this.element = make("div", { class: "stack" }, this.none, head, this.styleCard, this.takesCard, this.shownPlace);
    this.parts = [head, this.styleCard, this.takesCard, this.shownPlace];
  }

  get voice() {
    return this.voiceRuns().find((run) => run.name === this.store.get("voice")) ?? this.voiceRuns()[0] ?? null;
  }

  /** token -> weight that was set by hand. */
  get given() {
    const pairs = this.store.get("tokens").filter(Boolean).map((text) => text.split("="));
    return new Map(pairs.filter(([token, weight]) => /^\d+$/.test(token) && Number(weight) >= 0).map(([token, weight]) => [Number(token), clamp(Number(weight), 0, 1)]));
  }

  show() {
    const { voice } = this;
    this.none.hidden = voice !== null;
    for (const part of this.parts) part.hidden = voice === null;
    if (!voice) return;
    if (document.activeElement !== this.text) this.text.value = this.store.get("say");
    const voices = this.voiceRuns().map((run) => [run.name, run.name]);
    this.voicePlace.replaceChildren(makePicker(t("speak.voice"), voices, voice.name, (value) => this.store.set({ voice: value, tokens: [""] }, { push: true })));
    this.styleCard.hidden = !voice.tokens;
    this.takesCard.hidden = !this.takes.length;
    this.showTokens();
  }

  hide() {
    this.asking.abort();
    cancelAnimationFrame(this.frame);
    this.list.querySelectorAll("audio").forEach((audio) => audio.pause());
  }

  changed(names) {
    if (names.includes("tokens") && names.length === 1) this.followTokens();
    else if (!(names.length === 1 && names[0] === "say" && document.activeElement === this.text)) this.show();
  }

  // ----- style

  showTokens() {
    const count = this.voice.tokens ?? 0;
    const row = (token) => {
      const label = t("speak.token", { number: token });
      const slider = make("input", { type: "range", min: 0, max: 1, step: 0.05, "aria-label": label });
      const exact = make("input", { type: "number", min: 0, max: 1, step: 0.05, "aria-label": label });
      const set = (value) => this.setToken(token, clamp(Number(value) || 0, 0, 1));
      slider.addEventListener("input", () => set(slider.value));
      exact.addEventListener("change", () => set(exact.value));
      return make("div", { class: "token-row", "data-token": token }, make("span", {}, label), slider, exact);
    };
    this.tokens.replaceChildren(...Array.from({ length: count }, (_, token) => row(token)));
    this.followTokens();
  }

  followTokens() {
    const { given } = this;
    const sum = [...given.values()].reduce((a, b) => a + b, 0);
    const count = this.voice.tokens ?? 0;
    const heard = this.style?.weights ?? this.voice.style ?? null;
    const free = Math.max(0, 1 - sum);
    const others = [...Array(count).keys()].filter((token) => !given.has(token));
    const base = others.map((token) => (heard ? mean(heard.map((head) => head[token])) : 1));
    const whole = base.reduce((a, b) => a + b, 0) || 1;
    const shares = Array.from({ length: count }, (_, token) => (given.has(token) ? given.get(token) : (free * base[others.indexOf(token)]) / whole));
    for (const line of this.tokens.children) {
      const token = Number(line.dataset.token);
      const [slider, exact] = line.querySelectorAll("input");
      slider.value = shares[token];
      if (document.activeElement !== exact) exact.value = given.has(token) || heard ? number(shares[token], 2) : "";
      exact.placeholder = t("speak.auto");
      line.classList.toggle("free", !given.has(token));
    }
    this.bar.replaceChildren(...[...given].map(([, weight]) => {
      const part = make("i");
      part.style.setProperty("--share", (weight / Math.max(1, sum)).toFixed(3));
      return part;
    }));
    this.rest.textContent = sum > 1.0001 ? t("speak.over") : t("speak.rest", { share: percent(free) });
    this.rest.classList.toggle("fault", sum > 1.0001);
    this.styleName.textContent = this.style ? t("speak.dropped", { name: this.style.name }) : "";
  }

  setToken(token, weight) {
    const given = this.given.set(token, weight);
    this.store.set({ tokens: [...given].map(([name, value]) => `${name}=${Number(value.toFixed(3))}`) });
  }

  reset() {
    this.style = null;
    this.store.set({ tokens: [""] });
    this.followTokens();
  }

  dragged(event) {
    event.preventDefault();
    this.drop.classList.toggle("over", event.type === "dragover");
    if (event.type === "drop" && event.dataTransfer.files[0]) this.hear(event.dataTransfer.files[0]);
  }

  /** The style of a recording becomes where the sliders stand. */
  async hear(file) {
    this.fault.replaceChildren();
    if (file.size > LARGEST) {
      this.fault.replaceChildren(note(t("speak.large")));
      return;
    }
    try {
      const heard = await this.asking.run((signal) => this.api.send(`style?run=${encodeURIComponent(this.voice.name)}`, file, "audio/wav", { signal }));
      this.style = { id: heard.id, name: file.name, weights: heard.weights };
      this.store.set({ tokens: [""] });
      this.followTokens();
      this.announce(t("speak.dropped", { name: file.name }));
    } catch (error) {
      if (!isAbort(error)) this.fault.replaceChildren(fault(error));
    }
  }

  // ----- speaking

  async speak() {
    const text = this.text.value.trim();
    if (!text) {
      this.text.focus();
      return;
    }
    this.fault.replaceChildren(note(t("waiting")));
    const tokens = Object.fromEntries([...this.given].map(([token, weight]) => [String(token), weight]));
    try {
      const body = { run: this.voice.name, text, tokens, ...(this.style ? { style: this.style.id } : {}) };
      const spoken = await this.asking.run((signal) => this.api.post("speak", body, { signal }));
      const sound = await this.asking.run((signal) => this.api.fetch(spoken.audio, { method: "GET" }, signal).then((answer) => answer.blob()));
      this.take({ ...spoken, sound, number: (this.takes[0]?.number ?? 0) + 1 });
      this.fault.replaceChildren();
    } catch (error) {
      if (!isAbort(error)) this.fault.replaceChildren(fault(error));
    }
  }

  /** The newest first; the oldest goes. */
  take(spoken) {
    this.takes.unshift(spoken);
    for (const old of this.takes.splice(TAKES)) URL.revokeObjectURL(old.address);
    spoken.address = URL.createObjectURL(spoken.sound);
    this.takesCard.hidden = false;
    this.list.replaceChildren(...this.takes.map((one) => this.line(one)));
    this.display(spoken);
    this.announce(t("speak.said", { seconds: number(spoken.seconds, 1) }));
    this.list.querySelector("audio")?.play().catch(() => {});
  }

  line(take) {
    const audio = (take.audio = make("audio", { controls: true, src: take.address, "aria-label": `${t("speak.take", { number: take.number })}: ${take.text}` }));
    audio.addEventListener("play", () => {
      for (const other of this.list.querySelectorAll("audio")) if (other !== audio) other.pause();
      this.display(take);
      this.follow(audio);
    });
    const flag = take.stopped ? null : make("span", { class: "flag", title: t("speak.cut.title") }, t("speak.cut"));
    const text = make("span", {}, make("b", {}, `${take.number}. `), make("bdi", {}, take.text), " ", make("span", { class: "note" }, t("speak.seconds", { seconds: number(take.seconds, 1) })), " ", ...[flag].filter(Boolean));
    return make("li", {}, audio, text, iconButton("down", t("speak.download"), () => download(take.sound, `take-${take.number}.wav`)));
  }

  // ----- what it reads

  display(take) {
    if (this.displayed === take) return;
    this.displayed = take;
    const map = new AttentionMap(take.alignment);
    const matrix = map.matrix(map.layers.length > 1 ? null : 0, map.heads.length > 1 ? null : 0, "piece", false);
    this.reading = { matrix, seconds: take.seconds };
    const { rows, columns } = matrix;
    const seek = (frame, of) => {
      take.audio.currentTime = (take.seconds * (frame + 0.5)) / of;
      this.mark((frame + 0.5) / of);
    };
    const mel = unpackMel(take.mel);
    const { frames, mels } = take.mel;
    const high = clamp(LETTER * columns.length, 150, 420);
    this.heats = [
      new Heat(t("speak.spectrogram"), frames, mels, (frame, band) => mel[frame * mels + band], 150, (frame) => seek(frame, frames)),
      new Heat(t("speak.alignment"), rows.length, columns.length, (frame, letter) => matrix.strength(frame, columns.length - 1 - letter), high, (frame) => seek(frame, rows.length)),
    ];
    this.letters = columns.map((letter) => make("span", {}, letter.replace(/^▁/, " ")));
    const named = high / columns.length >= LETTER ? [make("div", { class: "letter-axis", "aria-hidden": "true" }, ...columns.map((letter) => make("span", {}, letter.replace(/^[▁ ]$/, "␣"))))] : [];
    const axis = () => make("div", { class: "time-axis note", "aria-hidden": "true" }, ...[0, take.seconds / 2, take.seconds].map((seconds) => make("span", {}, t("speak.seconds", { seconds: number(seconds, 1) }))));
    this.shownPlace.replaceChildren(
      card(t("speak.spectrogram"), [], this.heats[0].element, axis()),
      card(t("speak.alignment"), [], make("div", { class: "letters", "aria-hidden": "true" }, ...this.letters), make("div", { class: "lettered" }, ...named, make("div", {}, this.heats[1].element, axis()))),
    );
  }

  /** share: 0 to 1, of the take that is displayed. */
  mark(share, ended = false) {
    const { matrix, seconds } = this.reading;
    const row = Math.min(matrix.rows.length - 1, Math.floor(share * matrix.rows.length));
    const letter = ended ? -1 : matrix.ofRow(row)[0]?.[0] ?? -1;
    this.letters.forEach((span, place) => span.classList.toggle("now", place === letter));
    const text = t("speak.at", { seconds: number(share * seconds, 2), letter: matrix.columns[letter] ?? "" });
    for (const heat of this.heats) heat.playhead(share, text);
  }

  follow(audio) {
    cancelAnimationFrame(this.frame);
    const step = () => {
      this.mark(clamp(audio.currentTime / this.reading.seconds, 0, 1), audio.ended);
      if (!audio.paused && !audio.ended) this.frame = requestAnimationFrame(step);
    };
    step();
  }

  exports() {
    if (!this.displayed) return null;
    const { sound, address, audio, ...data } = this.displayed;
    const { matrix } = this.reading;
    const rows = matrix.rows.map((name, row) => [row, ...matrix.columns.map((_, column) => matrix.at(row, column).toFixed(4))]);
    return { name: `take-${data.number}`, title: data.text, data, rows: [["frame", ...matrix.columns], ...rows], picture: () => this.heats[1].picture() };
  }
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
