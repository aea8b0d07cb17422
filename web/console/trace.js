// SPDX-License-Identifier: Apache-2.0
// trace.js - where one change is: the stages that the server tells, in their order.
import { byId, call, failure, h, icon, language, onLanguage, t } from "../common.js";
import { duration } from "./stages.js";

const ICONS = { DONE: "check", WAITING: "clock", STUCK: "warning", ABSENT: "close",
  UNKNOWN: "search" };

const OFFER_ID = /^\d{4}-\d{4}-\d{4}-\d{4}$/;

let answer = null;
let problem = "";

const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1);

// The stages' own names where there is no text for them: another server may know more of them.
function stageName(name) {
  const key = `ts${capital(name)}`;
  return t(key) === key ? capital(name) : t(key);
}

function times(steps) {
  let last = null;
  return steps.map((step) => {
    const time = step.time ? Date.parse(step.time) : null;
    const passed = time !== null && last !== null && time >= last ? `+${duration(time - last)}`
      : "";
    last = time ?? last;
    return { time: time === null ? "" : new Date(time).toLocaleTimeString(language(),
      { hour: "2-digit",
      minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 }), passed };
  });
}

function line(step, { time, passed }) {
  const state = step.state || "DONE";
  return h("li", { class: "step", dataset: { state, stage: step.stage } },
    h("span", { class: "step-mark" }, icon(ICONS[state] || "search")),
    h("div", { class: "step-main" },
      h("p", {}, h("b", {}, stageName(step.stage)), " ", h("span", { class: "step-state small" },
        t(`tr${state}`))),
      h("p", { class: "dim small step-text" }, step.text || "")),
    h("p", { class: "step-time small" }, time, passed ? h("span", { class: "dim" }, ` ${passed}`)
      : null));
}

function draw() {
  const body = byId("trace-body");
  if (problem) body.replaceChildren(h("p", { class: "error" }, problem));
  else if (answer) {
    const when = times(answer.steps || []);
    body.replaceChildren(h("ol", { class: "steps" },
      (answer.steps || []).map((step, at) => line(step, when[at]))));
  }
}

// An offer's way begins where it was saved; a server that cannot tell that tells its document's.
async function ask(client, pk) {
  if (client === "offers" && OFFER_ID.test(pk)) {
    try {
      return await call("InspectService", "TraceOffer", { id: pk });
    } catch (error) {
      if (!error.isAbsent) throw error;
    }
  }
  return call("InspectService", "TraceDocument", { client, pk });
}

export async function trace(client, pk) {
  byId("trace-key").value = pk;
  byId("trace-client").value = client;
  try {
    answer = await ask(client, pk);
    problem = "";
  } catch (error) {
    problem = error.isAbsent ? t("traceAbsent") : error.code === "not_found" ? t("traceNone")
      : failure(error);
  }
  draw();
}

// Sixteen digits are an offer's id, however they are written.
function tidy(text) {
  const digits = text.replace(/[\s-]/g, "");
  return /^\d{16}$/.test(digits) ? digits.match(/\d{4}/g).join("-") : text.trim();
}

export function drawClients(clients) {
  const select = byId("trace-client");
  const names = [...new Set(["offers", ...clients.map((client) => client.client)])];
  if (select.options.length === names.length) return;
  const old = select.value;
  select.replaceChildren(...names.map((name) => h("option", { value: name }, name)));
  if (names.includes(old)) select.value = old;
}

export function startTrace() {
  byId("trace-form").addEventListener("submit", (event) => {
    event.preventDefault();
    trace(byId("trace-client").value || "offers", tidy(byId("trace-key").value));
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-trace]");
    if (!link) return;
    trace(link.dataset.client, link.dataset.trace);
    byId("trace-form").scrollIntoView({ block: "center" });
  });
  onLanguage(draw);
}
