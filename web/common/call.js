// SPDX-License-Identifier: Apache-2.0
// call.js - calls of the API as JSON, and the key they are made with.
//
// A page opened as /console#key=... takes the key, keeps it for the tab and takes it out of the
// address, so that it is not sent on with a copied link. Who has another key already is asked before
// it is replaced: a stranger's link would make him work with the stranger's account.
import { language, t, texts } from "./text.js";

texts({
  ru: { otherKey: "В ссылке другой ключ, не тот, с которым вы вошли. Войти с ним?" },
  en: { otherKey: "This link brings another key than the one you are signed in with. Use it?" },
});

const KEY = "torg-key";
let current = "";

function remembered() {
  try { return sessionStorage.getItem(KEY) || ""; } catch { return current; }
}

export function key() {
  return remembered();
}

export function setKey(value) {
  current = value.trim();
  try {
    if (current) sessionStorage.setItem(KEY, current);
    else sessionStorage.removeItem(KEY);
  } catch { /* private mode: kept until the page is left */ }
}

function takeKeyFromAddress() {
  const found = /^#key=(.+)$/.exec(location.hash);
  if (!found) return;
  const before = key();
  let brought = "";
  try { brought = decodeURIComponent(found[1]).trim(); } catch { /* not a key */ }
  history.replaceState(history.state, "", location.pathname + location.search);
  if (!brought || brought === before || before && !confirm(t("otherKey"))) return;
  setKey(brought);
}

takeKeyFromAddress();
addEventListener("hashchange", takeKeyFromAddress);

// The fields at fault as [{field, reason}], of an error in Connect's form: its details are messages in
// base64, with a readable form beside them.
const faultsOf = (details) => (details || []).flatMap((each) => each.debug?.fieldViolations || [])
  .map((each) => ({ field: each.field || "", reason: each.description || "" }));

// What the server answered instead: code as "not_found", its own words, which are English, and
// details as [{field, reason}]. isOurs: the words are the page's, in its language.
export class CallError extends Error {
  constructor(status, code, message, details, isOurs = false) {
    super(message);
    this.name = "CallError";
    this.status = status;
    this.code = code;
    this.details = details || [];
    this.isOurs = isOurs;
  }

  // The method is not there: an older server, or a role that runs elsewhere.
  get isAbsent() {
    return this.code === "unimplemented" || this.status === 404 && / at \/torg\./.test(this.message);
  }
}

async function readError(answer) {
  let body = {};
  try { body = await answer.json(); } catch { /* no JSON: a proxy's page */ }
  if (!body.code)
    return new CallError(answer.status, "unknown", t("callFailed", { status: answer.status }), [], true);
  return new CallError(answer.status, body.code, body.message || "", faultsOf(body.details));
}

async function ask(service, method, body,
  { signal, withKey = true, headers = {}, keepalive = false } = {}) {
  const sent = { "Content-Type": "application/json", "Accept-Language": language(), ...headers };
  if (withKey && key()) sent.Authorization = `Bearer ${key()}`;
  let answer;
  try {
    answer = await fetch(`/torg.v1.${service}/${method}`,
      { method: "POST", headers: sent, body: JSON.stringify(body || {}), signal, keepalive });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new CallError(0, "unavailable", t("callUnanswered"), [], true);
  }
  if (!answer.ok) throw await readError(answer);
  return answer;
}

// call("SearchService", "SearchOffers", {text}, {signal}): the answer. Options: signal (to end
// it: the promise fails with AbortError), withKey: false (as a visitor), headers.
export async function call(service, method, body, options) {
  return (await ask(service, method, body, options)).json();
}

// A resource of the API, asked for by its address: ask for "clients/shop/search?q=...".
export async function resource(path, { method = "GET", body, contentType = "application/json", signal } = {}) {
  const headers = { "Accept-Language": language() };
  if (body !== undefined) headers["Content-Type"] = contentType;
  if (key()) headers.Authorization = `Bearer ${key()}`;
  let answer;
  try {
    answer = await fetch(`/v1/${path}`, { method, headers, body, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new CallError(0, "unavailable", t("callUnanswered"), [], true);
  }
  if (answer.ok) return answer.json();
  const copy = answer.clone();
  const error = await readError(answer);
  if (error.code === "unknown") // what became of documents is told with the status of a failure, too
    try { return await copy.json(); } catch { /* no JSON */ }
  throw error;
}

// An item of a stream; one that broke off ends with what went wrong, since its status was sent before.
function readItem(line) {
  const item = JSON.parse(line);
  if (item.error?.code)
    throw new CallError(200, item.error.code, item.error.message || "",
      faultsOf(item.error.details));
  return item;
}

// A method that answers with a stream: for await (const item of callStream(...)).
export async function* callStream(service, method, body, options) {
  const answer = await ask(service, method, body, options);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    const lines = (rest + (value || "")).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) yield readItem(line);
    if (done) return;
  }
}
