// SPDX-License-Identifier: Apache-2.0
// snippets.js - the config of snippets in use, as a tree; how much is read and written, and what of it failed;
// forms to look at one, and to try one without storing it.
import { byId, call, date, failure, h, onLanguage, t } from "../common.js";

const PERIOD_MS = 5000;
const ABSENT_MS = 60000;

let config = null;
let isAbsent = false;
let asked = 0;
let before = null; // the counts of the last answer, and when it came
let rates = null;

function aboutOne(section) {
  if (!section.isSnippet) return t("snippetsGroup");
  return [section.output, (section.inputs || []).some((each) => each !== section.output)
    ? `← ${section.inputs.join(", ")}` : "", (section.languages || []).join(", "),
  section.convertor, section.validator, section.hasInputSchema ? "JSON Schema" : "",
  Number(section.ttlMinutes || 0) ? t("snippetsTtl", { minutes: section.ttlMinutes }) : "",
  section.topic ? `═ ${section.topic}` : "", `kps ${section.prefix}`].filter(Boolean).join(" · ");
}

function line(section) {
  const depth = section.name.split("/").length - 1;
  const item = h("li", { class: "item" },
    h("div", { class: "item-main" }, h("p", {}, h("b", {}, section.name.split("/").at(-1))),
      h("p", { class: "dim small" }, aboutOne(section))));
  item.style.paddingInlineStart = `${depth * 1.5}rem`;
  return item;
}

// By two answers of one process; after a restart the counts begin again.
function measure(counts) {
  const now = { at: Date.now(), counts };
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  const rate = (kind) => (Number(counts[kind] || 0) - Number(before.counts[kind] || 0)) / seconds;
  rates = seconds > 0 && ["puts", "deletes", "gets", "batches", "failures"].map(rate);
  if (rates && rates.some((each) => each < 0)) rates = null;
  before = now;
}

function drawRates() {
  if (!rates) return "";
  const [puts, deletes, gets, batches, failures] = rates.map((each) => each.toFixed(each < 10 ? 1 : 0));
  return h("p", { id: "snippets-rates" }, t("snippetsRates", { puts, deletes, gets, batches, failures }));
}

function drawFailures() {
  const failures = config.failures || [];
  if (!failures.length) return "";
  return h("div", { id: "snippets-failures" },
    h("h3", {}, t("snippetsFailures", { count: config.counts?.failures || failures.length })),
    h("ul", { class: "items" }, failures.map((each) => h("li", { class: "item" },
      h("div", { class: "item-main" }, h("p", {}, `${each.name || ""} ${each.key || ""}`),
        h("p", { class: "dim small" }, `${date(each.time)} · ${each.reason}`))))));
}

function draw() {
  byId("snippets").hidden = isAbsent || !config?.sections?.length && !config?.refused;
  if (byId("snippets").hidden) return;
  byId("snippets-body").replaceChildren(
    config.refused ? h("p", { class: "item-reason", role: "alert" },
      h("span", { class: "badge bad" }, t("snippetsRefused")), " ", config.refused) : "",
    config.loadTime ? h("p", { class: "dim small" }, t("snippetsLoaded", { time: date(config.loadTime) }))
      : "",
    drawRates(), drawFailures(),
    h("ul", { class: "items" }, (config.sections || []).map(line)));
}

async function look(event) {
  event.preventDefault();
  const [name, ...rest] = byId("snippets-key").value.trim().split(/\s+/);
  const out = byId("snippets-found");
  try {
    const answer = await call("SnippetService", "GetSnippets",
      { names: [name], keys: rest.slice(0, 1), language: rest[1] || "" });
    const found = answer.snippets || [];
    out.textContent = found.length
      ? found.map((each) => `${each.name} ${each.language || ""}\n${each.text || each.binary || ""}`)
        .join("\n\n") : t("snippetsNone");
  } catch (error) {
    out.replaceChildren(...failure(error).filter(Boolean));
  }
  out.hidden = false;
}

// What would be stored, or why it would be refused.
async function check(event) {
  event.preventDefault();
  const name = byId("snippets-name").value.trim();
  const section = (config?.sections || []).find((each) => each.name === name);
  const first = (config?.sections || []).find((each) => each.name === section?.targets?.[0]) || section;
  const bytes = new TextEncoder().encode(byId("snippets-text").value);
  const out = byId("snippets-found");
  try {
    const answer = await call("SnippetService", "PutSnippet", {
      name, key: "try", format: first?.inputs?.[0], dryRun: true,
      body: btoa(Array.from(bytes, (each) => String.fromCharCode(each)).join("")),
    });
    out.textContent = [t("snippetsGood"), ...(answer.snippets || []).map((each) =>
      `${each.name} ${each.language || ""}\n${each.text || each.binary || ""}`)].join("\n\n");
  } catch (error) {
    out.replaceChildren(...failure(error).filter(Boolean));
  }
  out.hidden = false;
}

// The config changes seldom, and tells what is wrong with a newer one.
export async function refreshSnippets() {
  if (Date.now() - asked < (isAbsent ? ABSENT_MS : PERIOD_MS)) return;
  asked = Date.now();
  try {
    config = await call("SnippetService", "DescribeSnippets");
    isAbsent = false;
    measure(config.counts || {});
  } catch (error) {
    isAbsent = [403, 404, 501].includes(error.status);
  }
  draw();
}

byId("snippets-form").addEventListener("submit", look);
byId("snippets-check").addEventListener("submit", check);
onLanguage(draw);
