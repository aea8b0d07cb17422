// SPDX-License-Identifier: Apache-2.0
// kept.js - offers that the buyer has marked, and those seen last: kept in this browser alone, as they
// were shown. Below the list, so that nothing above moves.
import { byId, h, icon, t } from "../common.js";
import { noteDeed } from "./events.js";
import { offerItem } from "./results.js";

const COUNTS = { saved: 50, seen: 12 };

function read(name) {
  try {
    const list = JSON.parse(localStorage.getItem(`offers-${name}`) || "[]");
    return Array.isArray(list) ? list.filter((each) => typeof each?.id === "string") : [];
  } catch {
    return [];
  }
}

function write(name, list) {
  try { localStorage.setItem(`offers-${name}`, JSON.stringify(list.slice(0, COUNTS[name]))); }
  catch { /* private mode, or no room: forgotten */ }
}

// What a list shows of an offer, as an answer of the search has it.
function shortOf(offer) {
  const { content } = offer;
  const photo = (content.photos || []).find((each) => each.state === "READY" && each.sizes?.length);
  const size = photo && [...photo.sizes].sort((a, b) => a.width - b.width)[0];
  return { id: offer.id, title: content.title, price: content.price, salary: content.salary, category: content.category,
    ...size ? { photo: size.key, photoWidth: size.width, photoHeight: size.height, photoPreview: photo.preview }
      : { photo: "" },
    place: content.address?.text || "" };
}

export function noteSeen(offer) {
  write("seen", [shortOf(offer), ...read("seen").filter((each) => each.id !== offer.id)]);
}

export function forget(id) {
  for (const name of Object.keys(COUNTS)) write(name, read(name).filter((each) => each.id !== id));
}

export function saveButton(page, offer) {
  const isSaved = () => read("saved").some((each) => each.id === offer.id);
  const button = h("button", { class: "button", type: "button", id: "save-offer" });
  const draw = () => {
    button.setAttribute("aria-pressed", String(isSaved()));
    button.replaceChildren(icon("heart"), t(isSaved() ? "unsave" : "save"));
  };
  button.addEventListener("click", () => {
    const others = read("saved").filter((each) => each.id !== offer.id);
    write("saved", isSaved() ? others : [shortOf(offer), ...others]);
    if (isSaved()) noteDeed("FAVOURITE", offer.id);
    draw();
    drawKept(page);
  });
  draw();
  return button;
}

export function drawKept(page) {
  byId("kept").replaceChildren(...["saved", "seen"].map((name) => [name, read(name)])
    .filter(([, list]) => list.length).map(([name, list]) =>
      h("section", { class: "kept", "aria-labelledby": `kept-${name}` },
        h("h2", { id: `kept-${name}` }, t(name === "saved" ? "savedOffers" : "seenOffers")),
        h("ol", { class: "offers cards" }, list.map((each) => offerItem(page, each, { heading: "h3" }))))));
}
