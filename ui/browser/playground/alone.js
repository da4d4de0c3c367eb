// The Playground on a page of its own, without a server: menus, and the state in the location's hash.
//
// start(parent, data) does what ui/learn/playground_scene.py does in the app: it keeps what was changed by hand. The
// hash has the names and values of the app's address. tools/lessons.py makes `data`: { title, unread, menus, keys,
// sets, looks, sliders }. A page needs plane.css, alone.css here and alone.css of the lessons.

import { made } from "../shell/elements.js";
import { clamped, documentsOf, nextId } from "./geometry.js";
import plane from "./plane.js";

const ITEM = /^(\d{1,3})(?:\.(-?\d{1,3})\.(-?\d{1,3})\.([0-4])\.([0-3]))?$/;
const PLACE = /^([zw])(\d{1,3})\.(-?\d{1,3})\.(-?\d{1,3})$/;
const FURTHEST = 200; // changes that can be undone

export const unchanged = () => ({ changed: new Map(), moved: new Map(), turned: new Map() });

// Return the changes by hand of a line of an address; null if it cannot be read.
export function read(line, { edge, far }) {
  const found = unchanged();
  for (const item of line.split("_").filter(Boolean)) {
    const place = PLACE.exec(item), one = ITEM.exec(item);
    if (!place && !one) return null;
    const at = (from, most) => ({ x: clamped(from[0] / 100, most), y: clamped(from[1] / 100, most) });
    if (place) found[place[1] === "z" ? "moved" : "turned"].set(Number(place[2]),
      at(place.slice(3), place[1] === "z" ? edge : far));
    else found.changed.set(Number(one[1]), one[2] === undefined ? null
      : { id: Number(one[1]), ...at(one.slice(2), edge), grade: Number(one[4]), query: Number(one[5]) });
  }
  return found;
}

// Return them as a line of an address.
export function lineOf({ changed, moved, turned }) {
  const at = ({ x, y }) => `${Math.round(100 * x)}.${Math.round(100 * y)}`;
  const placed = (sign, places) => Array.from(places, ([k, one]) => `${sign}${k}.${at(one)}`);
  return [
    ...Array.from(changed, ([k, one]) => (one ? `${k}.${at(one)}.${one.grade}.${one.query}` : `${k}`)),
    ...placed("z", moved), ...placed("w", turned),
  ].join("_");
}

// Return them after a change from the plane.
export function changedBy(hand, change) {
  if (change.kind === "reset") return unchanged();
  const name = { landmark: "moved", frequency: "turned" }[change.kind] ?? "changed";
  const { id, number, x, y, grade, query } = change, into = new Map(hand[name]);
  if (name !== "changed") into.set(number, { x, y });
  else into.set(id, change.kind === "drop" ? null : { id, x, y, grade, query });
  return { ...hand, [name]: into };
}

export const start = (parent, data) => new Alone(parent, data).open();

class Alone {
  constructor(parent, data) {
    Object.assign(this, { data, rev: 0, bounds: Object.values(data.looks)[0] });
    const sliders = Object.values(data.sliders)[0];
    this.options = new Map([...data.menus.map(({ key, options }) => [key, options]),
      ...sliders.map(({ name, steps }) => [data.keys[name], steps])]);
    this.first = Object.fromEntries([...data.menus.map(({ key, first }) => [key, first]),
      ...sliders.map(({ name, raw }) => [data.keys[name], raw])]);
    this.menus = new Map(data.menus.map(({ key, options }) => [key, made("select", { onchange: () => this.choose(key) },
      ...options.map((text) => made("option", {}, text)))]));
    this.place = made("div");
    this.note = made("p", { role: "status", class: "unread" });
    const labels = data.menus.map(({ key, label }) => made("label", {}, label, this.menus.get(key)));
    const head = made("header", { class: "lessons-head" }, made("h1", {}, data.title), ...labels);
    parent.append(head, this.note, this.place);
    this.dark = window.matchMedia("(prefers-color-scheme: dark)");
    this.dark.onchange = () => this.draw();
    window.onhashchange = () => this.open();
  }

  // Take the state from the hash; what cannot be read has its first value, and is said.
  open() {
    const asked = new URLSearchParams(window.location.hash.slice(1)), values = {};
    for (const [key, options] of this.options) values[key] = options.find((one) => String(one) === asked.get(key));
    const hand = read(asked.get("docs") ?? "", this.bounds);
    const known = hand && [...this.options.keys()].every((key) => !asked.has(key) || values[key] !== undefined);
    this.note.textContent = known ? "" : this.data.unread;
    this.values = Object.fromEntries(Object.entries(values).map(([key, one]) => [key, one ?? this.first[key]]));
    this.hand = hand ?? unchanged();
    this.before = [];
    this.draw();
  }

  // Put the state into the hash.
  keep() {
    const given = Object.entries(this.values).filter(([key, value]) => value !== this.first[key]);
    const docs = lineOf(this.hand);
    history.replaceState(null, "", `#${new URLSearchParams([...given, ...(docs ? [["docs", docs]] : [])])}`);
    this.draw();
  }

  // Another set, or another number of documents, begins anew.
  choose(key) {
    this.values[key] = this.menus.get(key).value;
    if (key === "pset" || key === "peach") Object.assign(this, { hand: unchanged(), before: [] });
    this.keep();
  }

  // Changes come again until the plane has seen their number.
  take(changes) {
    for (const change of changes.filter(({ rev }) => rev > this.rev)) {
      this.rev = change.rev;
      if (change.kind === "set") this.values[this.data.keys[change.name]] = change.raw;
      else if (change.kind === "undo") this.hand = this.before.pop() ?? this.hand;
      else {
        this.before = [...this.before, this.hand].slice(-FURTHEST);
        this.hand = changedBy(this.hand, change);
      }
    }
    this.keep();
  }

  draw() {
    const { values } = this, dark = this.dark.matches;
    document.documentElement.classList.toggle("dark", dark);
    for (const [key, menu] of this.menus) menu.value = values[key];
    plane({ data: this.sent(dark), parentElement: this.place, setStateValue: (_, changes) => this.take(changes) });
  }

  // Return what the app's server sends.
  sent(dark) {
    const { values, hand, before, rev, data } = this, set = `${values.pset} ${values.peach}`;
    const code = (key) => data.menus.find((menu) => menu.key === key).codes[values[key]];
    const map = code("pmap"), look = data.looks[`${dark ? "dark" : "light"} ${map}`];
    const drawn = documentsOf(data.sets[set]);
    const all = new Map([...drawn.map((one) => [one.id, one]), ...hand.changed]);
    const documents = [...all.values()].filter(Boolean);
    const listed = (places) => Array.from(places, ([k, { x, y }]) => [k, x, y]);
    return {
      ...look, words: { ...look.words, plane: `The plane: ${documents.length} documents` },
      documents: documents.map(({ id, x, y, grade, query }) => [id, x, y, grade, query]),
      moved: listed(hand.moved), turned: listed(hand.turned), set, seed: 0, rev, undo: before.length,
      byHand: hand.changed.size + hand.moved.size + hand.turned.size, next: nextId(documents, drawn.length),
      loss: code("ploss"), sliders: data.sliders[map].map((one) => ({ ...one, raw: values[data.keys[one.name]] })),
    };
  }
}
