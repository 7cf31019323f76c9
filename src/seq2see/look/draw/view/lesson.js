// A lesson of `seq2see learn` as a page of its own.
import { lessonCards } from "./blocks.js";
import { make } from "./dom.js";
import { DRAWINGS } from "./korean.js";
import { makeThemePicker } from "./theme.js";
import { useWording } from "./wording.js";

const data = JSON.parse(document.querySelector("script.data").textContent);
useWording(data.language === "ko" ? DRAWINGS : {});

document.body.append(
  make("header", { class: "top lesson" }, make("h1", {}, data.title), makeThemePicker()),
  make("main", { class: "lesson" }, ...lessonCards(data), make("p", { class: "note" }, `${data.command[0]}: `, make("code", {}, data.command[1]))),
);
