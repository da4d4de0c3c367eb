// Give Plotly what changed in a figure. Streamlit's own part keeps the first content (ui/shell/steady.py).

const WAIT = 50; // milliseconds between looks for a figure that is not drawn yet
const MOST = 100; // looks
const latest = {}; // data by the figure's key: who waits for a figure may have become obsolete

export default function ({ data }) {
  latest[data.key] = data;
  if (data.figure) update(data, JSON.parse(data.figure), 0);
}

function update(data, figure, looks) {
  if (latest[data.key] !== data) return;
  const chart = document.querySelector(`.st-key-${data.key} .js-plotly-plot`);
  if (!chart?._fullLayout || !window.Plotly) {
    if (looks < MOST) setTimeout(update, WAIT, data, figure, looks + 1);
    return;
  }
  if (!chart.wanted) chart.on("plotly_afterplot", () => chart.data !== chart.wanted.data && draw(chart));
  chart.wanted = figure;
  chart.closest('[role="figure"]')?.setAttribute("aria-label", data.alt);
  draw(chart);
}

// Streamlit owns what depends on theme and window; it draws its first content again when these change.
function draw(chart) {
  const { template, width, height, clickmode, hovermode, dragmode } = chart.layout;
  const layout = { ...chart.wanted.layout, template, width, height, clickmode, hovermode, dragmode };
  window.Plotly.react(chart, chart.wanted.data, layout);
}
