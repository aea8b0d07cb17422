// SPDX-License-Identifier: Apache-2.0
// feed-categories.js - which of our categories those of a price list are: a table with counts and
// proposals, confirmed once and remembered for the feed (docs/feeds.md, a file of --categories).
import { call, failure, h, number, t, toast } from "../common.js";
import { REFUSED, categoryChoice } from "./category.js";

const OTHERS = "*";
const TITLES_SHOWN = 2;

function base64(data) {
  let bytes = "";
  for (let at = 0; at < data.length; at += 0x8000)
    bytes += String.fromCharCode(...data.subarray(at, at + 0x8000));
  return btoa(bytes);
}

const fromBase64 = (text) =>
  new TextDecoder().decode(Uint8Array.from(atob(text), (letter) => letter.codePointAt(0)));

// Lines of cells (RFC 4180); the delimiter is the one that the first line has most of.
function cells(text) {
  const first = text.split(/\r?\n/, 1)[0];
  const delimiter = [",", ";", "\t"].reduce((best, each) =>
    first.split(each).length > first.split(best).length ? each : best);
  const lines = [[""]];
  let isQuoted = false;
  for (const letter of text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n")) {
    const line = lines.at(-1);
    if (letter === '"') isQuoted = !isQuoted;
    if (!isQuoted && letter === delimiter) line.push("");
    else if (!isQuoted && letter === "\n") lines.push([""]);
    else line[line.length - 1] += letter;
  }
  const bare = (cell) => cell.startsWith('"') && cell.endsWith('"') && cell.length > 1
    ? cell.slice(1, -1).replaceAll('""', '"') : cell;
  return lines.map((line) => line.map(bare)).filter((line) => line.some(Boolean));
}

// What is remembered: the feed's word -> {category, attributes}.
async function remembered(feed) {
  const { content = "" } = await call("FeedService", "GetCategories", { feed });
  const lines = cells(fromBase64(content));
  const hasNames = lines[0]?.[0].trim().toLowerCase() === "feed";
  const names = hasNames ? lines.shift() : ["feed", "category"];
  const at = (name) => names.findIndex((each) => each.trim().toLowerCase() === name);
  const [category, attributes] = [at("category"), at("attributes")];
  return new Map(lines.map((line) => [line[0], {
    category: line[category] || (hasNames ? "" : REFUSED),
    attributes: attributes < 0 ? "" : line[attributes] || "" }]));
}

const quoted = (text) => `"${text.replaceAll('"', '""')}"`;

function fileOf(map) {
  return `feed,category,attributes\r\n${[...map].map(([from, to]) =>
    `${[from, to.category, to.attributes].map(quoted).join(",")}\r\n`).join("")}`;
}

const keyOf = (one) => one.id || one.path;

function line(one, before) {
  const kept = before.get(keyOf(one));
  const value = kept?.category || one.category || (one.refused ? REFUSED : one.proposal) || "";
  const isProposed = !kept?.category && !one.category && !one.refused && one.proposal;
  const titles = (one.titles || []).slice(0, TITLES_SHOWN).join("; ");
  const name = { [one.category]: one.categoryName, [one.proposal]: one.proposalName }[value];
  const choice = categoryChoice({ value, name, title: one.path || one.id, from: keyOf(one), canRefuse: true });
  return { node: h("tr", {}, h("td", {}, one.path || one.id,
    h("p", { class: "dim small" }, titles)),
  h("td", { class: "number" }, number(one.rowCount || 0)),
  h("td", {}, choice.node, isProposed
    ? h("p", { class: "small warn" }, t(one.proposedBy === "offers" ? "mapSimilar" : "mapProposed")) : null)),
  read: () => [keyOf(one), { category: choice.read(),
    attributes: choice.read() === value ? kept?.attributes || one.attributes || "" : "" }] };
}

function heading() {
  return h("thead", {}, h("tr", {}, h("th", { scope: "col" }, t("mapTheirs")),
    h("th", { scope: "col", class: "number" }, t("mapRows")),
    h("th", { scope: "col" }, t("mapOurs"))));
}

// The categories of a file that was just read, in `place`. result: of ImportFile.
export async function showCategories(place, feed, result) {
  const list = result.categories || [];
  place.replaceChildren();
  if (!list.length) return;
  const before = result.categoriesTime ? await remembered(feed) : new Map();
  const lines = list.map((one) => line(one, before));
  const others = categoryChoice({ value: before.get(OTHERS)?.category || "", title: t("mapOthers"), from: OTHERS,
    canRefuse: true });
  const told = h("p", { role: "status", class: "small", id: "feed-map-status" });
  const send = async (method, request, text) => {
    try {
      await call("FeedService", method, { feed, ...request });
      told.textContent = t(text);
      told.classList.remove("error");
      toast(t(text));
    } catch (error) {
      told.replaceChildren(...[failure(error)].flat());
      told.classList.add("error");
    }
  };
  const save = () => {
    const map = new Map([...before, ...lines.map((each) => each.read())]);
    const last = before.get(OTHERS);
    map.set(OTHERS, { category: others.read(),
      attributes: others.read() === last?.category ? last.attributes : "" });
    return send("SetCategories", { content: base64(new TextEncoder().encode(fileOf(map))) }, "mapSaved");
  };
  const take = async (event) => {
    const file = event.target.files[0];
    event.target.value = "";
    if (file) await send("SetCategories", { content: base64(new Uint8Array(await file.arrayBuffer())) }, "mapSaved");
  };
  const open = list.some((one) => !one.category && !one.refused);
  place.replaceChildren(h("details", { class: "card stack", id: "feed-map", open,
    "aria-label": t("mapTitle") },
    h("summary", {}, h("b", {}, t("mapTitle"))), h("p", { class: "dim" }, t("mapLead")),
    h("div", { class: "table-box report-box" }, h("table", { class: "table", "aria-label": t("mapTitle") },
      heading(), h("tbody", {}, lines.map((each) => each.node),
        h("tr", {}, h("td", {}, t("mapOthers")), h("td", {}), h("td", {}, others.node))))),
    h("div", { class: "row" },
      h("button", { class: "button primary", type: "button", id: "feed-map-save", onclick: save },
        t("mapSave")),
      h("label", { class: "button" }, t("mapFile"), h("input", { type: "file", class: "visually-hidden",
        id: "feed-map-file", accept: ".csv,.txt", onchange: take })),
      before.size ? h("button", { class: "button", type: "button", id: "feed-map-forget",
        onclick: () => send("RemoveCategories", {}, "mapForgotten") }, t("mapForget")) : null),
    told));
}
