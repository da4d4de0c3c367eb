// The ranked list of the What if page: its rows are dragged by pointer or keys; drops go to Python.

import { Drag } from "./drag.js";
import { dropped, gradeOfKey, meaningOfKey, moved, shift, step } from "./order.js";
import { element, fill, fillBefore, fillSlopes, makeList, makeRow } from "./rows.js";

const lists = new WeakMap();

class RankedList {
  constructor(root) {
    this.root = root;
    this.view = root.querySelector(".view");
    this.rows = root.querySelector(".now");
    this.before = root.querySelector(".before");
    this.slopes = root.querySelector(".slopes");
    this.live = root.querySelector(".live");
    this.made = new Map();
    this.keys = [];
    this.held = null; // {key, from, to, by: "keys" | "pointer"}
    this.active = null;
    new Drag(this);
    this.rows.addEventListener("keydown", (event) => this.pressed(event));
    this.rows.addEventListener("keyup", (event) => event.key === "Alt" && this.letGo(event));
    this.rows.addEventListener("focusin", (event) => this.activate(this.keyOf(event.target)));
    this.rows.addEventListener("focusout", () => this.held?.by === "keys" && !this.updating && this.cancel());
    this.rows.addEventListener("change", (event) => this.graded(event.target));
    this.rows.addEventListener("click", (event) => this.clicked(event.target));
    this.rows.addEventListener("pointerover", (event) => this.light(this.keyOf(event.target)));
    this.rows.addEventListener("pointerleave", () => this.light(null));
    new ResizeObserver(() => this.resized()).observe(root);
  }

  // data from Python

  show(data, send) {
    this.send = send;
    this.rows.inert = data.locked;
    if (this.data?.tick === data.tick) return;
    const first = this.data === undefined;
    this.data = data;
    this.held = null;
    this.root.setAttribute("aria-busy", "false");
    this.arrange(first);
    if (!first && data.said) this.say(data.said);
  }

  arrange(first) {
    const { now, before } = this.data;
    const old = new Map(this.keys.map((key, place) => [key, place]));
    const focus = this.root.getRootNode().activeElement;
    this.updating = true;
    this.keys = now.map((one) => one.key);
    if (!this.keys.includes(this.active)) this.active = this.keys[0];
    this.pitch = this.measured();
    const scores = now.map((one) => one.score);
    const ends = [Math.min(...scores), Math.max(...scores)];
    const rows = now.map((one, rank) => {
      if (!this.made.has(one.key)) this.made.set(one.key, makeRow(one.key));
      const row = this.made.get(one.key);
      fill(row, one, rank, this.data, ends);
      this.reach(row, one.key === this.active);
      return row;
    });
    this.root.classList.add("still");
    this.rows.replaceChildren(...rows);
    rows.forEach((row, rank) => this.put(row, old.get(this.keys[rank]) ?? rank));
    if (this.rows.contains(focus)) focus.focus({ preventScroll: true });
    this.updating = false;
    fillBefore(this.before, before, this.pitch, now);
    this.root.classList.toggle("moved", now.some((one, rank) => one.before !== rank));
    this.resized();
    void this.rows.offsetHeight; // rows start at their former positions and glide from there
    this.root.classList.toggle("still", first);
    rows.forEach((row, rank) => this.put(row, rank));
  }

  measured() {
    const pitch = getComputedStyle(this.root).getPropertyValue("--pitch"); // in rem
    return parseFloat(pitch) * parseFloat(getComputedStyle(document.documentElement).fontSize);
  }

  resized() {
    if (!this.data) return;
    const height = `${Math.max(this.data.now.length, this.data.before.length) * this.pitch}px`;
    for (const one of [this.rows, this.before, this.slopes]) one.style.height = height;
    const width = this.slopes.clientWidth;
    if (width) fillSlopes(this.slopes, this.data, this.pitch, width);
  }

  // rows

  put(row, place) {
    row.style.transform = `translateY(${place * this.pitch}px)`;
  }

  keyOf(target) {
    return target.closest?.(".row")?.dataset.key ?? null;
  }

  row(key) {
    return this.made.get(key);
  }

  named(key) {
    return this.data.now.find((one) => one.key === key)?.name ?? "";
  }

  /** The row that Tab comes to is the one that was active last. */
  reach(row, yes) {
    for (const part of row.querySelectorAll("button, select")) part.tabIndex = yes ? 0 : -1;
  }

