// SPDX-License-Identifier: Apache-2.0
// feeds.js - feeds that are read or wait for a decision, of all sellers.
import { ago, byId, call, h, number, onLanguage, t, toastFailure } from "../common.js";
import { ask } from "../common/ask.js";

let feeds = null;
let failing = [];
let drawn = "";

async function decide(button, task, method) {
  button.disabled = true;
  try {
    await call("FeedService", method, { seller: task.seller, feed: task.feed,
      taskId: task.taskId });
  } catch (error) {
    toastFailure(error);
  } finally {
    button.disabled = false;
    button.blur();
  }
}

async function confirm(event, task) {
  if (await ask({ title: t("feedConfirmAsk", { count: number(task.toDelete || 0),
    away: number(task.toWithdraw || 0), seller: task.seller }),
    text: t("feedConfirmText"), yes: t("feedConfirm"), danger: true }))
    await decide(event.target, task, "ConfirmTask");
}

function line(task) {
  const held = task.state === "HELD";
  return h("tr", {},
    h("td", {}, task.seller), h("td", {}, `${task.feed} · ${task.taskId}`),
    h("td", {}, h("span", { class: `badge ${held ? "warn" : ""}` }, t(`fs${task.state}`)),
      held && task.hold ? h("p", { class: "small" }, t(`fh${task.hold}`,
        { count: number(task.toDelete || 0), away: number(task.toWithdraw || 0),
          had: number(task.had || 0) })) : null,
      h("p", { class: "dim small" }, ago(task.updateTime))),
    h("td", { class: "number" }, number(task.counts?.rows || 0)),
    h("td", {}, held ? h("div", { class: "row" },
      h("button", { class: "button small danger", type: "button", onclick: (event) => confirm(event,
        task) },
        t("feedConfirm")),
      h("button", { class: "button small", type: "button",
        onclick: (event) => decide(event.target, task, "CancelTask") }, t("feedCancel"))) : null));
}

// Fetched by address, and the last runs failed.
function failingLine(feed) {
  return h("tr", { dataset: { failing: feed.feed } },
    h("td", {}, feed.seller), h("td", {}, feed.feed),
    h("td", {}, h("span", { class: "badge warn" },
      t(feed.state === "ACTIVE" ? "fsFailing" : "fsStopped")),
    h("p", { class: "small" }, t("feedFailures", { count: number(feed.failureCount) }),
      ` ${feed.reason}`)),
    h("td", {}), h("td", {}));
}

function draw() {
  if (!feeds) return;
  byId("feeds-body").replaceChildren(feeds.length || failing.length
    ? h("div", { class: "table-box" }, h("table", { class: "table", "aria-label": t("feeds") },
      h("thead", {}, h("tr", {}, ["feedSeller", "feedTask", "feedState"].map((name) =>
        h("th", { scope: "col" }, t(name))), h("th", { scope: "col", class: "number" },
          t("feedRows")),
      h("td", {}))),
      h("tbody", {}, feeds.map(line), failing.map(failingLine))))
    : h("p", { class: "dim empty-line" }, t("feedsNone")));
}

export function drawFeeds(pipeline) {
  const now = JSON.stringify([pipeline.feeds || [], pipeline.failingFeeds || []]);
  if (now === drawn || byId("feeds-body").contains(document.activeElement)) return;
  drawn = now;
  feeds = pipeline.feeds || [];
  failing = pipeline.failingFeeds || [];
  draw();
}

onLanguage(draw);
