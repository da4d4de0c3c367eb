// The Playground on a page of its own, without a server: menus, and the state in the location's hash.
//
// start(parent, data) does what ui/learn/playground_scene.py does in the app: it keeps what was changed by hand. The
// hash has the names and values of the app's address. tools/lessons.py makes `data`: { title, unread, menus, keys,
// sets, looks, sliders }. A page needs plane.css, alone.css here and alone.css of the lessons.

import { made } from "../shell/elements.js";
import { clamped, documentsOf } from "./geometry.js";
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

export function start(parent, { title, unread, menus, keys, sets, looks, sliders }) {
  const place = made("div", {}), note = made("p", { role: "status", class: "unread" });
  const selects = menus.map(({ key, options }) => made("select", { onchange: () => choose(key) }, ...options.map((text) => (
    made("option", {}, text)))));
  const named = selects.map((menu, k) => made("label", {}, menus[k].label, menu));
  parent.append(made("header", { class: "lessons-head" }, made("h1", {}, title), ...named), note, place);
  const dark = window.matchMedia("(prefers-color-scheme: dark)"), bounds = Object.values(looks)[0];
  let values, hand, before, rev = 0;

  const draw = () => {
    const code = (key) => menus.find((menu) => menu.key === key).codes[values[key]], map = code("pmap");
    const look = looks[`${dark.matches ? "dark" : "light"} ${map}`], set = `${values.pset} ${values.peach}`;
    const found = new Map([...documentsOf(sets[set]).map((one) => [one.id, one]), ...hand.changed]);
    const documents = [...found.values()].filter(Boolean);
    const listed = (places) => Array.from(places, ([k, { x, y }]) => [k, x, y]);
    document.documentElement.classList.toggle("dark", dark.matches);
    selects.forEach((menu, k) => { menu.value = values[menus[k].key]; });
    plane({
      parentElement: place, setStateValue: take, data: {
        ...look, words: { ...look.words, plane: `The plane: ${documents.length} documents` },
        documents: documents.map(({ id, x, y, grade, query }) => [id, x, y, grade, query]),
        moved: listed(hand.moved), turned: listed(hand.turned), set, seed: 0, rev,
        next: Math.max(sets[set].length, ...Array.from(hand.changed.keys(), (k) => k + 1)),
        undo: before.length, byHand: hand.changed.size + hand.moved.size + hand.turned.size, loss: code("ploss"),
        sliders: sliders[map].map((one) => ({ ...one, raw: values[keys[one.name]] })),
      },
    });
  };
  const keep = () => {
    const given = Object.entries({ ...values, docs: lineOf(hand) }).filter(([key, value]) => value !== first[key]);
    history.replaceState(null, "", `#${new URLSearchParams(given)}`);
    draw();
  };
  // Changes come again until the plane has seen their number.
  const take = (_, changes) => {
    for (const change of changes.filter((one) => one.rev > rev)) {
      rev = change.rev;
      if (change.kind === "set") values[keys[change.name]] = change.raw;
      else if (change.kind === "undo") hand = before.pop() ?? hand;
      else {
        before = [...before, hand].slice(-FURTHEST);
        hand = changedBy(hand, change);
      }
    }
    keep();
  };
  const choose = (key) => {
    values[key] = selects[menus.findIndex((menu) => menu.key === key)].value;
    if (key === "pset" || key === "peach") [hand, before] = [unchanged(), []];
    keep();
  };
  const first = { docs: "", ...Object.fromEntries([
    ...menus.map(({ key, first: value }) => [key, value]),
    ...Object.values(sliders)[0].map(({ name, raw }) => [keys[name], raw]),
  ]) };
  // Take the state from the hash; what is unknown stays at its first value, and is said.
  const open = () => {
    const asked = new URLSearchParams(window.location.hash.slice(1)), { docs, ...rest } = first;
    values = rest;
    let known = true;
    for (const [key, options] of [...menus.map((menu) => [menu.key, menu.options]),
      ...Object.values(sliders)[0].map(({ name, steps }) => [keys[name], steps])]) {
      const found = options.find((one) => String(one) === asked.get(key));
      if (found !== undefined) values[key] = found;
      known &&= found !== undefined || !asked.has(key);
    }
    hand = read(asked.get("docs") ?? docs, bounds);
    note.textContent = known && hand ? "" : unread;
    hand ??= unchanged();
    before = [];
    draw();
  };
  window.onhashchange = open;
  dark.onchange = draw;
  open();
}
