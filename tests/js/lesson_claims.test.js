// What the lessons say about their examples is true.

import assert from "node:assert/strict";
import { test } from "node:test";

import { singularValues } from "../../ui/browser/core/numbers.js";
import * as data from "../../ui/browser/lessons/examples/approximation.js";
import { mean } from "../../ui/browser/lessons/examples/documents.js";
import * as parts from "../../ui/browser/lessons/kit/parts.js";
import * as dual from "../../ui/browser/lessons/examples/dual.js";
import * as ring from "../../ui/browser/lessons/examples/ring.js";
import * as wrong from "../../ui/browser/lessons/examples/wrong_grade.js";
import * as alpha from "../../ui/browser/lessons/scenes/alpha.js";
import * as fourier from "../../ui/browser/lessons/scenes/fourier.js";
import * as kernel from "../../ui/browser/lessons/scenes/kernel.js";
import * as nystroem from "../../ui/browser/lessons/examples/landmarks.js";
import * as regularisation from "../../ui/browser/lessons/scenes/regularisation.js";

const close = (a, b, by) => assert.ok(Math.abs(a - b) <= by, `${a} and ${b}`);

test("the path of a curve is interrupted where it has no value", () => {
  const plot = parts.chart({ x: 0, y: 0, width: 158, height: 170 }, { ends: [0, 1] }, { ends: [0, 1] });
  assert.equal(parts.pathOf(plot, [[0, 0], [0.5, 1], [0.7, null], [1, 0]]), "M46.0 126.0L96.0 26.0M146.0 126.0");
  assert.deepEqual(plot.from(96, -1000), [0.5, 1]);
});

test("nystroem: K̃ is exact in the landmarks' columns", () => {
  const { difference } = data.approximation(data.landmarkMap([3, 20, 35]));
  for (const j of [3, 20, 35]) for (let i = 0; i < data.N; i++) close(difference[i * data.N + j], 0, 1e-8);
});

test("nystroem: the reader's choice is counted among all choices of three", () => {
  const { errors, best, chosen, random, kmeans } = nystroem.triples();
  assert.equal(errors.length, (40 * 39 * 38) / 6);
  assert.equal(data.errorOfTriple(...chosen), best);
  assert.equal(nystroem.better(errors, best), 0);
  assert.equal(nystroem.better(errors, errors[500]), errors.indexOf(errors[500]));
  assert.ok(best < kmeans && kmeans < random);
  assert.equal(nystroem.histogram(errors, 60).reduce((sum, count) => sum + count), errors.length);
});

test("nystroem: the best three stand near the middles of the three largest groups", () => {
  const { chosen } = nystroem.triples(), groups = [[0, 18], [18, 30], [30, 37]];
  assert.deepEqual([data.reached(chosen), data.reached([0, 5, 39]), data.reached([18])], [37, 21, 12]);
  groups.forEach(([from, to], k) => {
    const own = Array.from({ length: to - from }, (_, i) => from + i);
    const middle = [0, 1].map((c) => mean(own.map((i) => data.X[2 * i + c])));
    const far = (i) => Math.hypot(data.X[2 * i] - middle[0], data.X[2 * i + 1] - middle[1]);
    own.sort((a, b) => far(a) - far(b));
    assert.ok(own.slice(0, 2).includes(chosen[k]), `${chosen[k]}`);
  });
});

test("nystroem: NDCG flattens before the error does", () => {
  const { error, ndcg } = nystroem.curves(), six = nystroem.SIZES.indexOf(6), after = ndcg.slice(six);
  assert.ok(Math.max(...after) - Math.min(...after) < 0.025); // the text says 0.91 to 0.93
  assert.ok(ndcg[six] - ndcg[nystroem.SIZES.indexOf(3)] > 0.05);
  assert.ok(error[six].mean > 0.1 && error.at(-1).mean < 0.01);
  assert.ok(nystroem.SIZES[six] / data.N < 0.2);
});

test("fourier: the error is 1/√m of a constant, in theory and in 400 draws", () => {
  close(data.expectedError(40) / data.expectedError(10), 0.5, 1e-12);
  const error = (seed) => data.approximation(data.waveMap(seed + 1000, 10)).error;
  const squares = Array.from({ length: 400 }, (_, seed) => error(seed) ** 2);
  close(Math.sqrt(mean(squares)) / data.expectedError(10), 1, 0.05);
});

test("fourier: 100 draws show it: no smaller guess halves the mean error, and their band has the dashed line", () => {
  const { at, fourier: found, nystroem: landmarks } = fourier.curves();
  close(at(fourier.NEEDED) / at(fourier.START), 0.5, 0.01);
  const [half] = [at(fourier.START) / 2], enough = fourier.GUESSES.filter((m) => at(m) <= half);
  assert.equal(Math.min(...enough), fourier.NEEDED);
  const inside = ({ m, low, high }) => low < data.expectedError(m) && data.expectedError(m) < high;
  assert.ok(found.every(inside));
  assert.ok(landmarks.find(({ m }) => m === 5).mean < at(fourier.NEEDED));
});

