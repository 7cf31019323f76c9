// Light and dark, and the colours of weights: from "none" to "all", in even steps for the eye in both themes.
import { clamp, make } from "./dom.js";
import { say } from "./wording.js";

const RAMPS = {
  light: ["#f3f5fa", "#cfdcf6", "#98b6ef", "#5b86df", "#2f56b8", "#142a6e"],
  dark: ["#171c27", "#1c2f57", "#22498c", "#3371c8", "#6caaf2", "#d9ebff"],
};
const TONES = {
  light: { text: "#1b2130", dim: "#5d6679", paper: "#ffffff", line: "#d5dae4", focus: "#c2410c", ink: "#2f56b8" },
  dark: { text: "#e8ecf4", dim: "#9aa4b8", paper: "#11151d", line: "#323a4b", focus: "#ff9d5c", ink: "#6caaf2" },
};
const FONT =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Apple SD Gothic Neo", "Malgun Gothic", ' +
  '"Noto Sans KR", "Noto Sans CJK KR", "Nanum Gothic", "Hiragino Sans", "Yu Gothic", "Noto Sans CJK JP", sans-serif';

const media = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
const tables = { light: table(RAMPS.light), dark: table(RAMPS.dark) };
let asked = "auto";

export function themeName() {
  return asked === "auto" ? (media.matches ? "dark" : "light") : asked;
}

export function tones() {
  return TONES[themeName()];
}

export function font(size, weight = 400) {
  return `${weight} ${size}px ${FONT}`;
}

/** 0 to 1 -> a colour. */
export function shade(value) {
  return tables[themeName()][Math.round(clamp(value, 0, 1) * 255)];
}

/** The colours of many weights at once, four bytes each. */
export function shadePixels(values, most) {
  const pixels = new Uint8ClampedArray(values.length * 4);
  const colours = tables[themeName()].map((colour) => [...colour.match(/\d+/g).map(Number), 255]);
  values.forEach((value, at) => pixels.set(colours[most > 0 ? Math.round(clamp(value / most, 0, 1) * 255) : 0], at * 4));
  return pixels;
}

/** What can be read on top of shade(value): black or white, one of which always stands out by 4.5 to 1. */
export function onShade(value) {
  const light = shade(value).match(/\d+/g).map((part) => (part / 255 <= 0.04045 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] < 0.179 ? "#ffffff" : "#000000";
}

export function whenThemeChanges(listener) {
  listeners.add(listener);
}

/** "auto", "light" or "dark": what was asked for. */
export function themeChoice() {
  return asked;
}

export function useTheme(name) {
  asked = ["light", "dark"].includes(name) ? name : "auto";
  apply();
}

export function makeThemePicker() {
  const labels = { auto: say("Theme: auto"), light: say("Theme: light"), dark: say("Theme: dark") };
  const button = make("button", { type: "button", class: "quiet theme" }, labels.auto);
  button.addEventListener("click", () => {
    useTheme({ auto: "light", light: "dark", dark: "auto" }[asked]);
    button.textContent = labels[asked];
  });
  return button;
}

function apply() {
  document.documentElement.dataset.theme = themeName();
  for (const listener of listeners) listener();
}

function table(ramp) {
  const stops = ramp.map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  return Array.from({ length: 256 }, (_, step) => {
    const at = (step / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(at), stops.length - 2);
    const mixed = stops[low].map((part, i) => Math.round(part + (stops[low + 1][i] - part) * (at - low)));
    return `rgb(${mixed.join(",")})`;
  });
}

media.addEventListener("change", apply);
apply();
