// SPDX-License-Identifier: Apache-2.0
// search.js - the buyers' page: what is asked for (state.js) is in the address; a change of it is
// one request, and the one before is ended. The answer draws everything anew.
//
// What was shown at an address of this visit is kept with its scroll position: going back or
// forward asks nothing. After a reload the first request brings as many offers as there were.
import { byId, call, fillTexts, h, header, icon, microseconds, number, onLanguage, t, toastFailure }
  from "./common.js";
import "./search/texts.js";
import { drawPath, drawTiles, pathOf } from "./search/categories.js";
import { noteQuery, randomName, startEvents } from "./search/events.js";
import { drawChips, drawSide } from "./search/filters.js";
import { drawKept } from "./search/kept.js";
import { drawOffer, startOffer } from "./search/offer.js";
import { drawMap } from "./search/map.js";
import { askPlace } from "./search/places.js";
import { addOffers, drawEmpty, drawFailure, drawOffers, drawSkeleton, dropSkeleton } from "./search/results.js";
import { rememberCategories } from "./search/roots.js";
import { keepFresh } from "./search/snippets.js";
import { addressOf, ORDERS, PAGE_COUNT, readState, requestOf } from "./search/state.js";
import { closeSuggestions, startSuggestions } from "./search/suggest.js";
import { drawUnderstood } from "./search/understood.js";

const KEPT_COUNT = 30;
const OFFER_COUNT_MAX = 100;    // of one request
const kept = new Map();         // address without the offer -> what is shown there, and scroll
const narrow = matchMedia("(max-width: 60rem)");
let under = null;               // AbortController of the search under way
let moreUnder = null;

const page = {
  state: readState(),
  request: {}, answer: {}, path: [], offers: [], cursor: "",
  addressOf,
  go,
  // For links: a plain click stays here, others (a new tab) go their way.
  follow: (state) => (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button) return;
    event.preventDefault();
    go(state);
  },
  search: (text, change) => go({ ...page.state, text, keepSpelling: false, keepWords: [], offer: "", ...change }),
  redrawSide: () => drawSide(page),
  reload: () => load(),
  closeOffer: () => {
    if (history.state?.depth) history.go(-history.state.depth);
    else go({ ...page.state, offer: "" });
  },
};

const placeOf = (state) => addressOf({ ...state, offer: "" });

// --- moving ---

function keepScroll(scroll) {
  const entry = kept.get(placeOf(page.state));
  if (entry) entry.scroll = scroll;
}

function keep() {
  keepScroll(scrollY);
  history.replaceState({ ...history.state, shown: page.offers.length }, "");
}

// How many steps back the list lies under the offer that is opened; 0: it was not here before.
function depthOf(state, isSameList) {
  if (!state.offer || !isSameList) return 0;
  if (!page.state.offer) return 1;
  return history.state?.depth ? history.state.depth + 1 : 0;
}

function go(state) {
  const isSameList = placeOf(state) === placeOf(page.state);
  if (addressOf(state) === addressOf(page.state)) {
    if (!state.offer) load();
    return;
  }
  keep();
  history.pushState({ depth: depthOf(state, isSameList) }, "", addressOf(state));
  show(state, false);
}

function show(state, isBack) {
  const before = page.state;
  page.state = state;
  if (placeOf(before) !== placeOf(state) || !page.offers.length) {
    const entry = isBack && kept.get(placeOf(state));
    if (entry) restore(entry);
    else load(isBack);
  }
  drawControls();
  drawOffer(page);
  if (!state.offer) setTitle();
}

function restore(entry) {
  under?.abort();
  moreUnder?.abort();
  const { scroll, ...shown } = entry;
  Object.assign(page, shown);
  drawAnswer();
  byId("offers").setAttribute("aria-busy", "false");    // what was aborted does not say so
  scrollTo(0, scroll);
}

// --- asking ---

let seen = "";  // by the last answer: replicas that are behind it are not shown

