// SPDX-License-Identifier: Apache-2.0
// field.js - what the fields of the form have in common: a label, the input, what is wrong with it.
import { h, t } from "../common.js";
import { problemId, problemLine } from "./problems.js";

// Properties of an input: which field it is, and where its problem is told.
export const about = (name) => ({ dataset: { field: name }, "aria-describedby": problemId(name) });

const star = () => h("span", { class: "required", title: t("required") }, " *");

// id: of the input. node: what is shown for it, the input itself unless told.
export function field(name, label, id, node, { required = false, hint = "", wide = false } = {}) {
  const told = typeof hint === "string" && hint ? h("p", { class: "hint" }, hint) : hint || null;
  return h("div", { class: `field${wide ? " wide" : ""}` },
    h("label", { for: id }, label, required ? star() : null),
    node,
    h("div", { class: "field-foot" }, problemLine(name), told));
}

// A number as people write it: "1 500,50".
export const numberText = (text) => text.replace(/[\s\u00a0\u202f]/g, "").replace(",", ".");
