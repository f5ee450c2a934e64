/**
 * The standalone server is a fastify application. Without fastify, users would miss what each of these tests names: the
 * routes in a router, hooks around every call, plugins, `inject`.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Socket } from "node:net";
import { describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import compress from "@fastify/compress";
import helmet from "@fastify/helmet";
import type { FastifyInstance } from "#runtime/fastify.js";
import type { BootstrapOptions } from "#runtime/index.js";
import { mounted } from "./mounted-tools.js";
import { exchange, expectError, RawConnection, requestText } from "./raw.js";
import {
  alice,
  type CountingTool,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  sendPlain,
  serveFor,
  serveSigned,
  signedConfig,
  until,
} from "./tools.js";

/** A standalone server with its application. */
async function served(tools: readonly CountingTool[], configure: (app: FastifyInstance) => unknown = () => {}) {
  let app: FastifyInstance | undefined;
  const keep = (given: FastifyInstance) => {
    app = given;
    return configure(given);
  };
  const server = await serveFor(tools, { configure: keep } as BootstrapOptions);
  return { url: server.url, app: app as unknown as FastifyInstance };
}

const CALL = '{"value":1}';
const calling = (...headers: [string, string][]): [string, string][] => [...headers, ["Content-Length", "11"]];

describe("the router of a standalone server", () => {
  it("lists the routes of tools with their methods", async () => {
    const { app } = await served([countingTool({ path: "a/sum" })]);
    const has = (method: string, url: string) => app.hasRoute({ method, url } as Parameters<typeof app.hasRoute>[0]);
    for (const [method, url] of [
      ["POST", "/a/sum/invoke"],
      ["GET", "/a/sum/meta"],
      ["GET", "/a/sum/health"],
      ["HEAD", "/a/sum/health"],
      ["GET", "/tools"],
      ["GET", "/health"],
    ] as const) {
      assert.ok(has(method, url), `${method} ${url}`);
      assert.ok(!has("OPTIONS", url), "left to CORS plugins");
    }
    const routes = app.printRoutes({ commonPrefix: false }).split("\n");
    assert.ok(routes.includes("├── /a/sum/invoke (POST)"), routes.join("\n"));
  });

  it("finds paths with pattern characters, byte for byte, next to the author's routes", async () => {
    const odd = countingTool({ path: "o:dd*(x)/100%" });
    const { url } = await served([odd], (app) => app.get("/own/:name", (request) => (request.params as object) ?? {}));
    expectResult(await sendPlain(url, "/o:dd*(x)/100%/invoke?a=%zz", CALL), echoed("1"));
    for (const path of ["/o:dd*(x)/100%25/invoke", "/o:dd%2A(x)/100%/invoke", "/o1dd2(x)/100%/invoke"]) {
      expectError(await sendPlain(url, path, CALL), 404, "not_found");
    }
    const own = await exchange(url, requestText("GET", "/own/J%C3%BC"));
    assert.equal(own.body.toString(), '{"name":"Jü"}');
    assert.equal(odd.calls.invoked, 1);
  });

  it("has its own handler of unknown paths; an author may add others below a prefix", async () => {
    const handler = (app: FastifyInstance) => app.setNotFoundHandler((_request, reply) => reply.code(404).send("mine"));
    const { url } = await served([countingTool()], (app) =>
      app.register(async (part: FastifyInstance) => void handler(part), { prefix: "/site" }),
    );
    assert.equal((await exchange(url, requestText("GET", "/site/none"))).body.toString(), "mine");
    expectError(await exchange(url, requestText("GET", "/none")), 404, "not_found");
    await assert.rejects(served([countingTool()], handler), /Not found handler already set/);
  });

  it("refuses an unknown path without reading its body", async () => {
    const { url } = await served([countingTool()], () => {});
    const text = requestText("POST", "/none", [
      ["Content-Type", "application/json"],
      ["Content-Length", "1000"],
    ]);
    expectError(await exchange(url, text, "POST"), 404, "not_found");
    const bad = requestText("POST", "/none", [["Content-Type", "garbage"], ...calling()], "{".repeat(11));
    expectError(await exchange(url, bad, "POST"), 404, "not_found");
  });
});

