// Scenes by name; a lesson's text names its own. lesson.js says what a scene is.

import { alphaScene } from "./scenes/alpha.js";
import { fourierScene } from "./scenes/fourier.js";
import { kernelScene } from "./scenes/kernel.js";
import { nystroemScene } from "./scenes/nystroem.js";
import { pairsScene } from "./scenes/pairs.js";
import { regularisationScene } from "./scenes/regularisation.js";

export const SCENES = {
  pairs: pairsScene, regularisation: regularisationScene, kernel: kernelScene, nystroem: nystroemScene,
  fourier: fourierScene, alpha: alphaScene,
};
