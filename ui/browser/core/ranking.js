// RankSVM: ½‖w‖² + C Σ_P ℓ(w·φ_i − w·φ_j) over the pairs P of documents of one query with y_i > y_j
// (chen2017 eq. 22). C multiplies the loss without ½, as in rankviz.
//
// A problem is { features, m, y, ptr, C, loss }: Φ (n × m) row by row, grades, offsets of queries (documents of
// query q are ptr[q] … ptr[q + 1] − 1), and a loss of `LOSSES`, by default the squared hinge. It may also have
// `pairs`, which are listed otherwise.

import { LOSSES, smoothedHinge } from "./losses.js";
import { cholesky, dot, product, singularValues, solveCholesky, transposedProduct } from "./numbers.js";

export { LOSSES };

// List the pairs: document winner[k] is preferred to loser[k]. Winners come by query, then by falling grade.
export function pairs(y, ptr) {
  const winner = [], loser = [];
  for (let q = 0; q + 1 < ptr.length; q++) {
    const order = [];
    for (let i = ptr[q]; i < ptr[q + 1]; i++) order.push(i);
    order.sort((i, j) => y[j] - y[i]);
    for (const i of order) {
      for (const j of order) {
        if (y[i] <= y[j]) continue;
        winner.push(i);
        loser.push(j);
      }
    }
  }
  return { winner: Int32Array.from(winner), loser: Int32Array.from(loser), length: winner.length };
}

// Return the problem with its pairs, and its loss as it is trained at this C.
export function prepared(problem) {
  const own = problem.pairs ?? pairs(problem.y, problem.ptr), loss = problem.loss ?? LOSSES.squaredHinge;
  return { ...problem, pairs: own, loss: loss.at ? loss.at(problem.C, own.length) : loss };
}

export const scoresOf = (w, { features, m, y }) => product(features, y.length, m, w);

function marginsOf(f, { winner, loser }) {
  const t = new Float64Array(winner.length);
  for (let k = 0; k < t.length; k++) t[k] = f[winner[k]] - f[loser[k]];
  return t;
}

// Return value, gradient, scores and margins at w.
export const objective = (w, problem) => at(w, prepared(problem));

function at(w, problem) {
  const { features, m, y, C, loss, pairs: { winner, loser } } = problem;
  const scores = scoresOf(w, problem), margins = marginsOf(scores, problem.pairs), z = new Float64Array(y.length);
  let risk = 0;
  for (let k = 0; k < margins.length; k++) {
    const slope = loss.derivative(margins[k]);
    risk += loss.value(margins[k]);
    z[winner[k]] += slope;
    z[loser[k]] -= slope;
  }
  const gradient = transposedProduct(features, y.length, m, z);
  for (let a = 0; a < m; a++) gradient[a] = w[a] + C * gradient[a];
  return { w, value: 0.5 * dot(w, w) + C * risk, gradient, scores, margins };
}

// Return the Hessian I + C Φᵀ R Φ (m × m); R is the Laplacian of the pairs, each weighed by its ℓ''.
export function hessian(w, problem) {
  const full = prepared(problem);
  return curvature(marginsOf(scoresOf(w, full), full.pairs), full);
}

function curvature(margins, { features, m, y, C, loss, pairs: { winner, loser } }) {
  const n = y.length, R = new Float64Array(n * n), H = new Float64Array(m * m);
  for (let k = 0; k < margins.length; k++) {
    const bend = C * loss.second(margins[k]), i = winner[k], j = loser[k];
    if (bend === 0) continue;
    R[i * n + i] += bend;
    R[j * n + j] += bend;
    R[i * n + j] -= bend;
    R[j * n + i] -= bend;
  }
  const B = sparseProduct(R, n, features, m);
  for (let i = 0; i + 3 < n; i += 4) addFour(H, features, B, m, i);
  for (let i = n - (n % 4); i < n; i++) addOne(H, features, B, m, i);
  for (let a = 0; a < m; a++) {
    for (let b = 0; b < a; b++) H[b * m + a] = H[a * m + b];
    H[a * m + a] += 1;
  }
  return H;
}

// Return R Φ, four entries of R at a time, skipping its zeros: it has one block for each query.
function sparseProduct(R, n, features, m) {
  const out = new Float64Array(n * m), from = new Int32Array(n + 3), factors = new Float64Array(n + 3);
  for (let i = 0; i < n; i++) {
    let count = 0;
    for (let j = 0; j < n; j++) {
      if (R[i * n + j] === 0) continue;
      factors[count] = R[i * n + j];
      from[count++] = j * m;
    }
    factors.fill(0, count, count + 3);
    for (let k = 0; k < count; k += 4) {
      const r0 = factors[k], r1 = factors[k + 1], r2 = factors[k + 2], r3 = factors[k + 3];
      for (let a = 0, p = i * m, q0 = from[k], q1 = from[k + 1], q2 = from[k + 2], q3 = from[k + 3]; a < m; a++) {
        out[p++] += r0 * features[q0++] + r1 * features[q1++] + r2 * features[q2++] + r3 * features[q3++];
      }
    }
  }
  return out;
}

