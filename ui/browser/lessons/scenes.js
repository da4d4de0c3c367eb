// Scenes by name; a lesson's text names its own. lesson.js says what a scene is.

import { lossScene } from "./scenes/loss.js";
import { ndcgScene } from "./scenes/ndcg.js";
import { newtonScene } from "./scenes/newton.js";
import { pairsScene } from "./scenes/pairs.js";

export const SCENES = { pairs: pairsScene, ndcg: ndcgScene, loss: lossScene, newton: newtonScene };
