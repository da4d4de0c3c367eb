// Give Plotly what changed in a figure. Streamlit's own part keeps the first content (ui/shell/steady.py).

const WAIT = 50; // milliseconds between looks for a figure that is not drawn yet
const MOST = 1200; // looks, a minute: a slow machine must not keep what it drew first
const latest = {}; // data by the figure's key: who waits for a figure may have become obsolete

export default function ({ data }) {
  latest[data.key] = data;
  if (data.figure) update(data, JSON.parse(data.figure, decoded), 0);
}

function update(data, figure, looks) {
  if (latest[data.key] !== data) return;
  const chart = document.querySelector(`.st-key-${data.key} .js-plotly-plot`);
  if (!chart?._fullLayout || !window.Plotly) {
    if (looks < MOST) setTimeout(update, WAIT, data, figure, looks + 1);
    return;
  }
  if (!chart.wanted) chart.on("plotly_afterplot", () => chart.data !== chart.wanted.data && draw(chart));
  chart.wanted = chart.wanted ? kept(chart.wanted, figure) : figure;
  chart.closest('[role="figure"]')?.setAttribute("aria-label", data.alt);
  draw(chart);
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