// Add φ_i b_iᵀ, below the diagonal, of four documents and two rows at a time: fewer reads and writes.
function addFour(H, features, B, m, i) {
  const p0 = i * m, p1 = p0 + m, p2 = p1 + m, p3 = p2 + m;
  for (let a = 0; a < m; a += 2) {
    const next = Math.min(a + 1, m - 1), two = next > a ? 1 : 0, row = a * m, below = next * m;
    const u0 = features[p0 + a], u1 = features[p1 + a], u2 = features[p2 + a], u3 = features[p3 + a];
    const v0 = two * features[p0 + next], v1 = two * features[p1 + next];
    const v2 = two * features[p2 + next], v3 = two * features[p3 + next];
    for (let b = 0; b <= next; b++) {
      const b0 = B[p0 + b], b1 = B[p1 + b], b2 = B[p2 + b], b3 = B[p3 + b];
      H[row + b] += u0 * b0 + u1 * b1 + u2 * b2 + u3 * b3;
      H[below + b] += v0 * b0 + v1 * b1 + v2 * b2 + v3 * b3;
    }
  }
}

function addOne(H, features, B, m, i) {
  for (let a = 0; a < m; a++) {
    for (let b = 0; b <= a; b++) H[a * m + b] += features[i * m + a] * B[i * m + b];
  }
}

const SLOPE = 1e-2, TRIALS = 100;

// Return the step τ > 0 along s at which the objective φ(τ) is least: |φ'(τ)| ≤ 0.01·|φ'(0)|. Newton's method
// within a bracket, as in rankviz/learning/newton.py.
export function exactStep(point, s, problem) {
  const { C, loss } = problem, change = marginsOf(scoresOf(s, problem), problem.pairs), { margins } = point;
  const square = dot(s, s), flat = dot(point.w, s), first = dot(point.gradient, s);
  let low = 0, high = Infinity, tau = 1;
  for (let trial = 0; trial < TRIALS; trial++) {
    let slope = 0, bend = 0;
    for (let k = 0; k < margins.length; k++) {
      const t = margins[k] + tau * change[k];
      slope += loss.derivative(t) * change[k];
      bend += loss.second(t) * change[k] * change[k];
    }
    slope = flat + tau * square + C * slope;
    if (Math.abs(slope) <= SLOPE * Math.abs(first)) break;
    if (slope < 0) low = tau;
    else high = tau;
    const step = tau - slope / (square + C * bend);
    tau = step > low && step < high ? step : high === Infinity ? 2 * tau : (low + high) / 2;
  }
  return tau;
}

// Return the Newton direction s = −H⁻¹g at a point, and the decrement ½|gᵀs|. A factor L in `kept`, of an earlier
// and similar H, spares the factor of this one; a new one is put there.
function direction(point, problem, kept = {}) {
  const { m } = problem;
  let s = kept.l?.length === m * m ? conjugateGradients(point, problem, kept.l) : null;
  if (!s) {
    kept.l = cholesky(curvature(point.margins, problem), m);
    s = solveCholesky(kept.l, m, point.gradient);
  }
  for (let a = 0; a < s.length; a++) s[a] = -s[a];
  return { s, decrement: 0.5 * Math.abs(dot(point.gradient, s)) };
}

const NEAR = 0.1, TURNS = 10; // error of s in the norm of H, as a share; products with H

// Return s with H s ≈ g by conjugate gradients, preconditioned by L Lᵀ; null if L is of too different an H.
function conjugateGradients({ margins, gradient }, problem, l) {
  const { features, m, y, C, loss, pairs: { winner, loser } } = problem, n = y.length, s = new Float64Array(m);
  const bends = new Float64Array(margins.length), r = Float64Array.from(gradient);
  for (let k = 0; k < bends.length; k++) bends[k] = C * loss.second(margins[k]);
  let z = solveCholesky(l, m, r), p = z, square = dot(r, z);
  const enough = NEAR * NEAR * square;
  for (let turn = 0; square > enough; turn++) {
    if (turn === TURNS) return null;
    const f = product(features, n, m, p), pulls = new Float64Array(n);
    for (let k = 0; k < bends.length; k++) {
      const pull = bends[k] * (f[winner[k]] - f[loser[k]]);
      pulls[winner[k]] += pull;
      pulls[loser[k]] -= pull;
    }
    const q = transposedProduct(features, n, m, pulls);
    for (let a = 0; a < m; a++) q[a] += p[a];
    const step = square / dot(p, q);
    for (let a = 0; a < m; a++) {
      s[a] += step * p[a];
      r[a] -= step * q[a];
    }
    z = solveCholesky(l, m, r);
    const next = dot(r, z), turned = next / square, last = p;
    p = z.map((v, a) => v + turned * last[a]);
    square = next;
  }
  return s;
}

