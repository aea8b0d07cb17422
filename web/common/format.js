// SPDX-License-Identifier: Apache-2.0
// format.js - how numbers, prices, times and distances are written, in the page's language.
import { language, t, texts } from "./text.js";

const DAY_MS = 24 * 3600 * 1000;
const made = new Map();

// Formatters are slow to make and few: kept.
function formatter(kind, options) {
  const name = kind.name + language() + JSON.stringify(options);
  if (!made.has(name)) made.set(name, new kind(language(), options));
  return made.get(name);
}

export function number(value, options = {}) {
  return formatter(Intl.NumberFormat, options).format(Number(value));
}

// How many of the smallest units one unit of a currency has: 100 kopecks.
export function minorUnits(currency) {
  try {
    const options = { style: "currency", currency };
    return 10 ** formatter(Intl.NumberFormat, options).resolvedOptions().maximumFractionDigits;
  } catch {
    return 100; /* no code of a currency */
  }
}

const SHARED_SIGNS = new Set(["$", "£", "¥", "kr", "Rs"]);

function signOf(currency, currencyDisplay) {
  return formatter(Intl.NumberFormat, { style: "currency", currency, currencyDisplay })
    .formatToParts(0).find((part) => part.type === "currency").value;
}

// The language's own sign tells dollars from dollars: $, CA$. Where it is but the code (RUB in
// English), the short one is taken, unless other currencies have it, too.
function displayOf(currency) {
  return signOf(currency, "symbol") === currency && !SHARED_SIGNS.has(signOf(currency, "narrowSymbol"))
    ? "narrowSymbol" : "symbol";
}

export function currencySign(currency) {
  try {
    return signOf(currency, displayOf(currency));
  } catch {
    return currency;
  }
}

// A number with its unit: "256 GB", and without a blank where none is written: 17″, 90%.
export function withUnit(text, unit) {
  return /^[″"'°%]/.test(unit || "") ? text + unit : `${text} ${unit || ""}`.trim();
}

// Of {amount, currency}: "12 500 ₽". Amounts are whole numbers of the smallest unit, as text.
export function price(value) {
  if (!value?.currency) return t("noPrice");
  const amount = Number(value.amount || 0) / minorUnits(value.currency);
  if (!amount) return t("forFree");
  try {
    const options = { style: "currency", currency: value.currency,
      currencyDisplay: displayOf(value.currency),
      maximumFractionDigits: Number.isInteger(amount) ? 0 : 2 };
    return formatter(Intl.NumberFormat, options).format(amount);
  } catch {
    return `${number(amount)} ${value.currency}`;
  }
}

// Of a Salary: "from 80 000 to 120 000 ₽ a month".
export function salary(value) {
  const end = (amount) => price({ amount, currency: value.currency });
  const { min, max } = { min: Number(value.min || 0), max: Number(value.max || 0) };
  const ends = min && max && min !== max
    ? t("payFromTo", { min: number(min / minorUnits(value.currency)), max: end(max) })
    : min && max ? end(min) : t(min ? "payFrom" : "payTo", { amount: end(min || max) });
  return value.period ? `${ends} ${t(`pay${value.period}`)}` : ends;
}

// What an offer costs, or a job pays.
export function worth(offer) {
  return offer.salary?.currency ? salary(offer.salary) : price(offer.price);
}

export function distance(meters) {
  const far = meters >= 995;
  const value = far ? meters / 1000 : Math.max(10, Math.round(meters / 10) * 10);
  return number(value, { style: "unit", unit: far ? "kilometer" : "meter",
    maximumFractionDigits: value < 10 ? 1 : 0 });
}

export function date(value) {
  return formatter(Intl.DateTimeFormat, { day: "numeric", month: "long", year: "numeric" })
    .format(new Date(value));
}

export function dateTime(value) {
  return formatter(Intl.DateTimeFormat, { dateStyle: "medium", timeStyle: "short" })
    .format(new Date(value));
}

// Near times by words: "5 minutes ago", "yesterday", then the day.
export function ago(value) {
  const then = new Date(value);
  const seconds = (Date.now() - then) / 1000;
  const words = formatter(Intl.RelativeTimeFormat, { numeric: "auto" });
  if (seconds < 60) return t("justNow");
  if (seconds < 3600) return words.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 24 * 3600) return words.format(-Math.floor(seconds / 3600), "hour");
  if (seconds < 7 * 24 * 3600)
    return words.format(-Math.round((Date.now() - then) / DAY_MS), "day");
  const sameYear = then.getFullYear() === new Date().getFullYear();
  return formatter(Intl.DateTimeFormat, { day: "numeric", month: "short",
    ...(sameYear ? {} : { year: "numeric" }) }).format(then);
}

// Microseconds, as a duration people read: "3.4 ms".
export function microseconds(value) {
  const unit = value < 1000 ? ["microsecond", 1] : value < 1e6 ? ["millisecond", 1e3]
    : ["second", 1e6];
  return number(value / unit[1], { style: "unit", unit: unit[0],
    maximumFractionDigits: value / unit[1] < 10 && unit[1] > 1 ? 1 : 0 });
}

export function bytes(value) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  return number(value / 1000 ** step,
    { style: "unit", unit: units[step], maximumFractionDigits: step ? 1 : 0 });
}

texts({
  ru: { noPrice: "Цена не указана", forFree: "Бесплатно", justNow: "только что",
    payFrom: "от {amount}", payTo: "до {amount}", payFromTo: "{min} – {max}", payHOUR: "в час",
    paySHIFT: "за смену", payWEEK: "в неделю", payMONTH: "в месяц", payYEAR: "в год" },
  en: { noPrice: "No price given", forFree: "Free", justNow: "just now",
    payFrom: "from {amount}", payTo: "up to {amount}", payFromTo: "{min} – {max}", payHOUR: "an hour",
    paySHIFT: "a shift", payWEEK: "a week", payMONTH: "a month", payYEAR: "a year" },
});
