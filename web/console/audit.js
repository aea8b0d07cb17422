// SPDX-License-Identifier: Apache-2.0
// audit.js - what the auditor has seen: when all stages were equal last, and what differed.
import { byId, call, date, h, number, onLanguage, t } from "../common.js";

const PERIOD_MS = 5000;
const ABSENT_MS = 60000; /* a process without the role gets it no sooner than with a restart */
const SHOWN = 10;

let audit = null;
let isAbsent = false;
let asked = 0;

function line(one) {
  return h("li", { class: "item", dataset: { pk: one.pk } },
    h("div", { class: "item-main" },
      h("p", {}, h("button", { class: "link-button", type: "button",
        dataset: { trace: one.pk, client: one.client } }, one.pk), " ",
      h("span", { class: `badge ${one.isRepaired ? "warn" : "bad"}` },
        t(`auditWhy_${one.reason || "other"}`))),
      h("p", { class: "item-reason" }, one.text),
      h("p", { class: "dim small" }, [t(`audit_${one.check}`), one.client, date(one.lastTime),
        t(one.isRepaired ? "auditRepaired" : "auditLeft")].join(" · "))));
}

function differences(list) {
  if (!list.length) return [h("p", { class: "dim empty-line" }, t("auditNone"))];
  const more = list.length - SHOWN;
  return [h("ul", { class: "items" }, list.slice(0, SHOWN).map(line)),
    more > 0 ? h("p", { class: "dim small" }, t("itemsMore", { count: number(more) })) : ""];
}

function draw() {
  const body = byId("audit-body");
  if (isAbsent || !audit) {
    body.replaceChildren(h("p", { class: "dim small" }, t(isAbsent ? "auditAbsent" : "starting")));
    return;
  }
  if (!Number(audit.roundCount || 0)) {
    body.replaceChildren(h("p", { class: "dim small" }, t("auditFirst")));
    return;
  }
  const left = Number(audit.differenceCount || 0) - Number(audit.repairedCount || 0);
  const equal = audit.equalTime ? t("auditEqual", { time: date(audit.equalTime) })
    : t("auditNever");
  body.replaceChildren(
    h("p", { id: "audit-equal" }, h("span", { class: `badge ${left ? "bad"
      : Number(audit.differenceCount || 0) ? "warn" : "good"}` },
    t(left ? "auditDiffers" : Number(audit.differenceCount || 0) ? "auditMended" : "auditSame")),
    " ", equal),
    h("p", { class: "dim small" }, t("auditRound", { time: date(audit.endTime),
      count: number(audit.checkedCount || 0), contents: number(audit.contentCount || 0),
      differences: number(audit.differenceCount || 0),
      repaired: number(audit.repairedCount || 0), parked: number(audit.parkedCount || 0) })),
    ...differences(audit.differences || []));
}

// Rounds take a minute and more: it is asked for now and then.
export async function refreshAudit() {
  if (Date.now() - asked < (isAbsent ? ABSENT_MS : PERIOD_MS)) return;
  asked = Date.now();
  try {
    audit = await call("InspectService", "GetAudit");
    isAbsent = false;
  } catch (error) {
    isAbsent = error.status === 404 || error.status === 501;
  }
  draw();
}

onLanguage(draw);
