// SPDX-License-Identifier: Apache-2.0
// state.js - what a buyer has asked for: read from the page's address, written there, sent.
//
// ?q=text&c=category&sort=CHEAPEST&near=55.75,37.62&f.price=1000..&f.a.color=red,blue&f.date=7d
// &keep=1&offer=ID. A choice of a filter is {values}, {min, max} in the API's units, or {days}:
// a link sent today means the last week tomorrow, too. Values may be what sellers typed: a comma in
// one is %2C, and none reads as a range or as days. Ends that are written the wrong way round are
// swapped, as they are when they are typed: the server refuses such a range.
import { language } from "../common.js";
import { SNIPPETS } from "./snippets.js";

export const PAGE_COUNT = 24;
export const ORDERS = ["BEST", "NEWEST", "CHEAPEST", "DEAREST", "NEAREST"];
const DAY_MS = 24 * 3600 * 1000;

function plain(value) {
  try { return decodeURIComponent(value); } catch { return value; }
}

function escaped(value) {
  return value.replace(/[%,]|\.(?=\.)/g, (sign) =>
    `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

const DAYS = /^(\d{1,4})d$/;

function readChoice(text) {
  const days = DAYS.exec(text);
  if (days) return { days: Number(days[1]) };
  if (text.includes("..")) {
    const [min, max] = text.split("..");
    return min && max && Number(min) > Number(max) ? { min: max, max: min } : { min, max };
  }
  return { values: text.split(",").filter(Boolean).map(plain) };
}

function writeChoice(choice) {
  if (choice.days) return `${choice.days}d`;
  if (!choice.values) return `${choice.min || ""}..${choice.max || ""}`;
  const values = choice.values.map(escaped).join(",");
  return DAYS.test(values) ? `${values},` : values;
}

function readNear(text) {
  const [latitude, longitude] = (text || "").split(",").map(Number);
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null;
}

export function readState(address = location) {
  const query = new URLSearchParams(address.search);
  const near = readNear(query.get("near"));
  const filters = {};
  for (const [name, value] of query)
    if (name.startsWith("f.") && value) filters[name.slice(2)] = readChoice(value);
  if (!near) delete filters.distance;
  const order = ORDERS.includes(query.get("sort")) ? query.get("sort") : "BEST";
  return {
    text: query.get("q") || "", category: query.get("c") || "", filters, near,
    order: order === "NEAREST" && !near ? "BEST" : order,
    keepSpelling: query.has("keep"), keepWords: query.getAll("word"), offer: query.get("offer") || "",
  };
}

// The address of a state; two states that ask for the same have the same one.
export function addressOf(state) {
  const query = new URLSearchParams();
  if (state.text) query.set("q", state.text);
  if (state.category) query.set("c", state.category);
  if (state.near) query.set("near", `${state.near.latitude},${state.near.longitude}`);
  for (const id of Object.keys(state.filters).sort())
    query.set(`f.${id}`, writeChoice(state.filters[id]));
  if (state.order !== "BEST") query.set("sort", state.order);
  if (state.keepSpelling) query.set("keep", "1");
  for (const word of state.keepWords || []) query.append("word", word);
  if (state.offer) query.set("offer", state.offer);
  const text = query.toString().replaceAll("%2C", ",");
  return text ? `/?${text}` : "/";
}

function sentChoice(id, choice) {
  if (choice.values) return { id, values: choice.values };
  if (choice.days)
    return { id, min: `${new Date(Date.now() - choice.days * DAY_MS).toISOString().slice(0, 19)}Z` };
  return { id, ...(choice.min && { min: choice.min }), ...(choice.max && { max: choice.max }) };
}

// The request of SearchOffers.
export function requestOf(state, more = {}) {
  const filters = Object.entries(state.filters).map(([id, choice]) => sentChoice(id, choice));
  return {
    ...(state.text && { text: state.text }),
    ...(state.category && { category: state.category }),
    ...(filters.length && { filters }),
    ...(state.near && { near: state.near }),
    ...(state.order !== "BEST" && { order: state.order }),
    ...(state.keepSpelling && { keepSpelling: true }),
    ...(state.keepWords?.length && { keepWords: state.keepWords }),
    language: language(), limit: PAGE_COUNT, snippetNames: SNIPPETS, ...more,
  };
}

export function isEmptyChoice(choice) {
  return !choice || !(choice.days || choice.min || choice.max || choice.values?.length);
}

// The state with one filter chosen otherwise; an empty choice takes it out.
export function withFilter(state, id, choice) {
  const filters = { ...state.filters };
  if (isEmptyChoice(choice)) delete filters[id];
  else filters[id] = choice;
  return { ...state, filters };
}