test("fourier: twice the mean of the waves is the row of K̃", () => {
  const map = data.waveMap(3, 25), row = fourier.meanOf(fourier.wavesOf(map, data.X));
  const at = (moved) => map.transform(Float64Array.of(data.X[0] + moved, data.X[1])), [x, z] = [at(0), at(-1.2)];
  close(row[0], x.reduce((sum, value, k) => sum + value * z[k], 0), 1e-12);
});

test("a link has the same documents, in hundredths", () => {
  const docs = new URLSearchParams(data.playground({ pm: 6 }).split("?")[1]).get("docs").split("_");
  docs.forEach((one, i) => {
    const [k, x, y, grade, query] = one.split(".").map(Number);
    assert.deepEqual([k, x / 100, y / 100, grade, query], [i, data.X[2 * i], data.X[2 * i + 1], data.GRADES[i], 0]);
  });
});

test("kernel: no arrow comes near what a kernel orders", () => {
  const { training } = ring.trained(1), arrows = ring.bestArrow();
  assert.ok(arrows < 0.6 && training > 0.85);
  close(ring.alongArrow(30).share + ring.alongArrow(210).share, 1, 1e-12); // no ties
});

test("kernel: training becomes perfect while other lists get worse", () => {
  const found = kernel.curves(), validation = found.map((one) => one.validation), top = Math.max(...validation);
  assert.equal(found.at(-1).training, 1);
  assert.ok(found[validation.indexOf(top)].training < 0.95);
  assert.ok(top - validation.at(-1) > 0.1 && top - validation[0] > 0.1);
  const late = found.filter(({ exponent }) => exponent >= 1);
  late.slice(1).forEach((one, k) => assert.ok(one.training >= late[k].training));
});

test("kernel: a painting is a sum of bumps on its cells", () => {
  const cells = kernel.cellsOf([0, 56, 68, 130, 257, 130, 68, 56, 0]);
  assert.deepEqual(kernel.rowsOf(cells), [0, 56, 68, 130, 257, 130, 68, 56, 0]);
  const one = cells.map((_, k) => Number(k === 40)); // the middle
  const [score] = ring.paintedScores(one, kernel.SIDE, kernel.EXTENT, Float64Array.of(0.1, -0.2));
  close(score, Math.exp(-8 * 0.05), 1e-12);
  const corner = ring.paintedCells(cells.map((_, k) => Number(k === 1)), kernel.SIDE, kernel.EXTENT);
  close(corner[0], -1.2 + 1.5 * (2.4 / 9), 1e-12);
  close(corner[1], 1.2 - 0.5 * (2.4 / 9), 1e-12);
});

test("regularisation: NDCG on new lists rises and falls; the right grade takes the fall away", () => {
  const found = regularisation.curve({ mended: false, twice: false }).map((one) => one.validation);
  const { exponent, validation } = regularisation.best();
  assert.ok(exponent > -8 && exponent < 0);
  const onTraining = regularisation.curve({ mended: false, twice: false }).map((one) => one.training);
  assert.ok(wrong.EXPONENTS[onTraining.indexOf(Math.max(...onTraining))] > exponent); // would choose too large a C
  assert.ok(validation - found[0] > 0.05 && validation - found.at(-1) > 0.05);
  const mended = regularisation.curve({ mended: true, twice: false }).map((one) => one.validation);
  assert.ok(Math.max(...mended) - mended.at(-1) < 0.005);
});

test("regularisation: the model learns the wrong grade; its arrow turns towards the document", () => {
  const [early, late] = [wrong.EXPONENTS[0], wrong.EXPONENTS.at(-1)].map((exponent) => wrong.trained(exponent));
  const at = (Math.atan2(wrong.X[2 * wrong.WRONG + 1], wrong.X[2 * wrong.WRONG]) * 180) / Math.PI + 360;
  assert.ok(early.training < late.training && early.angle < late.angle && late.angle < at && at - early.angle < 180);
  assert.ok(late.angle > wrong.trained(wrong.EXPONENTS.at(-1), { mended: true }).angle);
  assert.equal(wrong.GRADES[wrong.WRONG], 2);
  assert.equal(wrong.MENDED[wrong.WRONG], 0);
});

test("regularisation: with a small C w is short, all margins are small, and all pairs pull almost equally", () => {
  const lengths = wrong.EXPONENTS.map((exponent) => Math.hypot(...wrong.trained(exponent).weights));
  assert.ok(lengths.every((length, k) => k === 0 || length > lengths[k - 1]));
  const { scores, pairs: { winner, loser } } = wrong.trained(wrong.EXPONENTS[0]);
  winner.forEach((i, k) => assert.ok(Math.abs(scores[i] - scores[loser[k]]) < 0.1));
});

