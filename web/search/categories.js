// SPDX-License-Identifier: Apache-2.0
// categories.js - the tree of categories beside the list, the path above it, tiles at the start.
//
// An answer has the categories below the one asked for that have hits. The way down to it comes
// from the catalogue, once a category and language.
import { byId, call, h, icon, language, number, t } from "../common.js";
import { drawing } from "./picture.js";
import { parents, rememberCategories } from "./roots.js";

export const TILE_COUNT = 12;
const paths = new Map();        // language/id -> promise of [{id, name}]
const whole = new Map();        // language/id -> promise of the category
const opened = new Set();       // of the tree
let top = [];

// From the top down to the category; empty when it has none or the catalogue does not answer.
export function pathOf(category) {
  if (!category) return Promise.resolve([]);
  const name = `${language()}/${category}`;
  if (!paths.has(name)) {
    const asked = call("CatalogService", "GetPath", { id: category, language: language() },
      { withKey: false }).then((answer) => answer.categories || []);
    paths.set(name, asked.then((list) => (rememberCategories(list), list), () => (paths.delete(name), [])));
  }
  return paths.get(name);
}

// The category with its attributes, as the catalogue has it; empty when it does not answer.
export function categoryOf(id) {
  const name = `${language()}/${id}`;
  if (!whole.has(name))
    whole.set(name, call("CatalogService", "GetCategory", { id, language: language() },
      { withKey: false }).catch(() => (whole.delete(name), {})));
  return whole.get(name);
}

// To all offers of a category, from an offer.
export function categoryLink(page, category) {
  const state = { ...page.state, text: "", filters: {}, category: category.id, offer: "" };
  return h("a", { href: page.addressOf(state), onclick: page.follow(state) }, category.name);
}

// Further down all choices still mean something; elsewhere those of attributes may not.
function link(page, id, properties, ...inside) {
  const isBelow = parents.get(id) === page.state.category || opened.has(parents.get(id));
  const filters = Object.fromEntries(Object.entries(page.state.filters)
    .filter(([name]) => isBelow || !name.startsWith("a.")));
  const state = { ...page.state, category: id, filters, offer: "" };
  return h("a", { href: page.addressOf(state), ...properties, onclick: page.follow(state) },
    ...inside);
}

function branch(page, all, category) {
  const below = all.filter((each) => each.parent === category.id);
  const isOpen = opened.has(category.id);
  const list = h("ul", { hidden: !isOpen || !below.length });
  if (isOpen) list.append(...below.map((each) => branch(page, all, each)));
  const toggle = below.length ? h("button", { class: "toggle", type: "button",
    id: `toggle-${category.id}`, "aria-expanded": String(isOpen),
    "aria-label": t("expand", { name: category.name }),
    onclick: () => {
      if (!opened.delete(category.id)) opened.add(category.id);
      page.redrawSide();
    } }, icon("forward")) : h("span", { class: "toggle" });
  return h("li", {}, h("div", { class: "branch" }, toggle,
    link(page, category.id, {}, h("span", {}, category.name),
      h("span", { class: "count" }, number(category.count)))), list);
}

// The tree beside the list: the way here, then what is below with counts.
export function tree(page) {
  const all = page.answer.categories || [];
  const here = page.state.category;
  const below = all.filter((each) => (each.parent || "") === here);
  const way = [{ id: "", name: t("allCategories") }, ...page.path];
  const items = way.map((each) => h("li", { class: "way" },
    each.id === here
      ? h("span", { class: "here", "aria-current": "true" }, each.name)
      : link(page, each.id, {}, icon("back"), h("span", {}, each.name))));
  return h("nav", { class: "tree", "aria-label": t("treeLabel") },
    h("ul", {}, items), below.length
      ? h("ul", { class: "below" }, below.map((each) => branch(page, all, each))) : null);
}

export function drawPath(page) {
  const way = [{ id: "", name: t("allCategories") }, ...page.path];
  byId("crumbs").hidden = !page.state.category;
  byId("crumbs").replaceChildren(h("ol", {}, way.map((each) =>
    h("li", {}, each.id === page.state.category
      ? h("span", { "aria-current": "page" }, each.name)
      : link(page, each.id, {}, each.name)))));
}

// What is right below: pictures at the start of everything, a line of chips elsewhere.
export function drawTiles(page) {
  const { text, category, filters } = page.state;
  const isStart = !text && !category && !Object.keys(filters).length;
  const below = (page.answer.categories || []).filter((each) => (each.parent || "") === category);
  if (isStart) top = below;
  const shown = (isStart ? top : below).slice(0, TILE_COUNT);
  const tiles = byId("tiles");
  tiles.hidden = shown.length < 2;
  tiles.classList.toggle("pictures", isStart);
  tiles.replaceChildren(...shown.map((each) => isStart
    ? link(page, each.id, { class: "tile" }, drawing(each.id),
      h("span", { class: "tile-name" }, each.name),
      h("span", { class: "count" }, number(each.count)))
    : link(page, each.id, { class: "chip" }, each.name,
      h("span", { class: "count" }, number(each.count)))));
}
