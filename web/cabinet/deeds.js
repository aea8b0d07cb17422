// SPDX-License-Identifier: Apache-2.0
// deeds.js - what can be done with an offer in each state, and the way to see it in the search.
import { call, h, t, toast, toastFailure } from "../common.js";
import { ask } from "../common/ask.js";

const DEEDS = {
  withdraw: { method: "WithdrawOffer", did: "didWithdraw" },
  republish: { method: "RepublishOffer", did: "didRepublish" },
  prolong: { method: "ProlongOffer", did: "didProlong" },
  soldHere: { method: "MarkOfferSold", did: "didSell", body: { where: "ON_SITE" },
    ask: ["soldAsk", "soldText"] },
  soldElsewhere: { method: "MarkOfferSold", did: "didSell", body: { where: "ELSEWHERE" },
    ask: ["soldAsk", "soldText"] },
  remove: { method: "DeleteOffer", did: "didRemove", ask: ["removeAsk", "removeText"],
    danger: true },
};

const POSSIBLE = {
  ACTIVE: ["prolong", "withdraw", "soldHere", "soldElsewhere", "remove"],
  WAITING: ["withdraw", "soldHere", "soldElsewhere", "remove"],
  EXPIRED: ["prolong", "withdraw", "soldHere", "soldElsewhere", "remove"],
  SOLD_ON_SITE: ["republish", "remove"], SOLD_ELSEWHERE: ["republish", "remove"],
  WITHDRAWN: ["republish", "soldHere", "soldElsewhere", "remove"],
  BANNED: ["remove"],
};

export const isEditable = (status) => ["ACTIVE", "WAITING", "EXPIRED", "BANNED",
  "WITHDRAWN"].includes(status);
export const deedsOf = (status) => POSSIBLE[status] || [];

export const BADGES = { ACTIVE: "good", WAITING: "warn", EXPIRED: "warn", BANNED: "bad" };

export function statusBadge(status) {
  return h("span", { class: `badge ${BADGES[status] || ""}` }, t(`s${status}`));
}

// Gives the receipt; null: the person changed their mind, or it was refused and told.
export async function doDeed(name, offer) {
  const deed = DEEDS[name];
  const title = offer.content?.title || t("untitled");
  if (deed.ask && !await ask({ title: t(deed.ask[0]), text: t(deed.ask[1], { title }),
    yes: t(name), danger: deed.danger })) return null;
  try {
    const receipt = await call("OfferService", deed.method, { id: offer.id, ...deed.body });
    toast(t(deed.did));
    return receipt;
  } catch (error) {
    toastFailure(error);
    return null;
  }
}

// Tokens of changes made in this tab: the search is asked to have seen them.
const tokens = new Map();
export const noteToken = (receipt) => { if (receipt?.freshnessToken) tokens.set(receipt.id,
  receipt.freshnessToken); };

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

// True once a search finds it; some seconds at the most.
async function waitFound(id, title) {
  const wait = tokens.has(id) ? [tokens.get(id)] : [];
  for (let tries = 0; tries < 20; tries++) {
    try {
      const found = await call("SearchService", "SearchOffers",
        { text: title, limit: 50, onlyOffers: true, wait }, { withKey: false });
      if ((found.offers || []).some((offer) => offer.id === id)) return true;
      if (wait.length) wait.pop(); /* it has waited; what it did not find may still come */
    } catch (error) {
      if (wait.length && error.code === "invalid_argument") wait.pop(); /* no token it knows */
      else if (error.isAbsent) return false;
    }
    await pause(250);
  }
  return false;
}

export const searchAddress = (id,
  title) => `/?q=${encodeURIComponent(title)}&offer=${encodeURIComponent(id)}`;

// A link to the search page that opens it when the offer is to be found there.
export function seeItLink(id, title, properties = {}) {
  const address = searchAddress(id, title);
  return h("a", { href: address, ...properties, dataset: { see: id }, onclick: async (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const link = event.currentTarget;
    link.setAttribute("aria-busy", "true");
    const slow = setTimeout(() => toast(t("waitingForSearch")), 400);
    const found = await waitFound(id, title);
    clearTimeout(slow);
    link.removeAttribute("aria-busy");
    if (!found) toast(t("notYetFound"));
    location.assign(address);
  } }, t("seeIt"));
}
