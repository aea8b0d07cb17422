// SPDX-License-Identifier: Apache-2.0
// list.js - the seller's offers: presets with their counts, pages of a list, deeds at each offer.
import { ago, call, date, h, icon, number, price, t } from "../common.js";
import { deedsOf, doDeed, isEditable, noteToken, seeItLink, statusBadge } from "./deeds.js";
import { ownPhoto } from "./own-photo.js";

const PRESETS = ["ALL", "ACTIVE", "WAITING", "EXPIRED", "SOLD", "WITHDRAWN", "BANNED", "DRAFTS"];
const PAGE = 20;

let preset = "ALL";
let tokens = [""]; /* of the pages up to this one */
let place = null;
let list = null;
let counts = {};
let asking = 0;

const countText = (name) => counts[name] === undefined ? "–" : number(counts[name]);

function presetChip(name) {
  return h("button", { class: "chip preset", type: "button", dataset: { preset: name },
    "aria-pressed": String(name === preset), onclick: () => choose(name) },
  t(`pr${name}`), h("span", { class: "preset-count" }, countText(name)));
}

function presetsBar() {
  return h("div", { class: "presets", role: "group", "aria-label": t("presets") },
    PRESETS.map(presetChip));
}

/* --- lines --- */

function thumb(content) {
  const photo = (content?.photos || []).find((each) =>
    each.state === "READY" && each.sizes?.length);
  const box = h("span", { class: "thumb pictured" }, icon("camera"));
  if (photo) box.replaceChildren(...ownPhoto(photo, () => box.replaceChildren(icon("camera"))));
  return box;
}

async function act(button, name, offer) {
  button.disabled = true; /* a second click is no second deed */
  const receipt = await doDeed(name, offer);
  button.disabled = false;
  noteToken(receipt);
  if (receipt) await load().catch(report);
}

function deedBox(offer) {
  const names = deedsOf(offer.status);
  if (!names.length) return null;
  const label = t("otherDeedsOf", { title: offer.content?.title || t("untitled") });
  return h("details", { class: "more-deeds", name: "deeds", "aria-label": label },
    h("summary", { class: "button small", "aria-label": label }, t("otherDeeds"), icon("down")),
    h("div", { class: "more-box" }, names.map((name) =>
      h("button", { class: `button small${name === "remove" ? " danger" : ""}`, type: "button",
        dataset: { deed: name }, onclick: (event) => act(event.currentTarget, name, offer) },
      t(name)))));
}

// What its seller should know: why it waits, photos that could not be had.
function warnings(offer) {
  const failed = (offer.content?.photos || []).filter((photo) => photo.state === "FAILED").length;
  return [offer.waitReason ? h("p", { class: "warn small" }, offer.waitReason) : null,
    failed ? h("p", { class: "error small" }, `${t("fPhotos")}: ${t("phFAILED")} – ${failed}`)
      : null];
}

function facts(offer) {
  const parts = [offer.id, t("changedAgo", { time: ago(offer.updateTime) })];
  if (offer.status === "ACTIVE" && offer.expireTime)
    parts.push(t("expiresOn", { date: date(offer.expireTime) }));
  return h("p", { class: "dim small" }, parts.join(" · "));
}

function offerLine(offer) {
  const title = offer.content?.title || t("untitled");
  const address = isEditable(offer.status) ? `#/offer/${offer.id}` : null;
  return h("li", { class: "offer-line card", dataset: { id: offer.id } },
    thumb(offer.content),
    h("div", { class: "offer-main" },
      h("p", { class: "offer-title" }, address ? h("a", { href: address }, title) : title, " ",
        statusBadge(offer.status)),
      h("p", { class: "offer-price" }, price(offer.content?.price)),
      facts(offer), warnings(offer)),
    h("div", { class: "offer-deeds row" },
      address ? h("a", { class: "button small", href: address }, t("edit")) : null,
      offer.status === "ACTIVE" ? seeItLink(offer.id, title, { class: "button small" }) : null,
      deedBox(offer)));
}

