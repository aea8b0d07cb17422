// SPDX-License-Identifier: Apache-2.0
// stages.js - the pipeline as a picture: a card for each stage that works, a pipe for each topic or
// table between them. Elements are made once and changed in place, so that nothing jumps and the
// keyboard's place is kept.
import { byId, h, icon, number, t } from "../common.js";
import { spark } from "./chart.js";
import { mean, rate, rates } from "./samples.js";

// Stages where work lies are drawn as the pipe before the stage that takes from them.
const PIPES = { composer: "offer-updates", receiver: "documents", indexer: "queue",
  searcher: "index" };
const UNITS = { searcher: "unitMessages", search: "unitSearches" };
const NO_TEXT = "\u00a0"; /* keeps the line's height */
const BADGES = { OK: "good", WAITING: "good", FAILING: "bad", UNKNOWN: "" };
const STATE_ICONS = { OK: "check", WAITING: "clock", FAILING: "warning", UNKNOWN: "search" };

const drawn = new Map();
let shown = "composer";
let newest = {};
let follows; /* the catalogue that documents of offers follow; unset: they have */

export function duration(ms) {
  if (ms < 1000) return number(ms, { style: "unit", unit: "millisecond" });
  if (ms < 120000) return number(ms / 1000, { style: "unit", unit: "second",
    maximumFractionDigits: 1 });
  if (ms < 7200000) return number(Math.round(ms / 60000), { style: "unit", unit: "minute" });
  return number(Math.round(ms / 3600000), { style: "unit", unit: "hour" });
}

const small = (value) => number(value, { maximumFractionDigits: value < 10 ? 1 : 0 });
const rateText = (value) => value === null ? t("noRate") : t("perSecond", { value: small(value) });
const stateOf = (stage) => stage.state || "OK";
const count = (stage, name) => Number(stage[name] || 0);

function makeCard(name) {
  const parts = {};
  for (const part of ["name", "state", "rate", "spark", "lag", "marks"])
    parts[part] = h("span", { class: `stage-${part}` });
  const button = h("button", { class: "stage-card", type: "button", id: `stage-${name}`,
    "aria-pressed": String(name === shown), "aria-controls": "stage",
    onclick: () => choose(name) }, Object.values(parts));
  return { button, ...parts };
}

function makePipe(name) {
  const label = h("span", { class: "pipe-name" });
  const lag = h("span", { class: "pipe-lag" });
  const flow = h("span", { class: "pipe-flow", "aria-hidden": "true" });
  return { node: h("li", { class: "pipe", id: name ? `pipe-${name}` : null }, label, flow, lag),
    label, lag, flow };
}

function make(stages) {
  const list = byId("stages");
  list.replaceChildren();
  drawn.clear();
  for (const stage of stages.filter((each) => each.role)) {
    if (drawn.size) {
      const pipe = makePipe(PIPES[stage.name] || "");
      drawn.set(`pipe before ${stage.name}`, pipe);
      list.append(pipe.node);
    }
    const card = makeCard(stage.name);
    drawn.set(stage.name, card);
    list.append(h("li", { class: "stage" }, card.button));
  }
}

const meanText = () => duration(Math.round(mean("search") * 10) / 10);

// What is composed anew is in no topic and no queue.
function followText() {
  return Number(follows.targetVersion || 0)
    ? t("follows", { version: follows.targetVersion, done: number(count(follows, "seenCount")),
      all: number(count(follows, "offerCount")) })
    : t("followsSoon", { version: follows.version });
}

// What waits for it; of the search, which nothing waits for, how long an answer takes.
function lagText(stage) {
  const lag = count(stage, "lagCount");
  if (!lag && stage.name === "composer" && follows) return t("followsShort");
  if (lag) return t("waits", { count: lag });
  if (stage.name === "search" && mean("search") !== null) return `⌀ ${meanText()}`;
  return stage.name === "offers" || stateOf(stage) === "UNKNOWN" ? NO_TEXT : t("nothingWaits");
}

function mark(stage, name, colour) {
  const value = count(stage, name);
  return value ? [h("span", { class: `badge ${colour}` }, t(name, { count: value }))] : [];
}