  activate(key) {
    if (key === null || key === this.active) return;
    if (this.row(this.active)) this.reach(this.row(this.active), false);
    this.active = key;
    this.reach(this.row(key), true);
  }

  light(key) {
    for (const line of this.slopes.children) line.classList.toggle("lit", line.dataset.key === key);
  }

  // a held row

  hold(key, by) {
    const from = this.keys.indexOf(key);
    this.held = { key, from, to: from, by };
    this.row(key).classList.add("held");
    this.root.classList.remove("still");
    this.root.classList.add("holding");
    if (by === "keys") this.say(`${this.named(key)} is held at rank ${from + 1}. Arrow keys move it.`);
  }

  moveTo(place) {
    const { key, from, to, by } = this.held;
    if (place === to) return;
    this.held.to = place;
    this.keys.forEach((other, at) => {
      const [now, was] = [shift(at, from, place), shift(at, from, to)];
      if (other !== key && now !== was) this.put(this.row(other), at + now);
    });
    if (by !== "keys") return;
    this.put(this.row(key), place);
    this.row(key).scrollIntoView({ block: "nearest" });
    this.say(this.placeInWords());
  }

  placeInWords() {
    const { from, to } = this.held;
    if (to === from) return `Rank ${to + 1}, where it was.`;
    const side = to < from ? "above" : "below";
    return `Rank ${to + 1}, ${side} ${this.named(this.keys[to])}.`;
  }

  letGo(event) {
    if (this.held?.by === "keys" && this.held.alt) {
      event.preventDefault();
      this.drop();
    }
  }

  drop() {
    const { key, from, to } = this.release();
    const change = dropped(this.keys, from, to);
    this.keys = moved(this.keys, from, to); // until the new order arrives
    this.keys.forEach((one, place) => this.put(this.row(one), place));
    if (!change) return;
    this.tell(change);
    this.say(`${this.named(key)} is dropped at rank ${to + 1}. Training.`);
  }

  cancel() {
    this.release();
    this.keys.forEach((key, place) => this.put(this.row(key), place));
    this.say("Put back.");
  }

  release() {
    const held = this.held;
    this.held = null;
    this.row(held.key).classList.remove("held");
    this.root.classList.remove("holding");
    return held;
  }

  // other actions of the visitor

  pressed(event) {
    const key = this.keyOf(event.target);
    if (!key || !event.target.classList.contains("grip")) return;
    const grade = this.held ? null : gradeOfKey(event.key, this.data.grades);
    const meaning = meaningOfKey(event, this.held !== null);
    if (grade !== null) this.setGrade(key, grade);
    else if (meaning) this.obey(meaning, key, event);
    else return;
    event.preventDefault();
  }

  obey({ kind, by }, key, { altKey }) {
    const n = this.keys.length;
    if (kind === "hold") this.hold(key, "keys");
    if (kind === "drop") this.drop();
    if (kind === "cancel") this.cancel();
    if (kind === "focus") this.row(this.keys[step(this.keys.indexOf(key), by, n)]).firstChild.focus();
    if (kind === "move") {
      if (!this.held) {
        this.hold(key, "keys");
        this.held.alt = altKey;
      }
      this.moveTo(step(this.held.to, by, n));
    }
  }

  graded(menu) {
    if (menu.classList.contains("grade")) this.setGrade(this.keyOf(menu), Number(menu.value));
  }

  clicked(target) {
    if (target.classList.contains("out")) this.tell({ do: "out", key: this.keyOf(target) });
  }

  setGrade(key, grade) {
    if (grade === this.data.now.find((one) => one.key === key).grade) return;
    this.tell({ do: "grade", key, grade });
    this.say(`${this.named(key)} has grade ${grade} now. Training.`);
  }

  tell(what) {
    this.root.setAttribute("aria-busy", "true");
    this.send(what);
  }

  say(text) {
    this.live.replaceChildren(element("span", "", text));
  }
}

export default function ({ data, parentElement, setTriggerValue }) {
  if (!lists.has(parentElement)) {
    const root = makeList();
    parentElement.append(root);
    lists.set(parentElement, new RankedList(root));
  }
  lists.get(parentElement).show(data, (what) => setTriggerValue("gesture", what));
}
