// SPDX-License-Identifier: Apache-2.0
// roots.js - which category lies under which, as far as answers have told.

export const parents = new Map();       // of every category seen

// The category at the top; "": not known.
export function rootOf(category) {
  let at = category;
  for (let depth = 0; depth < 16 && parents.get(at); depth++) at = parents.get(at);
  return parents.has(at) ? at : "";
}

// What an answer tells of the tree; before anything of it is drawn.
export function rememberCategories(list) {
  for (const each of list) parents.set(each.id, each.parent || "");
}
