// SPDX-License-Identifier: Apache-2.0
// photos.js - an offer's photos: files of the seller's, uploaded at once, and addresses of pictures
// elsewhere; with what became of each.
import { h, icon, resource, t } from "../common.js";
import { ownPhoto } from "./own-photo.js";
import { about } from "./field.js";
import { problemLine } from "./problems.js";
import { reasonNode, refusal } from "./reasons.js";

const TYPES = "image/jpeg,image/png,image/webp,image/gif";
const MOVED = "application/x-torg-photo"; /* what is dragged is one of ours */
const BADGES = { WAITING: "warn", READY: "good", FAILED: "bad" };

const isUpload = (photo) => (photo.sourceUrl || "").startsWith("upload:");

// {node, read}; changed() is called when a line is added, moved or removed.
export function photoFields(photos, max, changed) {
  let lines = [...photos || []]; /* as they were read; what is typed is in the inputs */
  const list = h("ol", { class: "photo-list" });
  const add = h("button", { class: "button small", type: "button", id: "photo-add",
    onclick: () => {
      lines = [...typed(), {}];
      draw();
      list.lastChild.querySelector("input").focus();
    } }, t("photoAdd"));
  const files = h("input", { type: "file", accept: TYPES, multiple: true, id: "photo-files",
    class: "visually-hidden", onchange: () => { send([...files.files]); files.value = ""; } });
  const choose = h("label", { class: "button small primary", for: "photo-files" }, t("photoUpload"));
  const told = h("div", { class: "stack-small", role: "status" });

  // What is in the inputs; an address that was changed has no state yet.
  function typed() {
    return [...list.querySelectorAll("input")].map((input, at) => {
      const sourceUrl = input.value.trim();
      return sourceUrl === lines[at].sourceUrl ? lines[at] : { sourceUrl };
    });
  }

  function remove(at) {
    lines = typed().filter((_, each) => each !== at);
    draw();
    changed();
    add.focus();
  }

  // A photo first: what lists show.
  function lead(at) {
    const now = typed();
    lines = [now[at], ...now.filter((_, each) => each !== at)];
    draw();
    changed();
  }

  // One after the other: on a phone's connection none would end otherwise. Each has a line of its own
  // until it is there; what failed stays told.
  async function send(chosen) {
    const room = Math.max(0, max - typed().filter((each) => each.sourceUrl).length);
    for (const { name } of chosen.slice(room))
      told.append(h("p", { class: "error small" }, `${name}: ${t("photoNoRoom", { count: max })}`));
    for (const file of chosen.slice(0, room)) {
      const row = h("p", { class: "small" }, t("photoSending", { name: file.name }));
      told.append(row);
      try {
        const photo = await resource("photos", { method: "POST", body: file,
          contentType: file.type || "application/octet-stream" });
        lines = [...typed().filter((each) => each.sourceUrl), photo];
        row.remove();
        draw();
        changed();
      } catch (error) {
        row.className = "error small";
        row.replaceChildren(`${file.name}: `, ...[refusal(error)].flat().filter(Boolean));
      }
    }
  }

  // Dropped on another one, it takes that one's place; who cannot drag has the button "first".
  function move(from, to) {
    const now = typed();
    now.splice(to, 0, ...now.splice(from, 1));
    lines = now;
    draw();
    changed();
  }

  const isMoved = (event) => event.dataTransfer.types.includes(MOVED);

  const target = (at) => ({
    ondragover: (event) => { if (isMoved(event)) event.preventDefault(); },
    ondrop: (event) => {
      if (!isMoved(event)) return;
      event.preventDefault();
      event.stopPropagation();
      move(Number(event.dataTransfer.getData(MOVED)), at);
    },
  });

  // Of an upload that a draft names nothing is known but its address: it stands for the smallest size.
  function picture(photo, at) {
    const sizes = photo.sizes?.length ? photo.sizes : isUpload(photo) ? [{ key: photo.sourceUrl }] : null;
    if (!sizes) return null;
    return h("span", { class: "photo-box pictured", draggable: "true", title: t("photoMove"),
      ondragstart: (event) => {
        event.dataTransfer.setData(MOVED, String(at));
        event.dataTransfer.effectAllowed = "move";
      } }, ownPhoto({ ...photo, sizes }));
  }

  function line(photo, at) {
    const name = `photos.${at}`;
    const input = isUpload(photo)
      ? h("input", { type: "hidden", value: photo.sourceUrl })
      : h("input", { class: "input", type: "url", value: photo.sourceUrl || "",
        placeholder: t("photoHint"), maxlength: 2048,
        "aria-label": `${t("photoAddress")} ${at + 1}`, ...about(name) });
    const first = at ? h("button", { class: "button small", type: "button", onclick: () => lead(at) },
      t("photoFirst")) : null;
    const state = photo.state
      ? h("span", { class: `badge ${BADGES[photo.state] || ""}` }, t(`ph${photo.state}`)) : null;
    /* it sends the form: an offer that is saved has what failed tried again */
    const again = photo.state === "FAILED" ? h("button", { class: "button small" }, t("photoAgain")) : null;
    const away = h("button", { class: "icon-button", type: "button", onclick: () => remove(at),
      "aria-label": t("photoRemove", { number: at + 1 }) }, icon("close"));
    return h("li", target(at), h("div", { class: "photo-row" }, picture(photo, at), input,
      isUpload(photo) ? h("span", { class: "photo-own dim small" }, t("photoOwn", { number: at + 1 })) : null,
      state, again, first, away),
      photo.reason ? h("p", { class: "error small" }, reasonNode(photo.reason)) : null, problemLine(name));
  }

  function draw() {
    list.replaceChildren(...lines.map(line));
    add.disabled = files.disabled = lines.length >= max;
  }

  draw();
  const node = h("div", { class: "stack-small photo-drop",
    ondragover: (event) => event.preventDefault(),
    ondrop: (event) => { event.preventDefault(); send([...event.dataTransfer.files]); } },
  h("p", { class: "hint" }, t("photosLead", { count: max })),
  list, told, problemLine("photos"), h("div", { class: "row" }, files, choose, add));
  const read = () => typed().filter((photo) => photo.sourceUrl)
    .map(({ sourceUrl }) => ({ sourceUrl }));
  return { node, read };
}
