// SPDX-License-Identifier: Apache-2.0
// attributes.js - fields of a category's attributes, by their types, and the values they hold. A
// maker gives {node, read, hint}; read() is null when nothing is said.
import { h, number, t } from "../common.js";
import { about, field, numberText } from "./field.js";

const LIST_MAX = 12; /* more options than this are not all shown at once */
const INDENT = "\u2003"; /* blanks that a list of options keeps */

const fieldName = (attribute) => `a.${attribute.id}`;

function marks(attribute, id) {
  return { id, ...about(fieldName(attribute)), "aria-required": attribute.required ? "true" : null };
}

/* --- options --- */

// [option, depth] in the order of the tree; those of no tree as they come.
function optionLines(options) {
  const below = new Map();
  for (const option of options) {
    const parent = option.parent || "";
    if (!below.has(parent)) below.set(parent, []);
    below.get(parent).push(option);
  }
  const lines = [];
  const walk = (parent, depth) => {
    for (const option of below.get(parent) || []) {
      lines.push([option, depth]);
      walk(option.id, depth + 1);
    }
  };
  walk("", 0);
  return lines;
}

function optionField(attribute, value, id) {
  const chosen = value?.options?.[0] || "";
  const select = h("select", { class: "select", ...marks(attribute, id) },
    h("option", { value: "" }, t(attribute.required ? "chooseOne" : "notSaid")),
    optionLines(attribute.options || []).map(([option, depth]) =>
      h("option", { value: option.id, selected: option.id === chosen },
        INDENT.repeat(depth) + option.name)));
  return { node: select, read: () => select.value ? { options: [select.value] } : null };
}

function optionsField(attribute, value, id) {
  const chosen = new Set(value?.options || []);
  const boxes = optionLines(attribute.options || []).map(([option, depth]) =>
    h("label", { class: `check depth-${Math.min(depth, 3)}` },
      h("input", { type: "checkbox", value: option.id, checked: chosen.has(option.id) }),
      option.name));
  const group = h("div", { class: `checks${boxes.length > LIST_MAX ? " many" : ""}`,
    role: "group", "aria-label": attribute.name, ...marks(attribute, id) }, boxes);
  return { node: group, isWide: true, read: () => {
    const options = [...group.querySelectorAll("input:checked")].map((box) => box.value);
    return options.length ? { options } : null;
  } };
}

/* --- numbers, texts, flags --- */

// "8 – 30 in"
function bounds(attribute, unit) {
  if (!attribute.min && !attribute.max) return "";
  const options = { useGrouping: attribute.type !== "YEAR", maximumFractionDigits: 6 };
  const text = (value) => value ? number(value, options) : "…";
  return `${text(attribute.min)} – ${text(attribute.max)}${unit ? ` ${unit}` : ""}`;
}

function unitField(attribute, value) {
  const units = attribute.units || [];
  if (!units.length) return null;
  if (units.length === 1) return h("span", { class: "unit-name dim" }, units[0].name);
  const chosen = value?.unit || units[0].id;
  return h("select", { class: "select unit", "aria-label": `${attribute.name}: ${t("unit")}` },
    units.map((each) => h("option", { value: each.id, selected: each.id === chosen }, each.name)));
}

function numberField(attribute, value, id) {
  const kind = { INTEGER: "integer", DECIMAL: "decimal", YEAR: "year" }[attribute.type];
  const input = h("input", { class: "input", inputmode: kind === "decimal" ? "decimal" : "numeric",
    autocomplete: "off", value: value?.[kind] ?? "", ...marks(attribute, id) });
  const unit = unitField(attribute, value);
  return { node: h("div", { class: "with-unit" }, input, unit),
    hint: bounds(attribute, attribute.units?.[0]?.name),
    read: () => {
      const text = numberText(input.value);
      if (!text) return null;
      const said = { [kind]: kind === "year" ? Number(text) || 0 : text };
      return unit?.value ? { ...said, unit: unit.value } : said;
    } };
}

function textField(attribute, value, id) {
  const input = h("input", { class: "input", maxlength: attribute.lengthMax || 1000,
    value: value?.text ?? "", ...marks(attribute, id) });
  return { node: input, read: () => input.value.trim() ? { text: input.value.trim() } : null };
}

function flagField(attribute, value, id) {
  const said = value?.flag === undefined ? "" : String(value.flag);
  const select = h("select", { class: "select", ...marks(attribute, id) },
    [["", "notSaid"], ["true", "yes"], ["false", "no"]].map(([name, text]) =>
      h("option", { value: name, selected: name === said }, t(text))));
  return { node: select, read: () => select.value ? { flag: select.value === "true" } : null };
}

const MAKERS = { OPTION: optionField, OPTIONS: optionsField, INTEGER: numberField,
  DECIMAL: numberField, YEAR: numberField, TEXT: textField, FLAG: flagField };

// Fields of all attributes, those that are required first: {node, read}. read() gives
// AttributeValues of those that say something.
export function attributeFields(attributes, values) {
  const made = [];
  const isRequired = (attribute) => Number(attribute.required || false);
  const order = [...attributes].sort((a, b) => isRequired(b) - isRequired(a));
  const nodes = order.map((attribute) => {
    const id = `attribute-${attribute.id}`;
    const value = (values || []).find((each) => each.attributeId === attribute.id);
    const one = (MAKERS[attribute.type] || textField)(attribute, value, id);
    made.push([attribute.id, one]);
    return field(fieldName(attribute), attribute.name, id, one.node,
      { required: attribute.required, hint: one.hint, wide: one.isWide });
  });
  const read = () => made.map(([attributeId, one]) => {
    const value = one.read();
    return value && { attributeId, ...value };
  }).filter(Boolean);
  return { node: h("div", { class: "fields" }, nodes), read };
}
