// Give Plotly what changed in a figure. Streamlit's own part keeps the first content (ui/shell/steady.py).

const WAIT = 50; // milliseconds between looks for a figure that is not drawn yet
const MOST = 1200; // looks, a minute: a slow machine must not keep what it drew first
const latest = {}; // data by the figure's key: who waits for a figure may have become obsolete
const ahead = {}; // figures for other values of a slider, by its key
const answered = {}, timers = {}; // by a slider's key: the value that the server answered last, and when to look
const PATIENCE = 800, TRIES = 3; // milliseconds without an answer, and how often a value is sent again

export default function ({ data }) {
  if (data.figures) return hold(data);
  if (data.figure) show(data, JSON.parse(data.figure, decoded));
  else latest[data.key] = data;
  if (data.slider) {
    answered[data.slider] = data.at;
    expect(data.slider);
  }
}

function show(data, figure) {
  latest[data.key] = data;
  update(data, figure, 0);
}

function update(data, figure, looks) {
  if (latest[data.key] !== data) return;
  const chart = chartOf(data.key);
  if (!chart?._fullLayout || !window.Plotly || isOld(data)) {
    if (looks < MOST) setTimeout(update, WAIT, data, figure, looks + 1);
    return;
  }
  const last = chart.wanted;
  if (!last) chart.on("plotly_afterplot", () => chart.data !== chart.wanted.data && draw(chart));
  chart.wanted = last ? kept(last, figure) : figure;
  if (data.alt) chart.closest('[role="figure"]')?.setAttribute("aria-label", data.alt);
  if (chart.wanted !== last || chart.data !== last.data) draw(chart);
}

const chartOf = (key) => document.querySelector(`.st-key-${key} .js-plotly-plot`);

const inputOf = (slider) => document.querySelector(`.st-key-${slider} input[type="range"]`);

// The value of a slider on the page; no value if it is not there.
const valueOf = (slider) => inputOf(slider)?.getAttribute("aria-valuetext").replaceAll(",", "");

// A figure of another value than the slider's: the server's next answer is on its way.
const isOld = ({ slider, at }) => slider && (valueOf(slider) ?? at) !== at;

// Keep figures for other values of a slider, and draw them as soon as it moves: the server's answer comes later.
function hold({ slider, of, figures }) {
  if (!ahead[slider]) new MutationObserver(() => move(slider)).observe(document.body, MOVES);
  if (ahead[slider]?.of !== of) ahead[slider] = { of, at: valueOf(slider), figures: {} };
  for (const [at, own] of Object.entries(figures)) {
    ahead[slider].figures[at] = Object.entries(own).map(([key, figure]) => [key, JSON.parse(figure, decoded)]);
  }
}

const MOVES = { subtree: true, attributes: true, attributeFilter: ["aria-valuetext"] };

function move(slider) {
  const at = valueOf(slider), held = ahead[slider];
  if (at === held.at) return;
  held.at = at;
  expect(slider);
  // one by one, so that the browser can move the slider between two of them
  for (const [key, figure] of held.figures[at] ?? []) {
    if (chartOf(key)) setTimeout(show, 0, { key, slider, at }, figure);
  }
}

// After quick keys Streamlit's slider may keep its last value to itself, and the hidden control of the setting or the
// address an older one. So all are compared with the server's answer: a value is sent again, or the script runs again.
function expect(slider, tries = 0) {
  clearTimeout(timers[slider]);
  timers[slider] = setTimeout(() => {
    const at = answered[slider], own = slider.replace(/-on-page$/, ""), address = new URL(location.href);
    const [moved, hidden, told] = [valueOf(slider), valueOf(own), address.searchParams.get(own)]
      .map((value) => ![at, undefined, null].includes(value));
    if (tries === TRIES || !(moved || hidden || told)) return;
    const busy = document.querySelector(`[data-test-script-state="running"], .st-key-${slider}:active`);
    if (!busy && moved) release(slider);
    else if (!busy && hidden) window.runAgain(); // frame.js
    else if (!busy) {
      address.searchParams.set(own, at);
      history.replaceState(history.state, "", address);
    }
    expect(slider, busy ? tries : tries + 1);
  }, PATIENCE);
}

// Press and release a slider's thumb where it is: Streamlit then sends the value.
function release(slider) {
  const thumb = inputOf(slider).parentElement.parentElement, event = { bubbles: true, button: 0, pointerId: 1 };
  const { left, top } = thumb.getBoundingClientRect(), at = { clientX: left, clientY: top, pointerType: "mouse" };
  thumb.dispatchEvent(new window.PointerEvent("pointerdown", { ...event, ...at }));
  window.dispatchEvent(new window.PointerEvent("pointerup", { ...event, ...at }));
}

// The new figure with all parts of the last one that are equal: Plotly draws anew what is another object.
export function kept(last, now) {
  if (typeof last !== "object" || typeof now !== "object" || !last || !now) return now;
  if (ArrayBuffer.isView(now)) return now.length === last.length && now.every((one, i) => one === last[i]) ? last : now;
  const keys = Object.keys(now);
  for (const key of keys) now[key] = kept(last[key], now[key]);
  return keys.length === Object.keys(last).length && keys.every((key) => now[key] === last[key]) ? last : now;
}

const ARRAYS = {
  f8: Float64Array, f4: Float32Array, i4: Int32Array, u4: Uint32Array,
  i2: Int16Array, u2: Uint16Array, i1: Int8Array, u1: Uint8Array,
};

// Plotly's own form of arrays, decoded: it would decode it at each drawing, into another object.
export function decoded(_, value) {
  if (!value?.bdata) return value;
  const letters = atob(value.bdata), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  const flat = new ARRAYS[value.dtype](bytes.buffer);
  const [rows, columns] = (value.shape ?? "").split(",").map(Number);
  if (!columns) return flat;
  return Array.from({ length: rows }, (_row, i) => flat.subarray(i * columns, (i + 1) * columns));
}

// Streamlit owns what depends on theme and window; it draws its first content again when these change.
function draw(chart) {
  const { template, width, height, clickmode, hovermode, dragmode } = chart.layout;
  const layout = { ...chart.wanted.layout, template, width, height, clickmode, hovermode, dragmode };
  window.Plotly.react(chart, chart.wanted.data, layout);
}
