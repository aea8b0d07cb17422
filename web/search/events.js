// SPDX-License-Identifier: Apache-2.0
// events.js - what the buyer was shown and did: sent to EventService in small batches, as events of a
// visit of a random name, which this tab keeps until it is closed. Nothing is sent where the browser
// says that its owner is not to be tracked. The page does not need it: what fails is not told.
import { call } from "../common.js";

const VISIT = "torg-visit";
const BATCH_COUNT = 50;         // of a call; the server takes 100
const WAIT_MS = 2000;           // for more of a batch
const ANSWER_MS = 10000;
const NOTED_COUNT_MAX = 2000;   // in a page that is open; the server counts 600 an hour of a visit
const SEEN_PART = 0.5;          // of an item's area that is on the screen

const noted = new Set();        // ids: each is sent once
let waiting = [];
let timer = 0;
let isOver = navigator.globalPrivacyControl === true || navigator.doNotTrack === "1";
let watcher = null;

export function randomName() {
  return [...crypto.getRandomValues(new Uint8Array(8))]
    .map((each) => each.toString(16).padStart(2, "0")).join("");
}

// --- queries that were retyped ---

const RETYPE_MS = 5 * 60 * 1000;
const RETYPE_SIZE_MAX = 200;    // bytes of a query that the server takes
let query = null;               // of the list that is shown
let queryBefore = null;         // the one before it, if nothing of its list was clicked

const isSendable = (text) => new TextEncoder().encode(text).length <= RETYPE_SIZE_MAX;

// A list of another text is shown.
export function noteQuery(text) {
  if (query?.text === text) return;
  const isRetyped = query && !query.isClicked && Date.now() - query.time < RETYPE_MS;
  queryBefore = text && isRetyped ? query : null;
  query = text && isSendable(text) ? { text, time: Date.now(), isClicked: false } : null;
}

// What was looked for is found by what was typed last: both are told, as synonyms are proposed by that.
function noteFound({ queryId, offerId }) {
  if (query) query.isClicked = true;
  if (!query || !queryBefore) return;
  note(`RETYPE-${queryId}`, { kind: "RETYPE", offerId, queryId, text: queryBefore.text, retyped: query.text });
  queryBefore = null;
}

let current = "";

function visit() {
  current ||= randomName();
  try {
    current = sessionStorage.getItem(VISIT) || current;
    sessionStorage.setItem(VISIT, current);
  } catch { /* private mode: until the page is left */ }
  return current;
}

// With the key of a seller who has signed in: what he does with his own offers does not count.
async function send() {
  clearTimeout(timer);
  timer = 0;
  if (!waiting.length) return;
  const events = waiting;
  waiting = [];
  try {
    await call("EventService", "RecordEvents", { session: visit(), events },
      { keepalive: true, signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (error) {
    isOver ||= Boolean(error.isAbsent);
  }
}

function note(id, event) {
  if (isOver || noted.has(id) || noted.size >= NOTED_COUNT_MAX) return;
  noted.add(id);
  waiting.push({ id, ...event });
  if (waiting.length >= BATCH_COUNT) send();
  else timer ||= setTimeout(send, WAIT_MS);
}

const clicked = new Map();      // offers: the list and the place they were clicked in

// An offer of the list at its position, from 1; queryId names the list.
function noteInList(kind, { queryId, offerId, position }) {
  if (kind === "CLICK") clicked.set(offerId, { queryId, position });
  const text = kind === "CLICK" && query ? { text: query.text } : {};
  note(`${kind}-${queryId}-${offerId}`, { kind, offerId, position, queryId, ...text });
}

// CONTACT or FAVOURITE: once in a visit, with the list that the offer was opened from.
export function noteDeed(kind, offerId) {
  note(`${kind}-${offerId}`, { kind, offerId, ...clicked.get(offerId) });
}

// Items of a list that was just drawn, or drawn further: each is shown when it has come into sight,
// and clicked when its link is, in whichever way it is opened.
export function watchItems(items, queryId, first, isNew) {
  if (isOver || !queryId) return;
  if (isNew) watcher?.disconnect();
  if (isNew || !watcher)
    watcher = new IntersectionObserver((entries) => {
      for (const entry of entries.filter((each) => each.isIntersecting)) {
        noteInList("SHOW", { ...entry.target.dataset, position: Number(entry.target.dataset.position) });
        watcher.unobserve(entry.target);
      }
    }, { threshold: SEEN_PART });
  items.forEach((item, place) => {
    const about = { queryId, offerId: item.dataset.offerId, position: first + place };
    Object.assign(item.dataset, about);
    for (const kind of ["click", "auxclick"])
      item.querySelector(".offer-title a").addEventListener(kind, () => {
        noteInList("CLICK", about);
        noteFound(about);
      });
    watcher.observe(item);
  });
}

export function startEvents() {
  addEventListener("pagehide", send);
  document.addEventListener("visibilitychange", () => { if (document.hidden) send(); });
}
