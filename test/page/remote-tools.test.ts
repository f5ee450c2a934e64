/** What the page reads of a server that it does not know: bounded, and each fault named. */

import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import { test } from "node:test";
import { remoteServer } from "#generator/dev/page-server/remote-tools.js";
import { toolAddress } from "#generator/http/tools-at.js";
import { listen } from "../listening.js";

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

const serverOf = async (answer: RequestListener) => `http://${await listen(createServer(answer))}`;

/** A server of tools at paths; `metaOf` makes the document of one. */
function toolsAt(paths: readonly string[], metaOf: (path: string) => string): Promise<string> {
  return serverOf((request, response) => {
    const [, path = ""] = /^\/(.+)\/meta$/.exec(request.url ?? "") ?? [];
    if (request.url === "/tools?details") response.end(JSON.stringify(paths));
    else if (path !== "") response.end(metaOf(path));
    else response.writeHead(404).end();
  });
}

test("reads no tools from a server that lists too many", async () => {
  let asked = 0;
  const paths = Array.from({ length: 1001 }, (_, i) => `t${i}`);
  const url = await toolsAt(paths, (path) => {
    asked++;
    return meta(`xyz.page.${path}@1`);
  });
  await assert.rejects(remoteServer(url, undefined), / has 1001 tools; at most 1000 are supported/);
  assert.equal(asked, 0);
});

test("stops reading metadata at a limit", async () => {
  let asked = 0;
  const paths = Array.from({ length: 100 }, (_, i) => `t${i}`);
  const url = await toolsAt(paths, (path) => {
    asked++;
    return meta(`xyz.page.${path}@1`, 3 * 1024 * 1024);
  });
  await assert.rejects(remoteServer(url, undefined), /exceeds 16777216 bytes in total/);
  assert.equal(asked, 6);
});

test("reports a tool that cannot be read, and one whose FQN another has, and shows the others", async () => {
  const url = await toolsAt(["good", "bad", "same"], (path) => (path === "bad" ? "{}" : meta("xyz.page.good@1")));
  const { tools, problems } = await remoteServer(url, undefined);
  assert.deepEqual(
    tools.map(({ view }) => view.url),
    [`${url}/good`],
  );
  assert.deepEqual(
    problems.map(({ title }) => title),
    [`${url}/bad is not shown`, `${url}/same is not shown`],
  );
  assert.equal(problems[1]?.text, `${url}/same has the same FQN as ${url}/good: xyz.page.good@1`);
});

test("shows the tools that a server lists, also if it answers /meta of every path", async () => {
  const url = await serverOf((request, response) => {
    if (request.method === "POST") response.writeHead(401).end();
    else response.end(request.url === "/tools?details" ? '["a"]' : meta("xyz.page.all@1"));
  });
  const { tools, problems } = await remoteServer(url, undefined);
  assert.deepEqual([tools.map(({ view }) => view.url), problems], [[`${url}/a`], []]);
});

test("stops after a tool that does not answer", async () => {
  let asked = 0;
  const url = await serverOf((request, response) => {
    if (request.url === "/tools?details") response.end('["good","cut","never"]');
    else if (request.url === "/good/meta") response.end(meta("xyz.page.good@1"));
    else if (request.url === "/meta") response.writeHead(404).end();
    else if (request.method === "GET") {
      asked++;
      response.destroy();
    } else response.writeHead(401).end();
  });
  const { tools, problems, signed } = await remoteServer(url, undefined);
  assert.deepEqual([tools.length, signed, asked], [1, true, 1]);
  assert.match(problems[0]?.title ?? "", /\/cut, with the tools listed after it, is not shown$/);
});

test("the path of a tool may end in the name of an endpoint", async () => {
  const url = await serverOf((request, response) => {
    const isMeta = ["/shop/meta", "/shop/health/meta"].includes(request.url ?? "");
    response.writeHead(isMeta ? 200 : 404).end(isMeta ? meta("xyz.page.shop@1") : "");
  });
  for (const [given, address] of [
    ["shop/health", "shop/health"],
    ["shop/health/invoke", "shop/health"],
    ["shop/meta", "shop"],
    ["shop/", "shop"],
  ]) {
    assert.equal(await toolAddress(`${url}/${given}`), `${url}/${address}`, given);
  }
});

test("does not follow a redirect, and reports its status", async () => {
  const url = await serverOf((_, response) => response.writeHead(302, { location: "/elsewhere" }).end());
  await assert.rejects(
    remoteServer(url, undefined),
    /is not a tool server: \/meta answers 302, and \/tools lists no tools$/,
  );
});
