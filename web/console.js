// SPDX-License-Identifier: Apache-2.0
// console.js - the page /console: asks for the pipeline each second while somebody looks, and gives
// each answer to the parts that draw it.
import { byId, call, failureDetail, header, key, language, onLanguage, setKey, t }
  from "./common.js";
import { keyProblem, showSignIn, showTrouble, signOutButton } from "./common/signin.js";
import "./console/texts.js";
import { refreshAudit } from "./console/audit.js";
import { makeChart } from "./console/chart.js";
import { drawEpochs } from "./console/epochs.js";
import { refreshExperiments } from "./console/experiments.js";
import { drawFeeds } from "./console/feeds.js";
import { refreshItems } from "./console/items.js";
import { addSample, lags, means, rates } from "./console/samples.js";
import { refreshSnippets } from "./console/snippets.js";
import { drawStages } from "./console/stages.js";
import { refreshSynonyms } from "./console/synonyms.js";
import { drawClients, startTrace } from "./console/trace.js";

const PERIOD_MS = 1000;
const WORKERS = ["export", "composer", "indexer", "searcher"];

let pipeline = null;
let charts = null;
let heard = null; /* when the last answer came */
let timer = 0;
let isAsking = false;

const clock = (time) => new Date(time).toLocaleTimeString(language());

function drawPulse(isLost) {
  byId("pulse").classList.toggle("lost", isLost);
  byId("board").classList.toggle("stale", isLost);
  const text = !heard ? t("starting") : isLost ? t("lost", { time: clock(heard) })
    : t("live", { time: clock(pipeline.time) });
  /* a screen reader hears that it is lost, not each second */
  byId("pulse-text").setAttribute("aria-live", isLost ? "polite" : "off");
  byId("pulse-text").textContent = text;
}

function drawCharts() {
  charts ??= { rates: makeChart(byId("rates"), "rates"), waiting: makeChart(byId("waiting"),
    "waiting"),
    searches: makeChart(byId("searches"), "searches") };
  charts.rates.update(WORKERS.map((name) => ({ label: t(`n_${name}`), points: rates(name) })));
  charts.waiting.update(["export", "composer", "receiver", "indexer", "searcher"].map((name) =>
    ({ label: t(`n_${name}`), points: lags(name) })));
  charts.searches.update([{ label: t("seriesSearches"), points: rates("search") },
    { label: t("seriesMean"), points: means("search"), scale: 1 }]);
}

function draw() {
  document.title = t("consoleTitle");
  if (!pipeline) return;
  drawPulse(false);
  drawStages(pipeline.stages || [], pipeline.catalog);
  drawCharts();
  drawClients(pipeline.clients || []);
  drawEpochs(pipeline);
  drawFeeds(pipeline);
}

function askForKey(problem) {
  clearTimeout(timer);
  byId("board").hidden = true;
  showSignIn(byId("sign-in-place"), { title: "consoleSignIn", lead: "consoleLead",
    how: "consoleHow",
    problem }, look);
}

function refused(error) {
  if (error.status === 401) {
    const problem = keyProblem(error);
    setKey("");
    askForKey(problem);
  } else if (error.status === 403) {
    askForKey([t("consoleDenied"), failureDetail(error)]);
  } else {
    drawPulse(true);
    if (byId("board").hidden) showTrouble(byId("sign-in-place"), error, look);
    return false;
  }
  return true;
}

async function look() {
  clearTimeout(timer);
  if (document.hidden || isAsking) return; /* visibilitychange goes on; one asks at a time */
  isAsking = true;
  const begun = Date.now();
  try {
    pipeline = await call("PipelineService", "GetPipeline");
    heard = Date.now();
    if (byId("board").hidden) {
      byId("sign-in-place").replaceChildren();
      byId("board").hidden = false;
    }
    addSample(pipeline);
    draw();
    refreshItems(pipeline);
    refreshAudit();
    refreshSnippets();
    refreshSynonyms();
    refreshExperiments();
  } catch (error) {
    if (refused(error)) return;
  } finally {
    isAsking = false;
  }
  timer = setTimeout(look, Math.max(200, PERIOD_MS - (Date.now() - begun)));
}

header("console");
byId("board-tools").append(signOutButton());
onLanguage(draw);
startTrace();
document.title = t("consoleTitle");
document.addEventListener("visibilitychange", () => { if (!document.hidden && key()) look(); });
addEventListener("hashchange", () => { if (key()) look(); });
if (key()) look();
else askForKey("");
