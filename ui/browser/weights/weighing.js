// Evaluate weights on a training part: scores, objective, misordered pairs, NDCG. It uses no DOM.

import { bytes } from "../shell/bytes.js";

export class Weighing {
  // The data of packing.py: X column by column as 32-bit numbers, grades, first documents of queries.
  constructor({ documents, features, X, grades, starts, C, loss, gains, discounts, ideals }) {
    Object.assign(this, { n: documents, d: features, grades, starts, C, loss, gains, discounts, ideals });
    this.X = new Float32Array(bytes(X).buffer);
    this.f = new Float64Array(documents);
    this.pairs = pairsOf(grades, starts);
  }

  // Scores f = X w, kept for the methods below.
  score(w) {
    this.f.fill(0);
    for (let j = 0; j < this.d; j++) {
      if (w[j] === 0) continue;
      for (let i = 0, at = j * this.n; i < this.n; i++, at++) this.f[i] += w[j] * this.X[at];
    }
    return this.f;
  }

  // Objective ½‖w‖² + C Σ ℓ(t), and the number of misordered pairs (t ≤ 0), at the current scores.
  pairsAt(w) {
    const { better, worse } = this.pairs, { f } = this, value = valueOf(this.loss);
    let total = 0, misordered = 0;
    for (let k = 0; k < better.length; k++) {
      const t = f[better[k]] - f[worse[k]];
      total += value(t);
      if (t <= 0) misordered += 1;
    }
    return { objective: w.reduce((sum, one) => sum + one * one, 0) / 2 + this.C * total, misordered };
  }

  // Documents of a query by descending score; ties in file order.
  ranking(query) {
    const rows = Array.from({ length: this.starts[query + 1] - this.starts[query] }, (_, k) => this.starts[query] + k);
    return rows.sort((a, b) => this.f[b] - this.f[a] || a - b);
  }

  // NDCG@10 of a query; null if means leave it out. Equal scores count at the mean over their orders.
  ndcg(query) {
    const ideal = this.ideals[query];
    if (ideal === null) return null;
    if (ideal === 0) return 0;
    const { f } = this, top = this.first(query), least = f[top[top.length - 1]], groups = new Map();
    for (let row = this.starts[query]; row < this.starts[query + 1]; row++) {
      if (f[row] < least) continue;
      const [sum, size] = groups.get(f[row]) ?? [0, 0];
      groups.set(f[row], [sum + this.gains[this.grades[row]], size + 1]);
    }
    return top.reduce((total, row, rank) => {
      const [sum, size] = groups.get(f[row]);
      return total + (sum / size) * this.discounts[rank];
    }, 0) / ideal;
  }

  // The first documents of a query's ranking, without sorting all of it.
  first(query) {
    const { f, starts } = this, most = this.discounts.length, top = [];
    for (let row = starts[query]; row < starts[query + 1]; row++) {
      if (top.length === most && f[row] <= f[top[most - 1]]) continue;
      let at = top.length;
      while (at > 0 && f[row] > f[top[at - 1]]) at--;
      top.splice(at, 0, row);
      if (top.length > most) top.pop();
    }
    return top;
  }

  meanNdcg() {
    const all = this.ideals.map((_, query) => this.ndcg(query)).filter((value) => value !== null);
    return all.reduce((sum, one) => sum + one, 0) / all.length;
  }
}

function pairsOf(grades, starts) {
  const better = [], worse = [];
  for (let q = 0; q + 1 < starts.length; q++) {
    for (let i = starts[q]; i < starts[q + 1]; i++) {
      for (let j = starts[q]; j < starts[q + 1]; j++) {
        if (grades[i] > grades[j]) {
          better.push(i);
          worse.push(j);
        }
      }
    }
  }
  return { better: Int32Array.from(better), worse: Int32Array.from(worse) };
}

// ℓ from Python: zones {high, width, bend} of a piecewise quadratic, a slope below 1, or log(1 + e^−t).
export function valueOf({ zones, kind }) {
  if (kind === "hinge") return (t) => Math.max(0, 1 - t);
  if (kind === "logistic") return (t) => Math.max(0, -t) + Math.log1p(Math.exp(-Math.abs(t)));
  if (zones.length === 1) return inZone(zones[0]);
  const each = zones.map(inZone);
  return (t) => each.reduce((sum, one) => sum + one(t), 0);
}

function inZone({ high, width, bend }) {
  const widest = width ?? Infinity;
  return (t) => {
    if (t >= high) return 0;
    const below = high - t, u = below < widest ? below : widest;
    return bend * u * (2 * below - u);
  };
}

// Weights after a share of a walk of several steps: between two of them.
export function between(path, share) {
  const place = Math.min(Math.max(share, 0), 1) * (path.length - 1), from = Math.floor(place);
  const to = Math.min(from + 1, path.length - 1), part = place - from;
  return path[from].map((v, j) => v * (1 - part) + path[to][j] * part);
}

// The weights that differ from the learned ones, with their positions.
export const moved = (w, learned) => w.map((value, j) => [j, value]).filter(([j, value]) => value !== learned[j]);

const raised = (power) => Array.from(power, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");

// A number with three decimals; a small one with a power of ten, as the pages write it.
export function told(value) {
  const [digits, power] = value.toExponential(1).split("e");
  const small = Math.abs(value) < 5e-4 && value !== 0;
  return (small ? `${digits} × 10${raised(power)}` : value.toFixed(3)).replace("-", "−");
}
