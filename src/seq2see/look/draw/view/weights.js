// Maps as they travel: a byte for each weight, unpacked a layer at a time. look/packing.py writes what is read here.

const EMPTY = 1e-6; // of a row with less than this on text, what is left is rounding
const KEPT = 12; // matrices that are remembered

/** Rows are what was being said, columns what was looked at. */
export class Matrix {
  constructor(rows, columns, special, values, hidden, rescaled) {
    this.rows = rows; // their names
    this.columns = columns;
    this.special = special; // of each column: whether it stands for no text
    this.values = values; // rows x columns
    this.hidden = hidden; // the weight of each row on columns that are not shown; null: all are shown
    this.rescaled = rescaled; // whether rows were scaled up to what they were with those columns
    this.most = values.reduce((most, value) => Math.max(most, value), 0);
    this.peaks = rows.map((_, row) => this.peak(row));
  }

  at(row, column) {
    return this.values[row * this.columns.length + column];
  }

  /** 0 to 1: how strongly a weight is drawn. */
  strength(row, column) {
    return this.most > 0 ? this.at(row, column) / this.most : 0;
  }

  /** The text that a row looks at most, which gets the star; special tokens are no text; -1 for none. */
  peak(row) {
    let best = -1;
    let most = 0;
    for (let column = 0; column < this.columns.length; column += 1) {
      if (!this.special[column] && this.at(row, column) > most) [best, most] = [column, this.at(row, column)];
    }
    return best;
  }

  /** What several rows together have on a column. */
  sumOf(rows, column) {
    return rows.reduce((sum, row) => sum + this.at(row, column), 0);
  }

  /** [place, weight] of what a row looked at, strongest first. */
  ofRow(row) {
    return this.columns.map((_, column) => [column, this.at(row, column)]).sort((a, b) => b[1] - a[1]);
  }

  /** The same of several rows together. */
  ofRows(rows) {
    return this.columns.map((_, column) => [column, this.sumOf(rows, column)]).sort((a, b) => b[1] - a[1]);
  }

  /** [place, weight] of who looked at a column, strongest first. */
  ofColumn(column) {
    return this.rows.map((_, row) => [row, this.at(row, column)]).sort((a, b) => b[1] - a[1]);
  }
}

export class AttentionMap {
  constructor(packed) {
    this.kind = packed.kind;
    this.level = packed.level;
    this.layers = packed.layers;
    this.heads = packed.heads;
    this.source = packed.source;
    this.target = packed.target;
    this.alwaysHidden = packed.hidden; // the special tokens were taken away before the map came here
    this.rescaled = packed.rescaled; // and rows were rescaled
    this.packed = packed;
    this.unpacked = new Map();
    this.made = new Map();
  }

  get sinks() {
    const { special, tokens } = this.source;
    return special.length > 0 && special.length < tokens.length ? special.map((place) => tokens[place]) : [];
  }

  /** What is not shown when special tokens are hidden. */
  get hiddenNames() {
    return [...new Set([...this.packed.hidden_tokens, ...this.sinks])];
  }

  /**
   * layer, head: a place or null for the mean of all; level: "piece" or "word"; hide: leave out special columns;
   * rescale: scale the others up to what the row was with them.
   */
  matrix(layer, head, level, hide, rescale = false) {
    const key = [layer, head, level, hide, rescale].join(" ");
    if (!this.made.has(key)) {
      if (this.made.size >= KEPT) this.made.delete(this.made.keys().next().value);
      this.made.set(key, this.make(layer, head, level, hide, rescale));
    }
    return this.made.get(key);
  }

  make(layer, head, level, hide, rescale = false) {
    const all = this.mean(layer, head);
    const byWord = level === "word" && this.level === "piece";
    const rows = side(this.target, byWord);
    const columns = side(this.source, byWord);
    const merged = byWord ? merge(all, this.source, this.target) : all;
    const hiding = this.alwaysHidden || (hide && this.sinks.length > 0);
    if (!hiding) return new Matrix(rows.names, columns.names, columns.special, merged.values, null, false);
    return withoutSpecial(merged, rows, columns, rescale);
  }

