// SPDX-License-Identifier: Apache-2.0
// filters.js - the filters that fit what was found, drawn anew with each answer.
//
// A range that somebody types into is not drawn anew: its field stays as it is, and what is typed
// counts when it is left or Enter is pressed. Every control has an id made of the filter's: after
// drawing, the focus is where it was. Numbers are shown in the units people use (a price in
// roubles) and sent in the API's (kopecks).
import { byId, currencySign, distance, h, icon, language, minorUnits, number, price, t, withUnit }
  from "../common.js";
import { categoryOf, tree } from "./categories.js";
import { nearText, placeChooser } from "./places.js";
import { withFilter } from "./state.js";
import { understoodChips } from "./understood.js";

const SHOWN_COUNT = 7;          // values before "show all"
const SEARCHED_COUNT = 15;      // more values than this can be searched
const DAYS = [1, 3, 7, 30];
const METERS = [1000, 3000, 5000, 10000, 25000, 50000, 100000];
const whole = new Set();        // filters that show all values
const sought = new Map();       // filter -> what is typed in its search
let isDrawing = false;
const names = new Map();        // language/filter/value -> name: an empty answer has none

// --- units ---

let currency = "";              // of the last answer that had one: a failure has none

function currencyOf(page) {
  currency = page.answer.currency || currency;
  return currency;
}

const isMoney = (filter) => filter.id === "price" || filter.id === "salary";

function factorOf(page, filter) {
  return isMoney(filter) ? minorUnits(currencyOf(page)) : 1;
}

function unitOf(page, filter) {
  if (!isMoney(filter)) return filter.unit || "";
  return currencyOf(page) && currencySign(currencyOf(page));
}

// What was typed as the API wants it, with no more digits than it has: "" when it is no number. A
// comma is a point in Russian and stands between thousands in English; where it can be neither, or
// could be both, nothing is guessed.
function typedNumber(text, filter, factor) {
  const digits = (filter.min || filter.max || "").split(".")[1]?.length || 0;
  const joined = text.replace(/\s/g, "");
  const isThousand = digits < 3 && /^[1-9]\d{0,2},\d{3}$/.test(joined);
  const plain = language() !== "ru" ? joined.replace(/,(?=\d{3}(?!\d))/g, "")
    : isThousand ? "" : joined.replace(",", ".");
  if (!/^-?(\d+\.?\d*|\.\d+)$/.test(plain)) return "";
  return String(Number((Number(plain) * factor).toFixed(digits)));
}

function shownNumber(text, factor, isEnd) {
  if (!text) return "";
  const value = Number(text) / factor;
  return String(factor === 1 ? value : isEnd ? Math.ceil(value) : Math.floor(value));
}

function plainNumber(filter, value) {
  return number(value, { maximumFractionDigits: 2, useGrouping: !isYear(filter) });
}

// Years are not grouped by thousands.
function isYear(filter) {
  return /year/.test(filter.id) && !filter.unit;
}

// --- kinds ---

function coverageText(page, filter) {
  return filter.coverage && page.answer.total
    ? t("coverage", { count: number(filter.coverage), total: number(page.answer.total) }) : null;
}

function legend(filter, isChosen, clear) {
  return h("legend", {}, h("span", {}, filter.name), isChosen
    ? h("button", { class: "clear", type: "button", id: `clear-${filter.id}`, onclick: clear },
      t("reset")) : null);
}

function box(page, filter, isChosen, clear, ...inside) {
  return h("fieldset", { class: "filter", title: coverageText(page, filter) },
    legend(filter, isChosen, clear), ...inside);
}

function option(type, id, name, isChecked, onchange, text, count) {
  return h("label", { class: `option ${count === 0 && !isChecked ? "none" : ""}` },
    h("input", { type, id, name, checked: isChecked, onchange }),
    h("span", { class: "option-name" }, text),
    count === undefined ? null : h("span", { class: "count" }, number(count)));
}