test("regularisation: with a small C the right grade turns the arrow away from the best one", () => {
  for (const twice of [false, true]) {
    const [plain, mended] = [false, true].map((right) => regularisation.curve({ mended: right, twice }));
    const best = mended.reduce((a, b) => (b.validation > a.validation ? b : a)).angle;
    assert.ok(mended[0].validation < plain[0].validation - 0.03);
    assert.ok(mended[0].angle < plain[0].angle && plain[0].angle < best);
  }
  const [x, all] = [wrong.X, wrong.trained(-10, { mended: true }).pairs], sum = [0, 0]; // all pulls are equal
  all.winner.forEach((i, k) => [0, 1].forEach((d) => { sum[d] += x[2 * i + d] - x[2 * all.loser[k] + d]; }));
  close((Math.atan2(sum[1], sum[0]) * 180) / Math.PI, wrong.trained(-10, { mended: true }).angle, 5);
});

test("fourier: the mean error of six landmarks is within the orange curve", () => {
  const { fourier: waves, nystroem: landmarks } = fourier.curves(), six = landmarks.find(({ m }) => m === 6).mean;
  assert.ok(waves[0].mean > six && waves.at(-1).mean < six);
});

test("regularisation: every query twice is the same as C twice", () => {
  for (const exponent of [-9, -4, 2]) {
    const twice = wrong.trained(exponent, { twice: true }).weights, doubled = wrong.trained(exponent + 1).weights;
    twice.forEach((value, k) => close(value, doubled[k], 1e-9));
  }
});

test("regularisation: the gap of the true curve is 0, of one 0.1 above it 0.1", () => {
  const at = (exponent) => wrong.trained(exponent).validation, values = regularisation.KNOTS.map(at);
  close(regularisation.gapOf(values), 0, 1e-12);
  close(regularisation.gapOf(values.map((value) => value + 0.1)), 0.1, 1e-12);
});

test("regularisation: with the smallest C all pairs pull nearly alike", () => {
  const { pairs, scores } = wrong.trained(wrong.EXPONENTS[0]);
  const margins = Array.from(pairs.winner, (i, k) => scores[i] - scores[pairs.loser[k]]);
  assert.ok(Math.min(...margins) < 0 && Math.max(...margins) > 0, "right and wrong pairs");
  const pulls = margins.map((margin) => 1 - margin);
  assert.ok(Math.max(...pulls) / Math.min(...pulls) < 1.25);
});

test("alpha: the rank is far below what the grades allow, and errors hide that", () => {
  const model = dual.trained(alpha.START), { rows, columns } = model;
  const { rank } = dual.spectrum(model.values, rows, columns);
  assert.deepEqual([rows, columns, rank, alpha.bound()], [12, 19, 4, 12]);
  for (const share of [0.001, 0.01]) {
    const found = dual.spectrum(dual.inexact(model.values, share), rows, columns);
    assert.equal(found.rank, 12);
    assert.ok(found.energy > 0.999);
  }
});

test("alpha: w is the sum of α times the difference of the documents of a pair", () => {
  const losses = ["squaredHinge", "hinge", "logistic"], exponents = [-8, alpha.START, 4];
  for (const [loss, exponent] of losses.flatMap((one) => exponents.map((power) => [one, power]))) {
    const { values, winners, losers, columns, weights } = dual.trained(exponent, loss);
    const sum = new Float64Array(weights.length);
    values.forEach((value, k) => sum.forEach((_, d) => {
      const [i, j] = [winners[Math.floor(k / columns)], losers[k % columns]];
      sum[d] += value * (dual.X[sum.length * i + d] - dual.X[sum.length * j + d]);
    }));
    sum.forEach((one, d) => close(one, weights[d], 1e-6 * Math.hypot(...weights)));
  }
});

test("alpha: all pairs pull, as the formula says; a larger C silences some and raises the rank", () => {
  const { values, scores, winners, losers, columns } = dual.trained(alpha.START);
  values.forEach((value, k) => {
    const margin = scores[winners[Math.floor(k / columns)]] - scores[losers[k % columns]];
    close(value, dual.isPair(k, columns) ? 2 * 2 ** alpha.START * (1 - margin) : 0, 1e-12);
    assert.equal(value > 0, dual.isPair(k, columns));
  });
  const strong = dual.trained(4);
  assert.ok(strong.values.filter((value) => value > 0).length < values.filter((value) => value > 0).length);
  assert.ok(dual.spectrum(strong.values, strong.rows, columns).rank > 4);
});

