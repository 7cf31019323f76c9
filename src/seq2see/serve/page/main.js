// The frame: which run, which tab, which language, and what a tab is handed to work with.
import { make, makeSvg } from "/view/dom.js";
import { themeChoice, useTheme } from "/view/theme.js";
import { useWording } from "/view/wording.js";
import { Api } from "/page/api.js";
import { button, iconButton, roving, short } from "/page/parts.js";
import { Store } from "/page/store.js";
import { LANGUAGES, language, languageName, setLanguage, t } from "/page/texts.js";
import { Translations } from "/page/translations.js";

const TABS = ["translate", "look", "compare", "beam", "step", "training", "speak", "learn"];
const EVERY = 5000; // milliseconds between questions for runs while there are none

/** Everything that can be seen, as it is at first. A list of numbers is [], a list of texts [""]. */
const BEGINNING = {
  tab: "translate", lang: "auto", theme: "auto", run: "", text: "", beam: 5, prefix: [], pick: 0, part: 0,
  view: "matrix", kind: "cross", level: "word", layer: -1, head: -1, hide: false, rescale: false, opinion: "attention", rows: [], edits: [""],
  step: 1, temperature: 1, runs: [""], reference: "", watch: [""], across: "step", range: "", log: false, smooth: 0, sentence: -1, at: -1,
  voice: "", say: "", tokens: [""], lesson: "", set: [""],
};

const store = new Store(BEGINNING, ["lang", "theme"]);
const api = new Api((state) => tellConnection(state));
const voice = make("div", { class: "unseen", "aria-live": "polite" });
const banner = make("div", { class: "banner", role: "status", hidden: true });
const context = {
  store,
  api,
  runs: [],
  settings: {}, // what the server says of itself
  translations: new Translations(store, api, () => context.run()),
  announce: (text) => (voice.textContent = text),
  textRuns: () => context.runs.filter((run) => run.kind === "text" && run.served !== false),
  voiceRuns: () => context.runs.filter((run) => run.kind === "voice" && run.served !== false),
  run: () => context.textRuns().find((run) => run.name === store.get("run")) ?? context.textRuns()[0] ?? null,
};
const tabs = new Map(); // name -> what it shows; made when it is first opened
let panel = null;
let opening = 0;

// ----- texts and colours

async function speak() {
  const wanted = store.get("lang");
  setLanguage(LANGUAGES.includes(wanted) ? wanted : navigator.language.startsWith("ko") ? "ko" : "en");
  document.documentElement.lang = language();
  document.title = `seq2see · ${t(`tab.${tabName()}`)}`;
  useWording(language() === "en" ? {} : (await import("/view/korean.js")).DRAWINGS);
}

function tabName() {
  return TABS.includes(store.get("tab")) ? store.get("tab") : TABS[0];
}

// ----- the frame

function build() {
  tabs.forEach((tab) => tab.hide?.());
  tabs.clear();
  panel = make("div", { id: "panel", role: "tabpanel", tabindex: -1 });
  const top = make("header", { class: "top-bar" }, mark(), runPicker(), make("div", { class: "settings" }, languagePicker(), themePicker(), exportButton(), keysButton()));
  document.body.replaceChildren(make("a", { class: "skip", href: "#panel" }, t("skip")), top, make("main", {}, tabBar(), banner, panel), footer(), voice);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    panel.focus();
  });
  return open();
}

/** What had the focus has it again. */
async function rebuild() {
  const focused = document.activeElement?.id;
  await build();
  if (focused) document.getElementById(focused)?.focus();
}

function mark() {
  const svg = makeSvg("svg", { viewBox: "0 0 20 20", width: 22, height: 22, "aria-hidden": "true", class: "mark" });
  const cells = [[0, 0, 1], [1, 0, 0.25], [2, 0, 0.12], [0, 1, 0.2], [1, 1, 0.35], [2, 1, 1], [0, 2, 0.12], [1, 2, 1], [2, 2, 0.3]];
  svg.append(...cells.map(([x, y, strength]) => makeSvg("rect", { x: 1 + 6.3 * x, y: 1 + 6.3 * y, width: 5.4, height: 5.4, rx: 1.2, "fill-opacity": strength })));
  return make("h1", { class: "name" }, svg, "seq2see");
}

function runPicker() {
  const runs = context.textRuns();
  const select = make("select", { id: "run", "aria-label": t("run") });
  for (const run of runs) select.append(make("option", { value: run.name, selected: run.name === context.run()?.name }, runTitle(run)));
  select.addEventListener("change", () => store.set({ run: select.value, prefix: [], pick: 0, layer: -1, head: -1, rows: [], edits: [""] }, { push: true }));
  return make("div", { class: "run", hidden: runs.length === 0 }, select, make("span", { class: "facts" }, facts(context.run())));
}

function runTitle(run) {
  return run.source && run.target ? `${run.name} · ${run.source} → ${run.target}` : run.name;
}

function facts(run) {
  if (!run) return "";
  const parts = [run.family, run.parameters ? t("parameters", { count: short(run.parameters) }) : null];
  const [name, value] = bestScore(run.best);
  if (name) parts.push(`${name} ${value.toFixed(1)}`);
  if (run.finished === false) parts.push(t("training.unfinished"));
  return parts.filter(Boolean).join(" · ");
}

/** The score that says most to a person, among those of the best validation. */
function bestScore(best) {
  const names = { bleu: "BLEU", chrf: "chrF", accuracy: "%" };
  const found = Object.keys(names).find((name) => Number.isFinite(best?.[name]));
  return found ? [names[found], best[found]] : [null, 0];
}

