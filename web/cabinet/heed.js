// SPDX-License-Identifier: Apache-2.0
// heed.js - what a seller should hear wherever he is in the cabinet: feeds by address of which the last
// run waits for his decision, and those that are not fetched any more.
import { byId, call, h, t } from "../common.js";

let found = [];

// What of the schedule is to be told; null: nothing.
async function stateOf(schedule) {
  if (schedule.state === "STOPPED") return "STOPPED";
  const run = schedule.runs?.[0];
  if (run?.outcome !== "HELD") return null;
  const task = await call("FeedService", "GetTask", { feed: schedule.feed, taskId: run.taskId });
  return task.state === "HELD" ? "HELD" : null;
}

export function drawHeed() {
  byId("heed").replaceChildren(...found.map(({ feed, state }) =>
    h("p", { class: "warn", dataset: { heed: state } }, t(`heed${state}`, { feed }), " ",
      h("a", { href: "#/feeds" }, t("heedLook")))));
}

// Of no use to the seller if it fails: the feeds' own page tells why. One that cannot be asked about
// leaves the others told.
export async function loadHeed() {
  try {
    const { schedules = [] } = await call("FeedService", "ListSchedules", {});
    const states = await Promise.all(schedules.map((each) => stateOf(each).catch(() => null)));
    found = schedules.map(({ feed }, at) => ({ feed, state: states[at] })).filter(({ state }) => state);
  } catch {
    found = [];
  }
  drawHeed();
}
