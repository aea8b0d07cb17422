// SPDX-License-Identifier: Apache-2.0
// attributes.js - fields of a category's attributes, by their types, and the values they hold.
import { h, number, t } from "../common.js";
import { problemId, problemLine } from "./problems.js";

const LIST_MAX = 12; /* more options than this are not all shown at once */

const fieldName = (attribute) => `a.${attribute.id}`;
const marks = (attribute) => ({ dataset: { field: fieldName(attribute) },
  "aria-describedby": problemId(fieldName(attribute)),
  "aria-required": attribute.required ? "true" : null });

function label(attribute, target) {
  return h("label", { for: target }, attribute.name, attribute.required
    ? h("span", { class: "required", title: t("required") }, " *") : null);
}

function bounds(attribute, unit) {
  if (!attribute.min && !attribute.max) return "";
  const text = (value) => value ? number(value, { useGrouping: attribute.type !== "YEAR",
    maximumFractionDigits: 6 }) : "…";
  return `${text(attribute.min)} – ${text(attribute.max)}${unit ? ` ${unit}` : ""}`;
}

/* --- options --- */

// Options of a tree in the order of the tree, those below others moved in.
function optionLines(options) {
  const depth = new Map();
  for (const option of options) depth.set(option.id, option.parent
    ? (depth.get(option.parent) ?? 0) + 1 : 0);
  const below = Map.groupBy ? Map.groupBy(options, (option) => option.parent || "")
    : groupBy(options);
  const lines = [];
  const walk = (parent) => {
    for (const option of below.get(parent) || []) {
      lines.push([option, depth.get(option.id)]);
      if (option.id !== parent) walk(option.id);
    }
  };
  walk("");
  return lines.length === options.length ? lines : options.map((option) => [option, 0]);
}

function groupBy(options) {
  const groups = new Map();
  for (const option of options) groups.set(option.parent || "", [...(groups.get(option.parent || "")
    || []), option]);
  return groups;
}

function optionField(attribute, value, id) {
  const chosen = value?.options?.[0] || "";
  const select = h("select", { class: "select", id, ...marks(attribute) },
    h("option", { value: "" }, t(attribute.required ? "chooseOne" : "notSaid")),
    optionLines(attribute.options || []).map(([option, depth]) => h("option",
      { value: option.id, selected: option.id === chosen },
        `${"  ".repeat(depth)}${option.name}`)));
  return { node: select, read: () => select.value ? { options: [select.value] } : null };
}

function optionsField(attribute, value, id) {
  const chosen = new Set(value?.options || []);
  const boxes = optionLines(attribute.options || []).map(([option, depth], at) => h("label",
    { class: `check depth-${Math.min(depth, 3)}` }, h("input", { type: "checkbox", value: option.id,
      id: at ? null : id,
      checked: chosen.has(option.id) }), option.name));
  const group = h("div", { class: `checks${boxes.length > LIST_MAX ? " many" : ""}`, role: "group",
    "aria-label": attribute.name, ...marks(attribute) }, boxes);
  return { node: group, read: () => {
    const options = [...group.querySelectorAll("input:checked")].map((box) => box.value);
    return options.length ? { options } : null;
  } };
}

/* --- numbers, texts, flags --- */

function numberField(attribute, value, id) {
  const kind = { INTEGER: "integer", DECIMAL: "decimal", YEAR: "year" }[attribute.type];
  const units = attribute.units || [];
  const field = h("input", { class: "input", id, inputmode: kind === "decimal" ? "decimal"
    : "numeric",
    autocomplete: "off", value: value?.[kind] ?? "", ...marks(attribute) });
  const unit = units.length > 1 ? h("select", { class: "select unit",
    "aria-label": `${attribute.name}: ${t("unit")}` },
    units.map((each) => h("option", { value: each.id, selected: each.id === (value?.unit
      || units[0].id) }, each.name)))
    : units.length ? h("span", { class: "unit-name dim" }, units[0].name) : null;
  const node = h("div", { class: "with-unit" }, field, unit);
  return { node, hint: bounds(attribute, units[0]?.name), read: () => {
    const text = field.value.trim().replace(",", ".").replace(/[\s ]/g, "");
    if (!text) return null;
    const said = kind === "year" ? { year: Number(text) || 0 } : { [kind]: text };
    return { ...said, ...(units.length > 1 && { unit: unit.value }) };
  } };
}

function textField(attribute, value, id) {
  const field = h("input", { class: "input", id, maxlength: attribute.lengthMax || 1000,
    value: value?.text ?? "",
    ...marks(attribute) });
  return { node: field, read: () => field.value.trim() ? { text: field.value.trim() } : null };
}

function flagField(attribute, value, id) {
  const said = value?.flag === undefined ? "" : String(value.flag);
  const select = h("select", { class: "select", id, ...marks(attribute) },
    [["", "notSaid"], ["true", "yes"], ["false", "no"]].map(([name, text]) =>
      h("option", { value: name, selected: name === said }, t(text))));
  return { node: select, read: () => select.value ? { flag: select.value === "true" } : null };
}

const MAKERS = { OPTION: optionField, OPTIONS: optionsField, INTEGER: numberField,
  DECIMAL: numberField,
  YEAR: numberField, TEXT: textField, FLAG: flagField };

// Fields of all attributes: {node, read}; read() gives AttributeValues of those that say something.
export function attributeFields(attributes, values) {
  const made = [];
  const order = [...attributes].sort((a, b) => Number(b.required || false) - Number(a.required
    || false));
  const nodes = order.map((attribute) => {
    const id = `attribute-${attribute.id}`;
    const value = (values || []).find((each) => each.attributeId === attribute.id);
    const field = (MAKERS[attribute.type] || textField)(attribute, value, id);
    made.push([attribute.id, field]);
    return h("div", { class: `field${attribute.type === "OPTIONS" ? " wide" : ""}` },
      label(attribute, id), field.node,
      h("div", { class: "field-foot" }, problemLine(fieldName(attribute)),
        field.hint ? h("p", { class: "hint" }, field.hint) : null));
  });
  return { node: h("div", { class: "fields" }, nodes), read: () => made.map(([attributeId,
    field]) => {
    const value = field.read();
    return value && { attributeId, ...value };
  }).filter(Boolean) };
}
