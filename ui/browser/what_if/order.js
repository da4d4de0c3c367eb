// Positions of rows in a ranked list before, during and after a drag. It uses no DOM.

/** The whole number nearest to `value` among 0 … n - 1. */
export function clamp(value, n) {
  return Math.max(0, Math.min(n - 1, Math.round(value)));
}

/** The place at which a row that was grabbed at place `from` is after a move by so many pixels. */
export function placeAfter(from, pixels, pitch, n) {
  return clamp(from + pixels / pitch, n);
}

/** By how many places the row at `place` gives way while the one at `from` is held at `to`. */
export function shift(place, from, to) {
  if (place > from && place <= to) return -1;
  if (place < from && place >= to) return 1;
  return 0;
}

/** The keys in the order in which they stand once the one at `from` is at `to`. */
export function moved(keys, from, to) {
  const rest = keys.filter((_, place) => place !== from);
  rest.splice(to, 0, keys[from]);
  return rest;
}

/** What a drop says: which document now stands directly above or below which; null where it has not moved. */
export function dropped(keys, from, to) {
  return from === to ? null : { do: to < from ? "above" : "below", key: keys[from], other: keys[to] };
}

/** Pixels to scroll in a frame while the pointer is near an end of what is seen of the list, or beyond it. */
export function scrollSpeed(y, top, bottom, edge = 36, fastest = 14) {
  if (y < top + edge) return -Math.min(fastest, ((top + edge - y) / edge) * fastest);
  if (y > bottom - edge) return Math.min(fastest, ((y - bottom + edge) / edge) * fastest);
  return 0;
}

/** A line from a rank of the old list (0, 1, …) to one of the new list, as a path in a box of this width. */
export function slope(before, now, pitch, width) {
  const [left, right] = [(before + 0.5) * pitch, (now + 0.5) * pitch];
  const bend = width / 2;
  return `M0 ${left}C${bend} ${left} ${width - bend} ${right} ${width} ${right}`;
}

/** Whether a document rose, fell, stayed, or came anew between two lists. */
export function fate(before, now) {
  if (before === null || before === undefined) return "new";
  if (now === before) return "same";
  return now < before ? "up" : "down";
}

/** The length of a score's bar as a share of the longest one, that of the lowest score being 0. */
export function share(score, lowest, highest) {
  return highest > lowest ? (score - lowest) / (highest - lowest) : 0.5;
}

/** The grade that a key stands for, null for any other key and for grades that there are not. */
export function gradeOfKey(key, grades) {
  const grade = /^[0-9]$/.test(key) ? Number(key) : null;
  return grades.includes(grade) ? grade : null;
}

/** What a key asks for, of a row that is held ("held"), or not. */
export function meaningOfKey({ key, altKey }, held) {
  const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 }[key];
  if (by && (held || altKey)) return { kind: "move", by };
  if (held && key === "Home") return { kind: "move", by: -Infinity };
  if (held && key === "End") return { kind: "move", by: Infinity };
  if (by) return { kind: "focus", by };
  if (key === "Home") return { kind: "focus", by: -Infinity };
  if (key === "End") return { kind: "focus", by: Infinity };
  if (key === " " || key === "Enter") return { kind: held ? "drop" : "hold" };
  if (held && key === "Escape") return { kind: "cancel" };
  return null;
}

/** `place + by` kept among 0 … n - 1; `by` may be without end. */
export function step(place, by, n) {
  return Math.max(0, Math.min(n - 1, place + by));
}
