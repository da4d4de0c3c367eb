// Random numbers and dense linear algebra. A matrix is a Float64Array, row by row, with its sizes beside it.

// Return seeded random numbers: xoshiro128** (Blackman and Vigna 2021), its state filled by splitmix32.
// The same seed gives the same numbers on every machine. They differ from those of NumPy.
export function random(seed) {
  let mixed = seed | 0;
  const state = Uint32Array.from({ length: 4 }, () => {
    mixed = (mixed + 0x9e3779b9) | 0;
    let z = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return z ^ (z >>> 15);
  });
  const rotated = (v, by) => (v << by) | (v >>> (32 - by));
  function bits() {
    const drawn = Math.imul(rotated(Math.imul(state[1], 5), 7), 9) >>> 0, shifted = state[1] << 9;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = rotated(state[3], 11);
    return drawn;
  }
  // 53 bits in [0, 1)
  const uniform = () => ((bits() >>> 5) * 2 ** 26 + (bits() >>> 6)) / 2 ** 53;
  // Box and Muller 1958
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
  // Fisher and Yates
  function permutation(n) {
    const order = Int32Array.from({ length: n }, (_, k) => k);
    for (let k = n - 1; k > 0; k--) {
      const other = Math.floor(uniform() * (k + 1));
      [order[k], order[other]] = [order[other], order[k]];
    }
    return order;
  }
  return { uniform, normal, permutation };
}

export function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}

// Return A v (rows).
export function product(a, rows, columns, v) {
  const out = new Float64Array(rows);
  for (let i = 0, at = 0; i < rows; i++) {
    let sum = 0;
    for (let j = 0; j < columns; j++) sum += a[at++] * v[j];
    out[i] = sum;
  }
  return out;
}

// Return Aᵀ u (columns).
export function transposedProduct(a, rows, columns, u) {
  const out = new Float64Array(columns);
  for (let i = 0, at = 0; i < rows; i++) {
    const factor = u[i];
    for (let j = 0; j < columns; j++) out[j] += factor * a[at++];
  }
  return out;
}

// Return A Aᵀ (rows × rows). Four sums at a time do not wait for each other: half the time.
export function gram(a, rows, columns) {
  const out = new Float64Array(rows * rows), r = rows;
  for (let i = 0; i < rows; i++) {
    let first = 0;
    for (; first + 3 <= i; first += 4) {
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (let k = 0, p = i * columns, q = first * columns; k < columns; k++, q++) {
        const v = a[p++];
        s0 += v * a[q];
        s1 += v * a[q + columns];
        s2 += v * a[q + 2 * columns];
        s3 += v * a[q + 3 * columns];
      }
      out[i * r + first] = out[first * r + i] = s0;
      out[i * r + first + 1] = out[(first + 1) * r + i] = s1;
      out[i * r + first + 2] = out[(first + 2) * r + i] = s2;
      out[i * r + first + 3] = out[(first + 3) * r + i] = s3;
    }
    for (let j = first; j <= i; j++) {
      let sum = 0;
      for (let k = 0, p = i * columns, q = j * columns; k < columns; k++) sum += a[p++] * a[q++];
      out[i * rows + j] = out[j * rows + i] = sum;
    }
  }
  return out;
}

// Return L, lower triangular with A = L Lᵀ, of a symmetric A (n × n), whose lower half is read.
// Throw a RangeError if A is not positive definite.
export function cholesky(a, n) {
  const l = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = a[i * n + j];
      for (let k = 0, p = i * n, q = j * n; k < j; k++) sum -= l[p++] * l[q++];
      if (i > j) l[i * n + j] = sum / l[j * n + j];
      else if (sum > 0) l[i * n + i] = Math.sqrt(sum);
      else throw new RangeError("the matrix is not positive definite");
    }
  }
  return l;
}

// Return L⁻¹ b of a lower triangular L (n × n).
export function solveLower(l, n, b) {
  const x = Float64Array.from(b);
  for (let i = 0; i < n; i++) {
    let sum = x[i];
    for (let k = 0, p = i * n; k < i; k++) sum -= l[p++] * x[k];
    x[i] = sum / l[i * n + i];
  }
  return x;
}

// Replace each row b of B (n numbers each) by L⁻¹ b, four rows at a time: a third of the time of `solveLower`.
export function solveLowerRows(l, n, b) {
  let at = 0;
  for (; at + 4 * n <= b.length; at += 4 * n) {
    for (let i = 0; i < n; i++) {
      let s0 = b[at + i], s1 = b[at + n + i], s2 = b[at + 2 * n + i], s3 = b[at + 3 * n + i];
      for (let k = 0, p = i * n, q = at; k < i; k++, q++) {
        const v = l[p++];
        s0 -= v * b[q];
        s1 -= v * b[q + n];
        s2 -= v * b[q + 2 * n];
        s3 -= v * b[q + 3 * n];
      }
      const scale = 1 / l[i * n + i];
      b[at + i] = s0 * scale;
      b[at + n + i] = s1 * scale;
      b[at + 2 * n + i] = s2 * scale;
      b[at + 3 * n + i] = s3 * scale;
    }
  }
  for (; at < b.length; at += n) b.set(solveLower(l, n, b.subarray(at, at + n)), at);
  return b;
}

