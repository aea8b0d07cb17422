// SPDX-License-Identifier: Apache-2.0
// items.js - what waits for a person: records that stages have parked, documents the queue could not
// send. Replay tries again; giving up is asked for.
import { ago, byId, call, h, language, number, onLanguage, t, toast, toastFailure }
  from "../common.js";
import { ask } from "../common/ask.js";

const SHOWN = 20;
const AGAIN_MS = 5000;

let items = null;    // as drawn last
let more = 0;
let notes = [];
let asked = "";      // the counts it was asked for
let askedTime = 0;
let busy = false;

// Stages whose keys are CLIENT/PK, and those whose keys are no offer's id.
const OF_DOCUMENTS = ["receiver", "takedowns", "refusals"];
const UNTRACED = ["events", "messages", "feeds", "snippets"];

// "snippets:prices" is a stage of the kind "snippets".
const kindOf = (stage) => stage.split(":")[0];

function fromParked(record) {
  const [client, ...rest] = OF_DOCUMENTS.includes(record.stage) ? record.key.split("/")
    : [UNTRACED.includes(kindOf(record.stage)) ? "" : "offers"];
  return { kind: "parked", stage: record.stage, key: record.key, reason: record.reason,
    pk: rest.length ? rest.join("/") : record.key, client,
    tries: Number(record.tryCount || 0), first: record.firstTime, next: record.nextTime };
}

const fromQueue = (client) => (failed) => ({ kind: "queue", client, pk: failed.pk,
  reason: failed.reason, tries: failed.attemptCount || 0, first: failed.firstTime,
  next: failed.isParked ? null : failed.nextTime });

async function readParked(found) {
  const answer = await call("ParkedService", "ListParked", { limit: SHOWN });
  found.list.push(...(answer.records || []).map(fromParked));
  found.count += Number(answer.count || 0);
}

async function readQueue(found, client) {
  try {
    const answer = await call("QueueService", "ListFailed", { client: client.client,
      pageSize: SHOWN });
    found.list.push(...(answer.documents || []).map(fromQueue(client.client)));
    for (const lane of client.lanes || [])
      if (lane.lane === "FAILED") found.count += Number(lane.lag || 0) + Number(lane.parkedCount
        || 0);
  } catch (error) {
    if (!error.isAbsent) throw error;
    found.notes.push("indexer");
  }
}

const waiting = (client) => (client.lanes || []).some((lane) => lane.lane === "FAILED"
  && (Number(lane.lag || 0) || Number(lane.parkedCount || 0)));

async function read(pipeline) {
  const found = { list: [], count: 0, notes: [] };
  if (Number(pipeline.parkedCount || 0)) await readParked(found);
  for (const client of pipeline.clients || []) if (waiting(client)) await readQueue(found, client);
  const old = JSON.stringify([items, more, notes]);
  items = found.list.slice(0, 2 * SHOWN);
  more = Math.max(0, found.count - items.length);
  notes = [...new Set(found.notes)];
  if (old !== JSON.stringify([items, more, notes])) draw();
}

// With each picture of the pipeline: asks when the counts are others, or some time has passed.
export async function refreshItems(pipeline) {
  const counts = JSON.stringify([pipeline.parkedCount || 0,
    (pipeline.clients || []).map((client) => (client.lanes || []).map((lane) =>
      lane.lane === "FAILED" ? [lane.lag, lane.parkedCount] : 0))]);
  const some = /[1-9]/.test(counts);
  if (busy || (counts === asked && !(some && Date.now() - askedTime > AGAIN_MS))) return;
  busy = true;
  try {
    await read(pipeline);
    asked = counts;
    askedTime = Date.now();
  } catch { /* the next picture asks again */ } finally {
    busy = false;
  }
}

async function act(button, deed) {
  button.disabled = true;
  try {
    toast(await deed());
    asked = ""; /* look again at once */
  } catch (error) {
    toastFailure(error);
  } finally {
    button.disabled = false;
  }
}

async function replay(item) {
  const answer = item.kind === "parked"
    ? await call("ParkedService", "ReplayParked", { stage: item.stage, key: item.key })
    : await call("QueueService", "ReplayFailed", { client: item.client, pk: item.pk });
  return t("itemsReplayed", { count: Number(answer.count || 0) });
}

async function replayAll() {
  let count = 0;
  if (items.some((item) => item.kind === "parked"))
    count += Number((await call("ParkedService", "ReplayParked", { all: true })).count || 0);
  const failed = items.filter((item) => item.kind === "queue");
  for (const client of new Set(failed.map((item) => item.client)))
    count += Number((await call("QueueService", "ReplayFailed", { client, all: true })).count || 0);
  return t("itemsReplayed", { count });
}

async function drop(item) {
  if (item.kind === "parked")
    await call("ParkedService", "DropParked", { stage: item.stage, key: item.key });
  else await call("QueueService", "DropFailed", { client: item.client, pk: item.pk });
  return t("itemsDropped", { pk: item.pk });
}

async function askAll(asking) {
  if (await ask({ title: t("itemsAllAsk"), text: t("itemsAllText"), yes: t("itemsAll") }))
    await act(asking, replayAll);
}

async function askDrop(asking, item) {
  const text = t(item.kind === "parked" ? "itemsDropParked" : "itemsDropText");
  const question = { title: t("itemsDropAsk", item), text, yes: t("itemsDropYes"), danger: true };
  if (await ask(question)) await act(asking, () => drop(item));
}

function whenText(item) {
  const next = item.next
    ? t("itemsNext", { time: new Date(item.next).toLocaleTimeString(language()) })
    : t(item.kind === "parked" ? "itemsBehind" : "itemsNever");
  return [ago(item.first), t("itemsTries", { count: item.tries }), next].join(" · ");
}

function button(name, deed, onclick, more = "") {
  return h("button", { class: `button small${more}`, type: "button", dataset: { deed }, onclick },
    t(name));
}

function originText(item) {
  if (item.kind === "queue") return `${t("itemsOfQueue")} · ${item.client}`;
  const kind = kindOf(item.stage);
  return t(`parkedBy_${kind}`) + item.stage.slice(kind.length).replace(":", " · ");
}

function line(item) {
  const name = item.client ? h("button", { class: "link-button", type: "button",
    dataset: { trace: item.pk, client: item.client } }, item.pk) : item.pk;
  return h("li", { class: "item", dataset: { pk: item.pk } },
    h("div", { class: "item-main" },
      h("p", {}, name, " ",
        h("span", { class: `badge ${item.next ? "warn" : "bad"}` }, originText(item))),
      h("p", { class: "item-reason" }, item.reason),
      h("p", { class: "dim small" }, whenText(item))),
    h("div", { class: "row item-buttons" },
      button("itemsReplay", "replay", (event) => act(event.currentTarget, () => replay(item))),
      button("itemsDrop", "drop", (event) => askDrop(event.currentTarget, item), " danger")));
}

function draw() {
  if (!items) return;
  const all = h("button", { class: "button small", type: "button", id: "replay-all",
    onclick: (event) => askAll(event.currentTarget) }, t("itemsAll"));
  byId("items-tools").replaceChildren(...items.length > 1 ? [all] : []);
  byId("items-body").replaceChildren(
    ...notes.map((role) => h("p", { class: "dim" }, t("itemsAbsent", { role }))),
    items.length ? h("ul", { class: "items" }, items.map(line))
      : h("p", { class: "dim empty-line" }, notes.length ? "" : t("itemsNone")),
    more ? h("p", { class: "dim small" }, t("itemsMore", { count: number(more) })) : "");
}

onLanguage(draw);
