// SPDX-License-Identifier: Apache-2.0
// chart.js - lines over the last minutes, as SVG. Drawn anew with each sample: a few hundred points.
import { h, number, svg, t } from "../common.js";
import { lastTime, span } from "./samples.js";

const HEIGHT = 190;
const SPARK_MS = 60 * 1000;
const EDGE = { left: 46, right: 12, top: 10, bottom: 24 };

// The next number of 1, 2, 5, 10, 20, ...: the top of an axis.
function roundUp(value) {
  const step = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map((each) => each * step).find((each) => each >= value) ?? 10 * step;
}

const short = (value) => number(value, { notation: "compact", maximumSignificantDigits: 3 });

// "M x y L x y ..." with gaps where a value is not known.
function pathOf(points, x, y) {
  let path = "";
  let isDown = false;
  for (const [time, value] of points) {
    if (value !== null) path += `${isDown ? "L" : "M"}${x(time).toFixed(1)} ${y(value).toFixed(1)}`;
    isDown = value !== null;
  }
  return path;
}

const lastKnown = (points) => points.findLast(([, value]) => value !== null)?.[1] ?? null;

function grid(width, top, x, y) {
  const right = width - EDGE.right;
  const lines = [0, .5, 1].map((part) => {
    const level = y(top * part);
    return [svg("line", { class: "chart-grid", x1: EDGE.left, x2: right, y1: level, y2: level }),
      svg("text", { class: "chart-text", x: EDGE.left - 8, y: level + 4, "text-anchor": "end" },
        short(top * part))];
  });
  const now = lastTime();
  const step = span() <= 120000 ? 30 : 60; /* seconds between two marks */
  const marks = [];
  for (let ago = 0; ago * 1000 <= span(); ago += step) {
    const place = x(now - ago * 1000);
    marks.push(svg("text", { class: "chart-text", x: place, y: HEIGHT - 6,
      "text-anchor": ago === 0 ? "end" : place < EDGE.left + 20 ? "start" : "middle" },
    ago ? ago % 60 ? t("secondsAgo", { count: ago }) : t("minutesAgo", { count: ago / 60 })
      : t("now")));
  }
  return [lines, marks];
}

// A chart in `place`: update([{label, points, scale}]) draws. Series of scale 1 have an axis of
// their own and are drawn to it; only the first has marks.
export function makeChart(place, title) {
  const picture = svg("svg", { class: "chart", role: "img", height: HEIGHT });
  const legend = h("ul", { class: "legend" });
  let series = [];
  place.classList.add("chart-box");
  place.replaceChildren(picture, legend);

  function draw() {
    const width = Math.max(260, place.clientWidth);
    const now = lastTime();
    const x = (time) => width - EDGE.right
      - (now - time) / span() * (width - EDGE.left - EDGE.right);
    const tops = [0, 1].map((scale) => roundUp(Math.max(0, ...series.filter((one) =>
      (one.scale || 0) === scale).flatMap((one) => one.points.map(([, value]) => value || 0)))));
    const y = (scale) => (value) => HEIGHT - EDGE.bottom
      - value / tops[scale] * (HEIGHT - EDGE.top - EDGE.bottom);
    picture.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    picture.setAttribute("width", width);
    picture.replaceChildren(...grid(width, tops[0], x, y(0)).flat(3),
      ...series.map((one, at) => svg("path", { class: `chart-line series-${at + 1}`,
        d: pathOf(one.points, x, y(one.scale || 0)) })));
    const told = series.map((one) => {
      const value = lastKnown(one.points);
      return [one.label, value === null ? "–" : number(value,
        { maximumFractionDigits: value < 10 ? 1 : 0 })];
    });
    legend.replaceChildren(...told.map(([label, value], at) => h("li", {},
      svg("svg", { class: "legend-mark", viewBox: "0 0 24 8", "aria-hidden": "true" },
        svg("path", { class: `chart-line series-${at + 1}`, d: "M1 4H23" })),
      h("span", {}, label), h("b", {}, value))));
    picture.setAttribute("aria-label",
      `${t(title)}: ${told.map(([label, value]) => `${label} ${value}`).join(", ")}`);
  }

  new ResizeObserver(draw).observe(place);
  return { update(next) { series = next; draw(); } };
}

// A line without axes, for a stage's card.
export function spark(points) {
  const now = lastTime();
  const top = Math.max(1e-9, ...points.map(([, value]) => value || 0));
  const x = (time) => 100 - (now - time) / SPARK_MS * 100;
  const y = (value) => 26 - value / top * 24;
  const seen = points.filter(([time]) => x(time) >= 0);
  return svg("svg", { class: "spark", viewBox: "0 0 100 28", preserveAspectRatio: "none",
    "aria-hidden": "true" }, svg("path", { d: pathOf(seen, x, y),
      "vector-effect": "non-scaling-stroke" }));
}
