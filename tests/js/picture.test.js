import assert from "node:assert/strict";
import { test } from "node:test";

import { asOnScreen, crc32, withDots } from "../../ui/browser/shell/picture.js";

test("the checksum is that of PNG and zip", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")) >>> 0, 0xcbf43926);
});

test("dots per inch are a chunk of its own behind the header", async () => {
  const png = Uint8Array.from({ length: 60 }, (_, place) => place);
  const written = new Uint8Array(await withDots(png.buffer).arrayBuffer());
  assert.equal(written.length, 60 + 21);
  assert.deepEqual(written.slice(0, 33), png.slice(0, 33));
  assert.deepEqual(written.slice(54), png.slice(33));
  const chunk = new DataView(written.buffer, 33, 21);
  assert.equal(String.fromCharCode(...written.slice(37, 41)), "pHYs");
  assert.equal(chunk.getUint32(8), 11811); // 300 an inch
  assert.equal(chunk.getUint32(17), crc32(written.slice(37, 50)) >>> 0);
});

test("a picture has the axes that were zoomed and hides the traces that were hidden", () => {
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