  /** [entropy, order, share on special tokens, coverage] of one head. */
  summary(layer, head) {
    return this.packed.summary?.[layer * this.heads.length + head];
  }

  /** {values, text, rest}: rows as they were, and how much of each lies on text and on special tokens. */
  mean(layer, head) {
    const height = this.target.tokens.length;
    const width = this.source.tokens.length;
    const sums = { width, values: new Float32Array(height * width), text: new Float32Array(height), rest: new Float32Array(height) };
    const layers = layer === null ? this.layers.keys() : [layer];
    const heads = head === null ? [...this.heads.keys()] : [head];
    const special = new Set(this.source.special);
    const isSpecial = Uint8Array.from({ length: width }, (_, column) => (special.has(column) ? 1 : 0));
    const count = (layer === null ? this.layers.length : 1) * heads.length;
    for (const one of layers) {
      const { cells, scales } = this.unpack(one);
      for (const number of heads) add(sums, cells, scales, number * height, height, isSpecial, 1 / count);
    }
    return sums;
  }

  unpack(layer) {
    if (!this.unpacked.has(layer)) {
      const scales = bytes(this.packed.scales[layer]);
      this.unpacked.set(layer, { cells: bytes(this.packed.cells[layer]), scales: new Float32Array(scales.buffer) });
    }
    return this.unpacked.get(layer);
  }
}

function add(sums, cells, scales, first, height, isSpecial, factor) {
  const { width, values, text, rest } = sums;
  for (let row = 0; row < height; row += 1) {
    const [top, onText, onRest] = scales.subarray((first + row) * 3, (first + row) * 3 + 3);
    const step = [(top * factor) / 255, (onRest * factor) / 255];
    text[row] += onText * factor;
    rest[row] += onRest * factor;
    const from = (first + row) * width;
    for (let column = 0; column < width; column += 1) {
      values[row * width + column] += cells[from + column] * step[isSpecial[column]];
    }
  }
}

function side(one, byWord) {
  const special = new Set(one.special);
  if (!byWord) return { names: one.tokens, special: one.tokens.map((_, place) => special.has(place)) };
  return { names: one.words, special: one.groups.map((group) => special.has(group[0])) };
}

/** Words: the sum over the columns of each, the mean over its rows. */
function merge(all, source, target) {
  const width = source.groups.length;
  const height = target.groups.length;
  const found = { width, values: new Float32Array(height * width), text: new Float32Array(height), rest: new Float32Array(height) };
  target.groups.forEach((rows, word) => {
    for (const row of rows) {
      found.text[word] += all.text[row] / rows.length;
      found.rest[word] += all.rest[row] / rows.length;
      source.groups.forEach((columns, other) => {
        for (const column of columns) {
          found.values[word * width + other] += all.values[row * all.width + column] / rows.length;
        }
      });
    }
  });
  return found;
}

function withoutSpecial(all, rows, columns, rescale) {
  const kept = [...columns.names.keys()].filter((column) => !columns.special[column]);
  const values = new Float32Array(rows.names.length * kept.length);
  const hidden = new Float32Array(rows.names.length);
  rows.names.forEach((_, row) => {
    const text = all.text[row];
    const scaled = text > EMPTY ? (text + all.rest[row]) / text : 0;
    hidden[row] = all.rest[row];
    kept.forEach((column, place) => {
      values[row * kept.length + place] = all.values[row * all.width + column] * (rescale ? scaled : 1);
    });
  });
  const names = kept.map((column) => columns.names[column]);
  return new Matrix(rows.names, names, kept.map(() => false), values, hidden, rescale);
}

function bytes(base64) {
  const text = atob(base64);
  const found = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) found[at] = text.charCodeAt(at);
  return found;
}