function valuesFilter(page, filter) {
  const chosen = page.state.filters[filter.id]?.values || [];
  const all = filter.values || [];
  const known = new Set(all.map((each) => each.id));
  const missing = chosen.filter((id) => !known.has(id)).map((id) =>
    ({ id, name: names.get(nameKey(filter.id, id)) || id, count: 0 }));
  const typed = sought.get(filter.id) || "";
  const isWhole = whole.has(filter.id);
  const found = [...missing, ...all].filter((each) => each.name.toLowerCase().includes(typed.toLowerCase()));
  const shown = isWhole ? found
    : found.filter((each, place) => place < SHOWN_COUNT || chosen.includes(each.id));
  const choose = (id, isOn) => page.go(withFilter(page.state, filter.id,
    { values: isOn ? [...chosen, id] : chosen.filter((each) => each !== id) }));
  const rows = shown.map((each) => option("checkbox", `f-${filter.id}-${each.id}`, filter.id,
    chosen.includes(each.id), (event) => choose(each.id, event.target.checked), each.name,
    Number(each.count || 0)));
  const search = isWhole && all.length > SEARCHED_COUNT ? h("input", { class: "input slim",
    type: "search", id: `seek-${filter.id}`, placeholder: t("findValue"), value: typed,
    "aria-label": `${t("findValue")}: ${filter.name}`, oninput: (event) => {
      sought.set(filter.id, event.target.value);
      page.redrawSide();
    } }) : null;
  const toggle = all.length > SHOWN_COUNT ? h("button", { class: "link", type: "button",
    id: `whole-${filter.id}`, "aria-expanded": String(isWhole), onclick: () => {
      if (!whole.delete(filter.id)) whole.add(filter.id);
      sought.delete(filter.id);
      page.redrawSide();
    } }, isWhole ? t("fewValues") : t("allValues", { count: all.length })) : null;
  return box(page, filter, chosen.length > 0, () => page.go(withFilter(page.state, filter.id, null)),
    search, h("div", { class: isWhole && all.length > SEARCHED_COUNT ? "options long" : "options" },
      rows), toggle);
}

// What is typed is read when its field is left or Enter is pressed. Ends the wrong way round are
// swapped, but not on the way from one to the other: the second one may be about to change.
function applyRange(page, filter, inputs, isUnderWay) {
  const factor = factorOf(page, filter);
  const chosen = page.state.filters[filter.id] || {};
  const [min, max] = inputs.map((input) => typedNumber(input.value, filter, factor));
  inputs.forEach((input, place) => {
    const isWrong = input.value.trim() && ![min, max][place];
    input.setAttribute("aria-invalid", String(Boolean(isWrong)));
    input.title = isWrong ? t("notNumber") : "";
  });
  if (inputs.some((input) => input.title)) return;
  const isTurned = Boolean(min && max) && Number(min) > Number(max);
  if (isTurned && isUnderWay) return;
  inputs.forEach((input) => { input.dataset.applied = input.value; });
  const choice = isTurned ? { min: max, max: min } : { min, max };
  if (choice.min !== (chosen.min || "") || choice.max !== (chosen.max || ""))
    page.go(withFilter(page.state, filter.id, choice));
}

// The fields as the state has them, but for one that is typed into or is not a number yet.
function refreshRange(page, filter, node) {
  const chosen = page.state.filters[filter.id] || {};
  const factor = factorOf(page, filter);
  const ends = ["min", "max"];
  const inputs = [...node.querySelectorAll(".range input")];
  const isTypedIn = inputs.some((input) => input.value !== input.dataset.applied);
  inputs.forEach((input, place) => {
    const end = ends[place];
    const text = shownNumber(chosen[end], factor, end === "max");
    input.placeholder = filter[end]
      ? plainNumber(filter, shownNumber(filter[end], factor, end === "max")) : "";
    if (isTypedIn) return;
    input.dataset.applied = text;
    if (input.value !== text) input.value = text;
  });
  node.title = coverageText(page, filter) || "";
  node.querySelector("legend").replaceWith(legend(filter, Boolean(chosen.min || chosen.max),
    () => page.go(withFilter(page.state, filter.id, null))));
}

function rangeFilter(page, filter) {
  const unit = unitOf(page, filter);
  const inputs = ["min", "max"].map((end) => h("input", { class: "input slim", type: "text",
    inputmode: "decimal", id: `f-${filter.id}-${end}`, autocomplete: "off",
    dataset: { applied: "" },
    "aria-label": t(end === "min" ? "fromLabel" : "toLabel", { name: filter.name }),
    onfocusout: (event) => {
      if (!isDrawing) applyRange(page, filter, inputs, inputs.includes(event.relatedTarget));
    },
    onkeydown: (event) => {
      if (event.key === "Enter") applyRange(page, filter, inputs, false);
    } }));
  const node = box(page, filter, false, null, h("div", { class: "range" },
    h("span", { "aria-hidden": "true" }, t("from")), inputs[0],
    h("span", { "aria-hidden": "true" }, t("to")), inputs[1],
    unit ? h("span", { class: "dim" }, unit) : null));
  node.dataset.range = filter.id;
  refreshRange(page, filter, node);
  return node;
}

