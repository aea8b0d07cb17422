// SPDX-License-Identifier: Apache-2.0
// samples.js - what the pipeline was in the last minutes: counts as they came, rates from their
// differences. The server's clock is used, so that a slow network does not bend the rates.

const SPAN_MS_MIN = 60 * 1000;
const SPAN_MS_MAX = 5 * 60 * 1000;
const RATE_MS = 4000; /* a rate is over so long: single seconds flicker */

const samples = [];

export function addSample(pipeline) {
  const time = Date.parse(pipeline.time);
  const last = samples[samples.length - 1];
  if (last && time <= last.time) return; /* told again from the server's cache */
  const stages = {};
  for (const stage of pipeline.stages || [])
    stages[stage.name] = { done: Number(stage.doneCount || 0), lag: Number(stage.lagCount || 0),
      spent: Number(stage.spentUs || 0), known: stage.state !== "UNKNOWN" };
  samples.push({ time, stages });
  while (samples.length && time - samples[0].time > SPAN_MS_MAX + RATE_MS) samples.shift();
}

// What charts show: it grows with what is there, from one minute to five.
export function span() {
  const seen = samples.length ? lastTime() - samples[0].time - RATE_MS : 0;
  return Math.min(SPAN_MS_MAX, Math.max(SPAN_MS_MIN, Math.ceil(seen / 30000) * 30000));
}

export const lastTime = () => samples[samples.length - 1]?.time ?? 0;

// The sample to take differences with: the last one that is old enough.
function before(at) {
  let from = at;
  while (from > 0 && samples[at].time - samples[from].time < RATE_MS) from--;
  return from;
}

// null: not known yet. A count that fell (another epoch serves) is no rate.
function rateAt(name, at) {
  const from = before(at);
  const now = samples[at]?.stages[name];
  const then = samples[from]?.stages[name];
  if (from === at || !now?.known || !then?.known || now.done < then.done) return null;
  return (now.done - then.done) * 1000 / (samples[at].time - samples[from].time);
}

export const rate = (name) => rateAt(name, samples.length - 1);

// Mean time of what was done lately, in milliseconds; null: nothing was.
function meanAt(name, at) {
  const from = before(at);
  const now = samples[at]?.stages[name];
  const then = samples[from]?.stages[name];
  if (!now || !then || now.done <= then.done) return null;
  return (now.spent - then.spent) / (now.done - then.done) / 1000;
}

export const mean = (name) => meanAt(name, samples.length - 1);

const over = (valueAt) => samples.map((sample, at) => [sample.time, valueAt(at)]);

// [[time, value or null], ...]
export const rates = (name) => over((at) => rateAt(name, at));
export const lags = (name) => over((at) => samples[at].stages[name]?.known
  ? samples[at].stages[name].lag : null);
export const means = (name) => over((at) => meanAt(name, at));
