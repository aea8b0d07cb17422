// SPDX-License-Identifier: Apache-2.0
// text.js - what pages say, in Russian and English.
//
// texts({ru: {...}, en: {...}}) adds a page's texts; t("found", {count: 3}) gives one. A text may
// be {one, few, many, other}, chosen by count. In HTML: data-text="name" is the inside of an
// element, data-label its aria-label, data-hint its placeholder, data-title its title.

const LANGUAGES = ["ru", "en"];
const said = { ru: {}, en: {} };
const listeners = [];
let current = LANGUAGES.includes(document.documentElement.lang)
  ? document.documentElement.lang : "en";
let plural = new Intl.PluralRules(current);

export function language() {
  return current;
}

export function texts(more) {
  for (const each of LANGUAGES) Object.assign(said[each], more[each]);
}

export function t(name, values = {}) {
  let text = said[current][name] ?? said.en[name] ?? name;
  if (typeof text === "object")
    text = text[plural.select(Number(values.count ?? 0))] ?? text.other;
  return text.replace(/\{(\w+)\}/g, (_, each) => typeof values[each] === "number"
    ? values[each].toLocaleString(current) : values[each] ?? "");
}

// Writes the texts of what is in the HTML.
export function fillTexts(root = document) {
  const places = { text: (node, text) => { node.textContent = text; },
    label: (node, text) => node.setAttribute("aria-label", text),
    hint: (node, text) => { node.placeholder = text; },
    title: (node, text) => { node.title = text; } };
  for (const [place, write] of Object.entries(places))
    for (const node of root.querySelectorAll(`[data-${place}]`)) write(node, t(node.dataset[place]));
}

// The listener draws anew what it has drawn; data-* texts are done before it is called.
export function onLanguage(listener) {
  listeners.push(listener);
}

export function setLanguage(wanted) {
  if (!LANGUAGES.includes(wanted) || wanted === current) return;
  current = wanted;
  plural = new Intl.PluralRules(current);
  document.documentElement.lang = current;
  try { localStorage.setItem("language", current); } catch { /* private mode: forgotten */ }
  fillTexts();
  for (const listener of listeners) listener(current);
}

texts({
  ru: {
    callFailed: "Сервер ответил ошибкой {status}.",
    callUnanswered: "Сервер не отвечает. Проверьте связь и попробуйте ещё раз.",
  },
  en: {
    callFailed: "The server answered with error {status}.",
    callUnanswered: "The server does not answer. Check the connection and try again.",
  },
});
