// SPDX-License-Identifier: Apache-2.0
// picture.js - an offer's photo, or a drawing in its place: none there, or it cannot be loaded.
import { h, pictured, svg, t } from "../common.js";
import { rootOf } from "./roots.js";

// Line drawings in 48 x 48, by the category at the top.
const DRAWINGS = {
  transport: "M8 28l4-10h24l4 10v8H8zM8 28h32M14 36v3M34 36v3M13.5 32h3M31.5 32h3",
  realty: "M8 24L24 10l16 14M12 21v18h24V21M20 39V28h8v11",
  jobs: "M8 17h32v21H8zM18 17v-5h12v5M8 26h32M22 26v3h4v-3",
  services: "M30 10a8 8 0 00-8 11L9 34l5 5 13-13a8 8 0 0011-8l-5 4-5-5 4-5a8 8 0 00-2-2z",
  electronics: "M9 12h30v20H9zM19 39h10M24 32v7",
  home: "M11 24v-8a4 4 0 014-4h18a4 4 0 014 4v8M8 24a3 3 0 016 0v5h20v-5a3 3 0 016 0v10H8z"
    + "M12 34v4M36 34v4",
  clothes: "M17 10l-9 6 4 7 4-2v18h16V21l4 2 4-7-9-6a7 7 0 01-14 0z",
  children: "M24 18a9 9 0 100 18 9 9 0 000-18zM15 20a4.5 4.5 0 113-6M33 20a4.5 4.5 0 10-3-6"
    + "M21 26h.1M27 26h.1M21 31c2 1.5 4 1.5 6 0",
  hobby: "M14 23a8 8 0 100 16 8 8 0 000-16zM35 23a8 8 0 100 16 8 8 0 000-16z"
    + "M14 31l6-13h10l5 13M20 18l6 13 5-10M17 15h6M30 18l-1-5h5",
  animals: "M24 25c-6 0-10 5-10 9 0 3 2 4 4 4 3 0 3-2 6-2s3 2 6 2c2 0 4-1 4-4 0-4-4-9-10-9z"
    + "M12 20a3 4 0 100 .1M20 12a3 4 0 100 .1M28 12a3 4 0 100 .1M36 20a3 4 0 100 .1",
  business: "M9 38V22l9 5v-5l9 5V12h12v26zM9 38h30M31 20h.1M31 27h.1M31 33h.1",
  repair: "M10 14h20v8H10zM30 18h7v8H24v5M21 31h6v9h-6z",
  other: "M24 10l14 7v15l-14 7-14-7V17zM10 17l14 7 14-7M24 24v15",
};

function hueOf(text) {
  let hash = 7;
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)) % 3600;
  return hash % 360;
}

export function drawing(category) {
  const root = rootOf(category);
  const hue = hueOf(category || "");
  const path = svg("path", { d: DRAWINGS[root] || DRAWINGS.other });
  const node = svg("svg", { class: "drawing", viewBox: "0 0 96 72", "aria-hidden": "true",
    preserveAspectRatio: "xMidYMid slice" },
  svg("rect", { width: 96, height: 72, class: "drawing-ground" }),
  svg("circle", { cx: 78, cy: 12, r: 26, class: "drawing-round" }),
  svg("circle", { cx: 14, cy: 66, r: 20, class: "drawing-round" }),
  svg("g", { class: "drawing-line", transform: "translate(24 12)" }, path));
  node.style.setProperty("--hue", hue);
  return node;
}

export function photoAddress(key) {
  return `/v1/photos/${key.split("/").map(encodeURIComponent).join("/")}`;
}

// Photos are asked for when they are about to be seen: a browser's own "lazy" asks for whole screens ahead.
const watcher = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    target.src = target.dataset.src;
  }
}, { rootMargin: "60px" });

// What to put into the box of an offer of a list. It keeps its place before it is loaded (the box has the
// proportions), and after it failed.
export function picture({ photo, photoPreview, photoWidth: width = 320, photoHeight: height = 240, category }) {
  if (!photo) return [drawing(category)];
  const image = h("img", { alt: "", decoding: "async", width, height,
    dataset: { src: photoAddress(photo) } });
  watcher.observe(image);
  image.addEventListener("error", () => image.replaceWith(drawing(category)), { once: true });
  return pictured(image, photoPreview, width, height);
}

export function noPhotoText(key) {
  return key ? "" : t("noPhoto");
}
