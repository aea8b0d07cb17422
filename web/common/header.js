// SPDX-License-Identifier: Apache-2.0
// header.js - the top of every page: the name, the pages, language and colours.
import { h, icon, svg } from "./dom.js";
import { fillTexts, language, onLanguage, setLanguage, t, texts } from "./text.js";

const PAGES = [["search", "/"], ["cabinet", "/cabinet"], ["console", "/console"],
  ["try", "/try"], ["about", "/about"]];

texts({
  ru: { search: "Поиск", cabinet: "Продавцу", console: "Пульт", try: "Документы", about: "О сервере",
    pages: "Страницы", languages: "Язык", skip: "К содержанию", home: "Torg, к поиску",
    darker: "Тёмные цвета", lighter: "Светлые цвета" },
  en: { search: "Search", cabinet: "Sell", console: "Console", try: "Documents", about: "About",
    pages: "Pages", languages: "Language", skip: "Skip to content", home: "Torg, to the search",
    darker: "Dark colours", lighter: "Light colours" },
});

function logo() {
  return h("a", { class: "logo", href: "/", "data-label": "home" },
    svg("svg", { viewBox: "0 0 32 32", "aria-hidden": "true" },
      svg("rect", { width: 32, height: 32, rx: 9, class: "logo-tile" }),
      svg("path", { d: "M8 9h16v4h-6v11h-4V13H8z", class: "logo-letter" })),
    h("span", {}, "Torg"));
}

function isDark() {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeButton() {
  const button = h("button", { class: "icon-button", type: "button" });
  const draw = () => {
    button.replaceChildren(icon(isDark() ? "sun" : "moon"));
    button.setAttribute("aria-label", t(isDark() ? "lighter" : "darker"));
    button.title = t(isDark() ? "lighter" : "darker");
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("theme", document.documentElement.dataset.theme); }
    catch { /* private mode: until the page is left */ }
    draw();
  });
  onLanguage(draw);
  draw();
  return button;
}

function languageSwitch() {
  const buttons = [["ru", "RU", "Русский"], ["en", "EN", "English"]].map(([id, short, name]) =>
    h("button", { type: "button", lang: id, title: name, "aria-label": name,
      dataset: { language: id }, onclick: () => setLanguage(id) }, short));
  const draw = () => {
    for (const button of buttons)
      button.setAttribute("aria-pressed", String(button.dataset.language === language()));
  };
  onLanguage(draw);
  draw();
  return h("div", { class: "switch", role: "group", "data-label": "languages" }, buttons);
}

// Fills <header class="top">: what the page has put there stays between the name and the rest.
export function header(page) {
  const top = document.querySelector("header.top");
  const links = PAGES.map(([name, href]) => h("a", { href, "data-text": name,
    "aria-current": name === page ? "page" : null }));
  document.body.prepend(h("a", { class: "skip", href: "#content", "data-text": "skip" }));
  top.prepend(logo());
  top.append(h("nav", { class: "pages", "data-label": "pages" }, links),
    h("div", { class: "top-tools" }, languageSwitch(), themeButton()));
  fillTexts();
}