function drawCard(stage) {
  const card = drawn.get(stage.name);
  const state = stateOf(stage);
  card.button.dataset.state = state;
  card.button.classList.toggle("elsewhere", !stage.isHere);
  card.name.textContent = t(`n_${stage.name}`);
  card.state.replaceChildren(icon(STATE_ICONS[state]), t(`st${state}`));
  card.rate.replaceChildren(rateText(rate(stage.name)),
    h("small", {}, t(UNITS[stage.name] || "unitChanges")));
  card.spark.replaceChildren(spark(rates(stage.name)));
  card.lag.textContent = lagText(stage);
  card.marks.replaceChildren(...mark(stage, "parkedCount", "bad"),
    ...mark(stage, "failedCount", "warn"));
}

// Dots run through a pipe the faster, the more goes through it; none run through a still one.
function drawPipe(stage, source) {
  const pipe = drawn.get(`pipe before ${stage.name}`);
  const now = rate(source ? source.name : stage.name) ?? 0;
  const parked = source ? count(source, "parkedCount") : 0;
  const lag = count(stage, "lagCount");
  pipe.label.textContent = source ? t(`n_${source.name}`) : NO_TEXT;
  pipe.lag.textContent = parked ? t("parkedCount", { count: parked })
    : lag && source ? number(lag, { notation: "compact" }) : NO_TEXT;
  pipe.node.classList.toggle("has-parked", parked > 0);
  pipe.node.classList.toggle("is-still", now === 0);
  pipe.flow.style.setProperty("--flow",
    `${Math.max(.35, 2.4 / (1 + Math.log10(1 + now))).toFixed(2)}s`);
}

function fact(name, value, bad = false) {
  return h("div", {}, h("dt", {}, t(name)), h("dd", { class: bad ? "error" : null }, value));
}

function drawDetail() {
  const box = byId("stage");
  const stage = newest[shown];
  if (!stage) {
    box.replaceChildren(h("p", { class: "dim" }, t("chooseStage")));
    return;
  }
  const state = stateOf(stage);
  const source = newest[PIPES[stage.name]] || {}; /* what lies before it is told with it */
  const parked = count(stage, "parkedCount") + count(source, "parkedCount");
  const failed = count(stage, "failedCount") + count(source, "failedCount");
  const facts = [
    fact("rateNow", rateText(rate(stage.name))),
    fact("doneTotal", number(stage.doneCount || 0)),
    fact("lagNow", number(stage.lagCount || 0)),
    fact("parkedNow", number(parked), parked > 0),
    fact("errorsHere", number(stage.errorCount || 0), count(stage, "errorCount") > 0),
  ];
  if (stage.lagMs !== undefined) facts.push(fact("oldest", duration(Number(stage.lagMs))));
  if (failed) facts.push(fact("failedNow", number(failed)));
  if (stage.name === "search" && mean("search") !== null) facts.push(fact("meanAnswer", meanText()));
  box.replaceChildren(
    h("h2", { id: "stage-title" }, `${t(`n_${stage.name}`)} `,
      h("span", { class: `badge ${BADGES[state]}` }, t(`st${state}`))),
    h("p", { class: `${state === "FAILING" ? "error" : "dim"} stage-reason` },
      stage.name === "composer" && follows && state === "WAITING" ? followText()
        : stage.reason || t(stage.isHere ? "stageHere" : "stageElsewhere")),
    h("dl", { class: "facts stage-facts" }, facts));
}

function choose(name) {
  shown = shown === name ? "" : name;
  for (const [each, card] of drawn)
    card.button?.setAttribute("aria-pressed", String(each === shown));
  drawDetail();
}

export function drawStages(stages, catalog) {
  follows = catalog;
  newest = Object.fromEntries(stages.map((stage) => [stage.name, stage]));
  if (!drawn.size) make(stages);
  for (const stage of stages.filter((each) => each.role)) {
    drawCard(stage);
    if (drawn.has(`pipe before ${stage.name}`)) drawPipe(stage, newest[PIPES[stage.name]]);
  }
  drawDetail();
}
