// SPDX-License-Identifier: Apache-2.0
// understood.js - what the server made of the words that were typed. Words that were left out are told in a
// sentence; what was understood (a category, a value, the condition, the distance, a synonym) is a chip that can
// be taken back: then the words are searched as they stand. The name of a chip shows only offers that have what
// it says.
import { byId, distance, h, icon, t } from "../common.js";
import { withFilter } from "./state.js";

const isFiller = (one) => one.as === "filler" || !one.choice && !one.category && !one.also?.length;

// The line without these words, each once.
function withoutWords(line, words) {
  const left = line.split(/\s+/);
  for (const word of words.split(/\s+/)) {
    const place = left.indexOf(word);
    if (place >= 0) left.splice(place, 1);
  }
  return left.join(" ");
}

const withoutMeaning = (state, one) => ({ ...state, keepWords: [...state.keepWords, one.text] });

function nameOf(page, one) {
  if (one.as === "category") return `${t("category")}: ${one.categoryName}`;
  if (one.as === "synonym") return t("alsoFound", { text: one.text, also: one.also.join(", ") });
  if (one.as === "distance") return t("withDistance", { distance: distance(one.choice.max) });
  const filter = (page.answer.filters || []).find((each) => each.id === one.choice.id);
  const value = filter?.values?.find((each) => each.id === one.choice.values?.[0]);
  return value ? `${filter.name}: ${value.name}` : one.text;
}

// The state that shows only what the chip says; null: it is a filter already, or nothing to choose.
function onlyState({ state }, one) {
  const text = withoutWords(state.text, one.text);
  if (one.as === "category") return { ...state, text, category: one.category };
  if (one.as === "value") return { ...withFilter(state, one.choice.id, { values: one.choice.values }), text };
  return null;
}

function chip(page, one) {
  const name = nameOf(page, one);
  const only = onlyState(page, one);
  return h("span", { class: "chip meant" },
    only ? h("a", { href: page.addressOf(only), title: t("onlyThese"), onclick: page.follow(only) }, name)
      : h("span", {}, name),
    h("button", { type: "button", "aria-label": t("notMeant", { name, text: one.text }),
      onclick: () => page.go(withoutMeaning(page.state, one)) }, icon("close")));
}

export function understoodChips(page) {
  return (page.answer.understood || []).filter((one) => one.text && !isFiller(one)).map((one) => chip(page, one));
}

export function drawUnderstood(page) {
  const box = byId("understood");
  const words = (page.answer.understood || []).filter((one) => one.text && isFiller(one));
  box.hidden = !words.length;
  box.replaceChildren(...words.map((one) => {
    const back = withoutMeaning(page.state, one);
    return h("span", {}, t("understoodFiller", { text: one.text }), " ",
      h("a", { href: page.addressOf(back), onclick: page.follow(back) }, t("searchWord", { text: one.text })));
  }));
}
