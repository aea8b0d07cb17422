// SPDX-License-Identifier: Apache-2.0
// report.js - what became of each row of a feed.
import { callStream, h, number, t, toastFailure } from "../common.js";
import { OUTCOMES, countBadges, countOf, outcomeBadge } from "./outcomes.js";
import { fieldText, reasonNode } from "./reasons.js";

const SHOWN = 200;
const NAMES_SHOWN = 12;

// One row more than is shown tells that there are more.
async function read(task, outcome) {
  const rows = [];
  const stop = new AbortController();
  const request = { feed: task.feed, taskId: task.taskId, ...(outcome && { outcome }) };
  try {
    const report = callStream("FeedService", "GetReport", request, { signal: stop.signal });
    for await (const row of report) {
      rows.push(row);
      if (rows.length > SHOWN) stop.abort();
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
  return rows;
}

function reasons(row) {
  const line = (kind) => (each) => h("p", { class: `small ${kind}` },
    each.field ? `${fieldText(each.field)}: ` : "", reasonNode(each.reason || ""));
  return [(row.problems || []).map(line("error")), (row.notes || []).map(line("dim")),
    (row.photosFailed || []).map(line("warn")),
    row.undoReason ? h("p", { class: "small dim" }, row.undoReason) : null];
}

function rowLine(row) {
  const offer = row.offerId
    ? h("p", { class: "small" }, h("a", { href: `#/offer/${row.offerId}` }, row.offerId)) : null;
  return h("tr", { dataset: { outcome: row.outcome } },
    h("td", { class: "number" },
      Number(row.row || 0) ? number(row.row) : h("span", { class: "dim" }, t("rowGone"))),
    h("td", { class: "row-id" }, row.externalId || "", offer),
    h("td", {}, outcomeBadge(row.outcome)),
    h("td", {}, reasons(row)));
}

function table(rows) {
  if (!rows.length) return h("p", { class: "dim" }, t("rowsNone"));
  const head = h("tr", {}, h("th", { scope: "col", class: "number" }, t("rowNumber")),
    ["rowId", "rowOutcome", "rowWhy"].map((name) => h("th", { scope: "col" }, t(name))));
  return h("div", { class: "table-box report-box" }, h("table", { class: "table",
    "aria-label": t("feedReport") },
  h("thead", {}, head), h("tbody", {}, rows.slice(0, SHOWN).map(rowLine))));
}

// What ImportFile told beside the task.
function leftOut(result) {
  if (!result) return [];
  const namesOf = (leftOut) => (result.unknown || [])
    .filter((each) => Boolean(each.leftOut) === leftOut).slice(0, NAMES_SHOWN)
    .map((each) => `${each.name} (${number(each.rowCount)})`).join(", ");
  const names = namesOf(false);
  const own = namesOf(true);
  const noted = Number(result.notedCount || 0);
  return [names ? h("p", { class: "small warn" }, t("feedUnknown", { names })) : null,
    own ? h("p", { class: "small warn" }, t("feedPrivate", { names: own })) : null,
    noted ? h("p", { class: "small warn" }, t("feedNoted", { count: noted })) : null];
}

// The report of the task in `place`, of one outcome or of all. result: of ImportFile, if it was
// just sent.
export async function showReport(place, task, result = null, outcome = "") {
  let rows;
  try {
    rows = await read(task, outcome);
  } catch (error) {
    toastFailure(error);
    return;
  }
  const chip = (name, text) => h("button", { class: "chip", type: "button",
    "aria-pressed": String(name === outcome), dataset: { outcome: name || "ALL" },
    onclick: () => showReport(place, task, result, name) }, text);
  const kinds = OUTCOMES.filter((name) => countOf(task, name));
  place.replaceChildren(h("div", { class: "card stack-small", id: "report" },
    h("h2", {}, t("feedReportOf", { task: `${task.feed} · ${task.taskId}` })),
    h("p", { class: "row counts" }, countBadges(task)),
    leftOut(result),
    h("div", { class: "row", role: "group", "aria-label": t("rowOutcome") },
      chip("", t("rowAll")), kinds.map((name) => chip(name, t(`o${name}`)))),
    table(rows),
    rows.length > SHOWN ? h("p", { class: "dim small" }, t("rowsShown", { count: SHOWN })) : null));
}