// Return L⁻ᵀ b.
export function solveUpper(l, n, b) {
  const x = Float64Array.from(b);
  for (let i = n - 1; i >= 0; i--) {
    const value = (x[i] /= l[i * n + i]);
    for (let k = 0, p = i * n; k < i; k++) x[k] -= l[p++] * value;
  }
  return x;
}

// Return A⁻¹ b from the factor of A.
export const solveCholesky = (l, n, b) => solveUpper(l, n, solveLower(l, n, b));

const SWEEPS = 60;

// Return eigenvalues, descending, and eigenvectors of a symmetric A (n × n), by cyclic Jacobi rotations
// (Golub and Van Loan, 8.5). Row k of `vectors` belongs to values[k].
export function eigenSymmetric(a, n) {
  const s = Float64Array.from(a), vectors = new Float64Array(n * n);
  for (let k = 0; k < n; k++) vectors[k * n + k] = 1;
  let turned = true;
  for (let sweep = 0; turned && sweep < SWEEPS; sweep++) {
    turned = false;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) turned = turn(s, vectors, n, p, q) || turned;
  }
  const order = Array.from({ length: n }, (_, k) => k).sort((i, j) => s[j * n + j] - s[i * n + i]);
  const sorted = new Float64Array(n * n);
  order.forEach((from, k) => sorted.set(vectors.subarray(from * n, (from + 1) * n), k * n));
  return { values: Float64Array.from(order, (k) => s[k * n + k]), vectors: sorted };
}

// Make the entry (p, q) zero, and tell whether it was not so already, to rounding.
function turn(s, vectors, n, p, q) {
  const entry = s[p * n + q], first = s[p * n + p], second = s[q * n + q];
  if (Math.abs(entry) <= 1e-17 * Math.sqrt(Math.abs(first * second)) || Math.abs(entry) < 1e-300) return false;
  const { c, s: sine } = rotation((second - first) / (2 * entry));
  for (let k = 0; k < n; k++) mix(s, k * n + p, k * n + q, c, sine);
  for (let k = 0; k < n; k++) mix(s, p * n + k, q * n + k, c, sine);
  for (let k = 0; k < n; k++) mix(vectors, p * n + k, q * n + k, c, sine);
  s[p * n + q] = s[q * n + p] = 0;
  return true;
}

// Return cosine and sine of the smaller angle θ with cot 2θ = `cotangent`.
function rotation(cotangent) {
  const t = (cotangent < 0 ? -1 : 1) / (Math.abs(cotangent) + Math.sqrt(cotangent * cotangent + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  return { c, s: t * c };
}

function mix(a, i, j, c, s) {
  const first = a[i], second = a[j];
  a[i] = c * first - s * second;
  a[j] = s * first + c * second;
}

// Return the singular values, descending, of A (rows × columns): rotations make its rows orthogonal
// (Hestenes 1958, one-sided Jacobi), and their lengths are the values. There are min(rows, columns).
export function singularValues(a, rows, columns) {
  const [n, length, s] = rows <= columns ? [rows, columns, Float64Array.from(a)]
    : [columns, rows, transposed(a, rows, columns)];
  let turned = true;
  for (let sweep = 0; turned && sweep < SWEEPS; sweep++) {
    turned = false;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) turned = straighten(s, length, p, q) || turned;
    }
  }
  const lengths = Float64Array.from({ length: n }, (_, k) => Math.hypot(...s.subarray(k * length, (k + 1) * length)));
  return lengths.sort().reverse();
}

function straighten(s, length, p, q) {
  let first = 0, second = 0, both = 0;
  for (let k = 0, i = p * length, j = q * length; k < length; k++, i++, j++) {
    first += s[i] * s[i];
    second += s[j] * s[j];
    both += s[i] * s[j];
  }
  if (Math.abs(both) <= 1e-15 * Math.sqrt(first * second) || Math.abs(both) < 1e-300) return false;
  const { c, s: sine } = rotation((second - first) / (2 * both));
  for (let k = 0; k < length; k++) mix(s, p * length + k, q * length + k, c, sine);
  return true;
}

export function transposed(a, rows, columns) {
  const out = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) out[j * rows + i] = a[i * columns + j];
  return out;
}
