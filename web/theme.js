// SPDX-License-Identifier: Apache-2.0
// theme.js - the colours and the language chosen last time, before anything is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const wanted = new URLSearchParams(location.search).get("lang");
  let theme = null;
  let language = null;
  try {
    theme = localStorage.getItem("theme");
    language = localStorage.getItem("language");
  } catch { /* private mode: as the system has it */ }
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  if (wanted === "ru" || wanted === "en") language = wanted;
  if (language !== "ru" && language !== "en")
    language = navigator.language.startsWith("ru") ? "ru" : "en";
  root.lang = language;
})();
