// SPDX-License-Identifier: Apache-2.0
// category.js - choosing a category: by words, or down the tree. Only a category without others
// below it is chosen; the rest lead further down.
import { byId, call, h, icon, t } from "../common.js";

const PAUSE_MS = 150;

// A picker in `place`; chosen(category) is called with {id, name}.
export function categoryPicker(place, chosen) {
  let timer = 0;
  let asked = 0;
  const field = h("input", { class: "input", type: "search", id: "category-search",
    autocomplete: "off",
    spellcheck: "false", placeholder: t("categoryHint"), "aria-controls": "category-results",
    oninput: () => { clearTimeout(timer); timer = setTimeout(search, PAUSE_MS); },
    onkeydown: move });
  const results = h("ul", { class: "categories", id: "category-results" });
  const crumbs = h("p", { class: "category-path small" });

  function option(category, path) {
    const leads = Number(category.childCount || 0) > 0;
    return h("li", {}, h("button", { class: "category-line", type: "button",
      dataset: { category: category.id },
      onclick: () => leads ? open(category.id) : chosen(category) },
    h("span", {}, category.name, path?.length ? h("span", { class: "dim small" },
      ` ${path.join(" › ")}`) : null),
    icon(leads ? "forward" : "check")));
  }

  function move(event) {
    if (event.key !== "ArrowDown") return;
    event.preventDefault();
    results.querySelector("button")?.focus();
  }
  results.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = [...results.querySelectorAll("button")];
    const next = all.indexOf(document.activeElement) + step;
    (next < 0 ? field : all[Math.min(next, all.length - 1)]).focus();
  });

  async function search() {
    const query = field.value.trim();
    if (!query) return open("");
    const mine = ++asked;
    const found = await call("CatalogService", "SearchCategories", { query, limit: 30 });
    if (mine !== asked) return null;
    const matches = found.matches || [];
    crumbs.replaceChildren();
    results.replaceChildren(...matches.length ? matches.map((match) => option(match.category,
      match.path))
      : [h("li", { class: "dim" }, t("categoryNone"))]);
    return null;
  }

  async function open(id) {
    const mine = ++asked;
    const [children, path] = await Promise.all([call("CatalogService", "ListChildren", { id }),
      id ? call("CatalogService", "GetPath", { id }) : { categories: [] }]);
    if (mine !== asked) return;
    const crumb = (each) => h("button", { class: "link-button", type: "button",
      onclick: () => open(each.id) }, each.name);
    crumbs.replaceChildren(...id ? [crumb({ id: "", name: t("categoryTop") }),
      ...(path.categories || []).flatMap((each, at, all) => [" › ", at + 1 < all.length
        ? crumb(each) : each.name])] : []);
    results.replaceChildren(...(children.categories || []).map((each) => option(each)));
    if (id) results.querySelector("button")?.focus();
  }

  place.replaceChildren(h("div", { class: "field" }, h("label", { for: "category-search" },
    t("categorySearch")), field),
    crumbs, results);
  open("").catch(() => {});
  field.focus({ preventScroll: true });
}

// The category that was chosen, as a line with its path.
export async function categoryLine(id, change) {
  const path = (await call("CatalogService", "GetPath", { id })).categories || [];
  return h("p", { class: "row chosen-category", id: "chosen-category" },
    h("span", {}, path.slice(0, -1).map((each) => h("span", { class: "dim" }, `${each.name} › `)),
      h("b", {}, path.at(-1)?.name || id)),
    change ? h("button", { class: "button small", type: "button", id: "category-change",
      onclick: change },
      t("categoryChange")) : null);
}

export const focusCategory = () => byId("category-search")?.focus();
