// SPDX-License-Identifier: Apache-2.0
// cases.mjs - what every library of Connect for JavaScript must be able to do with testd; run by
// node.mjs, and by page.mjs in a browser.
import { create, createFileRegistry, fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";

export function readTypes(bytes) {
  return createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
}

export function check(what, good, more = "") {
  if (!good) throw new Error(`${what}: ${more}`);
}

// The error that a call ended with.
async function failure(promise) {
  try {
    return new Error(`answered ${JSON.stringify(await promise)}`);
  } catch (error) {
    return error;
  }
}

async function* texts(...list) {
  for (const text of list) yield { text };
}

async function callUnary(client, types) {
  check("unary", (await client.echo({ text: "ä" })).text === "ä");
  check("packed", (await client.echo({ replySize: 100000 })).text.length === 100000);
  const failed = await failure(client.fail({ code: "INVALID", text: "no", fields: ["page_size"] }));
  check("error", failed instanceof ConnectError && failed.code === Code.InvalidArgument
    && failed.rawMessage === "no", failed);
  const [bad] = failed.findDetails(types.getMessage("google.rpc.BadRequest"));
  check("details", bad && /^page_?[sS]ize$/.test(bad.fieldViolations[0].field), JSON.stringify(bad));
  const late = await failure(client.sleep({ milliseconds: 100000 }, { timeoutMs: 300 }));
  check("deadline", late.code === Code.DeadlineExceeded, late);
  let id = "";
  await client.echo({}, { headers: { "x-request-id": "mine-7" }, onHeader: (got) => { id = got.get("x-request-id"); } });
  check("request id", id === "mine-7", id);
}

async function callStreams(client, { sending, both }) {
  const counts = [];
  for await (const each of client.count({ count: 3, replySize: 10000 })) counts.push(Number(each.count));
  check("server stream", counts.join() === "1,2,3", counts);
  const failed = await failure((async () => { for await (const _ of client.count({ count: 1e9, replySize: 1e5 }, { timeoutMs: 300 })); })());
  check("server stream's deadline", failed.code === Code.DeadlineExceeded, failed);
  if (sending) {
    const got = await client.collect(texts("a", "b", "c"));
    check("client stream", got.text === "abc" && got.count === 3n, JSON.stringify(got.text));
  }
  if (!both) return;
  const heard = [];
  for await (const each of client.chat(texts("a", "b"))) heard.push(each.text);
  check("chat", heard.join() === "a,b", heard);
}

// transports: [{name, transport, sending, both}]; closed: a transport to a server with keys.
export async function runCases(types, transports, closed, say) {
  const service = types.getService("torg.test.v1.EchoService");
  for (const each of transports) {
    const client = createClient(service, each.transport);
    try {
      await callUnary(client, types);
      await callStreams(client, each);
    } catch (error) {
      throw new Error(`${each.name}: ${error.stack}`);
    }
    say(`ok ${each.name}`);
  }
  const guarded = createClient(service, closed);
  const failed = await failure(guarded.echo({}));
  check("no key", failed.code === Code.Unauthenticated, failed);
  const { principal } = await guarded.echo({}, { headers: { authorization: "Bearer good" } });
  check("a key", principal === "good", principal);
  say("ok keys");
}

export { create, toBinary, fromBinary };
