// SPDX-License-Identifier: Apache-2.0
// epochs.js - clients of the registry: their epochs, the lanes and numbers of their shards.
import { byId, call, date, h, number, onLanguage, svg, t, toast, toastFailure } from "../common.js";
import { ask } from "../common/ask.js";

const STATES = { SERVING: "good", BUILDING: "warn", KEPT: "" };

let clients = null;
let leftOut = 0;
let drawn = "";

async function move(client, epoch, method) {
  const name = method === "SwitchEpoch" ? "epochSwitch" : "epochRollback";
  try {
    const before = await call("EpochService", "GetEpochs", { client });
    const found = (before.epochs || []).find((one) => one.epoch === epoch);
    const count = Number(found?.misfitCount || 0);
    const text = count ? `${t(`${name}Text`)} ${t("epochLosses", { count })}` : t(`${name}Text`);
    if (!await ask({ title: t(`${name}Ask`, { epoch }), text, yes: t(name) })) return;
    const status = await call("EpochService", method, { client, epoch, acceptLosses: count > 0 });
    toast(t("epochDone", { epoch: status.servingEpoch }));
    document.activeElement?.blur(); /* so that it is drawn anew */
  } catch (error) {
    toastFailure(error);
  }
}

function epochLine(client, epoch) {
  const state = epoch.state || "BUILDING";
  const deed = state === "BUILDING" ? ["epochSwitch", "SwitchEpoch"]
    : state === "KEPT" ? ["epochRollback", "RollbackEpoch"] : null;
  return h("li", { class: "row epoch" },
    h("b", {}, t("epochName", { epoch: epoch.epoch })),
    h("span", { class: `badge ${STATES[state]}` }, t(`ep${state}`)),
    h("span", { class: "dim small" }, t("epFields", { count: epoch.fieldCount || 0 }), " · ",
      date(epoch.startTime)),
    deed ? h("button", { class: "button small", type: "button",
      onclick: () => move(client.client, epoch.epoch, deed[1]) }, t(deed[0])) : null);
}

// Numbers of a shard as one bar: in use, gone, held, free.
function numbersBar(shard) {
  const given = Number(shard.givenCount || 0);
  const parts = ["used", "gone", "held", "free"].map((name) =>
    [name, Number(shard[`${name}Count`] || 0)]);
  let at = 0;
  const boxes = given ? parts.map(([name, value]) => {
    const box = svg("rect", { class: `numbers-${name}`, x: at / given * 100, y: 0,
      width: value / given * 100, height: 8 });
    at += value;
    return box;
  }) : [];
  const said = parts.filter(([, value]) => value).map(([name, value]) =>
    h("span", { class: `numbers-word ${name}` },
      `${number(value)} ${t(`nu${name[0].toUpperCase()}${name.slice(1)}`)}`));
  return h("div", { class: "numbers" },
    svg("svg", { viewBox: "0 0 100 8", preserveAspectRatio: "none", class: "numbers-bar",
      "aria-hidden": "true" },
      svg("rect", { class: "numbers-ground", x: 0, y: 0, width: 100, height: 8 }), ...boxes),
    h("p", { class: "small dim" }, `${number(given)} ${t("shardGiven")}`, said.length ? ": " : "",
      said.flatMap((word, place) => place ? [", ", word] : [word])));
}

function replicaText(replica) {
  const state = replica.isReady ? t("replicaReady") : replica.reason || t("replicaNot");
  const docs = t("shardDocs", { count: Number(replica.docCount || 0) });
  return h("span", { class: `replica ${replica.isReady ? "good" : "warn"}` },
    `${replica.replica || t("replicaHere")}: ${docs}, ${state}`);
}

// Lanes in which something waits.
function busyLanes(client, shard) {
  const waits = (lane) => Number(lane.lag || 0) + Number(lane.parkedCount || 0);
  return (client.lanes || [])
    .filter((lane) => (lane.shard || 0) === (shard.shard || 0) && waits(lane))
    .map((lane) => `${t(`lane${lane.lane || "MAIN"}`)}: ${number(waits(lane))}`).join(", ");
}

function shardLine(client, shard) {
  const busy = busyLanes(client, shard);
  return h("li", { class: "shard" },
    h("p", { class: "row" }, h("b", {}, t("shardName", { shard: String(shard.shard || 0) })),
      (shard.replicas || []).map(replicaText)),
    numbersBar(shard),
    busy ? h("p", { class: "small warn" }, busy) : null);
}

function clientBox(client) {
  return h("div", { class: "client" },
    h("h3", {}, client.client, " ", h("span", { class: "dim small client-epochs" },
      t("epochWrites", { epoch: client.writingEpoch, serving: client.servingEpoch }))),
    h("ul", { class: "plain" }, (client.epochs || []).map((epoch) => epochLine(client, epoch))),
    h("ul", { class: "plain" }, (client.shards || []).map((shard) => shardLine(client, shard))));
}

function draw() {
  if (!clients) return;
  byId("epochs-body").replaceChildren(
    ...clients.length ? clients.map(clientBox) : [h("p", { class: "dim" }, t("epochsNone"))],
    ...leftOut ? [h("p", { class: "dim small" }, t("leftOut", { count: leftOut }))] : []);
}

// Anew only when something has changed: buttons keep the keyboard's place.
export function drawEpochs(pipeline) {
  const now = JSON.stringify([pipeline.clients, pipeline.leftOutCount]);
  if (now === drawn || byId("epochs-body").contains(document.activeElement)) return;
  drawn = now;
  clients = pipeline.clients || [];
  leftOut = pipeline.leftOutCount || 0;
  draw();
}

onLanguage(draw);
