// What changed from one sentence to another, word by word.
import { make } from "/view/dom.js";

/** [[kind, word], ...], kind: "same", "gone" (only in before) or "new" (only in after); the fewest changes. */
export function wordDiff(before, after) {
  const [from, to] = [before, after].map((text) => text.split(/\s+/).filter(Boolean));
  const common = Array.from({ length: from.length + 1 }, () => new Uint16Array(to.length + 1));
  for (let i = from.length - 1; i >= 0; i -= 1) {
    for (let j = to.length - 1; j >= 0; j -= 1) {
      common[i][j] = from[i] === to[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < from.length || j < to.length) {
    if (i < from.length && j < to.length && from[i] === to[j]) {
      found.push(["same", from[i]]);
      [i, j] = [i + 1, j + 1];
    } else if (i < from.length && (j === to.length || common[i + 1][j] >= common[i][j + 1])) found.push(["gone", from[i++]]);
    else found.push(["new", to[j++]]);
  }
  return found;
}

/** The second sentence, with what only the first has struck through; neighbours of one kind stand together. */
export function diffLine(before, after) {
  const groups = [];
  for (const [kind, word] of wordDiff(before, after)) {
    if (groups.length && groups[groups.length - 1][0] === kind) groups[groups.length - 1][1].push(word);
    else groups.push([kind, [word]]);
  }
  const parts = groups.flatMap(([kind, words]) => [kind === "same" ? words.join(" ") : make(kind === "gone" ? "del" : "ins", {}, words.join(" ")), " "]);
  return make("span", { class: "diff", dir: "auto" }, ...parts.slice(0, -1));
}
