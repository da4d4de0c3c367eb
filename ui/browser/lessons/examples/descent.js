// Training two weights, for the lesson "newton": the objective, its quadratic at a point, and two ways down.
// It uses no DOM.

import { cholesky, dot, solveCholesky } from "../../core/numbers.js";
import { LOSSES, exactStep, fit, hessian, objective, prepared } from "../../core/ranking.js";
import { GRADES, PLACES, PTR } from "./turning.js";

const NARROW = 0.5; // the second feature has smaller values, so the valley is narrow
export const C = 16;
export const SITES = PLACES.map(([x, y]) => [x, Math.round(100 * NARROW * y) / 100]);
export const PROBLEM = prepared({
  features: Float64Array.from(SITES.flat()), m: 2, y: GRADES, ptr: PTR, C, loss: LOSSES.squaredHinge,
});
export const START = [-1, 2];
export const EXTENT = 2.4; // of the figure, from the centre
export const MOST = 200; // gradient steps that are counted
const CLOSE = 1e-6;

export const BEST = fit(PROBLEM);
const isClose = (value) => value - BEST.objective <= CLOSE * BEST.objective;

// The quadratic with value, slope and curvature of the objective at w: its gradient, Hessian and lowest point.
export function bowl(w) {
  const point = objective(Float64Array.from(w), PROBLEM), H = hessian(point.w, PROBLEM), L = cholesky(H, 2);
  const s = solveCholesky(L, 2, point.gradient);
  return { ...point, H, L, lowest: [w[0] - s[0], w[1] - s[1]] };
}

// How fast the slope changes across the valley at w, and along it: the eigenvalues of the Hessian.
export function curvatures(w) {
  const { H: [a, b, , c] } = bowl(w), half = Math.hypot((a - c) / 2, b);
  return [(a + c) / 2 + half, (a + c) / 2 - half];
}

// The slope at w across the valley and along it, each without its sign.
export function slopes(w) {
  const { H, gradient: [x, y] } = bowl(w), turn = Math.atan2(curvatures(w)[0] - H[0], H[1]);
  return [[Math.cos(turn), Math.sin(turn)], [-Math.sin(turn), Math.cos(turn)]].map(([u, v]) => Math.abs(x * u + y * v));
}

// Points of the ellipse on which the quadratic has the value that it has at w, shrunk by `share` to its centre.
export function ring(w, share, points = 72) {
  const { H, L, lowest: [x, y] } = bowl(w), [u, v] = [w[0] - x, w[1] - y];
  const r = share * Math.sqrt(H[0] * u * u + 2 * H[1] * u * v + H[3] * v * v);
  return Array.from({ length: points + 1 }, (_, k) => {
    const turn = (2 * Math.PI * k) / points, b = (r * Math.sin(turn)) / L[3];
    return [x + (r * Math.cos(turn) - L[2] * b) / L[0], y + b];
  });
}

export const SHARES = [1, 0.85, 0.7, 0.55, 0.4, 0.3]; // of the rings whose arcs are drawn

// The parts of these rings that are nearer to w than `far`, from w to the middle.
export function nearRings(w, far) {
  const arcs = SHARES.map((share) => {
    const points = ring(w, share, 720).slice(1), inside = points.map((one) => distance(one, w) < far);
    const start = inside.findIndex((one, k) => one && !inside.at(k - 1)); // a ring may begin within the part
    const turned = [...points.slice(start), ...points.slice(0, start)];
    return turned.slice(0, inside.filter(Boolean).length);
  });
  return arcs.filter((arc) => arc.length > 1);
}

// Newton's points from w, each at the lowest point of the quadratic at the one before.
export function newtonPath(w, most = 30) {
  const path = [[...w]];
  while (path.length <= most && !isClose(bowl(path.at(-1)).value)) path.push(bowl(path.at(-1)).lowest);
  return path;
}

// Points of gradient descent from w, each where the objective is least along the gradient.
export function gradientPath(w, most = MOST) {
  const path = [[...w]];
  for (let now = objective(Float64Array.from(w), PROBLEM); !isClose(now.value) && path.length <= most;) {
    const s = now.gradient.map((one) => -one), tau = exactStep(now, s, PROBLEM);
    if (dot(s, s) === 0) break;
    now = objective(now.w.map((one, a) => one + tau * s[a]), PROBLEM);
    path.push([...now.w]);
  }
  return path;
}

// Numbers of the pairs that are silent at one point and pull at the other.
export function crossed(from, to) {
  const [a, b] = [from, to].map((w) => objective(Float64Array.from(w), PROBLEM).margins);
  return Array.from(a.keys()).filter((k) => a[k] < 1 !== b[k] < 1);
}

// Both ends, within the figure, of the line w·(x_i − x_j) = 1 of each of these pairs; none for lines beyond it.
export function kinks(numbers) {
  const { winner, loser } = PROBLEM.pairs;
  return numbers.map((k) => {
    const [u, v] = [0, 1].map((axis) => SITES[winner[k]][axis] - SITES[loser[k]][axis]), found = [];
    for (const edge of [-EXTENT, EXTENT]) {
      if (v !== 0) found.push([edge, (1 - u * edge) / v]);
      if (u !== 0) found.push([(1 - v * edge) / u, edge]);
    }
    const inside = found.filter((one) => one.every((value) => Math.abs(value) <= EXTENT + 1e-9));
    return inside.length >= 2 ? [inside[0], inside.at(-1)] : null;
  }).filter(Boolean);
}

export const SIDE = 121;

export const LEVELS = [80, 100, 150, 200, 300, 400, 600, 800, 1000, 1200, 1400]; // of the map's lines

// The objective on a grid, row by row from the top.
export function landscape() {
  const at = (k) => -EXTENT + (2 * EXTENT * k) / (SIDE - 1);
  return Float64Array.from({ length: SIDE * SIDE }, (_, k) => (
    objective(Float64Array.of(at(k % SIDE), -at(Math.floor(k / SIDE))), PROBLEM).value));
}

export const distance = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
