// Makes a picture of a figure and has the browser save it. ui/shell/figures.py says what `job` holds.
//
// Letters are measured in a wide font (Arial's widths) and drawn in a narrower one, which the picture carries
// with it. A program that reads no fonts from a picture draws in Arial: nothing is cut there either. Plotly is
// the one that draws the page's figures: it makes itself known to the window.

const FAMILY = "Source Sans";
const FALLBACK = "Arial, Helvetica, sans-serif";
const PIXELS_PER_MM = 96 / 25.4;
const PNG_SCALE = { px: 2, mm: (300 / 25.4) / PIXELS_PER_MM };
const made = new Set(); // a popover that opens again shows its elements anew: one picture for one press

export async function save(job) {
  if (made.has(job.id)) return;
  made.add(job.id);
  try {
    const svg = await drawn(job);
    await download(job.format === "png" ? await raster(svg, job) : new Blob([text(svg)]), job.name);
    say(job, `Saved as ${job.name}.`);
  } catch (error) {
    say(job, `The picture could not be made (${error.message}). Try again, or save the figure as HTML.`);
  }
}

function say(job, words) {
  const place = document.getElementById(job.id);
  if (place) place.textContent = words;
}

async function drawn(job) {
  const font = await asDataUri(job.font);
  const shown = document.querySelector(`.st-key-${job.key} .js-plotly-plot`);
  if (!shown || !window.Plotly) throw new Error("the figure is no longer on the page");
  const { width: screenWidth, height: screenHeight } = shown.getBoundingClientRect();
  const [width, height] = job.canvas ?? [Math.round(screenWidth), Math.round(screenHeight)];
  const layout = { ...asOnScreen(job.figure, shown), width, height };
  const options = { format: "svg", width, height, imageDataOnly: true };
  const found = await window.Plotly.toImage({ data: job.figure.data, layout }, options);
  const svg = new DOMParser().parseFromString(found, "image/svg+xml").documentElement;
  for (const part of svg.querySelectorAll(".legend, .legend [clip-path]")) part.removeAttribute("clip-path");
  for (const part of svg.querySelectorAll("[style*=font-family]")) {
    part.style.fontFamily = `"${FAMILY}", ${FALLBACK}`;
  }
  const style = document.createElementNS(svg.namespaceURI, "style");
  style.textContent = `@font-face { font-family: "${FAMILY}"; font-weight: 200 900; src: url("${font}"); }`;
  const about = document.createElementNS(svg.namespaceURI, "desc");
  about.textContent = job.about;
  svg.prepend(about, style);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const outside = job.width ?? width;
  resize(svg, outside, (outside * height) / width, job.unit);
  return svg;
}

// What the visitor has made of it: axes that were zoomed, traces that were hidden, the frame that is shown.
export function asOnScreen(figure, shown) {
  const frame = figure.frames?.[shown.layout.sliders?.[0]?.active];
  const layout = { ...figure.layout, ...frame?.layout, sliders: [], updatemenus: [] };
  figure.data.forEach((trace, number) => {
    Object.assign(trace, frame?.data[number]);
    const visible = shown.data[number]?.visible;
    if (visible !== undefined) trace.visible = visible;
  });
  for (const [name, axis] of Object.entries(shown._fullLayout)) {
    if (/^[xy]axis\d*$/.test(name) && axis.range && !axis.autorange) {
      layout[name] = { ...layout[name], range: [...axis.range], autorange: false };
    }
  }
  return layout;
}

async function asDataUri(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error("the server does not answer");
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte));
  return `data:font/woff2;base64,${btoa(letters.join(""))}`;
}

function resize(svg, width, height, unit) {
  svg.setAttribute("width", `${+width.toFixed(2)}${unit}`);
  svg.setAttribute("height", `${+height.toFixed(2)}${unit}`);
}

const text = (svg) => new XMLSerializer().serializeToString(svg);

async function raster(svg, job) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const across = (job.width ?? width) * (job.unit === "mm" ? PIXELS_PER_MM : 1) * PNG_SCALE[job.unit];
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(across);
  canvas.height = Math.round((across * height) / width);
  resize(svg, canvas.width, canvas.height, "px");
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text(svg)], { type: "image/svg+xml" }));
  await image.decode();
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  const png = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return job.unit === "mm" ? withDots(await png.arrayBuffer()) : png;
}

// The PNG with 300 dots per inch written into it (chunk pHYs, which stands after the header's 33 bytes), so
// that word processors show it as wide as it is meant.
export function withDots(png) {
  const chunk = new DataView(new ArrayBuffer(21));
  const dotsPerMetre = Math.round(300 / 0.0254);
  chunk.setUint32(0, 9);
  chunk.setUint32(4, 0x70485973); // pHYs
  chunk.setUint32(8, dotsPerMetre);
  chunk.setUint32(12, dotsPerMetre);
  chunk.setUint8(16, 1); // per metre
  chunk.setUint32(17, crc32(new Uint8Array(chunk.buffer, 4, 13)));
  return new Blob([png.slice(0, 33), chunk.buffer, png.slice(33)], { type: "image/png" });
}

export function crc32(bytes) {
  let rest = ~0;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return ~rest;
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
