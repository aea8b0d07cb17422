// SPDX-License-Identifier: Apache-2.0
// failure.js - a call that failed, as people are told: what kind of failure it is, in the page's
// language, and under it, quieter, the server's own words, which are English.
import { h, toast } from "./dom.js";
import { t, texts } from "./text.js";

texts({
  ru: {
    failure_canceled: "Запрос отменён.",
    failure_unknown: "На сервере что-то сломалось. Попробуйте ещё раз.",
    failure_invalid_argument: "Сервер не понял запрос: в нём ошибка.",
    failure_deadline_exceeded: "Сервер не успел ответить. Попробуйте ещё раз.",
    failure_not_found: "Ничего не найдено.",
    failure_already_exists: "Такое уже есть.",
    failure_permission_denied: "У этого ключа нет на это права.",
    failure_resource_exhausted: "Слишком много сразу. Подождите немного или отправьте меньше.",
    failure_failed_precondition: "Сейчас так сделать нельзя.",
    failure_aborted: "Пока вы правили, данные изменились. Обновите страницу и повторите.",
    failure_out_of_range: "Дальше ничего нет.",
    failure_unimplemented: "Этот сервер так не умеет.",
    failure_internal: "На сервере что-то сломалось. Попробуйте ещё раз.",
    failure_unavailable: "Сервис временно недоступен. Попробуйте чуть позже.",
    failure_data_loss: "Данные на сервере повреждены.",
    failure_unauthenticated: "Нужен ключ, известный серверу.",
  },
  en: {
    failure_canceled: "The request was cancelled.",
    failure_unknown: "Something broke on the server. Try again.",
    failure_invalid_argument: "The server did not understand the request: something in it is wrong.",
    failure_deadline_exceeded: "The server did not answer in time. Try again.",
    failure_not_found: "Nothing was found here.",
    failure_already_exists: "There is one already.",
    failure_permission_denied: "This key may not do that.",
    failure_resource_exhausted: "Too much at once. Wait a little, or send less.",
    failure_failed_precondition: "That cannot be done now.",
    failure_aborted: "It was changed while you were editing. Reload the page and try again.",
    failure_out_of_range: "There is nothing more.",
    failure_unimplemented: "This server cannot do that.",
    failure_internal: "Something broke on the server. Try again.",
    failure_unavailable: "The service is temporarily unavailable. Try again a little later.",
    failure_data_loss: "The server's data is damaged.",
    failure_unauthenticated: "That needs a key the server knows.",
  },
});

const isCall = (error) => error.name === "CallError";

// One sentence. What the page itself has to say of it (nobody answered) is in its language already.
export function failureText(error) {
  return !isCall(error) || error.isOurs ? error.message : t(`failure_${error.code}`);
}

// The server's own words, for who can use them; null when there are none.
export function failureDetail(error) {
  return isCall(error) && !error.isOurs && error.message
    ? h("span", { class: "detail", lang: "en" }, error.message) : null;
}

// Both, as what is inside of an element.
export function failure(error) {
  return [failureText(error), failureDetail(error)];
}

export function toastFailure(error) {
  toast(...failure(error));
}
