// SPDX-License-Identifier: Apache-2.0
// cabinet.js - the page /cabinet.
import { header } from "./common.js";

header("cabinet");
