// SPDX-License-Identifier: Apache-2.0
// form.js - the fields of an offer, made for its category: {node, read}. What is done with the
// content is editor.js's.
import { h, minorUnits, t, toast } from "../common.js";
import { attributeFields } from "./attributes.js";
import { photoFields } from "./photos.js";
import { problemId, problemLine } from "./problems.js";

const describe = (name) => ({ dataset: { field: name }, "aria-describedby": problemId(name) });

function field(name, text, input, { required = false, hint = null, wide = false } = {}) {
  return h("div", { class: `field${wide ? " wide" : ""}` },
    h("label", { for: input.id }, t(text), required ? h("span", { class: "required",
      title: t("required") }, " *") : null),
    input, h("div", { class: "field-foot" }, problemLine(name), hint));
}

function card(title, ...inside) {
  return h("section", { class: "card" }, h("h2", {}, t(title)), inside);
}

/* --- parts --- */

// How many characters were written, of how many.
function counted(input, max) {
  const told = h("p", { class: "hint counter", "aria-hidden": "true" });
  const draw = () => { told.textContent = t("characters", { count: [...input.value].length,
    max }); };
  input.addEventListener("input", draw);
  draw();
  return told;
}

function textPart(content, policy) {
  const title = h("input", { class: "input", id: "offer-title", value: content.title || "",
    maxlength: 2 * (policy.titleMax || 100), ...describe("title") });
  const description = h("textarea", { class: "textarea", id: "offer-description", rows: 7,
    ...describe("description") });
  description.value = content.description || "";
  return { nodes: [
    field("title", "fTitle", title, { required: true, hint: counted(title, policy.titleMax || 100),
      wide: true }),
    field("description", "fDescription", description, { required: Number(policy.descriptionMin
      || 0) > 0,
      hint: counted(description, policy.descriptionMax || 10000), wide: true })],
  read: () => ({ title: title.value.trim(), description: description.value.trim() }) };
}

function pricePart(content, policy, isSalary) {
  if (policy.price === "FORBIDDEN") return { nodes: [], read: () => ({}) };
  const currencies = policy.currencies?.length ? policy.currencies : ["RUB"];
  const chosen = content.price?.currency || currencies[0];
  const units = minorUnits(chosen);
  const amount = h("input", { class: "input", id: "offer-price", inputmode: "decimal",
    autocomplete: "off",
    value: content.price ? String(Number(content.price.amount || 0) / units) : "",
      ...describe("price") });
  const currency = h("select", { class: "select unit", "aria-label": t("fCurrency") },
    currencies.map((each) =>
    h("option", { value: each, selected: each === chosen }, each)));
  const node = h("div", { class: "field" }, h("label", { for: "offer-price" }, t(isSalary
    ? "fSalary" : "fPrice"),
    policy.price === "REQUIRED" ? h("span", { class: "required", title: t("required") }, " *")
      : null),
  h("div", { class: "with-unit" }, amount, currencies.length > 1 ? currency : h("span",
    { class: "unit-name dim" }, chosen)),
  problemLine("price"));
  return { nodes: [node], read: () => {
    const text = amount.value.replace(/[\s ]/g, "").replace(",", ".");
    if (!text) return {};
    const value = Math.round(Number(text) * minorUnits(currency.value));
    return { price: { amount: String(Number.isFinite(value) ? value : -1),
      currency: currency.value } };
  } };
}

function conditionPart(content, filters) {
  if (!filters.includes("CONDITION")) return { nodes: [], read: () => ({}) };
  const select = h("select", { class: "select", id: "offer-condition", ...describe("condition") },
    h("option", { value: "" }, t("cNone")), ["NEW", "USED", "BROKEN"].map((each) =>
      h("option", { value: each, selected: each === content.condition }, t(`c${each}`))));
  return { nodes: [field("condition", "fCondition", select)],
    read: () => select.value ? { condition: select.value } : {} };
}

