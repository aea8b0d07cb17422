// SPDX-License-Identifier: Apache-2.0
// outcomes.js - what became of a feed's rows, in words and colours.
import { h, number, t } from "../common.js";

export const OUTCOMES = ["CREATED", "UPDATED", "REVIVED", "UNCHANGED", "DELETED", "REFUSED",
  "BANNED", "LEFT"];
const WITHDRAWN = "WITHDRAWN"; // no outcome: those of the others whose offers were withdrawn
const COLOURS = { REFUSED: "bad", BANNED: "bad", DELETED: "warn", WITHDRAWN: "warn", CREATED: "good",
  REVIVED: "good" };

export const countOf = (task, outcome) => Number(task.counts?.[outcome.toLowerCase()] || 0);

export const outcomeBadge = (outcome, more = "") =>
  h("span", { class: `badge ${COLOURS[outcome] || ""}` }, t(`o${outcome}`) + more);

export function countBadges(task) {
  return [...OUTCOMES, WITHDRAWN].filter((outcome) => countOf(task, outcome)).map((outcome) =>
    outcomeBadge(outcome, `: ${number(countOf(task, outcome))}`));
}
