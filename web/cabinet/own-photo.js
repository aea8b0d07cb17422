// SPDX-License-Identifier: Apache-2.0
// own-photo.js - a photo of the seller's own, which others may not see: asked for with the key, which an
// <img> by itself does not send.
import { h, key, pictured } from "../common.js";

const loaded = new Map(); /* key of a size: a promise of its address within this page */
const KEPT = 200;

async function load(name) {
  const answer = await fetch(`/v1/own-photos/${encodeURIComponent(name)}`,
    { headers: { Authorization: `Bearer ${key()}` } });
  if (!answer.ok) throw new Error(answer.statusText);
  return URL.createObjectURL(await answer.blob());
}

function forgetOldest() {
  const [name, address] = loaded.entries().next().value;
  loaded.delete(name);
  address.then((url) => URL.revokeObjectURL(url), () => {});
}

// What to put into a box of the class "pictured": the smallest image of a photo, and its preview until it is
// there. failed() is called when there is none.
export function ownPhoto({ sizes: [size], preview }, failed = () => {}) {
  const image = h("img", { class: "own-photo", alt: "", draggable: "false",
    ...(size.width ? { width: size.width, height: size.height } : {}) });
  image.dataset.key = size.key;
  if (!loaded.has(size.key)) {
    if (loaded.size >= KEPT) forgetOldest();
    loaded.set(size.key, load(size.key));
  }
  loaded.get(size.key).then((url) => { image.src = url; }, () => { loaded.delete(size.key); failed(); });
  return pictured(image, preview, size.width, size.height);
}
