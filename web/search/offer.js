// SPDX-License-Identifier: Apache-2.0
// offer.js - one offer, in a dialog over the list: ?offer=ID. Names of attributes and options come
// from the catalogue; offers like it from SearchService.Similar, where the server has that.
import { byId, call, date, distance, failure, h, icon, language, number, pictured, t, toast, withUnit,
  worth }
  from "../common.js";
import { categoryLink, categoryOf, pathOf } from "./categories.js";
import { contact } from "./contact.js";
import { drawKept, forget, noteSeen, saveButton } from "./kept.js";
import { drawing, photoAddress } from "./picture.js";
import { offerItem } from "./results.js";
import { askSnippets, snippetRow } from "./snippets.js";

const SIMILAR_COUNT = 8;
const EARTH_M = 6371009;
const FEED_NAMES = ["vendor", "vendorCode", "model", "barcode"]; // as price lists have tags for them
let shown = null;               // {id, language} of what the dialog has
let first = "";                 // the offer it was opened with: the focus goes back there
let asked = null;

// --- attributes ---

function valueText(value, attribute) {
  const options = value.options || [];
  if (options.length)
    return options.map((id) => attribute?.options?.find((each) => each.id === id)?.name || id)
      .join(", ");
  if (value.flag !== undefined) return t(value.flag ? "yes" : "no");
  if (value.year !== undefined) return String(value.year);
  if (value.text !== undefined) return value.text;
  const amount = value.integer ?? value.decimal;
  if (amount === undefined) return "";
  const units = attribute?.units || [];
  const unit = units.find((each) => each.id === value.unit) || units[0];
  return withUnit(number(amount, { maximumFractionDigits: 6 }), unit?.name);
}

function attributeRows(content, category) {
  const known = new Map((category.attributes || []).map((each) => [each.id, each]));
  const isSaid = (value) => value && !value.endsWith("_UNSPECIFIED");
  const rows = isSaid(content.condition) ? [[t("condition"), t(content.condition)]] : [];
  if (content.delivery) rows.push([t("delivery"), t("yes")]);
  if (content.exchange) rows.push([t("exchange"), t("yes")]);
  if (isSaid(content.sellerKind)) rows.push([t("sellerKind"), t(content.sellerKind)]);
  for (const value of content.attributes || []) {
    const attribute = known.get(value.attributeId);
    rows.push([attribute?.name || value.attributeId, valueText(value, attribute)]);
  }
  for (const { name, value } of content.properties || [])
    rows.push([FEED_NAMES.includes(name) ? t(`feed_${name}`) : name, value]);
  return rows.filter(([, text]) => text);
}

function factList(rows) {
  return h("dl", { class: "facts" }, rows.map(([name, value]) =>
    [h("dt", {}, name), h("dd", {}, value)]));
}

// --- photos ---

// A photo's forms: the smallest, and the one for a screen.
function formsOf(photo) {
  const sizes = [...(photo.sizes || [])].sort((a, b) => a.width - b.width);
  return { preview: photo.preview, small: sizes[0],
    large: sizes.find((each) => each.width >= 800) || sizes.at(-1) };
}

// An image of this form, whatever the box it is in, and its preview until it is there.
function form({ key, width = 800, height = 600 }, preview, alt) {
  const image = h("img", { alt, width, height });
  const inside = pictured(image, preview, width, height);
  image.src = photoAddress(key);
  return { image, inside };
}

function gallery(content) {
  const photos = (content.photos || [])
    .filter((each) => each.state === "READY" && each.sizes?.length).map(formsOf);
  const stage = h("div", { class: "stage" });
  if (!photos.length) {
    stage.append(drawing(content.category));
    return h("div", { class: "gallery" }, stage);
  }
  const whole = h("div", { class: "stage-photo pictured" });
  const thumbs = photos.map(({ small, preview }, place) => h("button", { class: "thumb pictured", type: "button",
    "aria-label": t("photoOf", { number: place + 1, count: photos.length }),
    onclick: () => show(place) }, form(small, preview, "").inside));
  let at = 0;
  const show = (place) => {
    at = (place + photos.length) % photos.length;
    const { large, preview } = photos[at];
    const { image, inside } = form(large, preview,
      `${content.title}. ${t("photoOf", { number: at + 1, count: photos.length })}`);
    image.addEventListener("error", () => image.replaceWith(drawing(content.category)));
    whole.replaceChildren(...inside);
    thumbs.forEach((each, number) => each.setAttribute("aria-current", String(number === at)));
  };
  const step = (name, by, sign) => h("button", { class: `icon-button stage-${name}`, type: "button",
    "aria-label": t(name), onclick: () => show(at + by) }, icon(sign));
  stage.append(whole);
  if (photos.length > 1) stage.append(step("previous", -1, "back"), step("next", 1, "forward"));
  show(0);
  return h("div", { class: "gallery" }, stage,
    photos.length > 1 ? h("div", { class: "thumbs" }, thumbs) : null);
}

// --- where ---

function metersBetween(a, b) {
  const radians = (degrees) => degrees * Math.PI / 180;
  const up = Math.sin(radians(b.latitude - a.latitude) / 2);
  const along = Math.sin(radians(b.longitude - a.longitude) / 2);
  const part = up * up + Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * along * along;
  return 2 * EARTH_M * Math.asin(Math.sqrt(Math.min(1, part)));
}

