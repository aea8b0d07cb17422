// SPDX-License-Identifier: Apache-2.0
// map.js - where the offers of the list are: a map that the page draws itself, of nothing but points,
// cities and a grid. No request leaves for it. Offers that stand together are one mark with their
// count; a click beside them is the place that distances are counted from.
import { byId, h, svg, t, worth } from "../common.js";
import { CITIES, cityName, round } from "./places.js";

const SIZES = { wide: [900, 480], narrow: [420, 320] };     // names and marks keep their size on a phone
let [width, height] = SIZES.wide;
const MARGIN = 40;
const NEAR = 26;                // marks closer than this are one
const SPAN_MIN = 0.02;          // degrees of latitude: about two kilometres
const STEPS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30];

const hasPoint = (offer) => Number.isFinite(offer.point?.latitude) && Number.isFinite(offer.point?.longitude);

// Degrees to the drawing and back: as wide as long where its middle is.
function projection(points) {
  const ends = (name) => [Math.min(...points.map((each) => each[name])), Math.max(...points.map((each) => each[name]))];
  const [south, north] = ends("latitude");
  const [west, east] = ends("longitude");
  const middle = { latitude: (south + north) / 2, longitude: (west + east) / 2 };
  const squeeze = Math.max(0.1, Math.cos(middle.latitude * Math.PI / 180));
  const scale = Math.min((height - 2 * MARGIN) / Math.max(north - south, SPAN_MIN),
    (width - 2 * MARGIN) / (Math.max(east - west, SPAN_MIN) * squeeze));
  return {
    scale, squeeze, middle,
    x: (longitude) => width / 2 + (longitude - middle.longitude) * squeeze * scale,
    y: (latitude) => height / 2 - (latitude - middle.latitude) * scale,
    back: (x, y) => ({ latitude: middle.latitude - (y - height / 2) / scale,
      longitude: middle.longitude + (x - width / 2) / squeeze / scale }),
  };
}

// Marks of offers that are too close to be told apart are joined, the list's first ones first.
function marksOf(offers, map) {
  const marks = [];
  for (const offer of offers) {
    const x = map.x(offer.point.longitude);
    const y = map.y(offer.point.latitude);
    const mark = marks.find((each) => Math.hypot(each.x - x, each.y - y) < NEAR);
    if (mark) mark.offers.push(offer);
    else marks.push({ x, y, offers: [offer] });
  }
  return marks;
}

function grid(map) {
  const step = STEPS.find((each) => each * map.scale >= 90) || STEPS.at(-1);
  const lines = [];
  const corner = map.back(0, height);
  const other = map.back(width, 0);
  for (let at = Math.ceil(corner.latitude / step) * step; at <= other.latitude; at += step)
    lines.push(svg("path", { d: `M0 ${map.y(at).toFixed(1)}h${width}` }));
  for (let at = Math.ceil(corner.longitude / step) * step; at <= other.longitude; at += step)
    lines.push(svg("path", { d: `M${map.x(at).toFixed(1)} 0v${height}` }));
  return svg("g", { class: "map-grid" }, lines);
}

function cities(map) {
  return CITIES.map((city) => [map.x(city[3]), map.y(city[2]), cityName(city)])
    .filter(([x, y]) => x > 0 && x < width - 60 && y > 14 && y < height - 8)
    .map(([x, y, name]) => svg("g", { class: "map-city" },
      svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 3 }),
      svg("text", { x: (x + 7).toFixed(1), y: (y - 7).toFixed(1) }, name)));
}

// What stands at a mark, below the map; of a single offer the mark itself is the link.
function listAt(page, mark) {
  byId("map-list").replaceChildren(...mark.offers.map((offer) => {
    const state = { ...page.state, offer: offer.id };
    return h("li", {}, h("a", { href: page.addressOf(state), onclick: page.follow(state) }, offer.title),
      ` ${worth(offer)}`);
  }));
}

function markNode(page, mark) {
  const [offer, more] = mark.offers;
  const state = { ...page.state, offer: offer.id };
  const name = more ? t("mapMany", { count: mark.offers.length }) : `${offer.title}, ${worth(offer)}`;
  const at = { cx: mark.x.toFixed(1), cy: mark.y.toFixed(1) };
  const node = svg("a", { class: "map-mark", href: more ? "#map-list" : page.addressOf(state), "aria-label": name },
    svg("title", {}, name), svg("circle", { ...at, r: more ? 14 : 9 }),
    more ? svg("text", { x: at.cx, y: (mark.y + 4.5).toFixed(1) }, String(mark.offers.length)) : null);
  const open = page.follow(state);
  node.addEventListener("click", (event) => {
    event.stopPropagation();
    if (!more) return open(event);
    event.preventDefault();
    return listAt(page, mark);
  });
  return node;
}

function nearNode(page, map) {
  const { near } = page.state;
  if (!near) return null;
  const x = map.x(near.longitude);
  const y = map.y(near.latitude);
  return svg("path", { class: "map-near", d: `M${x.toFixed(1)} ${y.toFixed(1)}l-8-14a9 9 0 1116 0z` });
}

// Draws the offers that the list has so far.
export function drawMap(page) {
  const place = byId("map");
  if (place.hidden) return;
  [width, height] = SIZES[place.clientWidth < 560 ? "narrow" : "wide"];
  const offers = page.offers.filter(hasPoint);
  if (!offers.length) {
    place.replaceChildren(h("p", { class: "dim" }, t("mapNone")));
    return;
  }
  const map = projection([...offers.map((each) => each.point), ...(page.state.near ? [page.state.near] : [])]);
  const drawn = svg("svg", { class: "map-drawing", viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": t("mapLabel") }, grid(map), cities(map), marksOf(offers, map).map((each) => markNode(page, each)),
  nearNode(page, map));
  drawn.addEventListener("click", (event) => {
    const box = drawn.getBoundingClientRect();
    const point = map.back((event.clientX - box.left) * width / box.width,
      (event.clientY - box.top) * height / box.height);
    const near = { latitude: round(point.latitude), longitude: round(point.longitude) };
    if (Math.abs(near.latitude) <= 90 && Math.abs(near.longitude) <= 180) page.go({ ...page.state, near });
  });
  place.replaceChildren(drawn, h("p", { class: "dim" },
    t("mapHint", { count: offers.length })), h("ul", { id: "map-list" }));
}
