// SPDX-License-Identifier: Apache-2.0
// results.js - the offers found, as a list or as cards; what is said when there are none.
import { ago, byId, call, distance, failure, h, icon, marked, number, t, worth } from "../common.js";
import { TILE_COUNT } from "./categories.js";
import { watchItems } from "./events.js";
import { noPhotoText, picture } from "./picture.js";
import { snippetRow } from "./snippets.js";
import { requestOf } from "./state.js";

const SKELETON_COUNT = 20;       // a page: what is below it does not come up and go down again

function facts(offer) {
  const near = offer.distanceM !== undefined;
  return h("p", { class: "offer-facts" },
    offer.place || near ? h("span", { class: "offer-place" }, icon("pin"),
      near ? h("b", {}, distance(offer.distanceM)) : null,
      offer.place ? h("span", {}, offer.place) : null) : null,
    offer.createTime ? h("time", { datetime: offer.createTime }, ago(offer.createTime)) : null);
}

// One offer of a list; page.follow makes its link open it here.
export function offerItem(page, offer, { heading = "h2" } = {}) {
  const state = { ...page.state, offer: offer.id };
  const title = h("a", { href: page.addressOf(state),
    id: heading === "h2" ? `offer-${offer.id}` : null, onclick: page.follow(state) }, marked(offer.titleMarked || ""));
  if (!title.textContent) title.textContent = offer.title || "";
  return h("li", { class: "offer-item", "data-offer-id": offer.id },
    h("div", { class: "offer-photo pictured", "aria-hidden": "true", title: noPhotoText(offer.photo) },
      picture(offer)),
    h("div", { class: "offer-body" },
      h(heading, { class: "offer-title" }, title),
      h("p", { class: "offer-price" }, worth(offer)),
      offer.fragmentMarked
        ? h("p", { class: "offer-fragment" }, marked(offer.fragmentMarked)) : null,
      snippetRow(offer.id, offer.snippets),
      facts(offer)));
}

// Offers in their order; where those begin that lack words of the text, a line says so.
function items(page, offers, isBegun) {
  const first = isBegun ? -1 : offers.findIndex((each) => each.lacksWords);
  return offers.flatMap((each, place) => [
    ...(place === first
      ? [h("li", { class: "offers-part" }, t(place ? "partMore" : "partOnly"))] : []),
    offerItem(page, each)]);
}

function watch(page, nodes, before) {
  watchItems(nodes.filter((each) => each.dataset.offerId), page.answer.queryId, before + 1, !before);
}

export function drawOffers(page, offers) {
  const nodes = items(page, offers, false);
  byId("offers").replaceChildren(...nodes);
  watch(page, nodes, 0);
}

// Behind those that are there.
export function addOffers(page, offers) {
  const list = byId("offers");
  const before = list.querySelectorAll(":scope > .offer-item").length;
  const nodes = items(page, offers, Boolean(list.querySelector("li.offers-part")));
  list.append(...nodes);
  watch(page, nodes, before);
}

// Grey boxes of the size of what will come, for the first load: offers, and what stands above them. They are
// nodes of their own, and what they stand for is not laid out before it is there: which notices, chips and
// categories an answer brings cannot be known, and what would be pushed down by them jumps.
export function drawSkeleton(page) {
  const { state } = page;
  const isBare = !state.text && !state.category && !Object.keys(state.filters).length;
  const tiles = isBare ? [h("div", { class: "tiles pictures" },
    Array.from({ length: TILE_COUNT }, () => h("div", { class: "tile bone" })))] : [];
  byId("skeleton").replaceChildren(...tiles, h("div", { class: "tools" }), h("ol", { class: byId("offers").className },
    Array.from({ length: SKELETON_COUNT }, () => h("li", { class: "offer-item skeleton" },
      h("div", { class: "offer-photo" }),
      h("div", { class: "offer-body" }, h("p", { class: "bone" }), h("p", { class: "bone short" }),
        h("p", { class: "bone" }), h("p", { class: "bone" }))))));
}

export function dropSkeleton() {
  byId("skeleton")?.remove();
  byId("content").classList.remove("awaited");
}

// Why there is nothing, in a sentence.
function emptyReason({ text, category, filters }) {
  if (Object.keys(filters).length) return "emptyByFilters";
  if (text && category) return "emptyInCategory";
  return text ? "emptyByText" : category ? "emptyText" : "emptyNone";
}

// What the next step would find is told beside it; a step that finds nothing either is not offered.
async function countStep(page, node, state) {
  const empty = page.answer;
  try {
    const { total } = await call("SearchService", "SearchOffers", requestOf(state, { limit: 0, onlyOffers: true,
      snippetNames: [] }), { withKey: false });
    if (page.answer !== empty) return;
    node.hidden = !Number(total || 0);
    node.append(` (${number(total || 0)})`);
  } catch { /* the step is offered without its count */ }
}

export function drawEmpty(page) {
  const { state } = page;
  const box = byId("empty");
  const hasFilters = Object.keys(state.filters).length > 0;
  const step = (name, change, kind = "") => {
    const next = { ...state, ...change };
    const node = h("a", { class: `button ${kind}`, href: page.addressOf(next), onclick: page.follow(next) }, t(name));
    countStep(page, node, next);
    return node;
  };
  const isBare = !state.text && !state.category && !hasFilters;
  box.replaceChildren(icon("search"), h("h2", {}, t("emptyTitle")),
    h("p", { class: "dim" }, t(emptyReason(state), { text: state.text })),
    h("div", { class: "row" },
      hasFilters ? step("emptyFilters", { filters: {} }, "primary") : null,
      state.category ? step("emptyCategory", { category: "", filters: {} }) : null,
      isBare ? null : step("emptyAll", { text: "", category: "", filters: {}, keepSpelling: false, keepWords: [] })));
  box.hidden = false;
}

export function drawFailure(page, error) {
  const box = byId("empty");
  byId("offers").replaceChildren();
  box.replaceChildren(icon("warning"), h("h2", {}, t("failed")),
    h("p", { class: "dim", role: "alert" }, failure(error)),
    h("div", { class: "row" },
      h("button", { class: "button primary", type: "button", onclick: page.reload }, t("again")),
      h("a", { class: "button", href: "/" }, t("emptyAll"))));
  box.hidden = false;
}