describe("the hooks of a standalone server", () => {
  it("run around a call, in order, and may add headers", async () => {
    const tool = countingTool({ path: "sum" });
    const seen: string[] = [];
    const { url } = await served([tool], (app) => {
      for (const name of ["onRequest", "preValidation", "preHandler", "onResponse"] as const) {
        app.addHook(
          name,
          async (request) => void seen.push(`${name} ${request.routeOptions.url} ${tool.calls.invoked}`),
        );
      }
      app.addHook("preParsing", async () => void seen.push("preParsing"));
      app.addHook("onSend", async (_request, reply, payload) => {
        seen.push(`onSend ${reply.getHeader("content-type")}`);
        reply.header("x-seen", "yes");
        return payload;
      });
    });
    const answer = await sendPlain(url, tool.target, CALL);
    assert.deepEqual([answer.status, answer.body, answer.headers.get("x-seen")], [200, echoed("1"), "yes"]);
    await until(() => seen.length === 6, "the last hook");
    assert.deepEqual(seen, [
      "onRequest /sum/invoke 0",
      "preParsing",
      "preValidation /sum/invoke 0",
      "preHandler /sum/invoke 0",
      `onSend ${answer.headers.get("content-type")}`,
      "onResponse /sum/invoke 1",
    ]);
    for (const [method, path] of [
      ["GET", "/sum/meta"],
      ["HEAD", "/sum/health"],
      ["GET", "/sum/invoke"],
      ["OPTIONS", "/sum/invoke"],
      ["GET", "/none"],
    ] as const) {
      assert.equal((await exchange(url, requestText(method, path), method)).headers.get("x-seen"), "yes", path);
    }
  });

  it("may refuse a call of any content type", async () => {
    const tool = countingTool({ path: "sum" });
    const { url } = await served([tool], (app) => {
      app.addHook("preHandler", async (_request, reply) => reply.code(403).send({ whose: "mine" }));
    });
    for (const type of ["application/json", "garbage", "", "a/b/c"]) {
      const answer = await sendPlain(url, tool.target, CALL, ["Content-Type", type]);
      assert.deepEqual([answer.status, answer.body.toString()], [403, '{"whose":"mine"}'], type);
    }
    assert.equal(tool.calls.constructed, 0);
  });

  it("may compress answers, for callers that accept it, and signatures stay valid", async () => {
    const tool = countingTool({ path: "sum" });
    const configure = (app: FastifyInstance) => app.register(compress, { threshold: 0, customTypes: /./ });
    const { url } = await serveSigned([tool], { configure } as BootstrapOptions);
    const call = echoCall(tool, "1");
    const answer = await exchange(url, call.text(["Accept-Encoding", "gzip"]));
    assert.equal(answer.headers.get("content-encoding"), "gzip");
    expectResult({ ...answer, body: gunzipSync(answer.body) }, echoed("1"), call);
    expectResult(await call.send(url), echoed("1"), call);
  });

  it("and their plugins also set headers on refusals of unread bodies", async () => {
    const tool = countingTool({ path: "sum" });
    const { url } = await served([tool], (app) => app.register(helmet));
    const connection = await RawConnection.open(url);
    connection.send(requestText("POST", tool.target, [["Content-Length", "12582913"]]));
    const answer = await connection.response("POST");
    expectErrorOf(answer, 413, "payload_too_large");
    assert.equal(answer.headers.get("x-frame-options"), "SAMEORIGIN");
    assert.equal(answer.headers.get("connection"), "close");
    connection.close();
  });
});

/** {@link expectError} for an answer with headers of plugins. */
function expectErrorOf({ status, body }: { status: number; body: Buffer }, expected: number, code: string): void {
  assert.equal(status, expected);
  assert.equal((JSON.parse(body.toString()) as { error: string }).error, code);
}

it("sends headers and a short body in one write, without a charset", async (t) => {
  const tool = countingTool({ path: "sum" });
  const { url } = await served([tool]);
  let writes = 0;
  const prototype = Socket.prototype as unknown as { _writeGeneric(this: Socket, ...args: unknown[]): unknown };
  const write = prototype._writeGeneric;
  t.after(() => {
    prototype._writeGeneric = write;
  });
  prototype._writeGeneric = function (...args) {
    if (this.localPort === Number(new URL(url).port)) writes++;
    return write.apply(this, args);
  };
  for (const path of ["/none", "/sum/meta"]) {
    const answer = await exchange(url, requestText("GET", path));
    assert.deepEqual([answer.headers.get("content-type"), writes], ["application/json", 1], path);
    writes = 0;
  }
});

