// Feature maps φ of documents, a Float64Array with `dim` numbers for each. κ(x, z) = exp(−γ‖x − z‖²).
//
// A map has m, transform(x) → Φ (n × m), and coefficients(w): w·φ(x) = Σ_k coefficients[k]·(its k-th wave or
// kernel function). For documents in the plane, surface(w, xs, ys) gives w·φ on a grid, row by row.

import { solveLowerRows, solveUpper } from "./numbers.js";

// Return K (n × k), K_ij = κ(x_i, z_j).
export function kernelMatrix(x, z, dim, gamma) {
  const n = x.length / dim, k = z.length / dim, out = new Float64Array(n * k);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < k; j++) out[i * k + j] = Math.exp(-gamma * squaredDistance(x, i, z, j, dim));
  }
  return out;
}

function squaredDistance(x, i, z, j, dim) {
  let sum = 0;
  for (let l = 0; l < dim; l++) {
    const difference = x[i * dim + l] - z[j * dim + l];
    sum += difference * difference;
  }
  return sum;
}

// Return the linear map φ(x) = x.
export function linear(dim) {
  return {
    kind: "linear", dim, m: dim,
    transform: (x) => Float64Array.from(x),
    coefficients: (w) => Float64Array.from(w),
    surface: (w, xs, ys) => onGrid(xs, ys, (x, y) => w[0] * x + w[1] * y),
  };
}

function onGrid(xs, ys, value) {
  const out = new Float64Array(xs.length * ys.length);
  ys.forEach((y, i) => xs.forEach((x, j) => { out[i * xs.length + j] = value(x, y); }));
  return out;
}

const JITTER = 1e-10;

// Return the Nyström map of landmarks z: φ(x) = L⁻¹ κ(z, x), where K_zz + 10⁻¹⁰ I = L Lᵀ
// (rankviz/features/nystroem.py; chen2017 eq. 18 up to a rotation). Landmarks that earlier ones span to
// rounding are left out: their squared pivot is at most 2·10⁻¹⁰. `kept` has the positions of the others.
export function nystroem(landmarks, dim, gamma) {
  const { kept, l } = pivoted(kernelMatrix(landmarks, landmarks, dim, gamma), landmarks.length / dim);
  const m = kept.length, own = new Float64Array(m * dim);
  kept.forEach((from, k) => own.set(landmarks.subarray(from * dim, (from + 1) * dim), k * dim));
  const transform = (x) => solveLowerRows(l, m, kernelMatrix(x, own, dim, gamma));
  const coefficients = (w) => solveUpper(l, m, w);
  const surface = surfaceBy((xs, ys) => bumps(own, gamma, xs, ys), coefficients);
  return { kind: "nystroem", dim, m, gamma, landmarks: own, kept, transform, coefficients, surface };
}

function pivoted(k, n) {
  const rows = new Float64Array(n * n), kept = [];
  for (let i = 0; i < n; i++) {
    const m = kept.length, at = m * n;
    let pivot = k[i * n + i] + JITTER;
    for (let j = 0; j < m; j++) {
      let sum = k[i * n + kept[j]];
      for (let c = 0, p = at, q = j * n; c < j; c++) sum -= rows[p++] * rows[q++];
      rows[at + j] = sum / rows[j * n + j];
      pivot -= rows[at + j] * rows[at + j];
    }
    if (!(pivot > 2 * JITTER || m === 0)) continue;
    rows[at + m] = Math.sqrt(pivot);
    kept.push(i);
  }
  const m = kept.length, l = new Float64Array(m * m);
  for (let i = 0; i < m; i++) l.set(rows.subarray(i * n, i * n + i + 1), i * m);
  return { kept, l };
}

// Return vectors [u, v] of each κ(z_k, ·) = u vᵀ on a grid: κ is a product of a function of x and one of y.
function bumps(landmarks, gamma, xs, ys) {
  return Array.from({ length: landmarks.length / 2 }, (_, k) => (
    [along(ys, gamma, landmarks[2 * k + 1]), along(xs, gamma, landmarks[2 * k])]));
}

const lines = new WeakMap(), MANY = 1000; // by ticks: those of places so far, as a drag moves one landmark of many

function along(ticks, gamma, place) {
  let known = lines.get(ticks);
  if (known?.gamma !== gamma || known.values.size > MANY) lines.set(ticks, known = { gamma, values: new Map() });
  if (!known.values.has(place)) known.values.set(place, ticks.map((v) => Math.exp(-gamma * (v - place) ** 2)));
  return known.values.get(place);
}

// Return surface(w, xs, ys) of a map; the vectors of a grid are kept, for its next weights.
function surfaceBy(vectorsOf, coefficients) {
  const known = new WeakMap();
  return (w, xs, ys) => {
    if (known.get(xs)?.ys !== ys) known.set(xs, { ys, vectors: vectorsOf(xs, ys) });
    return outerSum(known.get(xs).vectors, coefficients(w), ys.length, xs.length);
  };
}

