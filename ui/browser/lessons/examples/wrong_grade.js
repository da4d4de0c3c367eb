// Two queries in the plane, with one wrong grade: the least relevant document has the highest. Lesson 4 shows them.

import { ndcg } from "../../core/metrics.js";
import { product, random } from "../../core/numbers.js";
import { fit, pairs } from "../../core/ranking.js";
import { hundredths, mean, playgroundOf } from "./documents.js";

export const EACH = 12, QUERIES = 2, N = EACH * QUERIES, DIM = 2;
export const EXPONENTS = Array.from({ length: 15 }, (_, k) => k - 10); // of C
// the seed is chosen: on these lists NDCG rises and falls clearly
const LISTS = 30, SEED = 13, RELEVANCE = [-0.6, 1.2], NOISE = 0.1, EDGE = 1.15, AT = 10;

const relevance = (x, i) => RELEVANCE[0] * x[2 * i] + RELEVANCE[1] * x[2 * i + 1];

// Return lists of twelve documents: x, grades y, offsets ptr. The two features rise and fall together. In each list
// the best fifth has grade 2, the next three tenths grade 1.
function lists(rng, count) {
  const x = [], y = [], edge = (value) => Math.min(Math.max(hundredths(value), -EDGE), EDGE);
  for (let list = 0; list < count; list++) {
    const from = x.length / DIM;
    for (let i = 0; i < EACH; i++) {
      const [both, own] = [rng.normal(), rng.normal()];
      x.push(edge(0.6 * both), edge(0.4 * both + 0.3 * own));
    }
    const latent = Array.from({ length: EACH }, (_, i) => relevance(x, from + i) + NOISE * rng.normal());
    const sorted = [...latent].sort((a, b) => a - b), [one, two] = [0.5, 0.8].map((k) => sorted[Math.floor(k * EACH)]);
    y.push(...latent.map((value) => (value >= two ? 2 : value >= one ? 1 : 0)));
  }
  return { x: Float64Array.from(x), y, ptr: Array.from({ length: count + 1 }, (_, k) => k * EACH) };
}

const rng = random(SEED), drawn = lists(rng, QUERIES), OTHERS = lists(rng, LISTS);
export const { x: X, ptr: PTR } = drawn, MENDED = drawn.y;
const order = MENDED.map((_, i) => i).sort((i, j) => relevance(X, i) - relevance(X, j));
export const WRONG = order[0]; // the document with the wrong grade
export const GRADES = MENDED.map((grade, i) => (i === WRONG ? 2 : grade));

// Return mean NDCG@10 (LETOR 4.0) of a direction on lists.
function quality(w, { x, y, ptr }) {
  const scores = product(x, y.length, DIM, w);
  const own = (values, k) => values.slice(ptr[k], ptr[k + 1]);
  return mean(ptr.slice(1).map((_, k) => ndcg(own(scores, k), own(y, k), "compared", AT).value));
}

// Train the linear model at C = 2^exponent; `twice` counts every query twice, `mended` uses the right grade.
export function trained(exponent, { mended = false, twice = false } = {}) {
  const y = mended ? MENDED : GRADES, own = pairs(y, PTR), again = (list) => [...list, ...list];
  const doubled = { winner: again(own.winner), loser: again(own.loser), length: 2 * own.length };
  const problem = { features: X, m: DIM, y, ptr: PTR, C: 2 ** exponent, pairs: twice ? doubled : own };
  const { weights, scores } = fit(problem), turned = (Math.atan2(weights[1], weights[0]) * 180) / Math.PI;
  return {
    weights, scores, angle: turned, pairs: own, y, training: quality(weights, { x: X, y, ptr: PTR }),
    validation: quality(weights, OTHERS),
  };
}

export const playground = (exponent, y) => (
  playgroundOf(X, y, { pmap: "linear", pc: exponent }, (i) => Math.floor(i / EACH)));