function toggleFilter(page, filter) {
  const isOn = Boolean(page.state.filters[filter.id]);
  const count = Number(filter.values?.[0]?.count || 0);
  return h("div", { class: "filter" }, option("checkbox", `f-${filter.id}-true`, filter.id, isOn,
    (event) => page.go(withFilter(page.state, filter.id,
      event.target.checked ? { values: ["true"] } : null)), filter.name, count));
}

// One of a few steps, and "any".
function stepsFilter(page, filter, steps, isOn, text, choiceOf, anyText, ...before) {
  const isAny = !steps.some(isOn);
  const none = () => page.go(withFilter(page.state, filter.id, null));
  return box(page, filter, !isAny, none, ...before, h("div", { class: "steps" },
    option("radio", `f-${filter.id}-any`, filter.id, isAny, none, anyText),
    steps.map((step) => option("radio", `f-${filter.id}-${step}`, filter.id, isOn(step),
      () => page.go(withFilter(page.state, filter.id, choiceOf(step))), text(step)))));
}

function daysText(days) {
  return DAYS.includes(days) ? t(`day${days}`) : t("days", { count: days });
}

function dateFilter(page, filter) {
  const chosen = page.state.filters[filter.id];
  return stepsFilter(page, filter, DAYS, (days) => chosen?.days === days,
    daysText, (days) => ({ days }), t("anyTime"));
}

function distanceFilter(page, filter) {
  const chosen = page.state.filters[filter.id];
  const chooser = placeChooser(page.state.near, (near) => page.go(near
    ? { ...page.state, near }
    : { ...withFilter(page.state, "distance", null), near: null,
      order: page.state.order === "NEAREST" ? "BEST" : page.state.order }));
  if (!page.state.near)
    return h("fieldset", { class: "filter" }, h("legend", {}, h("span", {}, t("near"))), chooser);
  return stepsFilter(page, filter, METERS, (meters) => chosen?.max === String(meters),
    (meters) => t("withDistance", { distance: distance(meters) }),
    (meters) => ({ min: "", max: String(meters) }), t("anyDistance"), chooser);
}

function filterNode(page, filter) {
  if (filter.kind === "DISTANCE") return distanceFilter(page, filter);
  if (filter.isDate) return dateFilter(page, filter);
  if (filter.kind === "RANGE") return rangeFilter(page, filter);
  return filter.kind === "TOGGLE" ? toggleFilter(page, filter) : valuesFilter(page, filter);
}

// --- the panel ---

// One value or one number that all offers have is no choice.
function mayChoose(page, filter) {
  if (filter.kind === "RANGE" && !filter.isDate)
    return filter.min !== filter.max || Number(filter.coverage || 0) < Number(page.answer.total || 0);
  if (filter.kind === "DISTANCE" || filter.isDate) return true;
  const [value, more] = filter.values || [];
  return Boolean(more) || Boolean(value) && Number(value.count || 0) < Number(page.answer.total || 0);
}

// Attributes before date and distance: what a thing is comes before where it is.
function ordered(page) {
  const last = ["photo", "date", "distance"];
  const all = (page.answer.filters || []).filter((each) => page.state.filters[each.id] || mayChoose(page, each));
  const place = all.find((each) => each.id === "distance")
    || { id: "distance", kind: "DISTANCE", name: t("near") };
  return [...all.filter((each) => !last.includes(each.id)),
    ...all.filter((each) => each.id === "photo" || each.id === "date"), place];
}

// The panel gets these nodes; the one that is in use stays where it is, with its focus.
function place(panel, nodes, inUse) {
  const at = nodes.indexOf(inUse);
  if (at < 0) {
    panel.replaceChildren(...nodes);
    return;
  }
  for (const child of [...panel.children]) if (child !== inUse) child.remove();
  inUse.before(...nodes.slice(0, at));
  inUse.after(...nodes.slice(at + 1));
}

