import assert from "node:assert/strict";
import { test } from "node:test";

import { changedBy, lineOf, read, unchanged } from "../../ui/browser/playground/alone.js";
import { stepOf } from "../../ui/browser/playground/telling.js";

test("changes by hand are a line of an address, as in the app, and come back from it", () => {
  const bounds = { edge: 1.15, far: 3.5 }, line = "0.50.-25.3.1_5_z1.5.7_w3.350.-20";
  const found = read(line, bounds);
  assert.deepEqual(found.changed.get(0), { id: 0, x: 0.5, y: -0.25, grade: 3, query: 1 });
  assert.equal(found.changed.get(5), null);
  assert.deepEqual([found.moved.get(1), found.turned.get(3)], [{ x: 0.05, y: 0.07 }, { x: 3.5, y: -0.2 }]);
  assert.equal(lineOf(found), line);
  assert.equal(lineOf(read("1.900.-900.4.3_w0.900.0", bounds)), "1.115.-115.4.3_w0.350.0");
  const unread = ["x", "1.2", "1.2.3.5.0", "1.2.3.0.4", "z1.2", "<b>"].filter((wrong) => read(wrong, bounds) === null);
  assert.equal(unread.length, 6);
});

test("a page without a server keeps changes by hand, and can go back to any", () => {
  const moved = changedBy(unchanged(), { kind: "put", id: 2, x: 0.1, y: 0.2, grade: 1, query: 0, rev: 1 });
  const gone = changedBy(moved, { kind: "drop", id: 2 });
  const more = changedBy(changedBy(gone, { kind: "landmark", number: 0, x: 1, y: -1 }),
    { kind: "frequency", number: 4, x: 0.5, y: 0 });
  assert.deepEqual([moved, gone, more].map(lineOf), ["2.10.20.1.0", "2", "2_z0.100.-100_w4.50.0"]);
  assert.equal(lineOf(changedBy(more, { kind: "reset" })), "");
  assert.equal(lineOf(moved), "2.10.20.1.0");
});

test("a step says what C changes: how many pairs have no loss", () => {
  const pairs = { all: 1255, right: 1136, beyond: 20 };
  const found = "1,136 of 1,255 pairs in order, 20 with margin ≥ 1";
  assert.equal(stepOf(2, 14, 259912.3, pairs), `Newton step 2 of 14 · objective 259,900 · ${found}`);
  assert.equal(stepOf(0, 2, 0.0599, pairs), `Newton step 0 of 2 · objective 0.0599 · ${found}`);
  assert.equal(stepOf(0, undefined, undefined, pairs), found);
});