test("alpha: the hinge pulls by C below margin 1, not above, between at it; the logistic loss always", () => {
  const hinge = dual.trained(4, "hinge"), kinds = [0, 0, 0];
  hinge.values.forEach((value, k) => {
    const { scores, winners, losers, columns } = hinge;
    if (!dual.isPair(k, columns)) return;
    const lack = 1 - scores[winners[Math.floor(k / columns)]] + scores[losers[k % columns]];
    const kind = Math.abs(lack) < 1e-6 ? 1 : lack > 0 ? 2 : 0;
    kinds[kind] += 1;
    assert.ok(kind === 1 ? value > 0 && value < 2 ** 4 : value === (kind / 2) * 2 ** 4);
  });
  assert.ok(Math.min(...kinds) > 0);

  const of = (exponent, loss) => {
    const { values, rows, columns } = dual.trained(exponent, loss);
    const pairs = values.filter((_, k) => dual.isPair(k, columns));
    return { ...dual.spectrum(values, rows, columns), silent: pairs.filter((one) => one === 0).length };
  };
  const [first, last] = [-8, 4].map((exponent) => of(exponent, "hinge"));
  assert.deepEqual([first.rank, first.silent], [2, 0]);
  assert.ok(last.rank > first.rank && last.silent > 0);
  for (const exponent of [-8, alpha.START, 4]) {
    const { rank, silent, energy } = of(exponent, "logistic");
    assert.ok(rank >= of(exponent, "squaredHinge").rank && silent === 0 && energy > 0.9999);
  }
});

// The rank of some rows of a model's α.
const rankOf = ({ values, columns }, from, to) => (
  dual.spectrum(values.slice(from * columns, to * columns), to - from, columns).rank);

test("alpha: rows without crossed cells have rank 2, the others 2 more", () => {
  const model = dual.trained(alpha.START), { rows, columns } = model, whole = (i) => model.values
    .slice(i * columns, (i + 1) * columns).every((value) => value > 0);
  const upper = Array.from({ length: rows }, (_, i) => i).filter(whole).length;
  assert.ok(upper > 2 && rows - upper > 2);
  assert.deepEqual([[0, upper], [upper, rows], [0, rows]].map((part) => rankOf(model, ...part)), [2, 2, 4]);
});

test("alpha: a number for each row and column gives α outside crossed cells, while all pairs pull", () => {
  for (const [exponent, everywhere] of [[alpha.START, true], [4, false]]) {
    const { values, winners, losers, scores, columns } = dual.trained(exponent), others = [0, 0];
    values.forEach((value, k) => {
      const [i, j] = [winners[Math.floor(k / columns)], losers[k % columns]];
      const row = 2 * 2 ** exponent * (1 - scores[i]), column = 2 * 2 ** exponent * scores[j];
      if (Math.abs(row + column - value) > 1e-9) others[Number(dual.isPair(k, columns))] += 1;
    });
    assert.ok(others[0] === 49 && (others[1] === 0) === everywhere, `${exponent}: ${others}`);
  }
});

test("alpha: four tables of rank 1 add up to α, two for the rows of each grade", () => {
  const model = dual.trained(alpha.START), { values, rows, columns } = model;
  const tables = dual.tables(model, alpha.START), upper = 5 * columns;
  for (const table of tables) {
    assert.equal(dual.spectrum(table, rows, columns).rank, 1);
    assert.ok(Math.min(...table) >= 0);
  }
  values.forEach((value, k) => {
    const [a, b, c, d] = tables.map((table) => table[k]);
    close(a + b, k < upper ? value : 0, 1e-12);
    close(c + d, k < upper ? 0 : value, 1e-12);
  });
});

test("alpha: the size of a table is the root of the sum of its squared cells", () => {
  const small = Float64Array.from(alpha.ROWS.flatMap((row) => alpha.COLUMNS.map((column) => row * column)));
  close(singularValues(small, alpha.ROWS.length, alpha.COLUMNS.length)[0], Math.hypot(...small), 1e-12);
  assert.equal(dual.spectrum(small, alpha.ROWS.length, alpha.COLUMNS.length).rank, 1);
});

test("alpha: an error of 0.1 % makes every rank the largest, by tables below 0.1 % of the largest", () => {
  for (const [loss, exponent] of ["squaredHinge", "hinge", "logistic"].flatMap((one) => [-8, 4].map((C) => [one, C]))) {
    const { values, rows, columns } = dual.trained(exponent, loss);
    assert.equal(dual.spectrum(dual.inexact(values, 0.001), rows, columns).rank, alpha.bound(), `${loss} ${exponent}`);
  }
  const { values, rows, columns } = dual.trained(alpha.START);
  const { shares, energy } = dual.spectrum(dual.inexact(values, 0.001), rows, columns);
  assert.ok(Math.max(...shares.slice(4)) < 0.001 && energy > 0.9999);
});