it("every bypass of fastify in DECISIONS.md names a test that exists", () => {
  const page = readFileSync(new URL("../../DECISIONS.md", import.meta.url), "utf8");
  const [, table = ""] = page.split("  | bypass | rule | test |\n");
  const [rows = ""] = table.split("\n- **");
  const named = [...rows.matchAll(/`([\w-]+)`: "([^"]+)"/g)];
  assert.equal(named.length, 8);
  for (const [, file, title] of named) {
    const text = readFileSync(new URL(`./${file}.test.ts`, import.meta.url), "utf8");
    assert.ok(text.includes(`("${title}"`), `${file}: ${title}`);
  }
});

describe("errors of hooks and of fastify itself", () => {
  it("a method that fastify refuses without a content type is refused like any other", async () => {
    const tool = countingTool({ path: "sum" });
    const { url } = await served([tool]);
    for (const [path, status, code] of [
      ["/none", 404, "not_found"],
      ["/sum/invoke", 405, "method_not_allowed"],
    ] as const) {
      expectError(await exchange(url, requestText("QUERY", path), "QUERY"), status, code);
      const twoHosts = `QUERY ${path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`;
      expectError(await exchange(url, twoHosts, "QUERY"), 400, "bad_request");
    }
  });

  for (const [what, hook] of [
    ["throws", async () => Promise.reject(new Error("canary"))],
    [
      "sets an invalid header",
      async (_: unknown, reply: { header(name: string, value: string): unknown }) =>
        void reply.header("x-bad", "caf\u0100\n"),
    ],
  ] as const) {
    it(`an onSend hook that ${what}: 500 without its message, and a log line`, async () => {
      const tool = countingTool({ path: "sum" });
      const configure = (app: FastifyInstance) => app.addHook("onSend", hook as never);
      const { url, log } = await serveFor([tool], { configure } as BootstrapOptions);
      for (const path of ["/sum/meta", "/none"]) {
        const answer = await exchange(url, requestText("GET", path));
        assert.deepEqual([answer.status, answer.body.toString()], [500, '{"error":"internal_error"}'], path);
      }
      assert.equal(log.filter(({ level }) => level === "error").length >= 2, true);
    });
  }

  it("a refusal of a hook keeps its status, set by the application's error handler", async () => {
    const tool = countingTool({ path: "sum" });
    const { url } = await served([tool], (app) => {
      app.setErrorHandler((error, _request, reply) => reply.code(429).send({ mine: (error as Error).message }));
      app.addHook("preHandler", async () => Promise.reject(Object.assign(new Error("slow down"), { statusCode: 429 })));
    });
    const answer = await sendPlain(url, tool.target, CALL);
    assert.deepEqual([answer.status, answer.body.toString()], [429, '{"mine":"slow down"}']);
  });
});

describe("Expect: 100-continue", () => {
  const expecting = (tool: CountingTool, leader = alice) => {
    const call = echoCall(tool, "1", { leader });
    const framing = [
      ["Expect", "100-continue"],
      ["Content-Length", `${call.body.length}`],
    ] as const;
    return { call, head: requestText("POST", tool.target, [...call.headers, ...framing]) };
  };

  it("is answered 100 after the caller is verified, also for mounted tools if the application listens for it", async () => {
    const [own, other] = [countingTool(), countingTool()];
    const standalone = await serveSigned([own]);
    const { url } = await mounted([other], {
      config: signedConfig([other.fqn]),
      before: (app) => app.server.on("checkContinue", app.routing),
    });
    for (const [tool, where] of [
      [own, standalone.url],
      [other, url],
    ] as const) {
      const stranger = await RawConnection.open(where);
      stranger.send(expecting(tool, { ...alice, seed: Buffer.alloc(32, 66) }).head);
      expectError(await stranger.response("POST"), 401, "auth_failed");
      stranger.close();
      const connection = await RawConnection.open(where);
      const { call, head } = expecting(tool);
      assert.equal((await connection.send(head).response("POST")).status, 100);
      expectResult(await connection.send(call.body).response("POST"), echoed("1"), call);
      connection.close();
    }
  });
});

it("mounted tools accept any content type, although the application parses its own", async () => {
  const tool = countingTool();
  const { url } = await mounted([tool], { prefix: "/t" });
  for (const type of ["garbage", "application/json", ""]) {
    expectResult(await sendPlain(url, `/t${tool.target}`, CALL, ["Content-Type", type]), echoed("1"));
  }
  assert.equal((await sendPlain(url, "/own", CALL, ["Content-Type", "garbage"])).status, 415);
  const own = await sendPlain(url, "/own", CALL, ["Content-Type", "application/json"]);
  assert.equal(own.body.toString(), `{"got":${CALL}}`);
});
