import assert from "node:assert/strict";
import { test } from "node:test";
import { inflateSync } from "node:zlib";

import { asOnScreen, crc32, pdfOf, withDots } from "../../ui/browser/shell/picture.js";

test("the checksum equals that of PNG and zip", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")) >>> 0, 0xcbf43926);
});

test("dots per inch are a chunk after the header", async () => {
  const png = Uint8Array.from({ length: 60 }, (_, place) => place);
  const written = new Uint8Array(await withDots(png.buffer).arrayBuffer());
  assert.equal(written.length, 60 + 21);
  assert.deepEqual(written.slice(0, 33), png.slice(0, 33));
  assert.deepEqual(written.slice(54), png.slice(33));
  const chunk = new DataView(written.buffer, 33, 21);
  assert.equal(String.fromCharCode(...written.slice(37, 41)), "pHYs");
  assert.equal(chunk.getUint32(8), 11811); // 300 per inch
  assert.equal(chunk.getUint32(17), crc32(written.slice(37, 50)) >>> 0);
});

test("a PDF has every pixel, its width and the places of its objects", async () => {
  const [width, height] = [3, 2];
  const data = Uint8ClampedArray.from({ length: 4 * width * height }, (_, at) => (at % 4 === 3 ? 255 : 40 - at));
  const pdf = await pdfOf({ data, width, height }, (85 * 72) / 25.4, "λ ≤ ½ 𝛾 (C)");
  const file = Buffer.from(await pdf.arrayBuffer());
  const words = file.toString("latin1");
  const table = Number(words.match(/startxref\n(\d+)\n%%EOF\n$/)[1]);
  const [head, free, ...entries] = words.slice(table).split("\n").slice(1, 9);
  assert.equal(words.slice(table, table + 5), "xref\n");
  assert.equal(head, "0 7");
  assert.equal(`${free}\n`.length, 20);
  entries.forEach((entry, place) => {
    const start = Number(entry.slice(0, 10));
    assert.ok(words.startsWith(`${place + 1} 0 obj\n`, start), entry);
  });
  assert.match(words, /MediaBox \[0 0 240\.94 160\.63\]/);
  const image = words.match(/\/Width 3 \/Height 2 .*\/Length (\d+) >>\nstream\n/);
  const start = image.index + image[0].length;
  const packed = file.subarray(start, start + Number(image[1]));
  assert.ok(words.startsWith("\nendstream", start + packed.length));
  assert.deepEqual([...inflateSync(packed)], [...data].filter((_, at) => at % 4 !== 3));
  const title = Buffer.from(words.match(/\/Title <FEFF([0-9a-f]+)>/)[1], "hex").swap16();
  assert.equal(title.toString("utf16le"), "λ ≤ ½ 𝛾 (C)");
});

test("a picture keeps zoomed axes and hidden traces", () => {
  const figure = { data: [{ name: "a" }, { name: "b" }], layout: { xaxis: { title: "m" }, yaxis: { title: "NDCG" } } };
  const shown = {
    data: [{ visible: "legendonly" }, {}],
    layout: {},
    _fullLayout: {
      xaxis: { range: [1, 2], autorange: false },
      yaxis: { range: [0, 9], autorange: true },
      height: 300,
    },
  };
  const layout = asOnScreen(figure, shown);
  assert.deepEqual(layout.xaxis, { title: "m", range: [1, 2], autorange: false });
  assert.deepEqual(layout.yaxis, { title: "NDCG" });
  assert.deepEqual(figure.data, [{ name: "a", visible: "legendonly" }, { name: "b" }]);
});
