// SPDX-License-Identifier: Apache-2.0
// messages.js - what buyers wrote to the seller, the newest first.
import { ago, call, h, number, t } from "../common.js";

let place = null;
let fail = null;
let shown = null;               // {messages, next, reveals}

function item(message) {
  const reply = message.replyTo || "";
  const address = reply.includes("@") ? `mailto:${reply}` : `tel:${reply.replace(/[^\d+]/g, "")}`;
  return h("li", { class: "card message" },
    h("p", { class: "dim" }, h("a", { href: `/?offer=${encodeURIComponent(message.offerId)}` }, message.title),
      " · ", h("time", { datetime: message.time }, ago(message.time))),
    h("p", { class: "description" }, message.text),
    h("p", {}, message.name ? `${message.name}: ` : "", h("a", { href: address }, reply)));
}

function draw() {
  if (!place?.isConnected || !shown) return;
  const more = shown.next ? h("button", { class: "button", type: "button", onclick: load }, t("moreMessages")) : null;
  place.replaceChildren(h("p", { class: "dim" }, t("revealCount", { count: number(shown.reveals) })),
    shown.messages.length ? h("ol", { class: "stack plain" }, shown.messages.map(item))
      : h("p", { class: "empty" }, t("noMessages")), ...[more].filter(Boolean));
}

async function load() {
  try {
    const answer = await call("ContactService", "ListMessages",
      { pageSize: 20, pageToken: shown?.next || "" });
    shown = { messages: [...(shown?.messages || []), ...(answer.messages || [])],
      next: answer.nextPageToken || "", reveals: Number(answer.revealCount || 0) };
    draw();
  } catch (error) {
    fail(error);
  }
}

export async function showMessages(where, onFailure) {
  place = h("div", { class: "stack" });
  where.append(place);
  fail = onFailure;
  shown = null;
  await load();
}

export function redrawMessages() {
  draw();
}
