// Losses ℓ(t) of the margin t = f_i − f_j of a pair, with ℓ' and ℓ'' (rankviz/learning/losses.py).

// Return ℓ with ℓ'' = 2·bend where low ≤ t < high, for each zone [high, low, bend].
export function piecewise(label, zones) {
  return {
    label,
    value: (t) => zones.reduce((sum, [high, low, bend]) => {
      const below = Math.max(0, high - t), u = Math.min(below, high - low);
      return sum + bend * u * (2 * below - u);
    }, 0),
    derivative: (t) => zones.reduce((sum, [high, low, bend]) => (
      sum - 2 * bend * Math.min(Math.max(high - t, 0), high - low)), 0),
    second: (t) => zones.reduce((found, [high, low, bend]) => (t < high && t >= low ? 2 * bend : found), 0),
  };
}

// Return the hinge with a parabola on [1 − h, 1) instead of its corner.
export function smoothedHinge(h) {
  const low = 1 - h;
  return piecewise("smoothed hinge", [[1, low, 0.5 / (1 - low)]]); // its slope is −1 below, also after rounding
}

// Return he2009's smooth hinge squared: p(t)², p twice differentiable on 1 ± η (§2.1).
function smoothHinge(eta) {
  const inner = (t) => {
    const u = Math.min(Math.max((1 - t) / eta, -1), 1);
    const p = u < 1 ? (eta * (1 + u) ** 3 * (3 - u)) / 16 : 1 - t;
    return [p, (-((1 + u) ** 2) * (2 - u)) / 4, (3 * (1 - u) * (1 + u)) / (4 * eta)];
  };
  return {
    label: "smooth hinge",
    value: (t) => inner(t)[0] ** 2,
    derivative: (t) => { const [p, slope] = inner(t); return 2 * p * slope; },
    second: (t) => { const [p, slope, bend] = inner(t); return 2 * (slope ** 2 + p * bend); },
    // η for training at C with p pairs, from he2009's theorem 2
    at: (C, p) => smoothHinge(C * p > 0 ? Math.min(0.99, Math.sqrt(1e-5 / (0.0515 * C * p))) : 0.99),
  };
}

const BREAKS = [6.813108743898641, 3.923997085244629, 2.3316930767880404, 1.134604171139882];
const BENDS = [0.0023016386647994403, 0.020569979906787033, 0.06419284489844702, 0.1178843762364917];
// seven zones that minimise the largest error: breaks and steps of an even ℓ'' of integral 1
const LOGISTIC_ZONES = [
  ...[0, 1, 2].map((k) => [BREAKS[k], BREAKS[k + 1], BENDS[k]]), [BREAKS[3], -BREAKS[3], BENDS[3]],
  ...[2, 1, 0].map((k) => [-BREAKS[k + 1], -BREAKS[k], BENDS[k]]),
];

const falling = (t) => 1 / (1 + Math.exp(t));

export const LOSSES = {
  // it counts misordered pairs, ties included; no model is trained with it
  zeroOne: { label: "0/1", value: (t) => (t <= 0 ? 1 : 0), derivative: () => 0, second: () => 0 },
  hinge: {
    label: "hinge", value: (t) => Math.max(0, 1 - t), derivative: (t) => (t < 1 ? -1 : 0), second: () => 0,
    byContinuation: true,
  },
  squaredHinge: { // as piecewise([[1, −∞, 1]]), faster
    label: "squared hinge",
    value: (t) => (t < 1 ? (1 - t) * (1 - t) : 0),
    derivative: (t) => (t < 1 ? -2 * (1 - t) : 0),
    second: (t) => (t < 1 ? 2 : 0),
  },
  huber: piecewise("Huber", [[1, 0, 1]]),
  logistic: {
    label: "logistic",
    value: (t) => Math.max(0, -t) + Math.log1p(Math.exp(-Math.abs(t))),
    derivative: (t) => -falling(t),
    second: (t) => falling(t) * falling(-t),
  },
  logisticPwq: piecewise("piecewise-quadratic logistic", LOGISTIC_ZONES),
  smoothHinge: smoothHinge(0.2),
};
