// SPDX-License-Identifier: Apache-2.0
// contact.js - how a buyer reaches the seller of an offer: the phone is shown when it is asked for,
// and a message is sent to the seller's cabinet.
import { call, failure, h, t } from "../common.js";
import { noteDeed } from "./events.js";

function phoneText(phone) {
  const parts = /^(\+7)(\d{3})(\d{3})(\d{2})(\d{2})$/.exec(phone);
  return parts ? `${parts[1]} ${parts[2]} ${parts[3]}-${parts[4]}-${parts[5]}` : phone;
}

// What is inside of an element.
function refusalOf(error) {
  const known = { 400: "messageRefused", 429: "tooManyContacts" }[error.status];
  return known ? t(known) : failure(error);
}

function phones(id) {
  const place = h("div", { class: "contact-phones", "aria-live": "polite" });
  const button = h("button", { class: "button primary", type: "button", id: "show-phone",
    onclick: async () => {
      button.disabled = true;
      try {
        const found = await call("ContactService", "RevealContacts", { id }, { withKey: false });
        noteDeed("CONTACT", id);
        const list = found.phones || [];
        place.replaceChildren(...(list.length ? list.map((each) =>
          h("a", { class: "phone", href: `tel:${each}` }, phoneText(each)))
          : [h("p", { class: "dim" }, t("noPhone"))]));
      } catch (error) {
        button.disabled = false;
        place.replaceChildren(button, h("p", { class: "bad" }, refusalOf(error)));
      }
    } }, t("showPhone"));
  place.append(button);
  return place;
}

function messageForm(id) {
  const field = (name, node, more = {}) => h("label", { class: "contact-field", ...more },
    h("span", {}, t(name)), node);
  const text = h("textarea", { class: "textarea", id: "message-text", maxlength: 2000, rows: 3, required: true });
  const name = h("input", { class: "input", id: "message-name", maxlength: 100, autocomplete: "name" });
  const reply = h("input", { class: "input", id: "message-reply", maxlength: 254, required: true });
  const told = h("p", { role: "status" });
  const send = h("button", { class: "button", type: "submit" }, t("sendMessage"));
  const form = h("form", { class: "contact-form", onsubmit: async (event) => {
    event.preventDefault();
    send.disabled = true;
    try {
      await call("ContactService", "SendMessage", { id, text: text.value, name: name.value.trim(),
        replyTo: reply.value.trim() }, { withKey: false });
      noteDeed("CONTACT", id);
      form.replaceChildren(h("p", { role: "status", class: "good" }, t("messageSent")));
    } catch (error) {
      send.disabled = false;
      told.className = "bad";
      told.replaceChildren(...[refusalOf(error)].flat().filter(Boolean));
    }
  } }, field("messageText", text), field("messageName", name), field("messageReply", reply), send, told);
  return h("details", { class: "contact-message" }, h("summary", {}, t("writeMessage")), form);
}

export function contact(id) {
  return h("div", { class: "contact" }, phones(id), messageForm(id));
}
