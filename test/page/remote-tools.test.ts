/** What the page reads of a server that it does not know: bounded, and each fault named. */

import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { remoteServer } from "#generator/dev/page-server/remote-tools.js";
import { exchange } from "#generator/http-exchange.js";
import { atEnd } from "../teardown.js";

/** A metadata document with a description of this many bytes. */
function meta(fqn: string, size = 1): string {
  const fields = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
  return JSON.stringify({
    fqn,
    url: "http://localhost/",
    timeout: 10_000,
    description: "x".repeat(size),
    input_schema: fields("a"),
    output_schema: {
      oneOf: [{ type: "object", properties: { ok: fields("b") }, required: ["ok"], additionalProperties: false }],
    },
  });
}

async function serverOf(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server of tools at paths; `metaOf` makes the document of one. */
function toolsAt(paths: readonly string[], metaOf: (path: string) => string): Promise<string> {
  return serverOf((request, response) => {
    const [, path = ""] = /^\/(.+)\/meta$/.exec(request.url ?? "") ?? [];
    if (request.url === "/tools") response.end(JSON.stringify(paths));
    else if (path !== "") response.end(metaOf(path));
    else response.writeHead(404).end();
  });
}

test("a server that lists more tools than are shown is asked for none of them", async () => {
  let asked = 0;
  const paths = Array.from({ length: 1001 }, (_, i) => `t${i}`);
  const url = await toolsAt(paths, (path) => {
    asked++;
    return meta(`xyz.page.${path}@1`);
  });
  await assert.rejects(remoteServer(url, undefined), /\/tools lists 1001 tools, at most 1000 are shown/);
  assert.equal(asked, 0);
});

test("metadata without end are read to a bound", async () => {
  let asked = 0;
  const paths = Array.from({ length: 100 }, (_, i) => `t${i}`);
  const url = await toolsAt(paths, (path) => {
    asked++;
    return meta(`xyz.page.${path}@1`, 3 * 1024 * 1024);
  });
  await assert.rejects(remoteServer(url, undefined), /has more than 16777216 bytes in all/);
  assert.equal(asked, 6);
});

test("an answer that begins and does not end is said to be late", async () => {
  const url = new URL(await serverOf((_, response) => response.writeHead(200).write("x")));
  const { failure } = await exchange({ method: "GET", url, timeoutMs: 200 });
  assert.equal(failure?.message, "no whole answer within 200 ms");
});

test("a tool that cannot be read does not hide the others, and is named", async () => {
  const url = await toolsAt(["good", "bad", "good"], (path) => (path === "good" ? meta("xyz.page.good@1") : "{}"));
  const { tools, problems } = await remoteServer(url, undefined);
  assert.deepEqual(
    tools.map(({ view }) => view.fqn),
    ["xyz.page.good@1"],
  );
  assert.deepEqual(
    problems.map(({ title }) => title),
    [`${url}/bad is not shown`],
  );
});

test("of two tools with one FQN the first is shown, and the other one named", async () => {
  const url = await toolsAt(["a", "b"], () => meta("xyz.page.same@1"));
  const { tools, problems } = await remoteServer(url, undefined);
  assert.deepEqual(
    tools.map(({ view }) => view.url),
    [`${url}/a`],
  );
  assert.deepEqual(problems, [
    { title: `${url}/b is not shown`, text: `${url}/b has the FQN of ${url}/a: xyz.page.same@1` },
  ]);
});

test("after a tool that does not answer no other one is waited for", async () => {
  let asked = 0;
  const url = await serverOf((request, response) => {
    if (request.url === "/tools") response.end('["good","cut","never"]');
    else if (request.url === "/good/meta") response.end(meta("xyz.page.good@1"));
    else if (request.url === "/meta") response.writeHead(404).end();
    else if (request.method === "GET") {
      asked++;
      response.destroy();
    } else response.writeHead(401).end();
  });
  const { tools, problems, signed } = await remoteServer(url, undefined);
  assert.deepEqual([tools.length, signed, asked], [1, true, 1]);
  assert.match(problems[0]?.title ?? "", /\/cut and what is listed after it is not shown$/);
});

test("a redirect is not followed, and its status is named", async () => {
  const url = await serverOf((_, response) => response.writeHead(302, { location: "/elsewhere" }).end());
  await assert.rejects(remoteServer(url, undefined), /serves no tools: \/meta answers 302, and \/tools 302$/);
});
