// SPDX-License-Identifier: Apache-2.0
// reading.js - how a price list is read where it does not say so itself (FeedReading of the API): the
// same fields for a file that is sent and for one that is fetched.
import { h, t } from "../common.js";
import { categoryChoice } from "./category.js";

// Names that are the same in all languages; the first choice is that nothing is said.
const CHOICES = { format: ["yml", "avito", "google", "csv", "json"],
  encoding: ["utf-8", "windows-1251", "koi8-r", "cp866", "utf-16"], delimiter: [",", ";", "|", "tab"] };

function choice(name, words, values, text) {
  const select = h("select", { class: "input", name }, ["", ...values].map((value) =>
    h("option", { value }, value ? text(value) : t("readingUnsaid"))));
  return { select, node: h("label", { class: "field" }, h("span", {}, t(words)), select) };
}

// {node, read}; read gives undefined while nothing is said.
export function readingFields() {
  const decimal = choice("decimal", "readingDecimal", ["point", "comma"], (value) => t(`decimal_${value}`));
  const plain = Object.entries(CHOICES).map(([name, values]) =>
    [name, choice(name, `reading_${name}`, values, (value) => value)]);
  const currency = h("input", { class: "input", name: "readingCurrency", maxlength: 8, placeholder: "RUB" });
  const shorten = h("input", { type: "checkbox", name: "shorten" });
  const category = categoryChoice({ title: t("readingCategory"), from: "default" });
  const node = h("details", { class: "reading", "aria-label": t("readingTitle") }, h("summary", {}, t("readingTitle")),
    h("div", { class: "stack-small" }, decimal.node, plain.map(([, one]) => one.node),
      h("label", { class: "field" }, h("span", {}, t("reading_currency")), currency),
      h("label", { class: "check" }, shorten, t("readingShorten")),
      h("div", { class: "field" }, h("span", {}, t("readingCategory")), category.node)));
  const read = () => {
    const said = { decimal: decimal.select.value, shorten: shorten.checked, category: category.read(),
      currency: currency.value.trim(), ...Object.fromEntries(plain.map(([name, one]) => [name, one.select.value])) };
    return Object.values(said).some(Boolean) ? said : undefined;
  };
  return { node, read };
}

// What was said, as a line; null: nothing.
export function readingText(reading) {
  const said = [reading?.decimal && `${t("readingDecimal")}: ${t(`decimal_${reading.decimal}`)}`,
    ...[...Object.keys(CHOICES), "currency"].map((name) =>
      reading?.[name] && `${t(`reading_${name}`)}: ${reading[name]}`),
    reading?.shorten && t("readingShorten"),
    reading?.category && `${t("readingCategory")}: ${reading.category}`].filter(Boolean);
  return said.length ? said.join(" · ") : null;
}
