// Rules for the JavaScript of the app (modules for browsers) and of its tests (node).

import js from "@eslint/js";

const names = (...list) => Object.fromEntries(list.map((name) => [name, "readonly"]));
const BROWSER = names(
  "window", "document", "fetch", "Blob", "DOMParser", "XMLSerializer", "Image", "ImageData", "OffscreenCanvas", "URL",
  "setTimeout", "clearTimeout", "atob", "btoa", "requestAnimationFrame", "cancelAnimationFrame", "performance",
  "getComputedStyle", "ResizeObserver", "CustomEvent", "TextEncoder", "CompressionStream", "Response",
  "MutationObserver", "history", "innerWidth", "location", "URLSearchParams",
);

const RULES = {
  eqeqeq: "error",
  "no-var": "error",
  "prefer-const": "error",
  "no-implicit-globals": "error",
  "no-eval": "error",
  "no-new-func": "error",
  "no-shadow": "error",
  "no-unused-vars": ["error", { args: "all", argsIgnorePattern: "^_" }],
  // foreign text (names of queries and documents) is never parsed as HTML
  "no-restricted-properties": [
    "error",
    ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({
      property, message: "Use textContent, or make elements.",
    })),
  ],
  "max-len": ["error", { code: 120 }],
  "max-lines": ["error", 300],
  "max-lines-per-function": ["error", 40],
};

export default [
  { ignores: ["static/", "docs/", "build/", "screens/", ".venv/"] },
  js.configs.recommended,
  { files: ["**/*.js"], languageOptions: { ecmaVersion: 2022, sourceType: "module" }, rules: RULES },
  { files: ["ui/**/*.js", "tests/e2e/**/*.js"], languageOptions: { globals: BROWSER } },
  {
    files: ["tests/js/**/*.js"],
    languageOptions: { globals: names("Blob", "Buffer", "URL", "URLSearchParams", "TextEncoder", "globalThis") },
  },
];
