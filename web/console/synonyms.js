// SPDX-License-Identifier: Apache-2.0
// synonyms.js - the synonyms in force, as text that can be changed, and what visitors' retyped queries
// propose. Nothing is applied but by the button: a proposal only becomes a line of the text.
import { byId, call, date, failure, h, language, onLanguage, t } from "../common.js";

const PERIOD_MS = 10000;
const ABSENT_MS = 60000;

let sets = null;
let proposals = [];
let isAbsent = false;
let asked = 0;
let shown = null;       // {language, version, text}: what the text was filled with
let drawn = "";         // the proposals, as they are on the page

const languageIn = () => byId("synonyms-language").value.trim();
const setOf = (language) => (sets || []).find((each) => each.language === language);

// The text of the language, unless somebody has changed it.
function fill(isForced) {
  const set = setOf(languageIn());
  const isTyped = shown && byId("synonyms-text").value !== shown.text;
  if (isTyped && !isForced) return;
  shown = { language: languageIn(), version: Number(set?.version || 0), text: set?.text || "" };
  if (byId("synonyms-text").value !== shown.text) byId("synonyms-text").value = shown.text;
}

function tell(...nodes) {
  byId("synonyms-told").replaceChildren(...nodes.filter(Boolean));
}

function changeNodes(change) {
  const lines = [...(change.removed || []).map((each) => `− ${each}`),
    ...(change.added || []).map((each) => `+ ${each}`)];
  return [h("p", { class: "small" }, t("synonymsChange", { added: (change.added || []).length,
    removed: (change.removed || []).length })),
  lines.length ? h("pre", { class: "synonyms-lines", tabindex: "0" }, lines.join("\n")) : null];
}

async function diff() {
  if (!byId("synonyms-form").reportValidity()) return;
  try {
    tell(...changeNodes(await call("SynonymService", "DiffSynonyms",
      { language: languageIn(), text: byId("synonyms-text").value })));
  } catch (error) {
    tell(h("p", { class: "item-reason", role: "alert" }, failure(error)));
  }
}

async function apply(event) {
  event.preventDefault();
  const expectedVersion = shown?.language === languageIn() ? shown.version : Number(setOf(languageIn())?.version || 0);
  try {
    const change = await call("SynonymService", "ApplySynonyms",
      { language: languageIn(), text: byId("synonyms-text").value, expectedVersion });
    tell(h("p", {}, t("synonymsApplied", { version: change.toVersion || 0 })), ...changeNodes(change));
    shown = null;
    asked = 0;
    await refreshSynonyms();
  } catch (error) {
    tell(h("p", { class: "item-reason", role: "alert" }, failure(error)));
  }
}

function addRule(rule) {
  const text = byId("synonyms-text");
  text.value = `${text.value.replace(/\n*$/, "")}\n${rule}\n`.replace(/^\n/, "");
  text.focus();
  text.scrollTop = text.scrollHeight;
}

function proposalItem(proposal) {
  return h("li", { class: "item" },
    h("div", { class: "item-main" }, h("p", {}, h("b", {}, proposal.rule)),
      h("p", { class: "dim small" }, [t("synonymsVisits", { count: Number(proposal.visitCount || 0) }),
        date(proposal.lastTime), ...(proposal.examples || [])].join(" · "))),
    h("button", { class: "button", type: "button", "aria-label": `${t("synonymsAdd")}: ${proposal.rule}`,
      onclick: () => addRule(proposal.rule) }, t("synonymsAdd")));
}

function draw() {
  byId("synonyms").hidden = isAbsent || !sets;
  if (byId("synonyms").hidden) return;
  byId("synonyms-languages").replaceChildren(...sets.map((each) => h("option", { value: each.language })));
  if (!languageIn()) byId("synonyms-language").value = sets[0]?.language || "ru";
  fill(false);
  const now = JSON.stringify([language(), proposals]);
  if (now === drawn) return; /* a button that is being pressed stays */
  drawn = now;
  byId("synonyms-proposals").replaceChildren(proposals.length
    ? h("ul", { class: "items" }, proposals.map(proposalItem))
    : h("p", { class: "dim small" }, t("synonymsNone")));
}

export async function refreshSynonyms() {
  if (Date.now() - asked < (isAbsent ? ABSENT_MS : PERIOD_MS)) return;
  asked = Date.now();
  try {
    const [inForce, proposed] = await Promise.all([call("SynonymService", "ListSynonyms"),
      call("SynonymService", "ListSynonymProposals")]);
    sets = inForce.sets || [];
    proposals = proposed.proposals || [];
    isAbsent = false;
  } catch (error) {
    isAbsent = [403, 404, 501].includes(error.status);
  }
  draw();
}

byId("synonyms-form").addEventListener("submit", apply);
byId("synonyms-diff").addEventListener("click", diff);
byId("synonyms-language").addEventListener("change", () => fill(true));
onLanguage(draw);
