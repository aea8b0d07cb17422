// SPDX-License-Identifier: Apache-2.0
// preview.js - what is drawn of a photo until it is there: a few blurred cells that came with the
// offer (docs/photos.md, `preview`): columns and rows in one byte, then each cell as RGB 5-6-5.
import { h } from "./dom.js";

const LONG_SIDE = 32; // of what is drawn: smoothed here once, and by the page's scaling again

function cellsOf(preview) {
  let bytes;
  try { bytes = Uint8Array.from(atob(preview), (letter) => letter.codePointAt(0)); } catch { return null; }
  const [columns, rows] = [bytes[0] >> 4, bytes[0] & 15];
  if (!columns || !rows || bytes.length !== 1 + 2 * columns * rows) return null;
  const cells = new ImageData(columns, rows);
  for (let at = 0; at < columns * rows; at++) {
    const both = bytes[1 + 2 * at] << 8 | bytes[2 + 2 * at];
    cells.data.set([(both >> 11) * 255 / 31, (both >> 5 & 63) * 255 / 63, (both & 31) * 255 / 31, 255],
      4 * at);
  }
  return cells;
}

function drawn(preview, width, height) {
  const cells = preview ? cellsOf(preview) : null;
  if (!cells) return null;
  const [wide, high] = width && height ? [width, height] : [cells.width, cells.height];
  const scale = LONG_SIDE / Math.max(wide, high);
  const small = h("canvas", { width: cells.width, height: cells.height });
  const made = h("canvas", { class: "preview", "aria-hidden": "true",
    width: Math.max(1, Math.round(wide * scale)), height: Math.max(1, Math.round(high * scale)) });
  small.getContext("2d").putImageData(cells, 0, 0);
  const context = made.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.drawImage(small, 0, 0, made.width, made.height);
  return made;
}

// What to put into a box of the class "pictured": the image, and under it its preview until it is
// loaded. Both have the proportions of the photo, so nothing moves when one takes the other's place.
export function pictured(image, preview, width, height) {
  const under = drawn(preview, width, height);
  if (!under) return [image];
  const drop = () => under.remove();
  image.addEventListener("load", drop, { once: true });
  image.addEventListener("error", drop, { once: true });
  return [under, image];
}