// Train from `start` (default: zero) by Newton's method with exact steps. It ends after the step whose decrement
// is at most `tolerance` times the objective; for the hinge, once the duality gap is at most that. `kept`, an object
// that is given again with a similar problem, saves factors of H; directions are then less precise (not the hinge's).
// → weights, scores, objective; the loss whose slopes are the dual variables (for the hinge, the last smoothed one);
// and a row of `trace` for each point: weights, objective, gradientNorm, decrement (NaN after the last step), step,
// active pairs.
export function fit(problem, { start, tolerance, steps = 100, kept } = {}) {
  const full = prepared(problem), w = Float64Array.from(start ?? new Float64Array(problem.m));
  const found = full.loss.byContinuation ? narrowing(full, w, tolerance ?? 1e-6, steps)
    : newton(full, w, tolerance ?? 1e-12, steps, kept);
  const { point, trace, loss = full.loss } = found;
  return { weights: point.w, scores: point.scores, objective: point.value, loss, trace };
}

function newton(problem, w, tolerance, steps, kept) {
  let point = at(w, problem);
  const trace = [];
  for (let last = false; ;) {
    const row = rowOf(point, problem);
    trace.push(row);
    if (last || trace.length > steps) return { point, trace };
    const { s, decrement } = direction(point, problem, kept);
    row.decrement = decrement;
    if (decrement === 0) return { point, trace };
    const tau = exactStep(point, s, problem), next = at(point.w.map((v, a) => v + tau * s[a]), problem);
    if (!(next.value < point.value || dot(next.gradient, next.gradient) < row.gradientNorm ** 2)) {
      return { point, trace }; // rounding ends it
    }
    row.step = tau;
    last = decrement <= tolerance * point.value;
    point = next;
  }
}

function rowOf({ w, value, gradient, margins }, { loss }) {
  let active = 0;
  for (let k = 0; k < margins.length; k++) active += loss.second(margins[k]) !== 0;
  return { weights: w, objective: value, gradientNorm: Math.sqrt(dot(gradient, gradient)), decrement: NaN, step: 0,
    active };
}

const WIDEST = 1, NARROWEST = 1e-10;

// Train the hinge as the limit of smoothed hinges, whose slopes are dual variables (rankviz/learning/hinge.py).
function narrowing(problem, w, tolerance, steps) {
  const trace = [];
  for (let h = WIDEST; ;) {
    const smooth = { ...problem, loss: smoothedHinge(h) }, found = newton(smooth, w, 1e-8, steps);
    const { value, gap } = proved(found.point, smooth, problem);
    trace.push(...found.trace.slice(trace.length ? 1 : 0));
    w = found.point.w;
    if (gap <= tolerance * value || h < NARROWEST || trace.length > steps) {
      trace.forEach((row) => { row.objective = at(row.weights, problem).value; });
      return { point: { ...found.point, value }, trace, loss: smooth.loss };
    }
    h *= Math.min(Math.max(Math.sqrt((0.3 * tolerance * value) / gap), 0.1), 0.5);
  }
}

// Return the hinge's objective and duality gap at a point: D = Σα − ½‖w − g‖², α = −C ℓ' of the smoothed hinge.
function proved({ w, gradient, margins }, { C, loss }, hinge) {
  const value = at(w, hinge).value, dual = w.map((v, a) => v - gradient[a]);
  const total = margins.reduce((sum, t) => sum - C * loss.derivative(t), 0);
  return { value, gap: value - (total - 0.5 * dot(dual, dual)) };
}

// Return the dual variables α_ij = −C ℓ'(t_ij) of a query: a row for each document that is preferred to another
// one, a column for each that another one is preferred to (both counted from 0 within the query), 0 where there
// is no pair; and the singular values (xu2019 eq. 4–7; rankviz/models/dual_variables.py).
export function alpha(weights, problem, query) {
  const full = prepared(problem), { y, ptr, C, loss } = full, f = scoresOf(weights, full);
  const own = Array.from(y).slice(ptr[query], ptr[query + 1]), from = ptr[query];
  const low = Math.min(...own), high = Math.max(...own), all = own.map((_, i) => i);
  const winners = all.filter((i) => own[i] > low), losers = all.filter((i) => own[i] < high);
  const values = Float64Array.from(winners.flatMap((i) => losers.map((j) => (
    own[i] > own[j] ? -C * loss.derivative(f[from + i] - f[from + j]) : 0))));
  return { winners, losers, values, singularValues: singularValues(values, winners.length, losers.length) };
}
