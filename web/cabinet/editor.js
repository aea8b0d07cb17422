// SPDX-License-Identifier: Apache-2.0
// editor.js - writing an offer. A draft is kept by the server as one types, and answered with what
// is missing; an offer that is published is saved when asked to.
import { byId, call, failureDetail, failureText, h, icon, language, t, toast, toastFailure }
  from "../common.js";
import { ask } from "../common/ask.js";
import { categoryLine, categoryPicker } from "./category.js";
import { noteToken, seeItLink, statusBadge } from "./deeds.js";
import { offerFields } from "./form.js";
import { problemLine, showProblems } from "./problems.js";

const PAUSE_MS = 600;

let editor = null; /* the one that is shown */

const reasonsOf = (error) => (error.details || []).map((each) => ({ field: each.field || "",
  reason: each.reason || "" }));

class Editor {
  // thing: a Draft or an Offer.
  constructor(place, thing, isDraft, fail) {
    this.place = place;
    this.id = thing.id;
    this.revision = thing.revision;
    this.isDraft = isDraft;
    this.offer = isDraft ? null : thing;
    this.fail = fail;
    this.content = thing.content || {};
    this.sent = null; /* the content that problems are about */
    this.problems = thing.problems || [];
    this.touched = new Set(); /* fields that were filled in */
    this.all = false; /* blame the others too */
    this.note = ""; /* when it was saved */
    this.timer = 0;
    this.saving = null;
    this.category = null;
    this.fields = null;
  }

  get isShown() { return editor === this && this.place.isConnected; }

  read() {
    if (this.fields) this.content = this.fields.read();
    return this.content;
  }

  /* --- what is on the page --- */

  async draw() {
    const id = this.content.category;
    this.category = id ? await this.readCategory(id) : null;
    const chosen = id ? await categoryLine(id, this.isDraft ? () => this.pick() : null) : null;
    if (!this.isShown) return;
    this.status = h("p", { class: "form-status", id: "form-status", role: "status" });
    this.form = h("form", { class: "offer-form stack", novalidate: true,
      onsubmit: (event) => { event.preventDefault(); this.submit(); },
      oninput: (event) => this.changed(event), onchange: (event) => this.changed(event) },
    h("section", { class: "card" }, h("h2", {}, t("category")),
      h("div", { id: "category-place" }, chosen), problemLine("category")));
    this.fields = this.category
      ? offerFields(this.category, this.content, () => this.changed()) : null;
    if (this.fields) this.form.append(this.fields.node, this.bar());
    this.place.replaceChildren(this.head(), this.form);
    if (!this.category) this.pick();
    this.told();
  }

  async readCategory(id) {
    try {
      return await call("CatalogService", "GetCategory", { id });
    } catch (error) {
      if (error.code === "not_found") return null; /* the catalogue has lost it: choose another */
      throw error;
    }
  }

  head() {
    const offer = this.offer;
    return h("div", { class: "editor-head stack-small" },
      h("p", {}, h("a", { class: "back", href: "#/" }, icon("back"), t("backToList"))),
      h("h2", {}, t(this.isDraft ? "draftTitle" : "editTitle"), " ",
        offer ? statusBadge(offer.status) : null),
      offer?.status === "BANNED" ? this.notice("bad", "banned", offer.banReasons) : null,
      offer?.status === "WAITING"
        ? this.notice("warn", "waitsForPhoto", [offer.waitReason].filter(Boolean)) : null);
  }

  notice(kind, title, reasons) {
    return h("div", { class: `notice ${kind}`, role: "note" }, h("b", {}, t(title)),
      reasons?.length ? h("ul", {}, reasons.map((each) => h("li", {}, each))) : null);
  }

  bar() {
    const discard = () => h("button", { class: "button quiet", type: "button", id: "discard",
      onclick: () => this.discard() }, t("discard"));
    const see = () => this.offer.status === "ACTIVE"
      ? seeItLink(this.id, this.content.title || "", { class: "button" }) : null;
    const name = this.isDraft ? "publish" : "save";
    return h("div", { class: "form-bar" }, this.status, this.isDraft ? discard() : see(),
      h("button", { class: "button primary", id: name }, t(name)));
  }

  pick() {
    this.read();
    categoryPicker(byId("category-place"), async (category) => {
      this.content = { ...this.read(), category: category.id };
      this.fields = null;
      if (this.isDraft) await this.save().catch(() => {});
      await this.draw();
      byId("offer-title")?.focus();
    });
  }

  told() {
    if (!this.form?.isConnected) return;
    const homeless = showProblems(this.form, this.problems, this.sent || this.content,
      this.touched, this.all);
    if (!this.isDraft || !this.fields) return;
    const count = this.problems.length;
    const left = homeless.length ? homeless.join("; ")
      : count ? t("missing", { count }) : t("allGood");
    this.status.textContent = [this.note, left].filter(Boolean).join(" · ");
    this.status.classList.toggle("good", !count);
  }

