// SPDX-License-Identifier: Apache-2.0
// suggest.js - suggestions under the search box: a combobox as ARIA has it.
//
// Arrows move, Enter takes, Esc closes; the focus stays in the box. An answer that comes after
// another letter was typed is not shown. A server without the call: no suggestions, no error.
import { byId, call, h, icon, language, marked, number } from "../common.js";

const DELAY_MS = 90;
const COUNT = 7;
const CATEGORY_COUNT = 3;
let options = [];           // [{node, take}]
let active = -1;
let asked = null;           // AbortController of the call under way
let timer = 0;
let isAbsent = false;

function setActive(place) {
  const input = byId("text");
  active = place;
  options.forEach(({ node }, at) => node.setAttribute("aria-selected", String(at === place)));
  if (place < 0) {
    input.removeAttribute("aria-activedescendant");
    return;
  }
  input.setAttribute("aria-activedescendant", options[place].node.id);
  options[place].node.scrollIntoView({ block: "nearest" });
}

export function closeSuggestions() {
  clearTimeout(timer);
  asked?.abort();
  byId("suggestions").hidden = true;
  byId("text").setAttribute("aria-expanded", "false");
  options = [];
  setActive(-1);
}

function optionNode(place, take, ...inside) {
  const node = h("li", { id: `suggestion-${place}`, role: "option", "aria-selected": "false" },
    ...inside);
  node.addEventListener("pointerdown", (event) => event.preventDefault());   // keeps the focus
  node.addEventListener("click", take);
  return { node, take };
}

function draw(page, answer) {
  const queries = (answer.queries || []).map((each) => [() => page.search(each.text, {}),
    icon("search"), h("span", { class: "suggestion-text" }, each.marked
      ? marked(each.marked) : each.text), h("span", { class: "count" }, number(each.count || 0))]);
  const categories = (answer.categories || []).slice(0, CATEGORY_COUNT).map((each) => [
    () => page.search("", { category: each.id, filters: {} }), icon("folder"),
    h("span", { class: "suggestion-text" }, each.name,
      each.path?.length ? h("span", { class: "suggestion-path" }, each.path.join(" › ")) : null),
    h("span", { class: "count" }, number(each.count || 0))]);
  options = [...queries, ...categories].map(([take, ...inside], place) =>
    optionNode(place, () => { closeSuggestions(); take(); }, ...inside));
  byId("suggestions").replaceChildren(...options.map(({ node }) => node));
  byId("suggestions").hidden = !options.length;
  byId("text").setAttribute("aria-expanded", String(options.length > 0));
  setActive(-1);
}

async function ask(page) {
  const text = byId("text").value.trimStart(); // a blank at the end: the word is whole
  asked?.abort();
  if (!text || isAbsent) return closeSuggestions();
  asked = new AbortController();
  try {
    const answer = await call("SearchService", "Suggest", { text, limit: COUNT,
      ...(page.state.category && { category: page.state.category }), language: language() },
    { signal: asked.signal, withKey: false });
    if (document.activeElement === byId("text")) draw(page, answer);
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    isAbsent = error.isAbsent;
    closeSuggestions();
  }
  return undefined;
}

function onKey(event) {
  const last = options.length - 1;
  if (event.key === "ArrowDown" && options.length) setActive(active >= last ? -1 : active + 1);
  else if (event.key === "ArrowUp" && options.length) setActive(active < 0 ? last : active - 1);
  else if (event.key === "Escape" && options.length) closeSuggestions();
  else if (event.key === "Enter" && active >= 0) options[active].take();
  else return;
  event.preventDefault();
}

export function startSuggestions(page) {
  const input = byId("text");
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => ask(page), DELAY_MS);
  });
  input.addEventListener("keydown", onKey);
  input.addEventListener("blur", closeSuggestions);
}
