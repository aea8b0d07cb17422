// SPDX-License-Identifier: Apache-2.0
// places.js - where distances are counted from: the buyer's own place, asked for on a click, or a
// city. Rounded to about a hundred metres: the address of a page is sent around.
import { h, icon, language, t, toast } from "../common.js";

export const CITIES = [
  ["Москва", "Moscow", 55.751, 37.618], ["Санкт-Петербург", "Saint Petersburg", 59.939, 30.314],
  ["Новосибирск", "Novosibirsk", 55.031, 82.921], ["Екатеринбург", "Yekaterinburg", 56.839, 60.606],
  ["Казань", "Kazan", 55.796, 49.106], ["Нижний Новгород", "Nizhny Novgorod", 56.327, 44.006],
  ["Челябинск", "Chelyabinsk", 55.160, 61.403], ["Красноярск", "Krasnoyarsk", 56.010, 92.853],
  ["Самара", "Samara", 53.195, 50.102], ["Уфа", "Ufa", 54.735, 55.958],
  ["Ростов-на-Дону", "Rostov-on-Don", 47.236, 39.714], ["Краснодар", "Krasnodar", 45.035, 38.975],
  ["Омск", "Omsk", 54.989, 73.368], ["Воронеж", "Voronezh", 51.661, 39.200],
  ["Пермь", "Perm", 58.010, 56.250], ["Волгоград", "Volgograd", 48.708, 44.513],
  ["Владивосток", "Vladivostok", 43.116, 131.882], ["Калининград", "Kaliningrad", 54.710, 20.511],
];

export function round(value) {
  return Math.round(value * 1000) / 1000;
}

function cityAt(near) {
  return CITIES.findIndex((city) => near && city[2] === near.latitude && city[3] === near.longitude);
}

export function cityName(city) {
  return city[language() === "ru" ? 0 : 1];
}

export function nearText(near) {
  const city = CITIES[cityAt(near)];
  return city ? cityName(city) : t("nearHere");
}

// Resolves to a point, or null when the browser or the buyer does not tell.
export function askPlace() {
  return new Promise((resolve) => {
    const fail = () => { toast(t("noGeo")); resolve(null); };
    if (!navigator.geolocation) return fail();
    toast(t("locating"));
    return navigator.geolocation.getCurrentPosition(({ coords }) => resolve(
      { latitude: round(coords.latitude), longitude: round(coords.longitude) }),
    fail, { timeout: 10000, maximumAge: 600000 });
  });
}

// A button for the own place and a list of cities; choose gets a point, or null for none.
export function placeChooser(near, choose) {
  const at = cityAt(near);
  const select = h("select", { class: "select", id: "near-city", "aria-label": t("nearHint"),
    onchange: () => {
      const city = CITIES[Number(select.value)];
      choose(city ? { latitude: city[2], longitude: city[3] } : null);
    } },
  h("option", { value: "" }, near && at < 0 ? t("nearHere") : t("nearHint")),
  CITIES.map((city, place) => [city, place])
    .sort(([a], [b]) => cityName(a).localeCompare(cityName(b), language()))
    .map(([city, place]) => h("option", { value: place, selected: place === at }, cityName(city))));
  return h("div", { class: "place" },
    h("button", { class: `button small ${near && at < 0 ? "primary" : ""}`, type: "button",
      id: "near-me", onclick: async () => {
        const point = await askPlace();
        if (point) choose(point);
      } }, icon("target"), t("nearMe")), select);
}