function draftLine(draft) {
  const title = draft.content?.title || t("untitled");
  const parts = [t("changedAgo", { time: ago(draft.updateTime) })];
  if (draft.problems?.length) parts.push(t("missing", { count: draft.problems.length }));
  return h("li", { class: "offer-line card", dataset: { id: draft.id } },
    thumb(draft.content),
    h("div", { class: "offer-main" },
      h("p", { class: "offer-title" }, h("a", { href: "#/draft" }, title), " ",
        h("span", { class: "badge" }, t("sDRAFT"))),
      h("p", { class: "offer-price" }, price(draft.content?.price)),
      h("p", { class: "dim small" }, parts.join(" · "))),
    h("div", { class: "offer-deeds row" },
      h("a", { class: "button small primary", href: "#/draft" }, t("goOn"))));
}

/* --- pages --- */

// The pages up to the one to be shown; a second click, or a fault, leaves the list where it is.
let isTurning = false;
async function turnTo(wanted) {
  if (isTurning) return;
  const before = tokens;
  isTurning = true;
  tokens = wanted;
  try {
    await load(true);
  } catch (error) {
    tokens = before;
    report(error);
  } finally {
    isTurning = false;
  }
}

function pager() {
  const before = tokens.length > 1;
  const next = list?.nextPageToken;
  if (!before && !next) return null;
  return h("nav", { class: "pager row", "aria-label": t("pageList") },
    h("button", { class: "button", type: "button", id: "page-before", disabled: !before,
      onclick: () => turnTo(tokens.slice(0, -1)) }, icon("back"), t("pageBefore")),
    h("span", { class: "dim", role: "status" }, t("pageNumber", { number: tokens.length })),
    h("button", { class: "button", type: "button", id: "page-next", disabled: !next,
      onclick: () => turnTo([...tokens, next]) }, t("pageNext"), icon("forward")));
}

const ghosts = () => Array.from({ length: 4 }, () =>
  h("li", { class: "offer-line card ghost" }));

function body() {
  const lines = [...(list?.drafts || []).map(draftLine), ...(list?.offers || []).map(offerLine)];
  if (list && !lines.length)
    return h("div", { class: "empty card" }, h("h2", {}, t("listEmpty")),
      h("p", { class: "dim" }, t("listEmptyLead")));
  return h("ul", { class: "offer-list", "aria-busy": String(!list) }, list ? lines : ghosts());
}

function draw() {
  place.replaceChildren(presetsBar(), body(), pager() || "");
}

async function load(toTop = false) {
  const mine = ++asking;
  const [found, told] = await Promise.all([
    call("CabinetService", "ListOffers", { preset, pageSize: PAGE,
      pageToken: tokens[tokens.length - 1] }),
    call("CabinetService", "GetCounts", {})]);
  if (mine !== asking || !place?.isConnected) return;
  list = found;
  counts = Object.fromEntries((told.counts || []).map((one) => [one.preset, Number(one.count
    || 0)]));
  draw();
  if (toTop) scrollTo({ top: 0 });
}

function choose(name) {
  preset = name;
  tokens = [""];
  for (const chip of place.querySelectorAll(".preset"))
    chip.setAttribute("aria-pressed", String(chip.dataset.preset === name));
  return load().catch(report);
}

// A box of deeds is closed by a click elsewhere, and by Escape.
function closeBoxes(except) {
  for (const box of document.querySelectorAll(".more-deeds[open]"))
    if (box !== except) box.open = false;
}
document.addEventListener("click", (event) => closeBoxes(event.target.closest(".more-deeds")));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const box = document.activeElement?.closest(".more-deeds[open]");
  closeBoxes(null);
  box?.querySelector("summary").focus();
});

let report = () => {};

// Draws the list in `where`; fail(error) tells what could not be had.
export function showList(where, fail) {
  place = where;
  report = fail;
  draw();
  return load().catch(fail);
}

export function redrawList() {
  if (place?.isConnected) draw();
}
