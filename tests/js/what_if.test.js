// Test the list of the What if page: positions of rows, drops and keys.

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  dropped, fate, gradeOfKey, meaningOfKey, moved, placeAfter, scrollSpeed, share, shift, slope, step,
} from "../../ui/browser/what_if/order.js";

const KEYS = ["a", "b", "c", "d", "e"];

test("a row follows the pointer, but stays within the list", () => {
  assert.equal(placeAfter(2, 0, 28, 5), 2);
  assert.equal(placeAfter(2, 13, 28, 5), 2);
  assert.equal(placeAfter(2, 15, 28, 5), 3);
  assert.equal(placeAfter(2, -29, 28, 5), 1);
  assert.equal(placeAfter(2, -1e6, 28, 5), 0);
  assert.equal(placeAfter(2, 1e6, 28, 5), 4);
});

test("other rows make room: every place is taken once", () => {
  for (let from = 0; from < KEYS.length; from += 1) {
    for (let to = 0; to < KEYS.length; to += 1) {
      const places = KEYS.map((_, place) => (place === from ? to : place + shift(place, from, to)));
      assert.deepEqual([...places].sort(), [0, 1, 2, 3, 4]);
      const order = moved(KEYS, from, to);
      places.forEach((place, row) => assert.equal(order[place], KEYS[row]));
    }
  }
});

test("a drop names the document above and the one below", () => {
  assert.deepEqual(dropped(KEYS, 3, 1), { do: "above", key: "d", other: "b" });
  assert.deepEqual(dropped(KEYS, 1, 3), { do: "below", key: "b", other: "d" });
  assert.equal(dropped(KEYS, 2, 2), null);
});

test("the list scrolls only near its ends, faster towards them, with a limit", () => {
  assert.equal(scrollSpeed(200, 100, 500), 0);
  assert.ok(scrollSpeed(110, 100, 500) < scrollSpeed(130, 100, 500));
  assert.ok(scrollSpeed(130, 100, 500) < 0);
  assert.ok(scrollSpeed(490, 100, 500) > 0);
  assert.equal(scrollSpeed(9000, 100, 500), 14);
  assert.equal(scrollSpeed(-9000, 100, 500), -14);
});

test("slope lines join the middles of two rows", () => {
  assert.equal(slope(0, 2, 20, 100), "M0 10C50 10 50 50 100 50");
  assert.equal(fate(3, 1), "up");
  assert.equal(fate(1, 3), "down");
  assert.equal(fate(2, 2), "same");
  assert.equal(fate(null, 0), "new");
});

test("bars share the width between the lowest and the highest score", () => {
  assert.equal(share(3, 1, 5), 0.5);
  assert.equal(share(5, 1, 5), 1);
  assert.equal(share(2, 2, 2), 0.5);
});

test("digits set existing grades", () => {
  assert.equal(gradeOfKey("2", [0, 1, 2]), 2);
  assert.equal(gradeOfKey("3", [0, 1, 2]), null);
  assert.equal(gradeOfKey("a", [0, 1, 2]), null);
  assert.equal(gradeOfKey("", [0, 1, 2]), null);
});

test("arrows walk the list; they move a held row, or any with Alt", () => {
  assert.deepEqual(meaningOfKey({ key: "ArrowDown" }, false), { kind: "focus", by: 1 });
  assert.deepEqual(meaningOfKey({ key: "ArrowDown", altKey: true }, false), { kind: "move", by: 1 });
  assert.deepEqual(meaningOfKey({ key: "ArrowUp" }, true), { kind: "move", by: -1 });
  assert.deepEqual(meaningOfKey({ key: " " }, false), { kind: "hold" });
  assert.deepEqual(meaningOfKey({ key: "Enter" }, true), { kind: "drop" });
  assert.deepEqual(meaningOfKey({ key: "Escape" }, true), { kind: "cancel" });
  assert.equal(meaningOfKey({ key: "Escape" }, false), null);
  assert.equal(meaningOfKey({ key: "x" }, false), null);
  assert.equal(step(2, Infinity, 5), 4);
  assert.equal(step(2, -10, 5), 0);
});
