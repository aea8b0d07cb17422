// SPDX-License-Identifier: Apache-2.0
// about.js - the page /about: what runs here, from SystemService; the calls, from /openapi.json.
import { byId, call, dateTime, failure, h, header, onLanguage, t, texts } from "./common.js";

texts({
  en: {
    tagline: "The backend of a classifieds site in one program",
    here: "What runs here",
    version: "Version",
    roles: "Roles",
    since: "Running since",
    calling: "Calling it",
    how: "One port speaks HTTP/1.1, HTTP/2, gRPC and JSON. "
      + "The key is printed by torg up, or made by torg key create.",
    calls: "The calls",
    loading: "Loading…",
    noList: "The list of calls is not available.",
  },
  ru: {
    tagline: "Серверная часть сайта объявлений в одной программе",
    here: "Что здесь работает",
    version: "Версия",
    roles: "Роли",
    since: "Работает с",
    calling: "Как вызвать",
    how: "Один порт говорит на HTTP/1.1, HTTP/2, gRPC и JSON. "
      + "Ключ печатает torg up или создаёт torg key create.",
    calls: "Вызовы",
    loading: "Загружается…",
    noList: "Список вызовов недоступен.",
  },
});

let system = null;

function showSystem() {
  if (!system) return;
  byId("version").textContent = system.version;
  byId("roles").replaceChildren(
    ...(system.roles || []).map((role) => h("span", { class: "badge" }, role)));
  byId("since").textContent = dateTime(system.startTime);
}

async function loadSystem() {
  try {
    system = await call("SystemService", "GetSystem", {}, { withKey: false });
    showSystem();
  } catch (error) {
    byId("version").replaceChildren(...failure(error).filter(Boolean));
  }
}

async function loadCalls() {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(answer.statusText);
  const paths = Object.entries((await answer.json()).paths || {});
  byId("calls").replaceChildren(...paths.sort().map(([path, item]) =>
    h("div", { class: "call" }, h("code", {}, path),
      h("p", {}, item.post?.summary || item.post?.description || ""))));
}

header("about");
onLanguage(showSystem);
byId("sample").textContent = `curl -H "Authorization: Bearer $KEY" \\
  -H "Content-Type: application/json" -d '{}' \\
  ${location.origin}/torg.v1.KeyService/ListKeys`;
// Shown when what comes above the list is there, so that nothing moves.
loadSystem().finally(() => byId("content").classList.remove("waiting"));
loadCalls().catch(() => { byId("calls").textContent = t("noList"); });