export function drawSide(page) {
  const panel = byId("panel");
  const active = panel.contains(document.activeElement) ? document.activeElement : null;
  const { id: focused, selectionStart: caret, value: typed } = active || {};
  const inUse = active?.closest(".range") && active.closest("[data-range]");
  const wanted = ordered(page);
  if (inUse && !wanted.some((each) => each.id === inUse.dataset.range))    // what is typed is not taken away
    wanted.unshift({ id: inUse.dataset.range, kind: "RANGE",
      name: inUse.querySelector("legend span").textContent });
  const scrolled = byId("sheet-body").scrollTop;
  isDrawing = true;                                 // a field that goes is not left by anybody
  place(panel, [tree(page), ...wanted.map((each) => {
    if (!inUse || inUse.dataset.range !== each.id) return filterNode(page, each);
    refreshRange(page, each, inUse);
    return inUse;
  })], inUse);
  isDrawing = false;
  byId("sheet-body").scrollTop = scrolled;
  const again = focused && active !== document.activeElement && byId(focused);
  if (again) {
    again.focus({ preventScroll: true });
    if (typeof caret === "number") {                // what is being typed goes on
      again.value = typed;
      again.setSelectionRange(caret, caret);
    }
  }
}

// --- what was chosen, above the list ---

function rangeText(page, filter, choice) {
  const factor = factorOf(page, filter);
  const write = (value) => isMoney(filter) && currencyOf(page)
    ? price({ amount: value, currency: currencyOf(page) })
    : withUnit(plainNumber(filter, Number(value) / factor), unitOf(page, filter));
  if (filter.kind === "DISTANCE") return t("withDistance", { distance: distance(choice.max) });
  if (choice.min && choice.max) return `${write(choice.min)} – ${write(choice.max)}`;
  return choice.min ? `${t("from")} ${write(choice.min)}` : `${t("upTo")} ${write(choice.max)}`;
}

const nameKey = (filter, value) => `${language()}/${filter}/${value}`;

function rememberNames(answer) {
  for (const filter of answer.filters || []) {
    names.set(nameKey(filter.id, ""), filter.name);
    for (const value of filter.values || []) names.set(nameKey(filter.id, value.id), value.name);
  }
}

// Of a link that finds nothing: the names come from the catalogue, and the chips are drawn again.
async function askNames(page) {
  const { category, filters } = page.state;
  const isUnknown = ([id, choice]) => id.startsWith("a.")
    && (choice.values || []).some((value) => !names.has(nameKey(id, value)));
  if (!category || !Object.entries(filters).some(isUnknown)) return;
  for (const attribute of (await categoryOf(category)).attributes || []) {
    names.set(nameKey(`a.${attribute.id}`, ""), attribute.name);
    for (const each of attribute.options || [])
      names.set(nameKey(`a.${attribute.id}`, each.id), each.name);
  }
  if (page.state.category === category) drawChipList(page);
}

// [text, state without it] of everything that can be taken back.
function takenBack(page) {
  const { state } = page;
  const known = new Map((page.answer.filters || []).map((each) => [each.id, each]));
  const list = [];
  for (const [id, choice] of Object.entries(state.filters)) {
    const filter = known.get(id) || { id, name: names.get(nameKey(id, "")) || id };
    const without = withFilter(state, id, null);
    if (choice.days) list.push([daysText(choice.days), without]);
    else if (filter.kind === "TOGGLE") list.push([filter.name, without]);
    else if (!choice.values) list.push([`${filter.name}: ${rangeText(page, filter, choice)}`, without]);
    for (const value of filter.kind === "TOGGLE" ? [] : choice.values || []) {
      const name = names.get(nameKey(id, value)) || value;
      list.push([name, withFilter(state, id,
        { values: choice.values.filter((each) => each !== value) })]);
    }
  }
  if (state.near && !state.filters.distance)
    list.push([nearText(state.near), { ...state, near: null,
      order: state.order === "NEAREST" ? "BEST" : state.order }]);
  return list;
}

export function drawChips(page) {
  rememberNames(page.answer);
  drawChipList(page);
  askNames(page);
}

function drawChipList(page) {
  const list = takenBack(page);
  const meant = understoodChips(page);
  const chips = list.map(([name, state]) => h("button", { class: "chip chosen", type: "button",
    "aria-label": t("remove", { name }), onclick: () => page.go(state) }, name, icon("close")));
  if (list.length > 1)
    chips.push(h("button", { class: "chip", type: "button",
      onclick: () => page.go({ ...page.state, filters: {}, near: null, order: "BEST" }) },
    t("resetAll")));
  byId("chips").replaceChildren(...meant, ...chips);
  byId("chips").hidden = !list.length && !meant.length;
  byId("filter-count").hidden = !list.length;
  byId("filter-count").textContent = list.length;
}
