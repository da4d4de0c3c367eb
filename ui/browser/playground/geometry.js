// Computations of the plane without a DOM; tests/js/playground.test.js tests them.

import { ACROSS, DIAGONAL } from "./shapes.js";

// Return the place of an arrow's label as shares [along it, across it]: beyond its tip; if a mark is there, a
// free place, or the place with the farthest nearest mark.
export function placeOfName([dx, dy], marks, room) {
  const places = [[1.12, 0], [1, 0.14], [1, -0.14], [0.6, 0.14], [0.6, -0.14]].map(([along, across]) => {
    const [x, y] = [along * dx - across * dy, along * dy + across * dx];
    return { x, y, free: Math.min(room, ...marks.map((mark) => Math.hypot(mark.x - x, mark.y - y))) };
  });
  return places.reduce((best, one) => (one.free > best.free ? one : best));
}

// Return documents {id, x, y, grade, query} from rows of values.
export const documentsOf = (rows) => rows.map(([id, x, y, grade, query]) => ({ id, x, y, grade, query }));

const TRIES = 5;

export const MISORDERED = 0, WITHIN = 1, BEYOND = 2;

// Return the class of a pair: misordered, margin below 1, or margin of 1 or more.
export function classOf(margin) {
  if (margin <= 0) return MISORDERED;
  return margin < 1 ? WITHIN : BEYOND;
}

// Count the pairs of each document, and the misordered ones.
export function tallied({ winner, loser }, scores) {
  const found = Array.from(scores, () => ({ pairs: 0, wrong: 0 }));
  winner.forEach((i, k) => {
    const wrong = classOf(scores[i] - scores[loser[k]]) === MISORDERED;
    for (const one of [found[i], found[loser[k]]]) {
      one.pairs += 1;
      one.wrong += wrong;
    }
  });
  return found;
}

// Return the largest number of pairs that any direction w orders correctly. The directions that order a pair form
// an open half circle, so sorting the ends of these counts the pairs for all directions.
export function bestDirection(documents, { winner, loser }) {
  const turn = 2 * Math.PI, marks = [];
  let count = 0, most = 0;
  winner.forEach((i, k) => {
    const [u, v] = [documents[i].x - documents[loser[k]].x, documents[i].y - documents[loser[k]].y];
    if (!u && !v) return;
    const angle = Math.atan2(v, u), from = (angle + 1.5 * Math.PI) % turn, to = (angle + 2.5 * Math.PI) % turn;
    marks.push([from, 1], [to, -1]);
    count += from > to; // it holds the angle 0
  });
  marks.sort((a, b) => a[0] - b[0]);
  marks.forEach(([place, change], k) => {
    count += change;
    if (k + 1 === marks.length || marks[k + 1][0] - place > 1e-12) most = Math.max(most, count);
  });
  return most;
}

export function ends(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) {
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return high > low ? [low, high] : [low - 1, low + 1];
}

// Return levels of contour lines: round numbers between two ends, `about` of them.
export function levels(low, high, about = 9) {
  const raw = (high - low) / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  return found;
}

// Return segments [x0, y0, x1, y1] in grid units where a surface crosses a level (marching squares).
export function contour(values, side, level) {
  const found = [];
  for (let i = 0; i + 1 < side; i++) {
    for (let j = 0; j + 1 < side; j++) {
      const at = i * side + j, a = values[at], b = values[at + 1], c = values[at + side + 1], d = values[at + side];
      const below = (a < level) + (b < level) + (c < level) + (d < level);
      if (below > 0 && below < 4) cross([a, b, c, d], level, j, i, found);
    }
  }
  return found;
}

const CORNERS = [[0, 0], [1, 0], [1, 1], [0, 1]];

function cross(corners, level, j, i, found) {
  const places = [];
  for (let k = 0; k < 4; k++) {
    const a = corners[k] - level, b = corners[(k + 1) % 4] - level;
    if (a < 0 === b < 0) continue;
    const share = a / (a - b), [x, y] = CORNERS[k], [u, v] = CORNERS[(k + 1) % 4];
    places.push([j + x + share * (u - x), i + y + share * (v - y)]);
  }
  for (let k = 0; k + 1 < places.length; k += 2) found.push([...places[k], ...places[k + 1]]);
}

// Return the crests of cos(ω·x + b) in the square as segments [x0, y0, x1, y1]; troughs for `sign` < 0.
export function crests([u, v], phase, extent, sign = 1) {
  const reach = (Math.abs(u) + Math.abs(v)) * extent, turn = 2 * Math.PI, from = phase + (sign < 0 ? Math.PI : 0);
  const found = [];
  for (let k = Math.ceil((from - reach) / turn); k * turn - from <= reach; k++) {
    const line = chord(u, v, k * turn - from, extent);
    if (line) found.push(line);
  }
  return found;
}

// Return the line u x + v y = c in the square; null if it only touches a corner.
function chord(u, v, c, extent) {
  const places = [];
  for (const side of [-extent, extent]) {
    if (v !== 0 && Math.abs((c - u * side) / v) <= extent) places.push([side, (c - u * side) / v]);
    if (u !== 0 && Math.abs((c - v * side) / u) < extent) places.push([(c - v * side) / u, side]);
  }
  return places.length >= 2 ? [...places[0], ...places[1]] : null;
}

// Return the documents after a change that Python has not seen yet.
export function after(documents, change) {
  const rest = documents.filter((one) => one.id !== change.id);
  if (change.kind === "drop") return rest;
  if (change.kind !== "put") return documents;
  const { id, x, y, grade, query } = change, at = documents.findIndex((one) => one.id === id);
  rest.splice(at < 0 ? rest.length : at, 0, { id, x, y, grade, query });
  return rest;
}

// Return the moves of sliders that Python has seen but does not show: another run of the page, which began with the
// browser's older state, has undone them. They are told again, a few times.
export function lostSliders(pending, { rev, sliders }) {
  const now = new Map(sliders.map(({ name, raw }) => [name, raw]));
  const newest = new Map(pending.filter(({ kind }) => kind === "set").map((change) => [change.name, change]));
  return [...newest.values()].filter((change) => change.rev <= rev && change.raw !== now.get(change.name))
    .map((change) => ({ ...change, tries: (change.tries ?? 0) + 1 })).filter(({ tries }) => tries <= TRIES);
}

export const nextId = (documents, taken) => Math.max(taken, ...documents.map((one) => one.id + 1), 0);

export const clamped = (value, edge) => Math.round(100 * Math.min(Math.max(value, -edge), edge)) / 100;

// Return the mark that a pointer takes: a landmark by its visible corners, else the chosen mark,
// which may lie below another, else the nearest. A finger is too wide for the corners.
export function grasped(marks, x, y, near, fine) {
  return (fine && rimOf(marks, x, y)) || nearest(marks.filter((one) => one.chosen), x, y, near)
    || nearest(marks, x, y, near);
}

function rimOf(marks, x, y) {
  const covers = ({ kind, x: u, y: v, size }) => kind === "document" && Math.hypot(u - x, v - y) <= ACROSS * size;
  const holds = ({ kind, x: u, y: v, size }) => kind === "landmark"
    && Math.abs(u - x) + Math.abs(v - y) <= DIAGONAL * size;
  return marks.some(covers) ? null : nearest(marks.filter(holds), x, y, Infinity);
}

// Return the nearest place within a distance, or null.
export function nearest(places, x, y, distance) {
  let best = null, least = distance;
  for (const one of places) {
    const away = Math.hypot(one.x - x, one.y - y);
    if (away <= least) [best, least] = [one, away];
  }
  return best;
}
