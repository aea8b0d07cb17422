// SPDX-License-Identifier: Apache-2.0
// feeds.js - a feed file is chosen or dropped, packed, sent whole and followed; then its report.
import { ago, bytes, call, h, number, t, toastFailure } from "../common.js";
import { ask } from "../common/ask.js";
import { showCategories } from "./feed-categories.js";
import { countBadges } from "./outcomes.js";
import { readingFields } from "./reading.js";
import { reasonNode, refusal } from "./reasons.js";
import { showReport } from "./report.js";
import { drawSchedules, loadSchedules } from "./schedules.js";

const SIZE_MAX = 3 * 1000 * 1000; /* in base64 below a message's 4 MB */
const LOOK_MS = 500;
const DOOMED_MAX = 10; /* titles told before they are deleted */
const TYPES = ".xml,.yml,.csv,.txt,.json,.jsonl,.ndjson,.gz";

let place = null;
let feed = "main";
let file = null;
let tasks = null;
let reading = null; /* fields of the form */
let state = { inside: "", isBusy: false, isBad: false };

const part = (selector) => place?.querySelector(selector);

/* --- sending --- */

async function packed(from) {
  const head = new Uint8Array(await from.slice(0, 2).arrayBuffer());
  if (head[0] === 0x1f && head[1] === 0x8b) return new Uint8Array(await from.arrayBuffer());
  const stream = from.stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function base64(data) {
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000)
    text += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(text);
}

// inside: a text, or nodes.
function say(inside, isBusy = true, isBad = false) {
  state = { inside, isBusy, isBad };
  const told = part("#feed-status");
  if (!told) return;
  told.replaceChildren(...[inside].flat().filter(Boolean));
  told.classList.toggle("error", isBad);
  part("#feed-bar").hidden = !isBusy;
  part("#feed-send").disabled = isBusy;
}

// Tells how many rows were read, while the file is being imported; gives what ends that.
function follow(taskId) {
  const timer = setInterval(async () => {
    try {
      const task = await call("FeedService", "GetTask", { feed, taskId });
      const rows = task.counts?.rows;
      if (state.isBusy && rows) say(t("feedReading", { count: number(rows) }));
    } catch { /* the task is not there yet */ }
  }, LOOK_MS);
  return () => clearInterval(timer);
}

async function send(dryRun) {
  say(t("feedPacking", { name: file.name }));
  const data = await packed(file);
  if (data.length > SIZE_MAX) {
    say(t("feedTooLarge", { limit: bytes(SIZE_MAX) }), false, true);
    return;
  }
  say(t("feedSending", { name: file.name, size: bytes(data.length) }));
  const newest = (await call("FeedService", "ListTasks", { feed, pageSize: 1 })).tasks?.[0];
  const taskId = String(Number(newest?.taskId || 0) + 1);
  const request = { feed, taskId, dryRun, content: base64(data), reading: reading?.read() };
  const stop = follow(taskId);
  let result;
  try {
    result = await call("FeedService", "ImportFile", request);
  } finally {
    stop();
  }
  say(result.broken ? [t("feedBroken"), " ", reasonNode(result.broken)] : "", false,
    Boolean(result.broken));
  await load();
  await showReport(part("#feed-report"), result.task, result);
  await showCategories(part("#feed-categories"), feed, result);
}

async function submit(event) {
  event.preventDefault();
  const { feed: name, dry } = event.target.elements;
  feed = name.value.trim() || "main";
  if (!file) {
    say(t("feedNoFile"), false, true);
    return;
  }
  try {
    await send(dry.checked);
  } catch (error) {
    say(refusal(error), false, true);
  }
}

const fileText = () => file ? `${file.name}, ${bytes(file.size)}` : "\u00a0";

function take(chosen) {
  if (!chosen) return;
  file = chosen;
  part("#feed-file-name").textContent = fileText();
  say("", false);
}

/* --- tasks --- */

const itemNames = (items = []) =>
  items.slice(0, DOOMED_MAX).map((item) => item.title || item.externalId).join(", ");

// The first of what a held task would delete and withdraw, by their titles.
async function doomed(task) {
  const told = await call("FeedService", "GetTask", { feed: task.feed, taskId: task.taskId });
  const names = itemNames(told.firstToDelete);
  const away = itemNames(told.firstToWithdraw);
  return [names && t("feedDoomed", { names }), away && t("feedAwayNames", { names: away })]
    .filter(Boolean).join(" ");
}

// What is asked before a held task may go on.
function confirmQuestion(task) {
  const count = number(task.toDelete || 0);
  const away = number(task.toWithdraw || 0);
  const deletes = Number(task.toDelete || 0) > 0;
  const withdraws = Number(task.toWithdraw || 0) > 0;
  const asked = deletes && withdraws ? t("feedBothAsk", { count, away })
    : withdraws ? t("feedAwayAsk", { count: away }) : t("feedConfirmAsk", { count });
  return { title: asked, text: withdraws && !deletes ? t("feedAwayText") : t("feedConfirmText"),
    yes: t("feedConfirm"), danger: true };
}

