// The list on Home: its order and its sum at any weight.

import assert from "node:assert/strict";
import test from "node:test";

import { DOCUMENTS, at, scoresAt, shown } from "../../ui/browser/home/list.js";

test("the text alone gives the best order, the title alone a poor one", () => {
  assert.equal(at(1).value, 1);
  assert.equal(at(1).right, at(1).pairs);
  assert.ok(at(0).value < 0.7);
});

test("NDCG is the sum of the terms that are shown, and documents come by falling score", () => {
  for (const weight of [0, 0.31, 0.5, 0.77, 1]) {
    const { terms, idealDcg, value } = at(weight), scores = scoresAt(weight);
    const sum = terms.reduce((all, { gain, discount }) => all + gain * discount, 0);
    assert.ok(Math.abs(sum / idealDcg - value) < 1e-12);
    assert.equal(terms.length, DOCUMENTS.length);
    terms.slice(1).forEach(({ document }, k) => assert.ok(scores[document] <= scores[terms[k].document]));
  }
});

test("the movement shows the best order and ends at a poor one, which the visitor can mend", () => {
  assert.equal(at(shown(0.5)).value, 1);
  assert.ok(at(shown(1)).value < 0.7);
});
