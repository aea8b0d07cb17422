// SPDX-License-Identifier: Apache-2.0
// list.js - the seller's offers: presets with their counts, pages of a list, deeds at each offer.
import { ago, call, date, h, icon, number, price, t } from "../common.js";
import { deedsOf, doDeed, isEditable, noteToken, seeItLink, statusBadge } from "./deeds.js";

const PRESETS = ["ALL", "ACTIVE", "WAITING", "EXPIRED", "SOLD", "WITHDRAWN", "BANNED", "DRAFTS"];
const PAGE = 20;

let preset = "ALL";
let tokens = [""]; /* of the pages up to this one */
let place = null;
let list = null;
let counts = {};
let asking = 0;

const countBox = (name) => h("span", { class: "preset-count" }, counts[name] === undefined ? "–"
  : number(counts[name]));

function presetsBar() {
  return h("div", { class: "presets", role: "group", "aria-label": t("presets") },
    PRESETS.map((name) =>
    h("button", { class: "chip preset", type: "button", dataset: { preset: name },
      "aria-pressed": String(name === preset), onclick: () => choose(name) },
    t(`pr${name}`), countBox(name))));
}

function thumb(offer) {
  const photo = (offer.content?.photos || []).find((each) => each.state === "READY"
    && each.sizes?.length);
  const box = h("span", { class: "thumb" }, icon("camera"));
  if (photo) {
    const image = h("img", { src: `/v1/photos/${photo.sizes[0].key}`, alt: "", loading: "lazy" });
    image.addEventListener("error", () => image.replaceWith(icon("camera")));
    box.replaceChildren(image);
  }
  return box;
}

function deedButtons(offer) {
  return deedsOf(offer.status).map((name) => h("button",
    { class: `button small${name === "remove" ? " danger" : ""}`,
    type: "button", dataset: { deed: name }, onclick: async () => {
      const receipt = await doDeed(name, offer);
      noteToken(receipt);
      if (receipt) await load();
    } }, t(name)));
}

function failedPhotos(offer) {
  return (offer.content?.photos || []).filter((photo) => photo.state === "FAILED").length;
}

function offerLine(offer) {
  const title = offer.content?.title || t("untitled");
  return h("li", { class: "offer-line card", dataset: { id: offer.id } }, thumb(offer),
    h("div", { class: "offer-main" },
      h("p", { class: "offer-title" }, isEditable(offer.status)
        ? h("a", { href: `#/offer/${offer.id}` }, title) : h("b", {}, title), " ",
          statusBadge(offer.status)),
      h("p", { class: "offer-price" }, price(offer.content?.price)),
      h("p", { class: "dim small" }, offer.id, " · ", t("changedAgo",
        { time: ago(offer.updateTime) }),
        offer.status === "ACTIVE" && offer.expireTime
          ? ` · ${t("expiresOn", { date: date(offer.expireTime) })}` : ""),
      offer.waitReason ? h("p", { class: "warn small" }, offer.waitReason) : null,
      failedPhotos(offer) ? h("p", { class: "error small" },
        `${t("fPhotos")}: ${failedPhotos(offer)} – ${t("phFAILED")}`) : null),
    h("div", { class: "offer-deeds row" },
      isEditable(offer.status) ? h("a", { class: "button small", href: `#/offer/${offer.id}` },
        t("edit")) : null,
      offer.status === "ACTIVE" ? seeItLink(offer.id, title, { class: "button small" }) : null,
      deedsOf(offer.status).length ? h("details", { class: "more-deeds" },
        h("summary", { class: "button small" }, t("otherDeeds"), icon("down")),
        h("div", { class: "more-box" }, deedButtons(offer))) : null));
}

function draftLine(draft) {
  return h("li", { class: "offer-line card", dataset: { id: draft.id } }, thumb(draft),
    h("div", { class: "offer-main" },
      h("p", { class: "offer-title" }, h("a", { href: "#/draft" }, draft.content?.title
        || t("untitled")), " ",
        h("span", { class: "badge" }, t("sDRAFT"))),
      h("p", { class: "offer-price" }, price(draft.content?.price)),
      h("p", { class: "dim small" }, t("changedAgo", { time: ago(draft.updateTime) }),
        draft.problems?.length ? ` · ${t("missing", { count: draft.problems.length })}` : "")),
    h("div", { class: "offer-deeds row" }, h("a", { class: "button small primary",
      href: "#/draft" }, t("goOn"))));
}

function pager() {
  const before = tokens.length > 1;
  const next = list?.nextPageToken;
  if (!before && !next) return null;
  return h("nav", { class: "pager row" },
    h("button", { class: "button", type: "button", id: "page-before", disabled: !before,
      onclick: () => { tokens.pop(); load(true); } }, icon("back"), t("pageBefore")),
    h("span", { class: "dim", role: "status" }, t("pageNumber", { number: tokens.length })),
    h("button", { class: "button", type: "button", id: "page-next", disabled: !next,
      onclick: () => { tokens.push(next); load(true); } }, t("pageNext"), icon("forward")));
}

function draw() {
  const lines = [...(list?.drafts || []).map(draftLine), ...(list?.offers || []).map(offerLine)];
  place.replaceChildren(presetsBar(),
    list && !lines.length ? h("div", { class: "empty card" }, h("h2", {}, t("listEmpty")), h("p",
      { class: "dim" }, t("listEmptyLead")))
      : h("ul", { class: "offer-list", "aria-busy": String(!list) }, list ? lines
        : Array.from({ length: 4 }, () => h("li", { class: "offer-line card ghost" }))),
    pager() || "");
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
