// SPDX-License-Identifier: Apache-2.0
// schedules.js - feeds that are fetched by their addresses: listed, added, run, paused, removed.
import { ago, call, dateTime, failure, h, number, t, toastFailure } from "../common.js";
import { ask } from "../common/ask.js";
import { readingFields, readingText } from "./reading.js";
import { reasonNode } from "./reasons.js";

const PERIODS = [600, 3600, 21600, 86400];

let place = null;
let list = null;
let reading = null; /* fields of the form */

const isHere = () => place?.isConnected;

async function load() {
  list = (await call("FeedService", "ListSchedules", {})).schedules || [];
  if (isHere()) drawList();
}

async function act(button, method, schedule, question) {
  if (question && !await ask(question)) return;
  button.disabled = true;
  try {
    await call("FeedService", method, { feed: schedule.feed });
    await load();
  } catch (error) {
    button.disabled = false;
    toastFailure(error);
  }
}

function deed(name, method, schedule, question) {
  return h("button", { class: `button small${question ? " danger" : ""}`, type: "button",
    dataset: { deed: name },
    onclick: (event) => act(event.currentTarget, method, schedule, question) }, t(name));
}

function lastRun(schedule) {
  const run = schedule.runs?.[0];
  if (!run) return h("p", { class: "dim small" }, t("schNever"));
  const task = Number(run.taskId || 0) ? ` · ${t("schTask", { task: run.taskId })}` : "";
  return h("p", { class: "small" }, `${ago(run.time)}: ${t(`sr${run.outcome}`)}${task}`);
}

function readingLine(schedule) {
  const text = readingText(schedule.reading);
  return text ? h("p", { class: "dim small" }, text) : null;
}

function line(schedule) {
  const isActive = schedule.state === "ACTIVE";
  const isFailing = Number(schedule.failureCount || 0) > 0;
  const state = isActive && isFailing ? "FAILING" : schedule.state;
  return h("li", { class: "task", dataset: { schedule: schedule.feed, state } },
    h("div", { class: "task-main" },
      h("p", { class: "row" }, h("b", {}, schedule.feed),
        h("span", { class: `badge ${state === "ACTIVE" ? "good" : "warn"}` }, t(`sc${state}`)),
        h("span", { class: "dim small" }, t("schEvery",
          { minutes: number(Number(schedule.periodSeconds) / 60) }),
        isActive ? ` · ${t("schNext", { time: dateTime(schedule.nextTime) })}` : "")),
      h("p", { class: "small" }, schedule.address), readingLine(schedule), lastRun(schedule),
      isFailing ? h("p", { class: "warn" }, t("schFailed",
        { count: number(schedule.failureCount) }), " ", reasonNode(schedule.reason || "")) : null),
    h("div", { class: "row" },
      isActive ? deed("schRun", "RunSchedule", schedule) : null,
      isActive ? deed("schPause", "PauseSchedule", schedule)
        : deed("schResume", "ResumeSchedule", schedule),
      deed("schRemove", "RemoveSchedule", schedule, { danger: true, yes: t("schRemove"),
        title: t("schRemoveAsk", { feed: schedule.feed }), text: t("schRemoveText") })));
}

function drawList() {
  const body = place.querySelector("#schedule-list");
  if (!body || !list) return;
  body.replaceChildren(list.length ? h("ul", { class: "plain" }, list.map(line))
    : h("p", { class: "dim" }, t("schNone")));
}

async function add(event) {
  event.preventDefault();
  const { scheduleFeed, address, period } = event.target.elements;
  const told = place.querySelector("#schedule-status");
  try {
    await call("FeedService", "SetSchedule", { feed: scheduleFeed.value.trim() || "main",
      address: address.value.trim(), periodSeconds: period.value, reading: reading.read() });
    told.textContent = "";
    address.value = "";
    await load();
  } catch (error) {
    told.replaceChildren(...[failure(error)].flat().filter(Boolean));
  }
}

function form() {
  reading = readingFields();
  return h("form", { class: "row feed-options", id: "schedule-form", onsubmit: add },
    h("label", { class: "field feed-name" }, h("span", {}, t("feedName")),
      h("input", { class: "input", name: "scheduleFeed", value: "main", maxlength: 64,
        pattern: "[a-z0-9._\\-]{1,64}" })),
    h("label", { class: "field" }, h("span", {}, t("schAddress")),
      h("input", { class: "input", name: "address", type: "url", required: true, maxlength: 2048,
        placeholder: "https://…/price-list.yml" })),
    h("label", { class: "field" }, h("span", {}, t("schPeriod")),
      h("select", { class: "input", name: "period" }, PERIODS.map((seconds) =>
        h("option", { value: String(seconds), selected: seconds === 3600 },
          t("schEvery", { minutes: number(seconds / 60) }))))),
    h("button", { class: "button" }, t("schAdd")), reading.node);
}

export function drawSchedules(where) {
  place = where;
  place.replaceChildren(h("h2", {}, t("schTitle")), h("p", { class: "dim" }, t("schLead")), form(),
    h("p", { id: "schedule-status", role: "status", class: "error" }),
    h("div", { id: "schedule-list" }));
  drawList();
}

export const loadSchedules = load;