function whereText(page, address) {
  const point = address?.point;
  const away = page.state.near && point
    ? t("distanceAway", { distance: distance(metersBetween(page.state.near, point)) }) : "";
  return [address?.text, away].filter(Boolean).join(" · ");
}

// --- the dialog ---

function closeButton(page) {
  return h("button", { class: "icon-button offer-close", type: "button", "aria-label": t("close"),
    onclick: page.closeOffer }, icon("close"));
}

// The address of its own, whose title and picture are shown where it is pasted.
function shareButton(id) {
  const address = `${location.origin}/offers/${encodeURIComponent(id)}`;
  return h("button", { class: "button", type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(address);
      toast(t("copied"));
    } catch {
      toast(address);
    }
  } }, icon("link"), t("share"));
}

function body(page, offer, category, path) {
  const { content } = offer;
  const rows = attributeRows(content, category);
  const place = whereText(page, content.address);
  const way = path.map((each, depth) => [depth ? " › " : "", categoryLink(page, each)]);
  const about = [[t("category"), path.length ? way : content.category],
    [t("place"), place], [t("seller"), h("a", { href: `/sellers/${encodeURIComponent(offer.seller)}` },
      content.contacts?.name || offer.seller)], [t("published"), date(offer.createTime)],
    [t("until"), offer.expireTime ? date(offer.expireTime) : ""], [t("number"), offer.id]];
  return [closeButton(page), h("div", { class: "offer-columns" },
    h("div", { class: "offer-left" }, gallery(content)),
    h("div", { class: "offer-right" },
      h("h2", { id: "offer-title", tabindex: "-1" }, content.title),
      h("p", { class: "offer-price" }, worth(content)),
      snippetRow(offer.id),
      place ? h("p", { class: "offer-place" }, icon("pin"), place) : null,
      contact(offer.id),
      h("div", { class: "row" }, saveButton(page, offer), shareButton(offer.id)),
      rows.length ? [h("h3", {}, t("details")), factList(rows)] : null,
      h("hr"), factList(about.filter(([, text]) => text))),
    content.description ? h("div", { class: "offer-text" }, h("h3", {}, t("description")),
      h("p", { class: "description" }, content.description)) : null),
  h("section", { class: "similar", hidden: true, "aria-labelledby": "similar-title" })];
}

async function drawSimilar(page, id, signal) {
  const box = byId("offer").querySelector(".similar");
  try {
    const answer = await call("SearchService", "Similar",
      { id, limit: SIMILAR_COUNT, language: language() }, { signal, withKey: false });
    if (!answer.offers?.length) return;
    box.replaceChildren(h("h3", { id: "similar-title" }, t("similar")),
      h("ol", { class: "offers cards" },
        answer.offers.map((each) => offerItem(page, each, { heading: "h4" }))));
    box.hidden = false;
  } catch { /* the server does not have it, or the offer was left: nothing is shown */ }
}

function drawGone(page, error) {
  byId("offer").replaceChildren(closeButton(page), h("div", { class: "empty" }, icon("warning"),
    h("h2", { id: "offer-title", tabindex: "-1" },
      error.status === 404 || error.status === 400 ? t("gone") : failure(error)),
    h("button", { class: "button primary", type: "button", onclick: page.closeOffer },
      t("toSearch"))));
}

async function load(page, id) {
  asked?.abort();
  asked = new AbortController();
  const { signal } = asked;
  try {
    const offer = await call("OfferService", "GetOffer", { id }, { signal, withKey: false });
    const [category, path] = await Promise.all([categoryOf(offer.content.category),
      pathOf(offer.content.category)]);
    if (signal.aborted) return;
    byId("offer").replaceChildren(...body(page, offer, category, path));
    document.title = `${offer.content.title} · Torg`;
    askSnippets();
    drawSimilar(page, offer.id, signal);
    noteSeen(offer);
    drawKept(page);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status === 404) {
      forget(id);
      drawKept(page);
    }
    drawGone(page, error);
  }
  byId("offer").scrollTop = 0;
  byId("offer-title").focus();
}

// Opens, changes or closes the dialog, as the state has it.
export function drawOffer(page) {
  const dialog = byId("offer");
  const id = page.state.offer;
  if (!id) {
    asked?.abort();
    const back = shown && (byId(`offer-${shown.id}`) || byId(`offer-${first}`));
    shown = null;
    if (dialog.open) dialog.close();
    back?.focus({ preventScroll: true });
    return;
  }
  if (shown?.id === id && shown.language === language()) return;
  shown = { id, language: language() };
  if (!dialog.open) {
    first = id;
    dialog.replaceChildren(closeButton(page), h("div", { class: "offer-columns" },
      h("div", { class: "offer-left" }, h("div", { class: "stage" })),
      h("div", { class: "offer-right" }, h("h2", { id: "offer-title", class: "dim", tabindex: "-1" },
        t("loading")))), h("div", { class: "offer-rest" }));
    dialog.showModal();
  }
  load(page, id);
}

export function startOffer(page) {
  const dialog = byId("offer");
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    page.closeOffer();
  });
  dialog.addEventListener("click", (event) => {       // beside it
    if (event.target === dialog) page.closeOffer();
  });
}