  /* --- what is typed --- */

  changed(event) {
    if (event?.target.closest("#category-place")) return;
    const name = event?.target.closest("[data-field]")?.dataset.field;
    if (name && event.type === "change") this.touched.add(name);
    if (!this.isDraft) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save().catch(() => {}), PAUSE_MS);
  }

  // Saves what is there now; one at a time, and again when something was typed meanwhile.
  async save() {
    clearTimeout(this.timer);
    if (this.saving) {
      await this.saving.catch(() => {});
      return this.save();
    }
    this.saving = this.send();
    try {
      await this.saving;
    } finally {
      this.saving = null;
    }
    return null;
  }

  async send() {
    const content = this.read();
    try {
      const receipt = await call("DraftService", "SaveDraft", { id: this.id, content });
      this.sent = content;
      this.revision = receipt.revision;
      this.problems = receipt.problems || [];
      this.note = t("savedAt", { time: new Date().toLocaleTimeString(language()) });
      this.told();
    } catch (error) {
      this.note = t("notSaved", { message: failureText(error) });
      if (this.status) this.status.textContent = this.note;
      throw error;
    }
  }

  /* --- at the end --- */

  refuse(error) {
    this.all = true;
    const reasons = reasonsOf(error);
    if (error.code === "aborted") toast(t("changedMeanwhile"), failureDetail(error));
    else if (!reasons.length) toastFailure(error);
    this.problems = reasons;
    this.sent = this.content;
    this.told();
    const homeless = showProblems(this.form, reasons, this.content, this.touched, true);
    if (homeless.length) toast(homeless.join("; "));
    this.form.querySelector("[aria-invalid=true]")?.focus();
  }

  async submit() {
    if (!this.fields) return;
    const button = byId(this.isDraft ? "publish" : "save");
    button.disabled = true;
    try {
      if (this.isDraft) await this.publish();
      else await this.update();
    } catch (error) {
      button.disabled = false;
      this.refuse(error);
    }
    button.disabled = false;
  }

  async publish() {
    await this.save();
    const receipt = await call("DraftService", "PublishDraft", { id: this.id });
    noteToken(receipt);
    this.published(receipt);
  }

  async update() {
    const content = this.read();
    const receipt = await call("OfferService", "UpdateOffer", { id: this.id,
      expectedRevision: this.revision, content });
    noteToken(receipt);
    this.revision = receipt.revision;
    this.problems = [];
    this.told();
    toast(t("updated"));
    this.status.textContent = t("updated");
  }

  published(receipt) {
    const title = this.content.title || "";
    const isShown = receipt.status === "ACTIVE";
    const box = h("section", { class: "card published", tabindex: "-1",
      dataset: { id: receipt.id } },
    h("span", { class: "published-mark" }, icon("check")),
    h("h2", {}, t("published")),
    h("p", {}, title),
    h("p", { class: "dim" }, receipt.id),
    h("p", {}, t(isShown ? "publishedLead" : "publishedWaiting")),
    h("div", { class: "row" },
      isShown ? seeItLink(receipt.id, title, { class: "button primary", id: "see-it" }) : null,
      h("button", { class: "button", type: "button",
        onclick: () => showDraft(this.place, this.fail) }, t("another")),
      h("a", { class: "button", href: "#/" }, t("backToList"))));
    this.place.replaceChildren(box);
    box.focus();
  }

  async discard() {
    if (!await ask({ title: t("discardAsk"), text: t("discardText"), yes: t("discard"),
      danger: true })) return;
    clearTimeout(this.timer);
    try {
      await call("DraftService", "DiscardDraft", { id: this.id });
      toast(t("didDiscard"));
      location.hash = "#/";
    } catch (error) {
      toastFailure(error);
    }
  }
}

function show(place, thing, isDraft, fail) {
  editor = new Editor(place, thing, isDraft, fail);
  return editor.draw();
}

export async function showDraft(place, fail) {
  try {
    const { draft } = await call("DraftService", "OpenDraft", {});
    await show(place, draft, true, fail);
  } catch (error) {
    fail(error);
  }
}

export async function showOffer(place, id, fail) {
  try {
    await show(place, await call("OfferService", "GetOffer", { id }), false, fail);
  } catch (error) {
    fail(error);
  }
}

// What was typed is kept when the language changes, and saved before the page is left.
export function redrawEditor() {
  if (!editor?.isShown || !editor.form?.isConnected) return;
  editor.read();
  editor.draw().catch(editor.fail);
}

export async function leaveEditor() {
  const left = editor;
  if (left?.isDraft && left.timer
    && left.fields?.node.isConnected) await left.save().catch(() => {});
  editor = null;
}
