// The page of `AttentionMap.save("map.html")` and of notebooks.
import { make } from "./dom.js";
import { Explorer } from "./explorer.js";
import { makeThemePicker } from "./theme.js";

const data = JSON.parse(document.querySelector("script.data").textContent);
const explorer = new Explorer(data.examples);
const note = data.note ? make("p", { class: "note" }, data.note) : null;
document.body.append(
  make("header", { class: "top" }, make("h1", { dir: "auto" }, data.title), makeThemePicker()),
  make("main", {}, note, explorer.element),
);
