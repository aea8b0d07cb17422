// SPDX-License-Identifier: Apache-2.0
// report.js - what became of each row of a feed.
import { call, callStream, h, number, t, toastFailure } from "../common.js";
import { OUTCOMES, countBadges, countOf, outcomeBadge } from "./outcomes.js";
import { fieldText, reasonNode } from "./reasons.js";

const SHOWN = 200;
const NAMES_SHOWN = 12;
const GROUPS_SHOWN = 20;

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
    row.undoReason ? h("p", { class: "small dim" }, reasonNode(row.undoReason)) : null];
}

const placeText = (row) => Number(row.line || 0)
  ? t("rowAt", { row: number(row.row), line: number(row.line), id: row.externalId || "" })
  : t("rowAtNoLine", { row: number(row.row), id: row.externalId || "" });

// Reasons in groups: how many rows each has, and the first of them.
function groupList(title, groups, kind) {
  if (!groups?.length) return null;
  return h("section", { class: `groups ${kind}` }, h("h3", {}, t(title)), h("ul", { class: "plain" },
    groups.slice(0, GROUPS_SHOWN).map((each) => h("li", { class: "group", dataset: { rows: each.rowCount } },
      h("b", { class: "group-count" }, number(each.rowCount)),
      h("div", {}, h("p", {}, each.field ? `${fieldText(each.field)}: ` : "", reasonNode(each.reason || "")),
        h("p", { class: "dim small" }, (each.examples || []).map(placeText).join("; "),
          Number(each.rowCount) > (each.examples || []).length
            ? ` ${t("rowsMore", { count: number(Number(each.rowCount) - each.examples.length) })}` : ""))))),
  groups.length > GROUPS_SHOWN ? h("p", { class: "dim small" },
    t("groupsMore", { count: number(groups.length - GROUPS_SHOWN) })) : null);
}

// Drawn when they are known: a server of before has no groups.
// Those that stand there are kept when the same task's rows are chosen by outcome.
async function reasonGroups(place, task) {
  if (place.querySelector("#report")?.dataset.task === task.taskId) return place.querySelector("#report-groups");
  const box = h("div", { id: "report-groups", class: "stack-small" });
  try {
    const { refused, noted } = await call("FeedService", "GetReasons", { feed: task.feed, taskId: task.taskId });
    box.replaceChildren(...[groupList("groupsRefused", refused, "error-groups"),
      groupList("groupsNoted", noted, "noted-groups")].filter(Boolean));
  } catch { /* the rows below tell the same */ }
  return box;
}

function rowLine(row) {
  const offer = row.offerId
    ? h("p", { class: "small" }, h("a", { href: `#/offer/${row.offerId}` }, row.offerId)) : null;
  return h("tr", { dataset: { outcome: row.outcome } },
    h("td", { class: "number" },
      Number(row.row || 0) ? number(row.row) : h("span", { class: "dim" }, t("rowGone")),
      Number(row.line || 0) ? h("p", { class: "dim small" }, t("rowLine", { line: number(row.line) })) : null),
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
// just sent. Drawn when all of it is there: what is above the rows does not push them down later.
export async function showReport(place, task, result = null, outcome = "") {
  let rows;
  let groups;
  try {
    [rows, groups] = await Promise.all([read(task, outcome), reasonGroups(place, task)]);
  } catch (error) {
    toastFailure(error);
    return;
  }
  const chip = (name, text) => h("button", { class: "chip", type: "button",
    "aria-pressed": String(name === outcome), dataset: { outcome: name || "ALL" },
    onclick: () => showReport(place, task, result, name) }, text);
  const kinds = OUTCOMES.filter((name) => countOf(task, name));
  place.replaceChildren(h("div", { class: "card stack-small", id: "report", dataset: { task: task.taskId } },
    h("h2", {}, t("feedReportOf", { task: `${task.feed} · ${task.taskId}` })),
    h("p", { class: "row counts" }, countBadges(task)),
    leftOut(result), groups,
    h("div", { class: "row", role: "group", "aria-label": t("rowOutcome") },
      chip("", t("rowAll")), kinds.map((name) => chip(name, t(`o${name}`)))),
    table(rows),
    rows.length > SHOWN ? h("p", { class: "dim small" }, t("rowsShown", { count: SHOWN })) : null));
}
