// Marks of a reader's prediction: what was found, wrongly marked or missed; and the lines that a click would mark.

export const ring = (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 1 ${2 * r} 0a${r} ${r} 0 1 1 ${-2 * r} 0`;
const MARKS = {
  over: (x, y, r) => `M${x - r} ${y - r}L${x + r} ${y + r}M${x - r} ${y + r}L${x + r} ${y - r}`,
  missed: ring,
  found: (x, y, r) => `M${x - r} ${y}l${0.7 * r} ${0.8 * r}L${x + r} ${y - 0.9 * r}`,
};

// Return how a line is judged; null for one that is rightly left unmarked.
export const verdict = (marked, wrong) => (marked ? (wrong ? "found" : "over") : wrong ? "missed" : null);

export function drawVerdict(paint, key, kind, x, y) {
  if (!kind) return;
  paint.put("over", `${key} back`, "circle", { cx: x, cy: y, r: 11, class: "judged-back" });
  paint.put("over", key, "path", { class: `judged ${kind}`, d: MARKS[kind](x, y, 7) });
}

// Name the marks, with the first row at this place.
export function drawLegend(paint, [x, y], words) {
  Object.keys(MARKS).forEach((kind, k) => {
    const top = y + 20 * k;
    paint.put("over", `legend ${kind}`, "path", { class: `judged ${kind}`, d: MARKS[kind](x, top, 6) });
    paint.put("over", `legend text ${kind}`, "text", { x: x + 12, y: top, class: "label start" }, words[kind]);
  });
}

// Return a line with a ring of radius r around both ends, and a gap for a mark in its middle.
export function aimOf([x1, y1], [x2, y2], r) {
  const [dx, dy] = [x2 - x1, y2 - y1], far = Math.hypot(dx, dy) || 1, near = r / far, half = 0.5 - 12 / far;
  const part = (from, to) => `M${x1 + from * dx} ${y1 + from * dy}L${x1 + to * dx} ${y1 + to * dy}`;
  return `${part(near, half)}${part(1 - half, 1 - near)}${ring(x1, y1, r)}${ring(x2, y2, r)}`;
}
