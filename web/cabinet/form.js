// SPDX-License-Identifier: Apache-2.0
// form.js - the fields of an offer, made for its category: {node, read}. What is done with the
// content is editor.js's. A part is {nodes, read}; read() gives its fields of OfferContent.
import { h, minorUnits, t, toast } from "../common.js";
import { attributeFields } from "./attributes.js";
import { about, field, numberText } from "./field.js";
import { photoFields } from "./photos.js";
import { problemLine } from "./problems.js";

const NOTHING = { nodes: [], read: () => ({}) };

function input(id, name, value, more = {}) {
  return h("input", { class: "input", id, value: value ?? "", ...about(name), ...more });
}

const simple = (name, label, node, more) => field(name, t(label), node.id, node, more);

// The fields that say something; empty ones are left out.
function filled(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) =>
    value !== "" && value !== null && value !== undefined && value.length !== 0));
}

/* --- title, description --- */

// How many characters were written, of how many.
function counted(node, max) {
  const told = h("p", { class: "hint counter", "aria-hidden": "true" });
  const draw = () => {
    told.textContent = t("characters", { count: [...node.value].length, max });
  };
  node.addEventListener("input", draw);
  draw();
  return told;
}

function textPart(content, policy) {
  const titleMax = policy.titleMax || 100;
  const textMax = policy.descriptionMax || 10000;
  const title = input("offer-title", "title", content.title, { maxlength: 2 * titleMax });
  const text = h("textarea", { class: "textarea", id: "offer-description", rows: 7,
    ...about("description") });
  text.value = content.description || "";
  return {
    nodes: [
      simple("title", "fTitle", title,
        { required: true, wide: true, hint: counted(title, titleMax) }),
      simple("description", "fDescription", text,
        { required: Boolean(policy.descriptionMin), wide: true, hint: counted(text, textMax) }),
    ],
    read: () => ({ title: title.value.trim(), description: text.value.trim() }),
  };
}

/* --- price, condition --- */

function pricePart(content, policy) {
  if (policy.price === "FORBIDDEN") return NOTHING;
  const currencies = policy.currencies?.length ? policy.currencies : ["RUB"];
  const chosen = content.price?.currency || currencies[0];
  const before = content.price ? Number(content.price.amount || 0) / minorUnits(chosen) : "";
  const amount = input("offer-price", "price", before,
    { inputmode: "decimal", autocomplete: "off" });
  const currency = h("select", { class: "select unit", "aria-label": t("fCurrency") },
    currencies.map((each) => h("option", { value: each, selected: each === chosen }, each)));
  const unit = currencies.length > 1 ? currency
    : h("span", { class: "unit-name dim" }, chosen);
  return {
    nodes: [field("price", t("fPrice"), amount.id,
      h("div", { class: "with-unit" }, amount, unit), { required: policy.price === "REQUIRED" })],
    read: () => {
      const text = numberText(amount.value);
      if (!text) return {};
      const value = Math.round(Number(text) * minorUnits(currency.value));
      /* what is no number is refused by the server, at the field */
      return { price: { amount: String(Number.isFinite(value) ? value : -1),
        currency: currency.value } };
    },
  };
}

function conditionPart(content, filters) {
  if (!filters.includes("CONDITION")) return NOTHING;
  const select = h("select", { class: "select", id: "offer-condition", ...about("condition") },
    h("option", { value: "" }, t("cNone")),
    ["NEW", "USED", "BROKEN"].map((each) =>
      h("option", { value: each, selected: each === content.condition }, t(`c${each}`))));
  return { nodes: [simple("condition", "fCondition", select)],
    read: () => filled({ condition: select.value }) };
}

/* --- what some categories have --- */

const PERIODS = ["HOUR", "SHIFT", "WEEK", "MONTH", "YEAR"];