async function decide(button, method, task, question) {
  const which = method === "ConfirmTask" ? await doomed(task).catch(() => "") : "";
  if (question && !await ask({ ...question, text: [which, question.text].join(" ").trim() })) return;
  button.disabled = true;
  try {
    await call("FeedService", method, { feed: task.feed, taskId: task.taskId });
    await load();
  } catch (error) {
    button.disabled = false;
    toastFailure(error);
  }
}

function deed(name, method, task, question) {
  return h("button", { class: `button small${question?.danger ? " danger" : ""}`, type: "button",
    dataset: { deed: name },
    onclick: (event) => decide(event.currentTarget, method, task, question) }, t(name));
}

function canUndo(task) {
  return ["DONE", "CANCELLED"].includes(task.state) && task.undoUntil
    && new Date(task.undoUntil) > new Date();
}

function taskDeeds(task) {
  const isHeld = task.state === "HELD";
  return [
    h("button", { class: "button small", type: "button",
      onclick: () => showReport(part("#feed-report"), task) }, t("feedReport")),
    isHeld ? deed("feedConfirm", "ConfirmTask", task, confirmQuestion(task)) : null,
    isHeld ? deed("feedCancel", "CancelTask", task) : null,
    canUndo(task) ? deed("feedUndo", "UndoTask", task, { danger: true, yes: t("feedUndo"),
      title: t("feedUndoAsk", { task: task.taskId }), text: t("feedUndoText") }) : null,
  ];
}

function holdText(task) {
  if (task.state !== "HELD" || !task.hold) return null;
  const had = number(task.had || 0);
  return [h("p", { class: "warn" }, t(`h${task.hold}`, { count: number(task.toDelete || 0), had })),
    Number(task.toWithdraw || 0) ? h("p", { class: "warn", dataset: { away: task.toWithdraw } },
      t("feedAway", { count: number(task.toWithdraw), had })) : null];
}

function taskLine(task) {
  const colour = { DONE: "good", HELD: "warn" }[task.state] || "";
  const rows = `${t("feedRows")} ${number(task.counts?.rows || 0)}`;
  return h("li", { class: "task", dataset: { task: task.taskId, state: task.state } },
    h("div", { class: "task-main" },
      h("p", { class: "row" }, h("b", {}, `${task.feed} · ${task.taskId}`),
        h("span", { class: `badge ${colour}` }, t(`ts${task.state}`)),
        task.dryRun ? h("span", { class: "badge" }, t("dryRun")) : null,
        h("span", { class: "dim small" }, `${ago(task.updateTime)} · ${rows}`)),
      h("p", { class: "row counts" }, countBadges(task)),
      holdText(task)),
    h("div", { class: "row" }, taskDeeds(task)));
}

function drawTasks() {
  if (!part("#feed-tasks") || !tasks) return;
  part("#feed-tasks").replaceChildren(tasks.length
    ? h("ul", { class: "plain" }, tasks.map(taskLine))
    : h("p", { class: "dim" }, t("feedNoTasks")));
}

async function load() {
  tasks = (await call("FeedService", "ListTasks", { feed, pageSize: 20 })).tasks || [];
  drawTasks();
}

/* --- the page --- */

function dropZone() {
  const zone = h("div", { class: "drop-zone" },
    h("p", {}, `${t("feedDrop")} `,
      h("label", { class: "button small", for: "feed-file" }, t("feedChoose"))),
    h("input", { type: "file", id: "feed-file", class: "visually-hidden", accept: TYPES,
      onchange: (event) => take(event.target.files[0]) }),
    h("p", { class: "file-name", id: "feed-file-name" }, fileText()));
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  return zone;
}

function form() {
  reading = readingFields();
  const name = h("input", { class: "input", name: "feed", value: feed, maxlength: 64,
    pattern: "[a-z0-9._\\-]{1,64}" });
  return h("form", { class: "card stack feed-form", id: "feed-form", onsubmit: submit },
    h("div", {}, h("h2", {}, t("feedTitle")), h("p", { class: "dim" }, t("feedLead"))),
    dropZone(), reading.node,
    h("div", { class: "row feed-options" },
      h("label", { class: "field feed-name" }, h("span", {}, t("feedName")), name),
      h("label", { class: "check" }, h("input", { type: "checkbox", name: "dry" }), t("feedDry")),
      h("button", { class: "button primary", id: "feed-send", disabled: state.isBusy },
        t("feedSend"))),
    h("div", { class: "feed-progress" },
      h("progress", { id: "feed-bar", hidden: !state.isBusy, "aria-label": t("feedTitle") }),
      h("p", { id: "feed-status", role: "status", class: state.isBad ? "error" : null },
        state.inside)));
}

function draw() {
  place.replaceChildren(form(), h("section", { id: "feed-report" }),
    h("section", { id: "feed-categories" }),
    h("section", { class: "card" }, h("h2", {}, t("feedTasks")), h("div", { id: "feed-tasks" })),
    h("section", { class: "card stack", id: "feed-schedules" }));
  drawSchedules(part("#feed-schedules"));
}

export function showFeeds(where, fail) {
  place = where;
  draw();
  Promise.all([load(), loadSchedules()]).catch(fail);
}

export function redrawFeeds() {
  if (!place?.isConnected || !part("#feed-form")) return;
  draw();
  drawTasks();
}
