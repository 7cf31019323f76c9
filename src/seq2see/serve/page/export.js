// The current view as a file. A tab hands over what it shows ({name, title, data, rows, picture}); the files are made here.
import { make } from "/view/dom.js";
import { iconButton, roving } from "/page/parts.js";
import { language, t } from "/page/texts.js";

const KINDS = ["svg", "png", "html", "json", "tsv"];
const SCALE = 2; // of a PNG

/** tab(): the one that is shown. */
export function makeExport(tab) {
  const list = roving(make("div", { class: "menu", hidden: true }), ["ArrowUp", "ArrowDown"]);
  const opener = iconButton("down", t("export.title"), () => (list.hidden ? open() : close()), { id: "export", "aria-expanded": "false", "aria-haspopup": "true" });
  const around = make("div", { class: "export" }, opener, list);
  const close = () => {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
  };
  const open = () => {
    const shown = tab()?.exports?.() ?? null;
    const kinds = shown ? KINDS.filter((kind) => (kind === "svg" || kind === "png" ? shown.picture : true)) : [];
    const items = kinds.map((kind, place) => {
      const item = make("button", { type: "button", "data-stop": "", "data-kind": kind, tabindex: place ? -1 : 0 }, t(`export.${kind}`));
      item.addEventListener("click", async () => {
        close();
        opener.focus();
        await save(shown, kind);
      });
      return item;
    });
    list.replaceChildren(...(items.length ? items : [make("p", { class: "note" }, t("export.nothing"))]));
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    items[0]?.focus();
  };
  around.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || list.hidden) return;
    close();
    opener.focus();
  });
  around.addEventListener("focusout", (event) => !around.contains(event.relatedTarget) && close());
  return around;
}

async function save(shown, kind) {
  const makers = {
    svg: () => new Blob([svgText(shown.picture())], { type: "image/svg+xml" }),
    png: () => png(shown.picture()),
    html: () => new Blob([html(shown)], { type: "text/html" }),
    json: () => new Blob([`${JSON.stringify(shown.data, null, 1)}\n`], { type: "application/json" }),
    tsv: () => new Blob([tsv(shown.rows)], { type: "text/tab-separated-values" }),
  };
  download(await makers[kind](), `${shown.name}.${kind}`);
}

export function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = make("a", { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export function svgText(picture) {
  return new XMLSerializer().serializeToString(picture);
}

async function png(picture) {
  const image = new Image();
  const [width, height] = [Number(picture.getAttribute("width")), Number(picture.getAttribute("height"))];
  const loaded = new Promise((resolve, reject) => {
    image.addEventListener("load", resolve);
    image.addEventListener("error", () => reject(new Error("the picture cannot be drawn")));
  });
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(picture))}`;
  await loaded;
  const canvas = make("canvas", { width: width * SCALE, height: height * SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, width * SCALE, height * SCALE);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** White space inside a cell would end it. */
function tsv(rows) {
  return `${rows.map((row) => row.map((cell) => String(cell ?? "").replace(/[\t\r\n]+/g, " ")).join("\t")).join("\n")}\n`;
}

const SHEET = "body{font:15px/1.5 system-ui,sans-serif;margin:32px;color:#1b2130}table{border-collapse:collapse;margin-top:24px}td,th{padding:3px 14px 3px 0;text-align:left;border-bottom:1px solid #d5dae4}";

/** A document of its own: the picture and the numbers; nothing in it is executed. Texts become HTML by the browser. */
function html(shown) {
  const row = (cells, tag) => make("tr", {}, ...cells.map((cell) => make(tag, {}, String(cell ?? ""))));
  const [names, ...lines] = shown.rows;
  const grid = make("table", {}, row(names, "th"), ...lines.map((line) => row(line, "td")));
  const body = make("body", {}, make("h1", {}, shown.title), ...(shown.picture ? [shown.picture()] : []), grid);
  const head = `<meta charset="utf-8">${make("title", {}, shown.title).outerHTML}<style>${SHEET}</style>`;
  return `<!DOCTYPE html>\n<html lang="${language()}"><head>${head}</head>${body.outerHTML}</html>\n`;
}