function salaryPart(content, policy, filters) {
  if (!filters.includes("SALARY")) return NOTHING;
  const currencies = policy.currencies?.length ? policy.currencies : ["RUB"];
  const before = content.salary || {};
  const chosen = before.currency || currencies[0];
  const [min, max] = ["min", "max"].map((end) => input(`offer-salary-${end}`, `salary.${end}`,
    Number(before[end]) ? Number(before[end]) / minorUnits(chosen) : "",
    { inputmode: "decimal", autocomplete: "off" }));
  const currency = h("select", { class: "select unit", "aria-label": t("fCurrency") },
    currencies.map((each) => h("option", { value: each, selected: each === chosen }, each)));
  const period = h("select", { class: "select", id: "offer-salary-period", ...about("salary.period") },
    PERIODS.map((each) => h("option", { value: each, selected: each === (before.period || "MONTH") },
      t(`pay${each}`))));
  const amount = (node) => {
    const text = numberText(node.value);
    const value = Math.round(Number(text) * minorUnits(currency.value));
    return text ? String(Number.isFinite(value) ? value : -1) : "";
  };
  return {
    nodes: [problemLine("salary"),
      field("salary.min", t("fSalaryMin"), min.id, h("div", { class: "with-unit" }, min,
        currencies.length > 1 ? currency : h("span", { class: "unit-name dim" }, chosen)), {}),
      simple("salary.max", "fSalaryMax", max), simple("salary.period", "fSalaryPeriod", period)],
    read: () => {
      const ends = filled({ min: amount(min), max: amount(max) });
      return Object.keys(ends).length
        ? { salary: { ...ends, currency: currency.value, period: period.value } } : {};
    },
  };
}

function flagPart(content, filters, filter, name, label) {
  if (!filters.includes(filter)) return NOTHING;
  const box = h("input", { type: "checkbox", id: `offer-${name}`, checked: Boolean(content[name]),
    ...about(name) });
  return { nodes: [h("label", { class: "check" }, box, h("span", {}, t(label))), problemLine(name)],
    read: () => (box.checked ? { [name]: true } : {}) };
}

function sellerPart(content, filters) {
  if (!filters.includes("SELLER_KIND")) return NOTHING;
  const select = h("select", { class: "select", id: "offer-seller-kind", ...about("seller_kind") },
    h("option", { value: "" }, t("cNone")),
    ["PRIVATE", "BUSINESS"].map((each) =>
      h("option", { value: each, selected: each === content.sellerKind }, t(`k${each}`))));
  return { nodes: [simple("seller_kind", "fSellerKind", select)],
    read: () => filled({ sellerKind: select.value }) };
}

/* --- place, contacts --- */

function placePart(content, changed) {
  const address = content.address || {};
  const degrees = { inputmode: "decimal", autocomplete: "off" };
  const text = input("offer-address", "address.text", address.text, { maxlength: 1000 });
  const latitude = input("offer-latitude", "address.point.latitude",
    address.point?.latitude, degrees);
  const longitude = input("offer-longitude", "address.point.longitude",
    address.point?.longitude, degrees);
  const take = ({ coords }) => {
    latitude.value = coords.latitude.toFixed(5);
    longitude.value = coords.longitude.toFixed(5);
    changed();
  };
  const here = h("button", { class: "button small", type: "button", onclick: () =>
    navigator.geolocation.getCurrentPosition(take, () => toast(t("noPlace"))) }, t("myPlace"));
  /* what is no number, or is missing beside the other, is refused by the server, at the field */
  const number = (node) => {
    const value = Number(numberText(node.value) || NaN);
    return Number.isFinite(value) ? value : 1000;
  };
  return {
    nodes: [
      h("div", { class: "fields" },
        simple("address.text", "fAddress", text, { wide: true }),
        simple("address.point.latitude", "fLatitude", latitude),
        simple("address.point.longitude", "fLongitude", longitude)),
      navigator.geolocation ? h("div", {}, here) : null,
    ],
    read: () => {
      const hasPoint = latitude.value.trim() || longitude.value.trim();
      const said = filled({ text: text.value.trim(),
        point: hasPoint ? { latitude: number(latitude), longitude: number(longitude) } : null });
      return Object.keys(said).length ? { address: said } : {};
    },
  };
}

