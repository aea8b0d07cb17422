// SPDX-License-Identifier: Apache-2.0
// photos.js - addresses of an offer's photos, with what became of each.
import { h, icon, t } from "../common.js";
import { about } from "./field.js";
import { problemLine } from "./problems.js";

const BADGES = { WAITING: "warn", READY: "good", FAILED: "bad" };

// {node, read}; changed() is called when a line is removed.
export function photoFields(photos, max, changed) {
  let lines = [...photos || []]; /* as they were read; what is typed is in the inputs */
  const list = h("ol", { class: "photo-list" });
  const add = h("button", { class: "button small", type: "button", id: "photo-add",
    onclick: () => {
      lines = [...typed(), {}];
      draw();
      list.lastChild.querySelector("input").focus();
    } }, t("photoAdd"));

  // What is in the inputs; an address that was changed has no state yet.
  function typed() {
    return [...list.querySelectorAll("input")].map((input, at) => {
      const sourceUrl = input.value.trim();
      return sourceUrl === lines[at].sourceUrl ? lines[at] : { sourceUrl };
    });
  }

  function remove(at) {
    lines = typed().filter((_, each) => each !== at);
    draw();
    changed();
    add.focus();
  }

  function line(photo, at) {
    const name = `photos.${at}`;
    const input = h("input", { class: "input", type: "url", value: photo.sourceUrl || "",
      placeholder: t("photoHint"), maxlength: 2048,
      "aria-label": `${t("photoAddress")} ${at + 1}`, ...about(name) });
    const state = photo.state
      ? h("span", { class: `badge ${BADGES[photo.state] || ""}` }, t(`ph${photo.state}`)) : null;
    const away = h("button", { class: "icon-button", type: "button", onclick: () => remove(at),
      "aria-label": t("photoRemove", { number: at + 1 }) }, icon("close"));
    return h("li", {}, h("div", { class: "photo-row" }, input, state, away),
      photo.reason ? h("p", { class: "error small" }, photo.reason) : null, problemLine(name));
  }

  function draw() {
    list.replaceChildren(...lines.map(line));
    add.disabled = lines.length >= max;
  }

  draw();
  const node = h("div", { class: "stack-small" },
    h("p", { class: "hint" }, t("photosLead", { count: max })),
    list, problemLine("photos"), h("div", {}, add));
  const read = () => typed().filter((photo) => photo.sourceUrl)
    .map(({ sourceUrl }) => ({ sourceUrl }));
  return { node, read };
}