function placePart(content, changed) {
  const address = content.address || {};
  const input = (id, name, value, more) => h("input", { class: "input", id, value: value ?? "",
    autocomplete: "off",
    ...describe(name), ...more });
  const text = input("offer-address", "address.text", address.text, { maxlength: 1000 });
  const latitude = input("offer-latitude", "address.point.latitude", address.point?.latitude,
    { inputmode: "decimal" });
  const longitude = input("offer-longitude", "address.point.longitude", address.point?.longitude,
    { inputmode: "decimal" });
  const here = h("button", { class: "button small", type: "button", onclick: () =>
    navigator.geolocation.getCurrentPosition(({ coords }) => {
      latitude.value = coords.latitude.toFixed(5);
      longitude.value = coords.longitude.toFixed(5);
      changed();
    }, () => toast(t("noPlace"))) }, t("myPlace"));
  const degrees = (from) => Number(from.value.trim().replace(",", "."));
  return { nodes: [h("div", { class: "fields" }, field("address.text", "fAddress", text,
    { wide: true }),
    field("address.point.latitude", "fLatitude", latitude), field("address.point.longitude",
      "fLongitude", longitude)),
  navigator.geolocation ? h("div", {}, here) : null],
  read: () => {
    const hasPoint = latitude.value.trim() && longitude.value.trim();
    const said = { ...(text.value.trim() && { text: text.value.trim() }),
      ...(hasPoint && { point: { latitude: degrees(latitude) || 0, longitude: degrees(longitude)
        || 0 } }) };
    return Object.keys(said).length ? { address: said } : {};
  } };
}

function contactsPart(content) {
  const contacts = content.contacts || {};
  const name = h("input", { class: "input", id: "offer-name", value: contacts.name || "",
    autocomplete: "name", ...describe("contacts.name") });
  const phones = h("input", { class: "input", id: "offer-phones", value: (contacts.phones
    || []).join(", "), inputmode: "tel",
    autocomplete: "tel", ...describe("contacts.phones") });
  const email = h("input", { class: "input", id: "offer-email", value: contacts.email || "",
    inputmode: "email", autocomplete: "email",
    ...describe("contacts.email") });
  const external = h("input", { class: "input", id: "offer-external", value: content.externalId
    || "", maxlength: 128,
    ...describe("external_id") });
  return { nodes: [h("div", { class: "fields" }, field("contacts.name", "fName", name),
    field("contacts.phones", "fPhones", phones),
    field("contacts.email", "fEmail", email), field("external_id", "fExternal", external))],
  read: () => {
    const said = { ...(name.value.trim() && { name: name.value.trim() }), ...(email.value.trim()
      && { email: email.value.trim() }),
      ...(phones.value.trim()
        && { phones: phones.value.split(",").map((each) => each.replace(/[\s()-]/g,
        "")).filter(Boolean) }) };
    return { ...(Object.keys(said).length && { contacts: said }), ...(external.value.trim()
      && { externalId: external.value.trim() }) };
  } };
}

/* --- the whole --- */

// category: CategoryView. changed() is called for what is no event of a field.
export function offerFields(category, content, changed) {
  const policy = category.policy || {};
  const filters = category.filters || [];
  const texts = textPart(content, policy);
  const price = pricePart(content, policy, filters.includes("SALARY"));
  const condition = conditionPart(content, filters);
  const attributes = attributeFields(category.attributes || [], content.attributes);
  const photos = photoFields(content.photos, policy.photosMax || 20, changed);
  const address = placePart(content, changed);
  const contacts = contactsPart(content);
  const node = h("div", { class: "stack" },
    h("section", { class: "card" }, h("div", { class: "fields" }, texts.nodes, price.nodes,
      condition.nodes)),
    category.attributes?.length ? card("fAttributes", problemLine("attributes"), attributes.node)
      : null,
    card("fPhotos", photos.node), card("fPlace", address.nodes), card("fContacts", contacts.nodes));
  return { node, read: () => ({ category: category.id, ...texts.read(), ...price.read(),
    ...condition.read(),
    attributes: attributes.read(), photos: photos.read(), ...address.read(),
      ...contacts.read() }) };
}
