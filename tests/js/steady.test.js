import assert from "node:assert/strict";
import { test } from "node:test";

import steady, { decoded, kept } from "../../ui/browser/shell/steady.js";

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

test("figures held for another value are drawn when the slider moves; answers for an older value wait", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.location = { href: "http://127.0.0.1/" };
  const drawn = [];
  const chart = { _fullLayout: {}, layout: {}, data: [], on: () => {}, closest: () => null };
  const input = { getAttribute: () => input.at, at: "1,000" };
  let move = null;
  globalThis.document = { querySelector: (found) => (found.startsWith(".st-key-m ") ? input : chart) };
  globalThis.MutationObserver = class { constructor(moved) { move = moved; } observe() {} };
  globalThis.window = { Plotly: { react: (_, data) => { drawn.push(data[0]); Object.assign(chart, { data }); } } };
  const figure = (name) => JSON.stringify({ data: [name], layout: {} });
  const answer = (name, at) => steady({ data: { key: "f", alt: "", figure: figure(name), slider: "m", at } });
  const rest = () => context.mock.timers.tick(120);
  const go = (at) => { input.at = at; move(); rest(); };

  const hold = (of, figures) => steady({ data: { slider: "m", of, figures } });
  hold("a", { 10: { f: figure("ten") }, 25: { f: figure("25") } });
  answer("thousand", "1000");
  go("10");
  assert.deepEqual(drawn, ["thousand", "ten"]);
  answer("late", "1000");
  answer("ten", "10");
  rest();
  assert.deepEqual(drawn, ["thousand", "ten"], "an equal answer draws nothing");
  answer("late", "1000");
  go("25");
  assert.deepEqual(drawn, ["thousand", "ten", "25"], "the late answer is not drawn");
  hold("b", {});
  go("10");
  assert.deepEqual(drawn, ["thousand", "ten", "25"], "figures of other settings are forgotten");
  answer("anew", "10");
  assert.equal(drawn.pop(), "anew");
});

test("a value that the server did not hear is sent again, and an old one in the address is replaced", (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const events = [], note = { dispatchEvent: ({ kind }) => events.push(kind) };
  const inputs = { n: "50", "n-on-page": "50" }, rest = () => context.mock.timers.tick(800);
  let busy = null;
  const thumb = { ...note, getBoundingClientRect: () => ({ left: 0, top: 0 }) };
  const input = (key) => ({ getAttribute: () => inputs[key], parentElement: { parentElement: thumb } });
  globalThis.document = { querySelector: (found) => {
    const [, key] = found.match(/^\.st-key-(\S+) input/) ?? [];
    return key ? input(key) : found.includes("running") ? busy : null;
  } };
  globalThis.window = { ...note, PointerEvent: class { constructor(kind) { this.kind = kind; } },
    runAgain: () => events.push("again") };
  globalThis.history = { replaceState: (_state, _title, { href }) => events.push(href) };
  globalThis.location = { href: "http://127.0.0.1/page?n=25&v=2" };
  const answer = () => steady({ data: { key: "g", alt: "", figure: null, slider: "n-on-page", at: "50" } });

  answer();
  rest();
  assert.deepEqual(events, ["http://127.0.0.1/page?n=50&v=2"]);
  globalThis.location.href = events.pop();
  rest();
  assert.deepEqual(events, []);
  inputs.n = "25";
  answer();
  rest();
  assert.deepEqual(events, ["again"]);
  inputs["n-on-page"] = "100";
  busy = {};
  rest();
  assert.deepEqual(events, ["again"], "a running script may answer yet");
  busy = null;
  rest();
  assert.deepEqual(events, ["again", "pointerdown", "pointerup"]);
  for (let k = 0; k < 9; k++) rest();
  assert.equal(events.length, 5, "three times at most");
});
