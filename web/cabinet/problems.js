// SPDX-License-Identifier: Apache-2.0
// problems.js - what the server finds missing or wrong, said at the field it is about.
import { byId, h } from "../common.js";
import { fieldText, reasonNode, reasonText } from "./reasons.js";

// The name of the field on the page: content.attributes[2].options is that of the third value sent.
function placeOf(problem, sent) {
  const field = problem.field.replace(/^content\./, "");
  const at = /^attributes\[(\d+)\]/.exec(field);
  if (at) return `a.${sent.attributes?.[at[1]]?.attributeId}`;
  const needed = /\(([\w.-]+)\) is required here$/.exec(problem.reason);
  if (field === "attributes" && needed) return `a.${needed[1]}`;
  const photo = /^photos\[(\d+)\]/.exec(field);
  if (photo) return `photos.${photo[1]}`;
  if (field.startsWith("price")) return "price";
  if (field.startsWith("contacts.phones")) return "contacts.phones";
  return field;
}

export const problemId = (name) => `problem-${name}`;

// A line under a field, kept free so that nothing jumps when it is filled.
export function problemLine(name) {
  return h("p", { class: "problem", id: problemId(name), dataset: { problem: name } });
}

export function clearProblems(form) {
  for (const line of form.querySelectorAll("[data-problem]")) line.textContent = "";
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
}

// Shows them; fields that nobody has touched yet are not blamed unless `all`. What has no place on
// the form is given back as texts.
export function showProblems(form, problems, sent, touched, all) {
  const homeless = [];
  clearProblems(form);
  for (const problem of problems || []) {
    const name = placeOf(problem, sent);
    const line = byId(problemId(name));
    if (!line) {
      homeless.push(`${fieldText(problem.field)}: ${reasonText(problem.reason) || problem.reason}`);
      continue;
    }
    if (!all && !touched.has(name)) continue;
    line.replaceChildren(reasonNode(problem.reason));
    form.querySelector(`[data-field="${CSS.escape(name)}"]`)?.setAttribute("aria-invalid", "true");
  }
  return homeless;
}
