// SPDX-License-Identifier: Apache-2.0
// signin.js - the form that asks for a key, and the line that tells whose key is in use.
import { key, setKey } from "./call.js";
import { byId, h } from "./dom.js";
import { failure } from "./failure.js";
import { onLanguage, t, texts } from "./text.js";

texts({
  ru: { signInKey: "Ключ", signIn: "Войти", signOut: "Выйти", signInRefused:
    "Ключ не подошёл: сервер его не знает, он отозван или истёк.", signInEmpty: "Введите ключ.",
    signInAgain: "Повторить" },
  en: { signInKey: "Key", signIn: "Sign in", signOut: "Sign out", signInRefused:
    "The key does not fit: the server does not know it, or it was revoked or has expired.",
  signInEmpty: "Enter a key.", signInAgain: "Try again" },
});

// Shows the form in `place`. title, lead and how are names of texts; problem is said at the field.
// done() is called when a key was entered.
export function showSignIn(place, { title, lead, how, problem = "" }, done) {
  const field = h("input", { id: "key-field", class: "input", type: "password", required: true,
    autocomplete: "off", spellcheck: "false", "aria-describedby": "key-problem" });
  const told = h("p", { id: "key-problem", class: "error small", role: "alert" }, problem);
  const enter = (event) => {
    event.preventDefault();
    if (!field.value.trim()) {
      told.textContent = t("signInEmpty");
      return;
    }
    setKey(field.value);
    done();
  };
  const draw = () => {
    if (!byId("sign-in")) return;
    place.replaceChildren(form());
  };
  const form = () => h("form", { id: "sign-in", class: "card sign-in stack", onsubmit: enter },
    h("h1", {}, t(title)), h("p", {}, t(lead)),
    h("div", { class: "field" }, h("label", { for: "key-field" }, t("signInKey")), field, told),
    h("div", { class: "row" }, h("button", { class: "button primary" }, t("signIn"))),
    h("p", { class: "dim small" }, t(how)));
  place.replaceChildren(form());
  onLanguage(draw);
  field.focus({ preventScroll: true });
}

// Instead of the form, when it is not the key: the server does not answer, or not yet.
export function showTrouble(place, error, again) {
  place.replaceChildren(h("div", { id: "trouble", class: "card sign-in stack" },
    h("p", { role: "alert" }, failure(error)),
    h("div", { class: "row" }, h("button", { class: "button primary", type: "button",
      onclick: again }, t("signInAgain")))));
}

export function signOutButton() {
  return h("button", { class: "button small", type: "button", id: "sign-out",
    "data-text": "signOut",
    onclick: () => { setKey(""); location.reload(); } }, t("signOut"));
}

// What a refusal means for the one who signs in; "": it is of another kind.
export function keyProblem(error) {
  if (error.status === 401) return key() ? t("signInRefused") : "";
  return "";
}
