// SPDX-License-Identifier: Apache-2.0
// common.js - what all pages share. A page imports from here and nowhere else.
//
//   call(service, method, body)   a call of the API; throws CallError     common/call.js
//   key(), setKey(value)          the key calls are made with
//   texts({ru, en}), t(name)      what is said, in two languages          common/text.js
//   price, dateTime, ago, ...     how values are written                  common/format.js
//   h(tag, properties, ...inside) elements, icons, marked text            common/dom.js
//   pictured(image, preview, …)   a photo, and what is seen until it is there  common/preview.js
//   failure(error)                what is told of a call that failed      common/failure.js
//   header(page)                  the top of a page                       common/header.js
export * from "./common/call.js";
export * from "./common/text.js";
export * from "./common/format.js";
export * from "./common/dom.js";
export * from "./common/preview.js";
export * from "./common/failure.js";
export * from "./common/header.js";
