// Answers of the small core to problems from standard input, for tests/test_small_core.py: JSON in, JSON out.

import process from "node:process";

import { fourier, kernelMatrix, linear, nystroem } from "../../ui/browser/core/features.js";
import { DEFINITIONS, ndcg, pairAccuracy } from "../../ui/browser/core/metrics.js";
import { eigenSymmetric, gram, singularValues } from "../../ui/browser/core/numbers.js";
import { alpha, fit, hessian, LOSSES, objective, pairs, scoresOf } from "../../ui/browser/core/ranking.js";

const MAPS = {
  linear: ({ dim }) => linear(dim),
  nystroem: ({ dim, gamma, landmarks }) => nystroem(Float64Array.from(landmarks), dim, gamma),
  fourier: ({ omega, phase }) => fourier(Float64Array.from(omega), Float64Array.from(phase)),
};
const TICKS = [-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2];
const numbers = (values) => Array.from(values);

function learned(asked) {
  const x = Float64Array.from(asked.x), map = MAPS[asked.map](asked), { y, ptr, C, dim, gamma } = asked;
  const features = map.transform(x), problem = { features, m: map.m, y, ptr, C, loss: LOSSES[asked.loss] };
  const probe = Float64Array.from(asked.probe), there = objective(probe, problem);
  const { weights, scores, objective: value, loss } = fit(problem, { tolerance: asked.tolerance ?? undefined });
  const K = kernelMatrix(x, x, dim, gamma), seen = map.transform(Float64Array.from(asked.unseen));
  const duals = ptr.slice(1).map((_, q) => alpha(weights, { ...problem, loss }, q)), listed = pairs(y, ptr);
  return {
    kernel: numbers(K), features: numbers(features), approximate: numbers(gram(features, y.length, map.m)),
    eigenvalues: numbers(eigenSymmetric(K, y.length).values), kept: map.kept,
    value: there.value, gradient: numbers(there.gradient), hessian: numbers(hessian(probe, problem)),
    weights: numbers(weights), scores: numbers(scores), objective: value,
    unseen: numbers(scoresOf(weights, { features: seen, m: map.m, y: { length: seen.length / map.m } })),
    surface: dim === 2 ? numbers(map.surface(weights, TICKS, TICKS.slice().reverse())) : null,
    pairs: [numbers(listed.winner), numbers(listed.loser)],
    alpha: duals.map(({ winners, losers, values }) => ({ winners, losers, values: numbers(values) })),
    singular: duals.map((one) => numbers(one.singularValues)),
  };
}

function measured({ scores, y, definition, k }) {
  const found = ndcg(scores, y, definition, k);
  return { ndcg: found.value, sum: found.terms.reduce((sum, { gain, discount }) => sum + gain * discount, 0),
    dcg: found.dcg, right: pairAccuracy(scores, y).right };
}

function lost({ loss, C, pairs: count, t }) {
  const one = LOSSES[loss].at ? LOSSES[loss].at(C, count) : LOSSES[loss];
  return { value: t.map(one.value), derivative: t.map(one.derivative), second: t.map(one.second) };
}

let text = "";
for await (const part of process.stdin.setEncoding("utf8")) text += part;
const { problems, hinges, singular, lists, losses, matrices } = JSON.parse(text);
process.stdout.write(JSON.stringify({
  definitions: Object.keys(DEFINITIONS),
  losses: losses.map(lost),
  problems: problems.map(learned),
  hinges: hinges.map(learned),
  singular: singular.map(learned),
  lists: lists.map(measured),
  matrices: matrices.map(({ values, rows, columns }) => numbers(singularValues(values, rows, columns))),
}));