// Return Σ_k c_k u_k v_kᵀ (rows × columns) of pairs [u_k, v_k], four at a time: a quarter of the writes. The numbers c
// may be fewer; then they begin again.
function outerSum(vectors, factors, rows, columns) {
  const out = new Float64Array(rows * columns), rest = [new Float64Array(rows), new Float64Array(columns)];
  for (let k = 0; k < vectors.length; k += 4) {
    const [[u0, v0], [u1, v1], [u2, v2], [u3, v3]] = [0, 1, 2, 3].map((by) => vectors[k + by] ?? rest);
    const [f0, f1, f2, f3] = [0, 1, 2, 3].map((by) => factors[(k + by) % factors.length]);
    for (let i = 0, at = 0; i < rows; i++) {
      const a = f0 * u0[i], b = f1 * u1[i], c = f2 * u2[i], d = f3 * u3[i];
      for (let j = 0; j < columns; j++) out[at++] += a * v0[j] + b * v1[j] + c * v2[j] + d * v3[j];
    }
  }
  return out;
}

// Return the random Fourier map φ(x) = √(2/m) cos(Ωᵀx + b) of frequencies Ω (dim × m) and phases b (m)
// (rankviz/features/fourier.py; chen2017 eq. 21).
export function fourier(omega, phase) {
  const m = phase.length, dim = omega.length / m, scale = Math.sqrt(2 / m);
  function transform(x) {
    const n = x.length / dim, phi = new Float64Array(n * m);
    for (let i = 0; i < n; i++) {
      for (let k = 0; k < m; k++) {
        let angle = phase[k];
        for (let l = 0; l < dim; l++) angle += x[i * dim + l] * omega[l * m + k];
        phi[i * m + k] = scale * Math.cos(angle);
      }
    }
    return phi;
  }
  const coefficients = (w) => Float64Array.from(w, (v) => scale * v);
  const surface = surfaceBy((xs, ys) => waves(omega, phase, xs, ys), coefficients);
  return { kind: "fourier", dim, m, omega, phase, transform, coefficients, surface };
}

// Return vectors [u, v], of which numbers k and m + k have products u vᵀ that sum to cos(ω_k·x + b_k) on a grid, by
// cos(a + b) = cos a cos b − sin a sin b.
function waves(omega, phase, xs, ys) {
  const m = phase.length, cosines = [], sines = [];
  for (let k = 0; k < m; k++) {
    const across = xs.map((x) => omega[k] * x + phase[k]), up = ys.map((y) => omega[m + k] * y);
    cosines.push([up.map(Math.cos), across.map(Math.cos)]);
    sines.push([up.map(Math.sin), across.map((a) => -Math.sin(a))]);
  }
  return [...cosines, ...sines];
}

// Draw frequencies ω ~ N(0, 2γ I), the spectral density of κ, and phases b ~ U[0, 2π) (rahimi2007).
// For one seed, the first m of more are the same.
export function drawFrequencies(rng, dim, m, gamma) {
  const omega = new Float64Array(dim * m), phase = new Float64Array(m), scale = Math.sqrt(2 * gamma);
  for (let k = 0; k < m; k++) {
    for (let l = 0; l < dim; l++) omega[l * m + k] = scale * rng.normal();
    phase[k] = 2 * Math.PI * rng.uniform();
  }
  return { omega, phase };
}

// Return positions of the first of each group of equal documents.
function distinct(x, dim) {
  const first = new Map();
  for (let i = 0; i < x.length / dim; i++) {
    const key = x.subarray(i * dim, (i + 1) * dim).map((v) => v + 0).join(" ");
    if (!first.has(key)) first.set(key, i);
  }
  return [...first.values()];
}

// Draw the positions of m documents, uniformly among different ones. For one seed they are nested.
export function landmarksUniform(rng, x, dim, m) {
  const rows = distinct(x, dim);
  return Array.from(rng.permutation(rows.length).subarray(0, m), (k) => rows[k]);
}

// Draw positions by k-means++ (arthur2007): each with probability ∝ D², its squared distance to the nearest
// landmark so far.
export function landmarksKMeansPP(rng, x, dim, m) {
  const rows = distinct(x, dim), squared = new Float64Array(rows.length).fill(Infinity), chosen = [];
  let next = Math.floor(rng.uniform() * rows.length);
  while (chosen.length < Math.min(m, rows.length)) {
    chosen.push(rows[next]);
    let total = 0;
    rows.forEach((row, k) => {
      squared[k] = Math.min(squared[k], squaredDistance(x, row, x, rows[next], dim));
      total += squared[k];
    });
    let left = rng.uniform() * total;
    next = squared.findIndex((v) => v > 0 && (left -= v) < 0);
    if (next < 0) next = squared.findLastIndex((v) => v > 0); // rounding of the sum
  }
  return chosen;
}
