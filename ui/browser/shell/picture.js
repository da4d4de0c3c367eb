// Make a picture of a figure and let the browser save it. ui/shell/figures.py describes `job`.
//
// Letters are measured in a wide font (Arial's widths) and drawn in a narrower one, which the picture contains.
// A program that ignores fonts in pictures uses Arial; nothing is cut there either. Plotly is the page's own
// copy, a property of the window.

const FAMILY = "Source Sans";
const FALLBACK = "Arial, Helvetica, sans-serif";
const PIXELS_PER_MM = 96 / 25.4;
const PNG_SCALE = { px: 2, mm: (300 / 25.4) / PIXELS_PER_MM };
const PRINT = PNG_SCALE.mm; // 300 dots per inch at any size
const POINTS = { px: 72 / 96, mm: 72 / 25.4 };
const FORMATS = { svg: (svg) => new Blob([text(svg)]), png: asPng, pdf: asPdf };
const made = new Set(); // a popover that opens again creates its elements again: make one picture per click

export async function save(job) {
  if (made.has(job.id)) return;
  made.add(job.id);
  try {
    const svg = await drawn(job);
    if (job.format === "print") return printed(svg, job);
    await download(await FORMATS[job.format](svg, job), job.name);
    say(job, `Saved as ${job.name}.`);
  } catch (error) {
    say(job, `The picture could not be made (${error.message}). Try again, or save the figure as HTML.`);
  }
}

// Prints the figure alone on a page of its size. The browser's "Save as PDF" keeps lines and letters.
function printed(svg, job) {
  const sheet = document.createElement("div");
  const style = document.createElement("style");
  sheet.id = "printed";
  style.textContent = `@page { size: ${svg.getAttribute("width")} ${svg.getAttribute("height")}; margin: 0; }
    @media screen { #printed { display: none; } }
    @media print { body > :not(#printed) { display: none !important; } #printed svg { display: block; } }`;
  sheet.append(svg, style);
  document.body.append(sheet);
  window.addEventListener("afterprint", () => sheet.remove(), { once: true });
  say(job, "Choose “Save as PDF” there: it keeps lines and letters.");
  window.print();
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

// Apply the visitor's changes: zoomed axes, hidden traces, the shown frame.
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

async function raster(svg, job, scale) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const across = (job.width ?? width) * (job.unit === "mm" ? PIXELS_PER_MM : 1) * scale;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(across);
  canvas.height = Math.round((across * height) / width);
  resize(svg, canvas.width, canvas.height, "px");
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text(svg)], { type: "image/svg+xml" }));
  await image.decode();
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return canvas;
}

async function asPng(svg, job) {
  const canvas = await raster(svg, job, PNG_SCALE[job.unit]);
  const png = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  return job.unit === "mm" ? withDots(await png.arrayBuffer()) : png;
}

async function asPdf(svg, job) {
  const [, , width] = svg.getAttribute("viewBox").split(" ").map(Number);
  const canvas = await raster(svg, job, PRINT);
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return pdfOf(pixels, (job.width ?? width) * POINTS[job.unit], job.about);
}

// Make a PDF with one page, as wide as the picture in points (1/72 inch). It contains the opaque pixels without
// loss. Vectors and letters would need own code for every element that Plotly draws.
export async function pdfOf({ data, width, height }, across, title) {
  const up = (across * height) / width;
  const colours = new Uint8Array(3 * width * height);
  for (let from = 0, to = 0; from < data.length; from += 4) {
    for (let part = 0; part < 3; part++) colours[to++] = data[from + part];
  }
  const image = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace /DeviceRGB`;
  const page = `/Type /Page /Parent 2 0 R /MediaBox [0 0 ${across.toFixed(2)} ${up.toFixed(2)}]`;
  return numbered([
    ["<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /DisplayDocTitle true >> >>"],
    ["<< /Type /Pages /Kids [3 0 R] /Count 1 >>"],
    [`<< ${page} /Contents 4 0 R /Resources << /XObject << /Picture 5 0 R >> >> >>`],
    stream("", new TextEncoder().encode(`${across.toFixed(2)} 0 0 ${up.toFixed(2)} 0 0 cm /Picture Do`)),
    stream(`${image} /BitsPerComponent 8 /Filter /FlateDecode `, await deflated(colours)),
    [`<< /Title <FEFF${Array.from(title, codeUnits).join("")}> /Producer (rankviz) >>`],
  ]);
}

const stream = (about, bytes) => [`<< ${about}/Length ${bytes.length} >>\nstream\n`, bytes, "\nendstream"];

const codeUnits = (letter) =>
  Array.from({ length: letter.length }, (_, k) => letter.charCodeAt(k).toString(16).padStart(4, "0")).join("");

async function deflated(bytes) {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

// Join objects to a PDF. Its last lines have the first byte of each object, in entries of 20 bytes.
function numbered(objects) {
  const parts = ["%PDF-1.4\n%", Uint8Array.of(0xe2, 0xe3, 0xcf, 0xd3), "\n"]; // the file is binary
  const length = () => parts.reduce((sum, part) => sum + part.length, 0); // all letters are ASCII
  const starts = objects.map((object, number) => {
    const start = length();
    parts.push(`${number + 1} 0 obj\n`, ...object, "\nendobj\n");
    return start;
  });
  const table = length();
  const entries = starts.map((start) => `${String(start).padStart(10, "0")} 00000 n \n`);
  const trailer = `<< /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>`;
  parts.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`, ...entries);
  parts.push(`trailer\n${trailer}\nstartxref\n${table}\n%%EOF\n`);
  return new Blob(parts, { type: "application/pdf" });
}

// Add 300 dots per inch to a PNG (chunk pHYs, after the header's 33 bytes), so that word processors show its
// intended width.
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