function contactsPart(content) {
  const contacts = content.contacts || {};
  const name = input("offer-name", "contacts.name", contacts.name, { autocomplete: "name" });
  const phones = input("offer-phones", "contacts.phones", (contacts.phones || []).join(", "),
    { inputmode: "tel", autocomplete: "tel" });
  const email = input("offer-email", "contacts.email", contacts.email,
    { inputmode: "email", autocomplete: "email" });
  const external = input("offer-external", "external_id", content.externalId,
    { maxlength: 128, autocomplete: "off" });
  const phoneList = () => phones.value.split(",")
    .map((each) => each.replace(/[\s()-]/g, "")).filter(Boolean);
  return {
    nodes: [h("div", { class: "fields" },
      simple("contacts.name", "fName", name),
      simple("contacts.phones", "fPhones", phones),
      simple("contacts.email", "fEmail", email),
      simple("external_id", "fExternal", external))],
    read: () => {
      const said = filled({ name: name.value.trim(), phones: phoneList(),
        email: email.value.trim() });
      return { ...(Object.keys(said).length && { contacts: said }),
        ...filled({ externalId: external.value.trim() }) };
    },
  };
}

/* --- what no attribute is for --- */

// Mostly from a price list; each can be taken away.
function propertiesPart(content, changed) {
  const kept = [...(content.properties || [])];
  const list = h("dl", { class: "facts", id: "offer-properties" });
  const draw = () => list.replaceChildren(...kept.flatMap((each) => [h("dt", {}, each.name),
    h("dd", {}, each.value, " ", h("button", { class: "button small", type: "button",
      "aria-label": `${t("fPropertyRemove")}: ${each.name}`, onclick: () => {
        kept.splice(kept.indexOf(each), 1);
        draw();
        changed();
      } }, t("fPropertyRemove")))]));
  draw();
  return { nodes: kept.length ? [problemLine("properties"), list] : [],
    read: () => filled({ properties: kept.map(({ name, value }) => ({ name, value })) }) };
}

/* --- the whole --- */

function card(title, ...inside) {
  return h("section", { class: "card" }, h("h2", {}, t(title)), inside);
}

// category: CategoryView. changed() is called for what is no event of a field.
export function offerFields(category, content, changed) {
  const policy = category.policy || {};
  const filters = category.filters || [];
  const texts = textPart(content, policy);
  const price = pricePart(content, policy);
  const special = [salaryPart(content, policy, filters), sellerPart(content, filters),
    flagPart(content, filters, "DELIVERY", "delivery", "fDelivery"),
    flagPart(content, filters, "EXCHANGE", "exchange", "fExchange")];
  const condition = conditionPart(content, filters);
  const attributes = attributeFields(category.attributes || [], content.attributes);
  const photos = photoFields(content.photos, policy.photosMax || 20, changed);
  const place = placePart(content, changed);
  const contacts = contactsPart(content);
  const properties = propertiesPart(content, changed);
  const main = h("div", { class: "fields" }, texts.nodes, price.nodes, condition.nodes,
    special.map((each) => each.nodes));
  const node = h("div", { class: "stack" },
    h("section", { class: "card" }, main),
    category.attributes?.length
      ? card("fAttributes", problemLine("attributes"), attributes.node) : null,
    properties.nodes.length ? card("fProperties", properties.nodes) : null,
    card("fPhotos", photos.node),
    card("fPlace", place.nodes),
    card("fContacts", contacts.nodes));
  const read = () => ({ category: category.id, ...texts.read(), ...price.read(),
    ...condition.read(), ...Object.assign({}, ...special.map((each) => each.read())),
    attributes: attributes.read(), photos: photos.read(), ...place.read(),
    ...contacts.read(), ...properties.read() });
  return { node, read };
}
