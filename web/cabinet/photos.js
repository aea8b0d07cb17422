// SPDX-License-Identifier: Apache-2.0
// photos.js - addresses of an offer's photos, with what became of each.
import { h, icon, t } from "../common.js";
import { problemId, problemLine } from "./problems.js";

const BADGES = { WAITING: "warn", READY: "good", FAILED: "bad" };

// {node, read}; changed() is called when a line is added or removed.
export function photoFields(photos, max, changed) {
  const list = h("ol", { class: "photo-list" });
  const add = h("button", { class: "button small", type: "button", id: "photo-add",
    onclick: () => { line({}); count(); list.lastChild.querySelector("input").focus(); } },
      t("photoAdd"));

  function line(photo) {
    const at = list.children.length;
    const row = h("li", { class: "photo-line" },
      h("div", { class: "photo-row" },
        h("input", { class: "input", type: "url", value: photo.sourceUrl || "",
          placeholder: t("photoHint"), maxlength: 2048,
          "aria-label": `${t("photoAddress")} ${at + 1}`,
            "aria-describedby": problemId(`photos.${at}`),
          dataset: { field: `photos.${at}` } }),
        photo.state ? h("span", { class: `badge ${BADGES[photo.state] || ""}` },
          t(`ph${photo.state}`)) : null,
        h("button", { class: "icon-button", type: "button", "aria-label": t("photoRemove",
          { number: at + 1 }),
          onclick: () => { row.remove(); count(); changed(); } }, icon("close"))),
      photo.reason ? h("p", { class: "error small" }, photo.reason) : null,
      problemLine(`photos.${at}`));
    list.append(row);
  }

  function count() {
    add.disabled = list.children.length >= max;
  }

  for (const photo of photos || []) line(photo);
  count();
  return { node: h("div", { class: "stack-small" }, h("p", { class: "hint" }, t("photosLead",
    { count: max })), list,
    problemLine("photos"), h("div", {}, add)),
  read: () => [...list.querySelectorAll("input")].map((field) => field.value.trim()).filter(Boolean)
    .map((sourceUrl) => ({ sourceUrl })) };
}
