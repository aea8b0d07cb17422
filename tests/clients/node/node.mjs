// SPDX-License-Identifier: Apache-2.0
// node.mjs TYPES URL URL-WITH-KEYS - connect-node, and connect-web by Node's own fetch.
import { readFileSync } from "node:fs";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import * as web from "@connectrpc/connect-web";
import { readTypes, runCases } from "./cases.mjs";

const [file, baseUrl, closedUrl] = process.argv.slice(2);
const transports = [];
for (const httpVersion of ["1.1", "2"]) {
  const both = httpVersion === "2";
  for (const useBinaryFormat of [true, false])
    transports.push({ name: `connect-node, HTTP/${httpVersion}, binary ${useBinaryFormat}`, both, sending: true,
      transport: createConnectTransport({ baseUrl, httpVersion, useBinaryFormat }) });
  transports.push({ name: `connect-node, GET, HTTP/${httpVersion}`, both, sending: true,
    transport: createConnectTransport({ baseUrl, httpVersion, useHttpGet: true }) });
  transports.push({ name: `connect-node, gRPC-Web, HTTP/${httpVersion}`, both, sending: true,
    transport: createGrpcWebTransport({ baseUrl, httpVersion }) });
}
transports.push({ name: "connect-node, gRPC", both: true, sending: true,
  transport: createGrpcTransport({ baseUrl, httpVersion: "2" }) });
for (const useBinaryFormat of [true, false])
  transports.push({ name: `connect-web by fetch, binary ${useBinaryFormat}`,
    transport: web.createConnectTransport({ baseUrl, useBinaryFormat, useHttpGet: useBinaryFormat }) });
transports.push({ name: "connect-web by fetch, gRPC-Web", transport: web.createGrpcWebTransport({ baseUrl }) });
const closed = createConnectTransport({ baseUrl: closedUrl, httpVersion: "1.1" });
await runCases(readTypes(readFileSync(file)), transports, closed, (line) => console.log(line));
console.log("all went well");
process.exit(0);
