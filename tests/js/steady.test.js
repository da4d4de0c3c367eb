import assert from "node:assert/strict";
import { test } from "node:test";

import { decoded, kept } from "../../ui/browser/shell/steady.js";

const coded = (array, shape) =>
  JSON.stringify({ dtype: "f8", bdata: Buffer.from(Float64Array.from(array).buffer).toString("base64"), shape });

test("arrays are decoded, in rows if they have two dimensions", () => {
  assert.deepEqual(JSON.parse(coded([1, -0.5, 3]), decoded), Float64Array.of(1, -0.5, 3));
  const rows = JSON.parse(coded([1, 2, 3, 4, 5, 6], "2, 3"), decoded);
  assert.deepEqual(rows.map((row) => [...row]), [[1, 2, 3], [4, 5, 6]]);
});

test("what did not change is the object of the last figure, and all else is new", () => {
  const made = (m) => JSON.parse(`{"data": [{"x": [1, 2], "y": ${coded([0.5, 0.25])}}, {"y": ${coded([m])}}],
    "shapes": [{"x0": ${m}}, {"x0": 7, "line": null}]}`, decoded);
  const last = made(10), now = kept(last, made(20));
  assert.deepEqual(now, made(20));
  assert.equal(now.data[0], last.data[0]);
  assert.equal(now.shapes[1], last.shapes[1]);
  assert.notEqual(now.data[1], last.data[1]);
  assert.notEqual(now.data, last.data);
  assert.equal(kept(last, made(10)), last);
  assert.notEqual(kept({ a: 1, b: 2 }, { a: 1 }).b, 2);
  assert.deepEqual(kept([1, 2, 3], [1, 2]), [1, 2]);
});
