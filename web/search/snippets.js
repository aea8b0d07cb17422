// SPDX-License-Identifier: Apache-2.0
// snippets.js - what is glued to offers: a badge, a rating, a promise of delivery, where the config
// of snippets has such; kept fresh while one looks.
import { byId, call, h, icon, language, number, t } from "../common.js";

export const SNIPPETS = ["badge", "rating", "delivery"];
const FRESH_MS = 4000;
const KEY_COUNT_MAX = 100;

function parsed(snippet) {
  try {
    return JSON.parse(snippet.text);
  } catch {
    return {};
  }
}

function ratingOf(snippet) {
  const { stars, count } = parsed(snippet);
  if (typeof stars !== "number") return null;
  const text = number(stars, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  return h("span", { class: "snippet-rating", title: t("ratingOf", { stars: text, count: count || 0 }) },
    icon("star"), h("b", {}, text), count ? h("span", { class: "dim" }, ` (${number(count)})`) : null);
}

function one(snippet) {
  if (snippet.name === "rating") return ratingOf(snippet);
  const isBadge = snippet.name === "badge";
  return snippet.text
    ? h("span", { class: isBadge ? "snippet-badge" : "snippet-line" }, snippet.text) : null;
}

// The place of an offer's snippets, which fillSnippets fills.
export function snippetRow(id, snippets) {
  const row = h("p", { class: "snippets", "data-snippets": id });
  fill(row, snippets || []);
  return row;
}

function fill(row, snippets) {
  const nodes = SNIPPETS.map((name) => snippets.find((each) => each.name === name))
    .filter(Boolean).map(one).filter(Boolean);
  const before = row.textContent;
  row.replaceChildren(...nodes);
  row.hidden = !nodes.length;
  if (before && before !== row.textContent) {
    row.classList.remove("changed");
    void row.offsetWidth;       // the animation begins again
    row.classList.add("changed");
  }
}

// The rows that the last answer filled, and its state: while they show that, it is not sent again.
const last = { rows: [], language: "", state: "" };

function knownState(rows) {
  const isSame = last.language === language() && rows.length === last.rows.length
    && rows.every((row, i) => row === last.rows[i]);
  return isSame ? last.state : "";
}

// Asks for what is on the page now.
async function refresh() {
  const rows = [...document.querySelectorAll("[data-snippets]")].slice(-KEY_COUNT_MAX);
  const keys = [...new Set(rows.map((each) => each.dataset.snippets))];
  if (!keys.length) return;
  const asked = { names: SNIPPETS, keys, language: language(), knownState: knownState(rows) };
  const answer = await call("SearchService", "GetPageSnippets", asked, { withKey: false });
  if (answer.lacksSnippets || answer.unchanged) return;
  for (const row of rows)
    fill(row, (answer.snippets || []).filter((each) => each.key === row.dataset.snippets));
  Object.assign(last, { rows, language: asked.language, state: answer.state });
}

// Of an offer's own page, at once.
export function askSnippets() {
  return refresh().catch(() => {});     // a page is whole without them
}

// Only where there are any, and only while somebody looks.
export function keepFresh() {
  setInterval(() => {
    if (!document.hidden && byId("content").querySelector(".snippets:not([hidden])")) askSnippets();
  }, FRESH_MS);
}
