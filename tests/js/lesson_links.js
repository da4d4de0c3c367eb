// The links of lessons to pages of the app, as JSON: for tests/pages/test_lessons.py.

import { readFileSync } from "node:fs";
import process from "node:process";

import { stageOf } from "./lesson_stage.js";
import { SCENES } from "../../ui/browser/lessons/scenes.js";

const TEXTS = new URL("../../ui/browser/lessons/texts/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, TEXTS)));
const links = read("frame").lessons.map((name) => {
  const scene = SCENES[name](stageOf(read(name)));
  scene.show(4, "shown", false);
  return [name, scene.link()];
});
process.stdout.write(JSON.stringify(Object.fromEntries(links)));