function languagePicker() {
  const other = language() === "ko" ? "en" : "ko";
  const named = languageName(other, other);
  return button(named, () => store.set({ lang: other }), { lang: other, id: "language", "aria-label": t("language.to", { name: named }) });
}

function themePicker() {
  const next = { auto: "light", light: "dark", dark: "auto" };
  return button(t(`theme.${themeChoice()}`), () => store.set({ theme: next[themeChoice()] }), { id: "theme" });
}

/** The menu is a file of its own, fetched when it is first wanted. */
function exportButton() {
  const first = iconButton("down", t("export.title"), async () => {
    const { makeExport } = await api.part("export");
    if (!first.isConnected) return; // it was asked for twice
    const menu = makeExport(() => tabs.get(tabName()));
    first.replaceWith(menu);
    menu.querySelector("#export").click();
  }, { id: "export", "aria-expanded": "false", "aria-haspopup": "true" });
  return first;
}

function keysButton() {
  return button("?", () => showKeys(), { id: "keys", "aria-label": t("keys.title"), title: t("keys.title") });
}

function tabBar() {
  const bar = roving(make("div", { class: "tabs", role: "tablist", "aria-label": t("tabs") }));
  const shown = TABS.filter((name) => name !== "speak" || context.voiceRuns().length || tabName() === "speak");
  for (const name of shown) {
    const chosen = name === tabName();
    const tab = make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(chosen), "aria-controls": "panel", tabindex: chosen ? 0 : -1, "data-stop": "" }, t(`tab.${name}`));
    tab.addEventListener("click", () => store.set({ tab: name }, { push: true }));
    bar.append(tab);
  }
  return bar;
}

function footer() {
  return make("footer", { class: "foot" }, make("span", {}, t("foot")));
}

// ----- tabs

async function open() {
  const name = tabName();
  const turn = (opening += 1);
  for (const tab of document.querySelectorAll("[role=tab]")) {
    const chosen = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    if (chosen) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
  document.title = `seq2see · ${t(`tab.${name}`)}`;
  panel.setAttribute("aria-labelledby", `tab-${name}`);
  document.body.dataset.tab = name;
  if (!context.textRuns().length && !["training", "speak", "learn"].includes(name)) {
    panel.replaceChildren(noRuns());
    return;
  }
  if (!tabs.has(name)) {
    const { default: Tab } = await api.part(name);
    if (turn !== opening) return;
    tabs.set(name, new Tab(context));
  }
  for (const [other, tab] of tabs) if (other !== name) tab.hide?.();
  panel.replaceChildren(tabs.get(name).element);
  tabs.get(name).show();
}

/** Nothing is served: how to make something. */
function noRuns() {
  const commands = ["seq2see train builtin:phrases-basic --model rnnsearch --out runs/first", 'echo "나는 학생입니다" | seq2see translate runs/first', "seq2see serve runs/first"];
  return make("section", { class: "card narrow" }, make("h2", {}, t("none.title")), make("p", {}, t("none.text")), make("pre", { class: "commands", tabindex: 0 }, commands.join("\n")));
}

function tellConnection(state) {
  banner.hidden = state === "here";
  banner.dataset.state = state;
  if (state !== "key") {
    banner.replaceChildren(t(`connection.${state}`));
    return;
  }
  const input = make("input", { type: "password", autocomplete: "off", "aria-label": t("connection.key") });
  const give = () => {
    api.useKey(input.value);
    start();
  };
  const form = make("form", {}, input, button(t("use"), give));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    give();
  });
  banner.replaceChildren(make("span", {}, t("connection.key")), form);
}

// ----- what happens

store.subscribe((changed) => {
  if (changed.includes("theme")) useTheme(store.get("theme"));
  if (changed.includes("lang") || changed.includes("theme")) {
    speak().then(rebuild);
    return;
  }
  if (changed.includes("run")) {
    const focused = document.activeElement?.id;
    document.querySelector("header .run").replaceWith(runPicker());
    if (focused === "run") document.getElementById("run").focus();
  }
  if (changed.includes("tab")) open();
  else tabs.get(tabName())?.changed?.(changed);
});

addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select, dialog, [role=application]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "?") {
    event.preventDefault();
    showKeys();
  }
  const place = Number(event.key) - 1;
  if (TABS[place] && document.getElementById(`tab-${TABS[place]}`)) {
    event.preventDefault();
    store.set({ tab: TABS[place] }, { push: true });
    document.getElementById(`tab-${TABS[place]}`).focus();
  }
  if (event.key === "/") {
    event.preventDefault();
    panel.querySelector("textarea")?.focus();
  }
});

async function start() {
  api.part(tabName()); // on its way while runs are asked for
  try {
    [context.runs, context.settings] = await Promise.all([api.get("runs"), api.get("/frontend/settings")]);
    if (!context.runs.some((run) => run.served !== false)) {
      await api.get("/ready"); // 503 while models are loaded, and then it is asked again
      context.runs = await api.get("runs");
    }
  } catch (error) {
    panel?.replaceChildren(make("p", { class: "fault", role: "alert" }, error.message));
    return;
  }
  await rebuild();
  if (!context.runs.length) setTimeout(start, EVERY);
}

async function showKeys() {
  const { openKeys } = await api.part("keys");
  openKeys();
}

useTheme(store.get("theme"));
await speak();
build();
start();
