// SPDX-License-Identifier: Apache-2.0
// experiments.js - two formulas of the order compared on live queries: what buyers did with the offers
// that each has placed, and whether a difference is to be seen. Hidden where none ever was.
import { byId, call, date, h, language, number, onLanguage, t } from "../common.js";

const PERIOD_MS = 10000;
const ABSENT_MS = 60000;

let list = [];
let isAbsent = false;
let asked = 0;
let drawn = "";

const percent = (value, digits) => number(Number(value || 0), { style: "percent", maximumFractionDigits: digits });

function rate(share) {
  const { low, high } = share || {};
  return `${percent(share?.share, 2)} (${percent(low, 2)} – ${percent(high, 2)})`;
}

function line(side, name) {
  const count = (value) => h("td", { class: "number" }, number(Number(value || 0)));
  return h("tr", {}, h("th", { scope: "row" }, t(name), h("p", { class: "small" }, h("code", {}, side.formula))),
    count(side.shows), count(side.clicks), h("td", { class: "number" }, rate(side.clickRate)),
    count(side.contacts), count(side.listsWon));
}

const verdict = ({ low = 0, high = 0 }) =>
  t(low > 0.5 ? "experimentBetter" : high < 0.5 ? "experimentWorse" : "experimentEqual");

function shareLine(name, share) {
  return h("p", {}, t(`experimentShare_${name}`, { share: percent(share.share, 1),
    count: number(Number(share.count || 0)), low: percent(share.low, 1), high: percent(share.high, 1) }),
  ": ", h("b", {}, verdict(share)));
}

function item(experiment) {
  return h("div", { class: "experiment", dataset: { experiment: experiment.id } },
    h("p", { class: "small dim" }, [experiment.id, t(experiment.isRunning ? "experimentRuns" : "experimentOver"),
      experiment.beginTime ? t("experimentSince", { date: date(experiment.beginTime) }) : ""]
      .filter(Boolean).join(" · ")),
    h("div", { class: "table-box", tabindex: "0" }, h("table", { class: "table", "aria-label": t("experiments") },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("experimentSide")),
        ["Shows", "Clicks", "Rate", "Contacts", "Lists"].map((name) =>
          h("th", { scope: "col", class: "number" }, t(`experiment${name}`))))),
      h("tbody", {}, line(experiment.control, "experimentControl"), line(experiment.tried, "experimentTried")))),
    shareLine("lists", experiment.lists), shareLine("contacts", experiment.contacts));
}

function draw() {
  byId("experiments").hidden = isAbsent || !list.length;
  const now = JSON.stringify([language(), list]);
  if (byId("experiments").hidden || now === drawn) return;
  drawn = now;
  byId("experiments-body").replaceChildren(...list.map(item));
}

export async function refreshExperiments() {
  if (Date.now() - asked < (isAbsent ? ABSENT_MS : PERIOD_MS)) return;
  asked = Date.now();
  try {
    list = (await call("ExperimentService", "ListExperiments")).experiments || [];
    isAbsent = false;
  } catch (error) {
    isAbsent = [403, 404, 501].includes(error.status);
  }
  draw();
}

onLanguage(draw);
