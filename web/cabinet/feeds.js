// SPDX-License-Identifier: Apache-2.0
// feeds.js - a feed file is chosen or dropped, packed, sent whole and followed; then its report.
import { ago, bytes, call, h, number, t, toast } from "../common.js";
import { ask } from "../common/ask.js";
import { showReport } from "./report.js";

const SIZE_MAX = 3 * 1000 * 1000; /* in base64 below a message's 4 MB */
const LOOK_MS = 500;
const OUTCOMES = ["created", "updated", "revived", "unchanged", "deleted", "refused", "banned",
  "left"];

let place = null;
let fail = () => {};
let feed = "main";
let file = null;
let tasks = null;
let state = { text: "", isBusy: false, isBad: false };
let result = null; /* the last ImportFile's answer */

/* --- the file --- */

async function packed(from) {
  const head = new Uint8Array(await from.slice(0, 2).arrayBuffer());
  if (head[0] === 0x1f && head[1] === 0x8b) return new Uint8Array(await from.arrayBuffer());
  const stream = from.stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function base64(data) {
  let text = "";
  for (let at = 0; at < data.length; at += 0x8000) text += String.fromCharCode(...data.subarray(at,
    at + 0x8000));
  return btoa(text);
}

function say(text, isBusy = true, isBad = false) {
  state = { text, isBusy, isBad };
  const told = place.querySelector("#feed-status");
  if (!told) return;
  told.textContent = text;
  told.classList.toggle("error", isBad);
  place.querySelector("#feed-bar").hidden = !isBusy;
  place.querySelector("#feed-send").disabled = isBusy;
}

// Tells how many rows were read, while the file is being imported.
function follow(taskId) {
  const timer = setInterval(async () => {
    try {
      const task = await call("FeedService", "GetTask", { feed, taskId });
      if (state.isBusy && task.counts?.rows) say(t("feedReading",
        { count: number(task.counts.rows) }));
    } catch { /* the task is not there yet */ }
  }, LOOK_MS);
  return () => clearInterval(timer);
}

async function send(dryRun) {
  say(t("feedPacking", { name: file.name }));
  const data = await packed(file);
  if (data.length > SIZE_MAX) return say(t("feedTooLarge", { limit: bytes(SIZE_MAX) }), false,
    true);
  say(t("feedSending", { name: file.name, size: bytes(data.length) }));
  const newest = (await call("FeedService", "ListTasks", { feed, pageSize: 1 })).tasks?.[0];
  const taskId = String(Number(newest?.taskId || 0) + 1);
  const stop = follow(taskId);
  try {
    result = await call("FeedService", "ImportFile", { feed, taskId, dryRun,
      content: base64(data) });
  } finally {
    stop();
  }
  say(result.broken ? t("feedBroken", { message: result.broken }) : "", false,
    Boolean(result.broken));
  await load();
  return showReport(place.querySelector("#feed-report"), result.task);
}

async function submit(event) {
  event.preventDefault();
  feed = event.target.elements.feed.value.trim() || "main";
  if (!file) return say(t("feedNoFile"), false, true);
  try {
    return await send(event.target.elements.dry.checked);
  } catch (error) {
    return say(error.message, false, true);
  }
}

function take(chosen) {
  if (!chosen) return;
  file = chosen;
  place.querySelector("#feed-file-name").textContent = `${file.name}, ${bytes(file.size)}`;
  say("", false);
}

/* --- tasks --- */

async function decide(button, method, task, question) {
  if (question && !await ask(question)) return;
  button.disabled = true;
  try {
    await call("FeedService", method, { feed, taskId: task.taskId });
    await load();
  } catch (error) {
    button.disabled = false;
    toast(error.message);
  }
}

export function counts(task) {
  return OUTCOMES.filter((name) => Number(task.counts?.[name] || 0)).map((name) =>
    h("span",
      { class: `badge${{ refused: " bad", banned: " bad", deleted: " warn" }[name] || ""}` },
      `${t(`o${name.toUpperCase()}`)}: ${number(task.counts[name])}`));
}

function taskDeeds(task) {
  const button = (name, method, question, danger) => h("button",
    { class: `button small${danger ? " danger" : ""}`, type: "button",
    dataset: { deed: name }, onclick: (event) => decide(event.target, method, task, question) },
      t(name));
  const held = task.state === "HELD" && !task.dryRun;
  const canUndo = task.undoUntil && new Date(task.undoUntil) > new Date() && ["DONE",
    "CANCELLED"].includes(task.state);
  return [
    h("button", { class: "button small", type: "button", dataset: { report: task.taskId },
      onclick: () => showReport(place.querySelector("#feed-report"), task) }, t("feedReport")),
    held ? button("feedConfirm", "ConfirmTask", { title: t("feedConfirmAsk",
      { count: number(task.toDelete || 0) }),
      text: t("feedConfirmText"), yes: t("feedConfirm"), danger: true }, true) : null,
    held ? button("feedCancel", "CancelTask") : null,
    canUndo ? button("feedUndo", "UndoTask", { title: t("feedUndoAsk", { task: task.taskId }),
      text: t("feedUndoText"),
      yes: t("feedUndo"), danger: true }) : null];
}

function taskLine(task) {
  return h("li", { class: "task", dataset: { task: task.taskId, state: task.state } },
    h("div", { class: "task-main" },
      h("p", {}, h("b", {}, `${task.feed} · ${task.taskId}`), " ",
        h("span", { class: `badge ${{ DONE: "good", HELD: "warn" }[task.state] || ""}` },
          t(`ts${task.state}`)), " ",
        task.dryRun ? h("span", { class: "badge" }, t("dryRun")) : null, " ",
        h("span", { class: "dim small" }, ago(task.updateTime), " · ", t("feedRows"), " ",
          number(task.counts?.rows || 0))),
      h("p", { class: "row counts" }, counts(task)),
      task.state === "HELD" && task.hold ? h("p", { class: "warn" }, t(`h${task.hold}`,
        { count: number(task.toDelete || 0), had: number(task.had || 0) })) : null),
    h("div", { class: "row" }, taskDeeds(task)));
}

function drawTasks() {
  const box = place?.querySelector("#feed-tasks");
  if (!box || !tasks) return;
  box.replaceChildren(tasks.length ? h("ul", { class: "plain" }, tasks.map(taskLine)) : h("p",
    { class: "dim" }, t("feedNoTasks")));
}

async function load() {
  tasks = (await call("FeedService", "ListTasks", { feed, pageSize: 20 })).tasks || [];
  drawTasks();
}

/* --- the page --- */

function dropZone() {
  const input = h("input", { type: "file", id: "feed-file", class: "visually-hidden",
    accept: ".xml,.yml,.csv,.txt,.json,.jsonl,.ndjson,.gz",
    onchange: (event) => take(event.target.files[0]) });
  const zone = h("div", { class: "drop-zone" }, h("p", {}, t("feedDrop"), " ",
    h("label", { class: "button small", for: "feed-file" }, t("feedChoose"))), input,
  h("p", { class: "file-name", id: "feed-file-name" }, file ? `${file.name}, ${bytes(file.size)}`
    : " "));
  zone.addEventListener("dragover",
    (event) => { event.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    take(event.dataTransfer.files[0]);
  });
  return zone;
}

function draw() {
  place.replaceChildren(
    h("form", { class: "card stack feed-form", id: "feed-form", onsubmit: submit },
      h("div", {}, h("h2", {}, t("feedTitle")), h("p", { class: "dim" }, t("feedLead"))),
        dropZone(),
      h("div", { class: "row feed-options" },
        h("label", { class: "field feed-name" }, h("span", {}, t("feedName")), h("input",
          { class: "input", name: "feed", value: feed,
          pattern: "[a-z0-9._\\-]{1,64}", maxlength: 64 })),
        h("label", { class: "check" }, h("input", { type: "checkbox", name: "dry" }), t("feedDry")),
        h("button", { class: "button primary", id: "feed-send" }, t("feedSend"))),
      h("div", { class: "feed-progress" }, h("progress", { id: "feed-bar", hidden: !state.isBusy,
        "aria-label": t("feedTitle") }),
        h("p", { id: "feed-status", role: "status", class: state.isBad ? "error" : null },
          state.text))),
    h("section", { id: "feed-report" }),
    h("section", { class: "card" }, h("h2", {}, t("feedTasks")), h("div", { id: "feed-tasks" })));
}

export function lastResult(taskId) {
  return result?.task?.taskId === taskId ? result : null;
}

export function showFeeds(where, onFail) {
  place = where;
  fail = onFail;
  draw();
  load().catch(fail);
}

export function redrawFeeds() {
  if (!place?.isConnected || !place.querySelector("#feed-form")) return;
  draw();
  drawTasks();
}
