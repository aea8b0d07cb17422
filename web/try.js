// SPDX-License-Identifier: Apache-2.0
// try.js - the page /try: documents of any client, put as plain JSON or CSV, searched, explained.
// All it does are the addresses of docs/documents.md, which it shows as it asks for them.
import { byId, failure, h, header, key, marked, onLanguage, resource, t, texts } from "./common.js";
import { keyProblem, showSignIn, showTrouble } from "./common/signin.js";

texts({
  ru: {
    tryTitle: "Документы",
    tryLead: "Положите JSON или CSV — и ищите. Всё, что делает эта страница, — запросы, которые она "
      + "показывает.",
    tryClient: "Клиент",
    tryPut: "Положить документы",
    tryName: "Имя клиента",
    tryBody: "Массив JSON, строки JSON или CSV",
    trySend: "Отправить",
    tryWords: "Слова",
    tryFilter: "Фильтр",
    trySort: "Порядок",
    tryBest: "по соответствию",
    tryMore: "Ещё",
    tryUp: "{name}, по возрастанию",
    tryDown: "{name}, по убыванию",
    tryWhy: "Почему?",
    tryNone: "Ничего не найдено.",
    tryEmpty: "Документов ещё нет: положите первые.",
    tryFound: { one: "{count} документ за {ms} мс", few: "{count} документа за {ms} мс",
      many: "{count} документов за {ms} мс", other: "{count} документа за {ms} мс" },
    trySent: "Принято: {accepted}, без изменений: {unchanged}, отвергнуто: {refused}",
    tryRange: "от {min} до {max}",
    signTitle: "Нужен ключ",
    signLead: "Поиск по документам клиентов — по ключу с правами search и documents.",
    signHow: "Ключ печатает torg up; другой создаёт torg key create ИМЯ --scope search --scope documents.",
  },
  en: {
    tryTitle: "Documents",
    tryLead: "Put JSON or CSV in, and search it. All that this page does are the requests that it shows.",
    tryClient: "Client",
    tryPut: "Put documents",
    tryName: "Name of the client",
    tryBody: "A JSON array, JSON lines or CSV",
    trySend: "Send",
    tryWords: "Words",
    tryFilter: "Filter",
    trySort: "Order",
    tryBest: "by relevance",
    tryMore: "More",
    tryUp: "{name}, ascending",
    tryDown: "{name}, descending",
    tryWhy: "Why?",
    tryNone: "Nothing was found.",
    tryEmpty: "There are no documents yet: put the first ones.",
    tryFound: { one: "{count} document in {ms} ms", other: "{count} documents in {ms} ms" },
    trySent: "Accepted: {accepted}, unchanged: {unchanged}, refused: {refused}",
    tryRange: "from {min} to {max}",
    signTitle: "A key is needed",
    signLead: "Clients' documents are searched with a key that has the scopes search and documents.",
    signHow: "torg up prints one; torg key create NAME --scope search --scope documents makes another.",
  },
});

const SAMPLE = `[
  {"id": 1, "title": "Solaris", "year": 1972, "genres": ["drama", "sci-fi"], "rating": 8.0},
  {"id": 2, "title": "Stalker", "year": 1979, "genres": ["sci-fi"], "rating": 8.1},
  {"id": 3, "title": "Mirror", "year": 1975, "genres": ["drama"], "rating": 7.9}
]`;
const FACETS = ["keyword", "keywords", "boolean", "category", "integer", "decimal", "date"];
const SORTS = ["keyword", "integer", "decimal", "date", "boolean"];
const PAGE = 10;

const state = { client: "", fields: [], wait: "", cursor: "", answer: null, asking: null };

function address(extra = {}) {
  const facets = state.fields.filter((field) => FACETS.includes(field.type)).slice(0, 12);
  const parameters = { q: byId("q").value.trim(), filter: byId("filter").value.trim(),
    facets: facets.map((field) => field.name).join(","), sort: byId("sort").value, highlight: "*",
    wait: state.wait, limit: PAGE, ...extra };
  if (!parameters.q) delete parameters.highlight;
  const query = Object.entries(parameters).filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&");
  return `clients/${encodeURIComponent(state.client)}/search?${query}`;
}

// --- what was found ---

function quoted(value) {
  return /^[\p{L}\p{N}_./:-]+$/u.test(value) ? value : JSON.stringify(value);
}

function choose(name, value) {
  const field = byId("filter");
  const part = `${name} = ${quoted(value)}`;
  field.value = field.value.includes(part) ? field.value
    : [field.value.trim(), part].filter(Boolean).join(" AND ");
  search();
}

function drawFacets() {
  const { facets = {}, ranges = {} } = state.answer || {};
  byId("fields").replaceChildren(
    ...Object.entries(facets).filter(([, values]) => Object.keys(values).length).map(([name, values]) =>
      h("div", { class: "facet" }, h("h2", {}, name),
        ...Object.entries(values).map(([value, count]) => h("button", { class: "chip", type: "button",
          onclick: () => choose(name, value) }, value, h("span", { class: "dim" }, String(count)))))),
    ...Object.entries(ranges).filter(([, range]) => range).map(([name, range]) =>
      h("div", { class: "facet" }, h("h2", {}, name), h("p", { class: "small dim" },
        t("tryRange", { min: String(range.min), max: String(range.max) })))));
}

function reasons(why) {
  return h("li", { class: why.holds ? "yes" : "no" }, why.text,
    why.parts?.length ? h("ul", {}, ...why.parts.map(reasons)) : "");
}

