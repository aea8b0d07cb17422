// SPDX-License-Identifier: Apache-2.0
// category.js - choosing a category: by words, or down the tree. Only a category without others
// below it is chosen; the rest lead further down. In a place of the page, or in a dialog over it.
import { call, h, icon, t } from "../common.js";

const PAUSE_MS = 150;

function categoryButton(category, path, onclick) {
  const isLeaf = !Number(category.childCount || 0);
  const way = path?.length ? h("span", { class: "dim small" }, ` ${path.join(" › ")}`) : null;
  return h("li", {}, h("button", { class: "category-line", type: "button", onclick,
    dataset: { category: category.id } },
  h("span", {}, category.name, way), icon(isLeaf ? "check" : "forward")));
}

// A picker in `place`; chosen(category) is called with {id, name}.
export function categoryPicker(place, chosen) {
  let timer = 0;
  let asked = 0; /* an answer that is not the last question's is left alone */
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(() => search().catch(() => {}), PAUSE_MS);
  };
  const field = h("input", { class: "input", type: "search", id: "category-search",
    autocomplete: "off", spellcheck: "false", placeholder: t("categoryHint"), oninput: later });
  const crumbs = h("p", { class: "category-path small" });
  const results = h("ul", { class: "categories" });

  function option(category, path) {
    return categoryButton(category, path, () =>
      Number(category.childCount || 0) ? open(category.id) : chosen(category));
  }

  async function search() {
    const query = field.value.trim();
    if (!query) {
      await open("");
      return;
    }
    const mine = ++asked;
    const { matches = [] } = await call("CatalogService", "SearchCategories",
      { query, limit: 30 });
    if (mine !== asked) return;
    crumbs.replaceChildren();
    if (matches.length)
      results.replaceChildren(...matches.map((match) => option(match.category, match.path)));
    else results.replaceChildren(h("li", { class: "dim" }, t("categoryNone")));
  }

  const crumb = (each) => h("button", { class: "link-button", type: "button",
    onclick: () => open(each.id) }, each.name);

  function drawCrumbs(path) {
    const last = path.at(-1);
    const above = [{ id: "", name: t("categoryTop") }, ...path.slice(0, -1)];
    crumbs.replaceChildren(...last ? [...above.flatMap((each) => [crumb(each), " › "]), last.name]
      : []);
  }

  async function open(id) {
    const mine = ++asked;
    const [children, path] = await Promise.all([
      call("CatalogService", "ListChildren", { id }),
      id ? call("CatalogService", "GetPath", { id }) : {}]);
    if (mine !== asked) return;
    drawCrumbs(path.categories || []);
    results.replaceChildren(...(children.categories || []).map((each) => option(each)));
    if (id) results.querySelector("button")?.focus();
  }

  // Arrows go from the field down the list and back.
  place.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const stops = [field, ...results.querySelectorAll("button")];
    const at = stops.indexOf(document.activeElement) + step;
    stops[Math.min(Math.max(at, 0), stops.length - 1)].focus();
  };
  place.replaceChildren(h("div", { class: "field" },
    h("label", { for: "category-search" }, t("categorySearch")), field), crumbs, results);
  open("").catch(() => {});
  field.focus({ preventScroll: true });
}

// The category that was chosen, as a line with its path; change: null, it stays.
export async function categoryLine(id, change) {
  const { categories: path = [] } = await call("CatalogService", "GetPath", { id });
  return h("p", { class: "row chosen-category", id: "chosen-category" },
    h("span", {}, path.slice(0, -1).map((each) => h("span", { class: "dim" }, `${each.name} › `)),
      h("b", {}, path.at(-1)?.name || id)),
    change ? h("button", { class: "button small", type: "button", id: "category-change",
      onclick: change }, t("categoryChange")) : null);
}

// The picker in a dialog; gives {id, name}, or null when it was closed.
function askCategory(title) {
  return new Promise((resolve) => {
    const place = h("div", { class: "stack-small" });
    const close = h("button", { class: "icon-button", type: "button", "aria-label": t("close") },
      icon("close"));
    const box = h("dialog", { class: "ask category-dialog", "aria-labelledby": "category-dialog-title" },
      h("div", { class: "row category-dialog-top" }, h("h2", { id: "category-dialog-title" }, title), close),
      place);
    const end = (answer) => {
      box.close();
      box.remove();
      resolve(answer);
    };
    close.addEventListener("click", () => end(null));
    box.addEventListener("cancel", (event) => { event.preventDefault(); end(null); });
    document.body.append(box);
    box.showModal();
    categoryPicker(place, (category) => end(category));
  });
}

export const REFUSED = "-";

// A field that has a category: its name and what can be done with it. value: an id, "" for none, or
// REFUSED where `canRefuse`. {node, read}.
export function categoryChoice({ value = "", name = "", title, from, canRefuse = false }) {
  let now = { id: value, name: name || value };
  let isChosen = false;
  const shown = h("span", { class: "choice-name" });
  const choose = h("button", { class: "button small", type: "button", onclick: async () => {
    const category = await askCategory(title);
    if (category) set(category);
    choose.focus();
  } });
  const refuse = h("button", { class: "button small", type: "button",
    onclick: () => set(now.id === REFUSED ? { id: "", name: "" } : { id: REFUSED, name: "" }) },
  t("mapRefuse"));
  const clear = h("button", { class: "icon-button", type: "button", "aria-label": `${t("categoryClear")}: ${title}`,
    onclick: () => { set({ id: "", name: "" }); choose.focus(); } }, icon("close"));
  const node = h("span", { class: "row choice", dataset: { from } }, shown, choose, canRefuse ? refuse : null, clear);

  function set(category) {
    now = category;
    isChosen = true;
    draw();
  }

  function draw() {
    const isRefused = now.id === REFUSED;
    node.dataset.category = now.id;
    shown.textContent = isRefused ? t("mapRefused") : now.name;
    shown.title = isRefused ? "" : now.id;
    choose.textContent = t(now.id && !isRefused ? "categoryChange" : "categoryChoose");
    choose.setAttribute("aria-label", `${choose.textContent}: ${title}`);
    refuse.setAttribute("aria-pressed", String(isRefused));
    refuse.setAttribute("aria-label", `${t("mapRefuse")}: ${title}`);
    clear.hidden = !now.id;
  }

  draw();
  if (now.id && now.id !== REFUSED && !name)
    call("CatalogService", "GetPath", { id: now.id }).then(({ categories: path = [] }) => {
      if (isChosen) return;
      now.name = path.at(-1)?.name || now.id;
      draw();
    }, () => {}); // the id stays
  return { node, read: () => now.id };
}
