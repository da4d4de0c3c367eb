// Scenes by name; a lesson's text names its own. lesson.js says what a scene is.

import { alphaScene } from "./scenes/alpha.js";
import { fourierScene } from "./scenes/fourier.js";
import { kernelScene } from "./scenes/kernel.js";
import { lossScene } from "./scenes/loss.js";
import { ndcgScene } from "./scenes/ndcg.js";
import { newtonScene } from "./scenes/newton.js";
import { nystroemScene } from "./scenes/nystroem.js";
import { pairsScene } from "./scenes/pairs.js";
import { regularisationScene } from "./scenes/regularisation.js";

export const SCENES = {
  pairs: pairsScene, ndcg: ndcgScene, loss: lossScene, regularisation: regularisationScene, newton: newtonScene,
  kernel: kernelScene, nystroem: nystroemScene, fourier: fourierScene, alpha: alphaScene,
};