async function load(isBack = false) {
  under?.abort();
  moreUnder?.abort();
  under = new AbortController();
  const { signal } = under;
  const { state } = page;
  const began = performance.now();
  const shownBefore = isBack || !page.offers.length ? history.state?.shown || 0 : 0;
  const request = requestOf(state,
    { limit: Math.min(OFFER_COUNT_MAX, Math.max(PAGE_COUNT, shownBefore)) });
  page.cursor = "";             // of the list that goes: nothing more is loaded of it
  byId("offers").setAttribute("aria-busy", "true");
  try {
    const [answer, path] = await Promise.all([
      call("SearchService", "SearchOffers", { ...request, seen }, { signal, withKey: false }),
      pathOf(state.category)]);
    if (signal.aborted) return;
    seen = answer.seen || "";
    answer.roundTrip = performance.now() - began;
    answer.queryId = [answer.queryId, randomName()].filter(Boolean).join(".");  // as events name it
    noteQuery(state.text);
    Object.assign(page, { request, answer, path, offers: answer.offers || [],
      cursor: answer.cursor || "" });
    remember(state);
    drawAnswer();
    if (!isBack && scrollY > byId("content").offsetTop) scrollTo(0, 0);
  } catch (error) {
    if (error.name === "AbortError") return;
    seen = "";
    Object.assign(page, { answer: {}, offers: [], cursor: "" });
    drawAnswer();
    drawFailure(page, error);
  }
  byId("offers").setAttribute("aria-busy", "false");
}

function remember(state) {
  kept.delete(placeOf(state));
  kept.set(placeOf(state), { request: page.request, answer: page.answer, offers: page.offers,
    cursor: page.cursor, path: page.path, scroll: 0 });
  if (kept.size > KEPT_COUNT) kept.delete(kept.keys().next().value);
}

async function loadMore() {
  if (!page.cursor || moreUnder && !moreUnder.signal.aborted) return;
  moreUnder = new AbortController();
  const { signal } = moreUnder;
  const place = byId("offers").childElementCount;
  byId("more").disabled = true;
  try {
    const answer = await call("SearchService", "SearchOffers",
      { ...page.request, limit: PAGE_COUNT, onlyOffers: true, cursor: page.cursor },
      { signal, withKey: false });
    if (signal.aborted) return;
    const scroll = scrollY;
    page.offers = [...page.offers, ...(answer.offers || [])];
    page.cursor = answer.cursor || "";
    remember(page.state);
    addOffers(page, answer.offers || []);
    drawMap(page);
    keep();
    drawMore();
    byId("offers").children[place]?.querySelector("a").focus({ preventScroll: true });
    scrollTo(0, scroll);
  } catch (error) {
    if (error.name !== "AbortError") toastFailure(error);
  } finally {
    if (moreUnder?.signal === signal) {     // not one that was begun since
      byId("more").disabled = false;
      moreUnder = null;
    }
  }
}

// --- drawing ---

function setTitle() {
  const name = page.path.at(-1)?.name;
  const parts = [page.state.text, name, "Torg"].filter(Boolean);
  document.title = parts.join(" · ");
}

// With a text of several words: how many have all of them, how many only some.
function totalText(total) {
  const whole = Number(page.answer.wholeTotal || 0);
  if (!page.state.text || whole === total) return t("found", { count: total });
  return whole ? t("foundParts", { whole: number(whole), rest: number(total - whole) })
    : t("foundSome", { rest: number(total) });
}

function drawHeading() {
  const { text } = page.state;
  const name = page.path.at(-1)?.name;
  const total = Number(page.answer.total || 0);
  byId("title").textContent = [text && t("results", { text: page.answer.corrected?.corrected || text }),
    name].filter(Boolean).join(" · ") || t("allOffers");
  byId("total").textContent = page.answer.times ? totalText(total) : "";
  byId("sheet-show").textContent = t("showFound", { count: total });
  byId("partial").hidden = !page.answer.isPartial;
  const oldSeconds = Number(page.answer.oldSeconds || 0); // as JSON writes it, "0" is true
  byId("old").hidden = !oldSeconds;
  byId("old").textContent = t("old", { minutes: Math.ceil(oldSeconds / 60) });
  byId("empty").hidden = true;
}

function drawCorrected() {
  const box = byId("corrected");
  const corrected = page.answer.corrected;
  box.hidden = !corrected?.corrected;
  if (box.hidden) return;
  const back = { ...page.state, text: corrected.original || page.state.text, keepSpelling: true };
  box.replaceChildren(`${t("correctedTo")} `, h("b", {}, corrected.corrected), ". ",
    h("a", { href: addressOf(back), onclick: page.follow(back) },
      t("insteadOf", { text: back.text })), ` (${number(corrected.originalTotal || 0)})`);
}

function drawMore() {
  byId("more").hidden = !page.cursor || page.offers.length >= Number(page.answer.total || 0);
}

