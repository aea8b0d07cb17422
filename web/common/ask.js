// SPDX-License-Identifier: Apache-2.0
// ask.js - a question before something that cannot be taken back.
import { h } from "./dom.js";
import { t, texts } from "./text.js";

texts({ ru: { askNo: "Отмена" }, en: { askNo: "Cancel" } });

// Gives true when the person agrees. Escape, the veil and the first button are "no".
export function ask({ title, text, yes, danger = false }) {
  return new Promise((resolve) => {
    const no = h("button", { class: "button", type: "button", value: "no" }, t("askNo"));
    const go = h("button", { class: danger ? "button danger" : "button primary", type: "button",
      id: "ask-yes" }, yes);
    const box = h("dialog", { class: "ask", "aria-labelledby": "ask-title" },
      h("h2", { id: "ask-title" }, title), h("p", {}, text),
      h("div", { class: "row ask-buttons" }, no, go));
    const end = (answer) => {
      box.close();
      box.remove();
      resolve(answer);
    };
    no.addEventListener("click", () => end(false));
    go.addEventListener("click", () => end(true));
    box.addEventListener("cancel", (event) => { event.preventDefault(); end(false); });
    box.addEventListener("click", (event) => { if (event.target === box) end(false); });
    document.body.append(box);
    box.showModal();
    no.focus();
  });
}