async function explain(id, place) {
  try {
    const { explanation } = await resource(address({ explain: id, limit: 0, facets: "", wait: "" }));
    place.replaceChildren(h("ul", { class: "why small" }, reasons(explanation)));
  } catch (error) {
    place.replaceChildren(h("p", { class: "error" }, failure(error)));
  }
}

function heading(hit) {
  const name = hit.title ?? hit.name ?? hit["название"] ?? hit.id;
  const found = hit._marked?.title || hit._marked?.name;
  return found ? marked(found) : String(name ?? "");
}

function drawHit(hit) {
  const shown = Object.fromEntries(Object.entries(hit).filter(([name]) => !name.startsWith("_")));
  const why = h("div", { "aria-live": "polite" });
  return h("article", { class: "card hit" },
    h("div", { class: "row" }, h("h2", {}, heading(hit)),
      hit.id === undefined ? "" : h("button", { class: "button small", type: "button",
        onclick: () => explain(String(hit.id), why) }, t("tryWhy"))),
    h("pre", { tabindex: "0" }, JSON.stringify(shown, null, 1)), why);
}

function draw(answer, isMore) {
  state.answer = isMore ? { ...answer, hits: [...state.answer.hits, ...answer.hits] } : answer;
  state.cursor = answer.cursor || "";
  byId("more").hidden = !state.cursor;
  byId("told").textContent = answer.total
    ? t("tryFound", { count: answer.total, ms: answer.ms }) : t("tryNone");
  byId("hits").replaceChildren(...state.answer.hits.map(drawHit));
  drawFacets();
}

async function search(isMore = false) {
  if (!state.client) return;
  state.asking?.abort();
  state.asking = new AbortController();
  const path = address(isMore === true ? { cursor: state.cursor } : {});
  byId("address").textContent = `GET ${location.origin}/v1/${address({ wait: "" })}`;
  try {
    draw(await resource(path, { signal: state.asking.signal }), isMore === true);
  } catch (error) {
    if (error.name === "AbortError") return;
    byId("told").replaceChildren(h("span", { class: "error" }, failure(error)));
  }
}

// --- whose documents ---

function drawSorts() {
  const chosen = byId("sort").value;
  byId("sort").replaceChildren(h("option", { value: "" }, t("tryBest")),
    ...state.fields.filter((field) => SORTS.includes(field.type)).flatMap(({ name }) => [
      h("option", { value: name }, t("tryUp", { name })),
      h("option", { value: `-${name}` }, t("tryDown", { name }))]));
  byId("sort").value = chosen;
}

async function takeClient(name) {
  state.client = name;
  state.fields = (await resource(`clients/${encodeURIComponent(name)}/fields`)).fields;
  drawSorts();
  await search();
}

async function loadClients(wanted = "") {
  const { clients } = await resource("clients");
  byId("client").replaceChildren(...clients.map(({ name, documents }) => h("option", { value: name },
    documents === undefined ? name : `${name} · ${documents}`)));
  const first = clients.find(({ name }) => name === wanted) || clients.find(({ name }) => name !== "offers")
    || clients[0];
  if (!first) {
    byId("told").textContent = t("tryEmpty");
    return;
  }
  byId("client").value = first.name;
  await takeClient(first.name);
}

async function put() {
  const name = byId("name").value.trim();
  const body = byId("body").value.trim();
  try {
    const answer = await resource(`clients/${encodeURIComponent(name)}/documents`, { method: "POST", body,
      contentType: /^[[{]/.test(body) ? "application/json" : "text/csv" });
    byId("sent").replaceChildren(h("p", { class: answer.refused ? "warn" : "good" }, t("trySent", answer)),
      ...(answer.problems || []).slice(0, 5).map((each) => h("p", { class: "small error" },
        `${each.document}. ${[each.field, each.reason].filter(Boolean).join(": ")}`)));
    state.wait = answer.wait;
    if (!answer.accepted && !answer.unchanged) return;
    await resource(`clients/${encodeURIComponent(name)}/search?limit=0&wait=${answer.wait}`);
    await loadClients(name);
  } catch (error) {
    byId("sent").replaceChildren(h("p", { class: "error" }, failure(error)));
  }
}

// --- the page ---

async function start(problem = "") {
  if (!key()) {
    showSignIn(byId("gate"), { title: "signTitle", lead: "signLead", how: "signHow", problem }, start);
    return;
  }
  try {
    await loadClients(new URLSearchParams(location.search).get("client") || "");
    byId("gate").replaceChildren();
    byId("desk").hidden = false;
  } catch (error) {
    if (error.status === 401 || error.status === 403)
      showSignIn(byId("gate"), { title: "signTitle", lead: "signLead", how: "signHow",
        problem: keyProblem(error) || error.message }, start);
    else
      showTrouble(byId("gate"), error, () => start());
  }
}

header("try");
byId("body").value = SAMPLE;
byId("ask").addEventListener("submit", (event) => { event.preventDefault(); search(); });
byId("q").addEventListener("input", () => search());
byId("filter").addEventListener("change", () => search());
byId("sort").addEventListener("change", () => search());
byId("client").addEventListener("change", () => takeClient(byId("client").value));
byId("send").addEventListener("click", put);
byId("more").addEventListener("click", () => search(true));
onLanguage(() => { drawSorts(); if (state.answer) draw(state.answer, false); });
start();
