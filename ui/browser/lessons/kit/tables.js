// Tables of numbers, and the sizes of those of rank 1 that add up to a matrix.

import { drawAxes, drawText, inkOf, strokeOf } from "./parts.js";

// Return the path of crosses in all cells of a box: `across` and `down` are the sizes of a cell.
export function crosses({ x, y, across, down }, rows, columns) {
  const places = Array.from({ length: rows * columns }, (_, k) => [k % columns, Math.floor(k / columns)]);
  return places.map(([j, i]) => {
    const [left, right] = [0.3, 0.7].map((by) => x + (j + by) * across);
    const [top, bottom] = [0.3, 0.7].map((by) => y + (i + by) * down);
    return `M${left} ${top}L${right} ${bottom}M${left} ${bottom}L${right} ${top}`;
  }).join("");
}

// Draw a small table of rank 1: each cell is its row's number × its column's.
export function drawProduct(paint, { x, y, width }, [rows, columns], name) {
  const side = 44, cell = (width - side) / columns.length, high = 28;
  const put = (key, px, py, text, colour = null) => drawText(paint, key, px, py, text, { colour, name: "small" });
  put("product", x + side + (width - side) / 2, y, name);
  columns.forEach((c, j) => {
    const left = x + side + j * cell, middle = left + cell / 2;
    put(`factor column${j}`, middle, y + 26, String(c), "var(--guess)");
    rows.forEach((r, i) => {
      const top = y + 42 + i * high, look = strokeOf("var(--edge)", 1);
      paint.put("lines", `product${i} ${j}`, "rect", { x: left, y: top, width: cell, height: high, ...look });
      put(`product${i} ${j}`, middle, top + high / 2, `${r} × ${c} = ${r * c}`);
      if (j === 0) put(`factor row${i}`, x + side - 14, top + high / 2, String(r), "var(--guess)");
    });
  });
}

// Draw bars of sizes, which are shares of the largest, on a logarithmic scale; those above the line `counts` count, and
// can be chosen. The first few have their size as text(share); the bar `at` is chosen; label(k) names bar k.
export function drawSizes(paint, plot, shares, { least, counts, few, at, colour, text, label, choose }) {
  drawAxes(paint, "bars", plot);
  shares.forEach((share, k) => {
    const x = plot.x(k + 0.65), y = plot.y(Math.max(share, least)), width = plot.x(k + 1.35) - x, real = share > counts;
    const ink = inkOf(real ? colour : "var(--line)", k === at && { stroke: "var(--ink)", "stroke-width": "2.5px" });
    paint.put("lines", `bar${k}`, "rect", { x, y, width, height: Math.max(plot.bottom - y, 0), ...ink });
    if (!real) return;
    paint.grip("grips", `table${k}`, "rect", {
      x, y: plot.top, width, height: Math.max(plot.height, 0), class: "reach", style: "stroke-width:0",
      "aria-label": label(k), "aria-pressed": String(k === at),
    }, { press: () => choose(k), among: [x, y] });
    if (k < few) paint.put("labels", `size${k}`, "text", { x: plot.x(k + 1), y: y - 9, class: "size" }, text(share));
  });
  const line = strokeOf("var(--wrong)", 2, { "stroke-dasharray": "6 4" });
  paint.put("lines", "tolerance", "path", { d: `M${plot.left} ${plot.y(counts)}H${plot.right}`, ...line });
}
