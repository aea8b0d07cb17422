// SPDX-License-Identifier: Apache-2.0
// page.mjs - connect-web and grpc-web in a browser, on a page of another origin than the server's:
// page.html?server=URL&closed=URL. What went well, or wrong, is in window.said.
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { GrpcWebClientBase, MethodDescriptor, MethodType } from "grpc-web";
import { check, create, fromBinary, readTypes, runCases, toBinary } from "./cases.mjs";

const asked = new URLSearchParams(location.search);
const baseUrl = asked.get("server");
window.said = [];
const say = (line) => window.said.push(line);

// A method as grpc-web's generator would have made it.
function describe(types, name) {
  const method = types.getService("torg.test.v1.EchoService").methods.find((each) => each.name === name);
  const kind = method.methodKind === "unary" ? MethodType.UNARY : MethodType.SERVER_STREAMING;
  return new MethodDescriptor(`/torg.test.v1.EchoService/${name}`, kind, Object, Object,
    (message) => toBinary(method.input, create(method.input, message)),
    (bytes) => fromBinary(method.output, bytes));
}

const url = (name) => `${baseUrl}/torg.test.v1.EchoService/${name}`;

function count(client, types, request) {
  return new Promise((resolve, reject) => {
    const counts = [];
    const stream = client.serverStreaming(url("Count"), request, {}, describe(types, "Count"));
    stream.on("data", (each) => counts.push(Number(each.count)));
    stream.on("error", reject);
    stream.on("end", () => resolve(counts.join()));
  });
}

async function runGrpcWeb(types) {
  for (const format of ["text", "binary"]) {
    const client = new GrpcWebClientBase({ format });
    const ask = (name, request, metadata = {}) =>
      client.unaryCall(url(name), request, metadata, describe(types, name));
    check("unary", (await ask("Echo", { text: "ä" })).text === "ä");
    check("large", (await ask("Echo", { replySize: 100000 })).text.length === 100000);
    const failed = await ask("Fail", { code: "NOT_FOUND", text: "gone ä" }).catch((error) => error);
    check("error", failed.code === 5 && failed.message === "gone ä", `${failed.code} ${failed.message}`);
    const late = await ask("Sleep", { milliseconds: 100000 }, { deadline: String(Date.now() + 3000) }).catch((error) => error);
    check("deadline", late.code === 4, `${late.code} ${late.message}`);
    if (format === "text") check("stream", await count(client, types, { count: 3, replySize: 5000 }) === "1,2,3");
    say(`ok grpc-web, ${format}`);
  }
}

try {
  const types = readTypes(new Uint8Array(await (await fetch("/types")).arrayBuffer()));
  const transports = [true, false].map((useBinaryFormat) => ({
    name: `connect-web, binary ${useBinaryFormat}`,
    transport: createConnectTransport({ baseUrl, useBinaryFormat, useHttpGet: !useBinaryFormat }),
  }));
  transports.push({ name: "connect-web, gRPC-Web", transport: createGrpcWebTransport({ baseUrl }) });
  await runCases(types, transports, createConnectTransport({ baseUrl: asked.get("closed") }), say);
  await runGrpcWeb(types);
  say("all went well");
} catch (error) {
  say(`FAILED ${error.stack || error}`);
}
