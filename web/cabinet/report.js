// SPDX-License-Identifier: Apache-2.0
// report.js - what became of each row of a feed.
import { callStream, h, number, t, toast } from "../common.js";
import { counts, lastResult } from "./feeds.js";

const SHOWN = 200;
const OUTCOMES = ["CREATED", "UPDATED", "REVIVED", "UNCHANGED", "DELETED", "REFUSED", "BANNED",
  "LEFT"];
const BADGES = { REFUSED: "bad", BANNED: "bad", DELETED: "warn", CREATED: "good", REVIVED: "good" };

async function read(task, outcome) {
  const rows = [];
  const stop = new AbortController();
  try {
    for await (const row of callStream("FeedService", "GetReport", { feed: task.feed,
      taskId: task.taskId,
      ...(outcome && { outcome }) }, { signal: stop.signal })) {
      rows.push(row);
      if (rows.length > SHOWN) stop.abort(); /* one more tells that there are more */
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
  return rows;
}

function reasons(row) {
  const lines = [...(row.problems || []).map((each) => [each, "error"]), ...(row.notes
    || []).map((each) => [each, "dim"]),
    ...(row.photosFailed || []).map((each) => [each, "warn"])];
  return [lines.map(([each, kind]) => h("p", { class: `small ${kind}` }, each.field
    ? `${each.field}: ` : "", each.reason)),
    row.undoReason ? h("p", { class: "small dim" }, row.undoReason) : null];
}

function line(row) {
  const outcome = row.outcome || "";
  return h("tr", { dataset: { outcome } },
    h("td", { class: "number" }, Number(row.row || 0) ? number(row.row) : h("span",
      { class: "dim" }, t("rowGone"))),
    h("td", { class: "row-id" }, row.externalId || "", row.offerId ? h("p", { class: "small" },
      h("a", { href: `#/offer/${row.offerId}` }, row.offerId)) : null),
    h("td", {}, h("span", { class: `badge ${BADGES[outcome] || ""}` }, t(`o${outcome}`))),
    h("td", {}, reasons(row)));
}

function leftOut(task) {
  const told = lastResult(task.taskId);
  if (!told) return null;
  const names = (told.unknown || []).slice(0,
    12).map((each) => `${each.name} (${number(each.rowCount)})`).join(", ");
  return [names ? h("p", { class: "small warn" }, t("feedUnknown", { names })) : null,
    Number(told.notedCount || 0) ? h("p", { class: "small warn" }, t("feedNoted",
      { count: Number(told.notedCount) })) : null];
}

// The report of the task in `place`, of one outcome or of all.
export async function showReport(place, task, outcome = "") {
  let rows;
  try {
    rows = await read(task, outcome);
  } catch (error) {
    toast(error.message);
    return;
  }
  const kinds = OUTCOMES.filter((name) => Number(task.counts?.[name.toLowerCase()] || 0));
  const chip = (name, text) => h("button", { class: "chip", type: "button",
    "aria-pressed": String(name === outcome),
    dataset: { outcome: name || "ALL" }, onclick: () => showReport(place, task, name) }, text);
  place.replaceChildren(h("div", { class: "card stack-small", id: "report",
    dataset: { task: task.taskId } },
    h("h2", {}, t("feedReportOf", { task: `${task.feed} · ${task.taskId}` })),
    h("p", { class: "row counts" }, counts(task)), leftOut(task),
    h("div", { class: "row", role: "group", "aria-label": t("rowOutcome") }, chip("", t("rowAll")),
      kinds.map((name) => chip(name, t(`o${name}`)))),
    rows.length ? h("div", { class: "table-box report-box" }, h("table", { class: "table" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "number" }, t("rowNumber")),
        ["rowId", "rowOutcome", "rowWhy"].map((name) =>
        h("th", { scope: "col" }, t(name))))),
      h("tbody", {}, rows.slice(0, SHOWN).map(line)))) : h("p", { class: "dim" }, t("rowsNone")),
    rows.length > SHOWN ? h("p", { class: "dim small" }, t("rowsShown", { count: SHOWN })) : null));
}
