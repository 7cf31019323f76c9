// The numbers of one run, as they come: what is new is put behind what is there.

const RECENT = 50; // columns that the pace is read from
const MOST = 2000; // columns; above, neighbours are put together

export class Curves {
  constructor() {
    this.clear();
  }

  clear() {
    Object.assign(this, { next: 0, inode: null, rows: [], validations: [], maps: [], finished: false, planned: {} });
  }

  /** answer: of GET runs/NAME/metrics. Gives back whether there was anything new. */
  add(answer) {
    if (answer.reset) this.clear();
    [this.next, this.inode] = [answer.next, answer.inode];
    const ended = answer.finished && !this.finished;
    this.finished = answer.finished;
    this.planned = answer.planned ?? {};
    for (const values of answer.updates) this.push(Object.fromEntries(answer.columns.map((name, place) => [name, values[place]])));
    this.validations.push(...answer.validations);
    while (this.rows.length > MOST) this.rows = halved(this.rows);
    return ended || answer.reset || answer.updates.length > 0 || answer.validations.length > 0;
  }

  /** With everything summed up from the beginning. */
  push(row) {
    const last = this.rows[this.rows.length - 1];
    const { step, loss_min: low, loss_mean: mean, loss_max: high, rate, norm, epoch } = row;
    const [positions, seconds] = [row.positions ?? 0, row.seconds ?? 0];
    this.rows.push({ step, low, mean, high, rate, norm, epoch, speed: seconds > 0 ? positions / seconds : null, positions: (last?.positions ?? 0) + positions, minutes: (last?.minutes ?? 0) + seconds / 60 });
  }

  /** [[x, y, low, high], ...] */
  points(name, across, band = null) {
    return this.rows.map((row) => [row[across], row[name], band ? row[band[0]] : null, band ? row[band[1]] : null]);
  }

  validPoints(metric, across) {
    const known = this.validations.filter((one) => Number.isFinite(one.validation[metric]));
    return known.map((one) => [this.place(one.step, across), one.validation[metric], null, null]);
  }

  /** Where a step lies on an axis. */
  place(step, across) {
    if (across === "step") return step;
    const row = this.rows.findLast((one) => one.step <= step) ?? this.rows[0];
    return row?.[across] ?? step;
  }

  get samples() {
    return this.validations.filter((one) => one.samples?.length);
  }

  /** The first of some scores that validations have, and its name. */
  score(names) {
    const found = Object.keys(names).find((name) => this.validations.some((one) => Number.isFinite(one.validation[name])));
    return found ? [found, names[found]] : [null, null];
  }

  /** Where the best validation lies on an axis; nothing to tell apart where there is but one. */
  bestPlace(metric, across) {
    const best = this.validations.length > 1 ? this.best(metric, metric === "loss") : null;
    return best && this.place(best.step, across);
  }

  /** By the pace of the last updates; null: its settings do not say when it ends, or it has only begun. */
  secondsLeft() {
    const recent = this.rows.slice(-RECENT);
    const [first, last] = [recent[0], recent[recent.length - 1]];
    if (recent.length < 2 || last.step === first.step) return null;
    const pace = (60 * (last.minutes - first.minutes)) / (last.step - first.step);
    const { steps = null, seconds = null } = this.planned;
    const ends = [steps === null ? null : (steps - last.step) * pace, seconds === null ? null : seconds - 60 * last.minutes].filter((one) => one !== null);
    return ends.length ? Math.max(0, Math.min(...ends)) : null;
  }

  best(metric, least = false) {
    const known = this.validations.filter((one) => Number.isFinite(one.validation[metric]));
    const better = (a, b) => (least ? a < b : a > b);
    const best = known.reduce((top, one) => (!top || better(one.validation[metric], top.validation[metric]) ? one : top), null);
    return best && { step: best.step, value: best.validation[metric] };
  }
}

/** Every two columns as one. */
function halved(rows) {
  const found = [];
  for (let at = 0; at < rows.length; at += 2) {
    const [a, b] = [rows[at], rows[at + 1]];
    found.push(b ? { ...b, low: Math.min(a.low ?? b.low, b.low ?? a.low), high: Math.max(a.high ?? b.high, b.high ?? a.high), mean: ((a.mean ?? b.mean) + (b.mean ?? a.mean)) / 2 } : a);
  }
  return found;
}
