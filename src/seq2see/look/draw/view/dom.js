// Elements. Every text that comes from data goes through `textContent`: nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

/** make("p", {class: "note", "aria-live": "polite"}, "text", child) */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

let lastName = 0;

/** A name that no other element of this document has. */
export function freshName(stem) {
  lastName += 1;
  return `s2s-${stem}-${lastName}`;
}

/** One of a few: radio buttons drawn as one bar. choices: [[value, label], ...] */
export function makeChoice(label, choices, chosen, change) {
  const name = freshName("choice");
  const bar = make("fieldset", { class: "choice" }, make("legend", {}, label));
  for (const [value, text] of choices) {
    const input = make("input", { type: "radio", name, value, checked: value === chosen });
    input.addEventListener("change", () => change(value));
    bar.append(make("label", {}, input, make("span", {}, text)));
  }
  return bar;
}

/** One of many. */
export function makePicker(label, choices, chosen, change) {
  const select = make("select");
  for (const [value, text] of choices) select.append(make("option", { value, selected: value === chosen }, text));
  select.addEventListener("change", () => change(select.value));
  return make("label", { class: "picker" }, make("span", {}, label), select);
}

export function makeToggle(label, on, change) {
  const input = make("input", { type: "checkbox", checked: on });
  input.addEventListener("change", () => change(input.checked));
  return make("label", { class: "toggle" }, input, make("span", {}, label));
}

/** Two decimals: what a byte for each weight can promise. */
export function share(value) {
  return value.toFixed(2);
}

export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

/** Whether a click or a key is meant for one more row. */
export function several(event) {
  return event.shiftKey || event.ctrlKey || event.metaKey;
}
