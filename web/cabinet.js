// SPDX-License-Identifier: Apache-2.0
// cabinet.js - the page /cabinet: signing in, and which part is shown.
//
//   #/           the list of offers        cabinet/list.js
//   #/draft      the draft                 cabinet/editor.js
//   #/offer/ID   an offer that is there    cabinet/editor.js
//   #/messages   buyers' messages          cabinet/messages.js
//   #/feeds      feeds and their reports   cabinet/feeds.js
import { byId, call, failureDetail, h, header, key, onLanguage, setKey, t, toastFailure }
  from "./common.js";
import { keyProblem, showSignIn, showTrouble, signOutButton } from "./common/signin.js";
import "./cabinet/texts.js";
import { leaveEditor, redrawEditor, showDraft, showOffer } from "./cabinet/editor.js";
import { redrawFeeds, showFeeds } from "./cabinet/feeds.js";
import { drawHeed, loadHeed } from "./cabinet/heed.js";
import { redrawList, showList } from "./cabinet/list.js";
import { redrawMessages, showMessages } from "./cabinet/messages.js";

let isSignedIn = false;

function askForKey(problem) {
  isSignedIn = false;
  byId("cabinet").hidden = true;
  showSignIn(byId("sign-in-place"), { title: "cabinetSignIn", lead: "cabinetLead",
    how: "cabinetHow", problem }, enter);
}

function fail(error) {
  if (error.status === 401) {
    const problem = keyProblem(error);
    setKey("");
    askForKey(problem);
  } else if (error.status === 403) {
    askForKey([t("cabinetDenied"), failureDetail(error)]);
  } else {
    toastFailure(error);
  }
}

async function route() {
  if (!isSignedIn) return;
  await leaveEditor();
  loadHeed();
  const place = h("div"); /* this part's own: what it is answered late is not drawn over the next */
  const [part, id] = location.hash.replace(/^#\/?/, "").split("/");
  byId("view").replaceChildren(place);
  for (const link of document.querySelectorAll("[data-part]"))
    link.setAttribute("aria-current", String(link.dataset.part
      === (["feeds", "messages"].includes(part) ? part : "offers")));
  byId("new-offer").hidden = part === "draft";
  if (part === "draft") await showDraft(place, fail);
  else if (part === "offer" && id) await showOffer(place, decodeURIComponent(id), fail);
  else if (part === "feeds") showFeeds(place, fail);
  else if (part === "messages") await showMessages(place, fail);
  else await showList(place, fail);
}

// The seller's name is in his offers; a new seller has none yet.
async function tellSeller() {
  const found = await call("CabinetService", "ListOffers", { pageSize: 1 });
  const name = found.offers?.[0]?.seller;
  byId("seller").textContent = name ? t("sellerIs", { seller: name }) : "";
}

async function enter() {
  try {
    await tellSeller();
  } catch (error) {
    if ([401, 403].includes(error.status)) fail(error);
    else showTrouble(byId("sign-in-place"), error, enter);
    return;
  }
  isSignedIn = true;
  byId("sign-in-place").replaceChildren();
  byId("cabinet").hidden = false;
  await route();
}

header("cabinet");
byId("cabinet-tools").append(signOutButton());
document.title = t("cabinetTab");
onLanguage(() => {
  document.title = t("cabinetTab");
  if (!isSignedIn) return;
  tellSeller().catch(() => {});
  redrawList();
  redrawEditor();
  redrawFeeds();
  redrawMessages();
  drawHeed();
});
addEventListener("hashchange", () => { if (isSignedIn) route(); else if (key()) enter(); });
addEventListener("pagehide", () => { leaveEditor(); });
if (key()) enter();
else askForKey("");
