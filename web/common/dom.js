// SPDX-License-Identifier: Apache-2.0
// dom.js - making elements. Text goes in as text: nothing here reads HTML.

const SVG = "http://www.w3.org/2000/svg";

// Paths of 24 x 24 icons, drawn with a line.
const ICONS = {
  back: "M15 5l-7 7 7 7",
  camera: "M4 8h3l2-3h6l2 3h3v11H4zM12 10.5a3 3 0 100 6 3 3 0 000-6z",
  cards: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  check: "M5 12.5l4.5 4.5L19 7.5",
  clock: "M12 4a8 8 0 100 16 8 8 0 000-16zM12 8v4.5l3 1.5",
  close: "M6 6l12 12M18 6L6 18",
  down: "M6 9.5l6 6 6-6",
  filter: "M4 6h16M7 12h10M10 18h4",
  folder: "M4 6h5l2 2h9v10H4z",
  forward: "M9 5l7 7-7 7",
  heart: "M12 20C5 15 3.5 11.5 3.5 9a4.3 4.3 0 018.5-1.3A4.3 4.3 0 0120.5 9c0 2.5-1.5 6-8.5 11z",
  link: "M10 14a4 4 0 005.7 0l3-3A4 4 0 0013 5.3l-1.5 1.5"
    + "M14 10a4 4 0 00-5.7 0l-3 3A4 4 0 0011 18.7l1.5-1.5",
  map: "M12 21l-5-8a6 6 0 1110 0zM12 10h.01",
  list: "M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01",
  moon: "M19 14.5A7.5 7.5 0 119.5 5a6 6 0 009.5 9.5z",
  star: "M12 3.5l2.6 5.4 5.9.8-4.3 4.1 1 5.9-5.2-2.8-5.2 2.8 1-5.9-4.3-4.1 5.9-.8z",
  pin: "M12 21c4-4.5 6.5-8 6.5-11a6.5 6.5 0 10-13 0c0 3 2.5 6.5 6.5 11z"
    + "M12 8a2.3 2.3 0 100 4.6A2.3 2.3 0 0012 8z",
  search: "M10.5 4a6.5 6.5 0 100 13 6.5 6.5 0 000-13zM15.5 15.5L20 20",
  sun: "M12 8a4 4 0 100 8 4 4 0 000-8zM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4"
    + "M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  target: "M12 6a6 6 0 100 12 6 6 0 000-12zM12 2.5V6M12 18v3.5M2.5 12H6M18 12h3.5",
  user: "M12 4.5a3.7 3.7 0 100 7.4 3.7 3.7 0 000-7.4zM5 20c.5-4 3.3-6 7-6s6.5 2 7 6",
  warning: "M12 4l9 16H3zM12 10v4.5M12 17.3h.01",
};

function append(parent, inside) {
  for (const each of inside.flat(Infinity))
    if (each !== null && each !== undefined && each !== false) parent.append(each);
}

// h("button", {class: "button", onclick: go, "aria-pressed": "true"}, "Go"): an element. A value
// of null, undefined or false leaves its property out; hidden, disabled and the like take true.
export function h(tag, properties = {}, ...inside) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  append(node, inside);
  return node;
}

export function svg(tag, attributes = {}, ...inside) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  append(node, inside);
  return node;
}

export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    svg("path", { d: ICONS[name] }));
}

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": "\"", "&#39;": "'" };

// The API marks words by <b> in text that is escaped: as nodes, with <mark> for what is marked.
export function marked(text) {
  const made = document.createDocumentFragment();
  let inside = false;
  for (const piece of (text || "").split(/(<\/?b>)/)) {
    if (piece === "<b>" || piece === "</b>") {
      inside = piece === "<b>";
      continue;
    }
    const plain = piece.replace(/&(?:lt|gt|amp|quot|#39);/g, (entity) => ENTITIES[entity]);
    if (plain) made.append(inside ? h("mark", {}, plain) : plain);
  }
  return made;
}

export const byId = (id) => document.getElementById(id);

let toastTimer = 0;

// A line at the bottom of the page for a few seconds; read out by screen readers.
export function toast(...inside) {
  let node = byId("toast");
  if (!node) {
    node = h("div", { id: "toast", class: "toast", role: "status" });
    document.body.append(node);
  }
  node.replaceChildren();
  append(node, inside);
  node.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => node.classList.remove("shown"), 5000);
}
