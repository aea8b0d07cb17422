// SPDX-License-Identifier: Apache-2.0
// console.js - the page /console.
import { header } from "./common.js";

header("console");
