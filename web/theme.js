// SPDX-License-Identifier: Apache-2.0
// theme.js - the colours and the language chosen last time, and what is asked for, before anything is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const asked = new URLSearchParams(location.search);
  const wanted = asked.get("lang");
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
  // What will stand above a list of offers: its room is kept from the first picture on.
  root.dataset.asked = asked.get("c") ? "category"
    : [...asked.keys()].some((each) => each === "q" || each.startsWith("f.")) ? "text" : "nothing";
})();
