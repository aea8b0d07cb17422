// SPDX-License-Identifier: Apache-2.0
// reasons.js - why the server does not take a field of an offer, a row of a feed or a photo, in Russian. The
// server says it in English; reasons-ru.js has the words.
// A test holds that every reason of those checks is known (tests/e2e/cabinet_page.py).
import { failure, h, language, t } from "../common.js";
import { RUSSIAN } from "./reasons-ru.js";

// A form in pieces: texts and, between them, names of what stands there.
const piecesOf = (form) => form.split(/\{(\w+)\}/);
const FORMS = RUSSIAN.map(([form, words]) => [piecesOf(form), words]);

// What stands in the places of a form; null: the text is none of it. What is between two texts is as short
// as it can be.
function match(pieces, text) {
  const found = {};
  if (!text.startsWith(pieces[0])) return null;
  let at = pieces[0].length;
  for (let place = 1; place < pieces.length; place += 2) {
    const next = pieces[place + 1];
    const isLast = place + 2 >= pieces.length;
    const end = isLast ? text.length - next.length : text.indexOf(next, at);
    if (end < at || isLast && !text.endsWith(next)) return null;
    found[pieces[place]] = text.slice(at, end);
    at = end + next.length;
  }
  return at === text.length ? found : null;
}

// "" when it is not known.
function inRussian(reason) {
  for (const [pieces, words] of FORMS) {
    const found = match(pieces, reason);
    if (found?.reason !== undefined) found.reason = inRussian(found.reason);
    if (found && found.reason !== "") return words.replace(/\{(\w+)\}/g, (_, name) => found[name]);
  }
  return "";
}

// In the page's language; "" when it is not known in it.
export function reasonText(reason) {
  if (language() === "en") return reason;
  return inRussian(reason);
}

// Why a file was not taken: in the page's words where there are such, else as of any call.
export function refusal(error) {
  const isOfFile = ["invalid_argument", "resource_exhausted"].includes(error.code);
  const text = isOfFile ? reasonText(error.message) : "";
  return text ? [text] : failure(error);
}

// What stands at the place it is about: words that are known, or the server's own.
export function reasonNode(reason) {
  const text = reasonText(reason);
  return text || h("span", { lang: "en" }, reason);
}

// Fields that a person can name, and their words; others are shown as the server calls them.
const FIELDS = { title: "fTitle", description: "fDescription", price: "fPrice",
  currency: "fCurrency", category: "category", condition: "fCondition", attributes: "fAttributes",
  photos: "fPhotos", address: "fAddress", latitude: "fLatitude", longitude: "fLongitude",
  phones: "fPhones", email: "fEmail", external_id: "rowId", row: "rowNumber" };

export function fieldText(field) {
  const name = FIELDS[field.replace(/^content\./, "").replace(/^attributes\..*/, "attributes")];
  return name ? t(name) : field;
}