function drawTimes() {
  const steps = (page.answer.times || []).map((each) =>
    `${each.step} ${microseconds(Number(each.microseconds || 0))}`);
  const sum = (page.answer.times || []).reduce((all, each) => all + Number(each.microseconds || 0), 0);
  byId("times").textContent = steps.length ? [t("roundTrip",
    { time: microseconds(page.answer.roundTrip * 1000) }), t("serverTime",
    { time: microseconds(sum) }), ...steps].join(" · ") : "";
}

function drawAnswer() {
  dropSkeleton();
  rememberCategories(page.answer.categories || []);
  drawHeading();
  drawCorrected();
  drawUnderstood(page);
  drawPath(page);
  drawTiles(page);
  drawSide(page);
  drawChips(page);
  drawMap(page);
  drawOffers(page, page.offers);
  if (!page.offers.length && page.answer.times) drawEmpty(page);
  drawMore();
  drawKept(page);
  drawTimes();
  drawControls(true);
  if (!page.state.offer) setTitle();
}

// An answer leaves a text alone that is being typed: it was asked for before that.
function drawControls(isAnswer = false) {
  if (document.activeElement !== byId("text") || page.state.text && !isAnswer)
    byId("text").value = page.state.text;
  const name = page.path.at(-1)?.name;
  byId("text").placeholder = name && page.state.category
    ? t("searchIn", { name }) : t("searchHint");
  // Without a text the best are the newest: said once.
  const { order } = page.state;
  const names = ORDERS.filter((name) => page.state.text || name !== "NEWEST" || name === order);
  byId("order").replaceChildren(...names.map((name) => h("option",
    { value: name, selected: name === order },
    t(name === "BEST" && !page.state.text ? "NEWEST" : name))));
}

// --- list or cards ---

function view() {
  try { return localStorage.getItem("view") || "cards"; } catch { return "cards"; }
}

function drawView(wanted = view()) {
  byId("offers").classList.toggle("cards", wanted !== "list");
  byId("map").hidden = wanted !== "map";
  byId("view").replaceChildren(...[["list", "asList"], ["cards", "asCards"], ["map", "asMap"]].map(([name, text]) =>
    h("button", { type: "button", id: `view-${name}`, "aria-label": t(text), title: t(text),
      "aria-pressed": String(name === wanted), onclick: () => {
        try { localStorage.setItem("view", name); } catch { /* private mode: until left */ }
        drawView(name);
        drawMap(page);
        byId(`view-${name}`).focus();
      } }, icon(name))));
}

// --- the start ---

// The panel of filters stands beside the list, on a phone in the sheet.
function placePanel() {
  byId(narrow.matches ? "sheet-body" : "side").append(byId("panel"));
  if (!narrow.matches && byId("sheet").open) byId("sheet").close();
}

async function orderChosen() {
  const order = byId("order").value;
  let { near } = page.state;
  if (order === "NEAREST" && !near) {
    near = await askPlace();
    if (!near) return drawControls();
  }
  return go({ ...page.state, order, near });
}

function startControls() {
  byId("search-icon").append(icon("search"));
  byId("filters-icon").append(icon("filter"));
  byId("sheet-close").append(icon("close"));
  byId("side").append(h("div", { id: "panel", class: "panel" }));
  placePanel();
  narrow.addEventListener("change", placePanel);
  byId("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    closeSuggestions();
    page.search(byId("text").value.trim(), {});
  });
  byId("order").addEventListener("change", orderChosen);
  byId("more").addEventListener("click", loadMore);
  byId("open-filters").addEventListener("click", () => byId("sheet").showModal());
  for (const id of ["sheet-close", "sheet-show"])
    byId(id).addEventListener("click", () => byId("sheet").close());
  addEventListener("keydown", (event) => {       // a slash: to the search box
    if (event.key !== "/" || /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName)
      || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    byId("text").select();
  });
  // Going back or forward: the browser may have scrolled already, so what was seen last is kept.
  let seen = scrollY;
  addEventListener("scroll", () => { seen = scrollY; }, { passive: true });
  addEventListener("popstate", () => {
    keepScroll(seen);
    show(readState(), true);
  });
  addEventListener("pagehide", keep);
}

function start() {
  startControls();
  header("search");
  byId("foot-pages").append(...[...document.querySelectorAll(".top .pages a")]
    .map((each) => each.cloneNode(true)));
  startSuggestions(page);
  startOffer(page);
  startEvents();
  onLanguage(() => {
    keep();
    kept.clear();
    fillTexts();
    drawView();
    drawControls();
    drawOffer(page);
    load(true);
  });
  drawView();
  drawControls();
  drawSkeleton(page);
  drawOffer(page);
  load();
  keepFresh();
}

start();
