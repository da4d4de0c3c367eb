// Create the rows of the list. Texts of documents are set as textContent only.

import { fate, share, slope } from "./order.js";

const SVG = "http://www.w3.org/2000/svg";
const filled = new WeakMap();

/** An element with a class and a text. */
export function element(tag, name, text = "") {
  const made = document.createElement(tag);
  made.className = name;
  made.textContent = text;
  return made;
}

/** The elements of the whole list, without rows yet. */
export function makeList() {
  const root = element("div", "ranked-list");
  const heads = element("div", "heads");
  heads.append(element("span", "", "Before"), element("span"), element("span", "", "Now"),
    element("span", "of-grades", "grade and score"));
  const view = element("div", "view");
  const slopes = document.createElementNS(SVG, "svg");
  slopes.setAttribute("class", "slopes");
  slopes.setAttribute("aria-hidden", "true");
  const before = element("ol", "before");
  before.setAttribute("aria-label", "The order before");
  const now = element("ol", "now");
  now.setAttribute("aria-label", "The order now");
  view.append(before, slopes, now);
  const live = element("p", "live");
  live.setAttribute("role", "status");
  root.append(heads, element("div", "busy"), view, live);
  return root;
}

/** The elements of a row; what they say is filled in by `fill`. */
export function makeRow(key) {
  const row = element("li", "row");
  row.dataset.key = key;
  const grip = element("button", "grip");
  grip.type = "button";
  grip.append(element("span", "dots", "⠿"), element("span", "rank"), element("span", "name"));
  const grade = element("select", "grade");
  const bar = element("span", "bar");
  bar.append(element("span", "length"));
  const out = element("button", "out", "×");
  out.type = "button";
  row.append(grip, grade, bar, out);
  return row;
}

/** Put what is known of a document into its row. */
export function fill(row, document_, rank, data, [lowest, highest]) {
  const { name, grade, was, score, before } = document_;
  const find = (part) => row.querySelector(`.${part}`);
  row.dataset.fate = fate(before, rank);
  row.classList.toggle("marked", document_.key === data.marked);
  find("rank").textContent = rank + 1;
  find("name").textContent = name;
  find("name").title = name;
  find("grip").setAttribute("aria-label", said(document_, rank, data.now.length));
  fillGrade(find("grade"), name, grade, was, data);
  find("length").style.transform = `scaleX(${0.02 + 0.98 * share(score, lowest, highest)})`;
  find("bar").title = `score ${score.toPrecision(4)}`;
  find("out").setAttribute("aria-label", `Leave ${name} out`);
  find("out").title = "Leave this document out";
}

function fillGrade(menu, name, grade, was, { grades, colours }) {
  if (isFilled(menu, [name, grade, was, grades, colours])) {
    menu.value = grade; // the visitor may have chosen another one that was refused
    return;
  }
  const shown = grades.includes(grade) ? grades : [...grades, grade].sort((a, b) => a - b);
  menu.replaceChildren(
    ...shown.map((one) => {
      const option = element("option", "", String(one));
      option.value = one;
      return option;
    }),
  );
  menu.value = grade;
  const [back, ink] = colours[Math.min(grade, colours.length - 1)];
  menu.style.background = back;
  menu.style.color = ink;
  menu.classList.toggle("changed", was !== grade && was !== null);
  menu.setAttribute("aria-label", `Grade of ${name}`);
  menu.title = was !== grade && was !== null ? `grade ${grade}, was ${was}` : `grade ${grade}`;
}

/** Whether an element was filled from the same before; most rows of a list stay as they are. */
function isFilled(one, from) {
  const told = JSON.stringify(from);
  const same = filled.get(one) === told;
  filled.set(one, told);
  return same;
}

function said({ name, grade, before }, rank, n) {
  const was = before === null ? "new" : before === rank ? "as before" : `was ${before + 1}`;
  return `Rank ${rank + 1} of ${n}, ${was}: ${name}, grade ${grade}`;
}

/** The old order: a rank and a name each, in the order in which they stood. */
export function fillBefore(list, before, pitch, now) {
  const left = new Set(now.map((one) => one.key));
  if (isFilled(list, [before, pitch, before.map(({ key }) => left.has(key))])) return;
  list.replaceChildren(
    ...before.map(({ key, name }, rank) => {
      const row = element("li", left.has(key) ? "ghost" : "ghost gone");
      row.style.transform = `translateY(${rank * pitch}px)`;
      row.append(element("span", "rank", String(rank + 1)), element("span", "name", name));
      row.title = left.has(key) ? name : `${name}, left out`;
      return row;
    }),
  );
}

/** The slope lines from the old order to the new one. */
export function fillSlopes(svg, { now, marked }, pitch, width) {
  svg.replaceChildren(
    ...now.flatMap(({ key, before }, rank) => {
      if (before === null) return [];
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("d", slope(before, rank, pitch, width));
      line.setAttribute("class", key === marked ? "marked" : fate(before, rank));
      line.dataset.key = key;
      return [line];
    }),
  );
}
