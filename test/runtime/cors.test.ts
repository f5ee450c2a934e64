/** What a server with `allowedOrigins` answers to web pages: CORS (Fetch standard, section 3.2). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import cors from "@fastify/cors";
import type { FastifyInstance } from "svc-runtime/fastify";
import { exchange, expectError, type RawResponse, requestText } from "./raw.js";
import {
  type CountingTool,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  sendPlain,
  serveFor,
  serveSigned,
} from "./tools.js";

const PAGE = "https://page.example";
const OTHER = "https://other.example";
const allowedOrigins = [PAGE, "http://localhost:3000"];

type Headers = readonly (readonly [name: string, value: string])[];

const preflightText = (path: string, origin: string, more: Headers = []) =>
  requestText("OPTIONS", path, [["Origin", origin], ["Access-Control-Request-Method", "POST"], ...more]);

const preflight = (url: string, path: string, origin: string, more: Headers = []) =>
  exchange(url, preflightText(path, origin, more), "OPTIONS");

/** The headers that CORS and caches read. */
const corsHeaders = ({ headers }: RawResponse) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("access-control-") || name === "vary"));

/** Status, body and headers, without the date. */
const whole = ({ status, body, headers }: RawResponse) => ({
  status,
  body: body.toString(),
  headers: Object.fromEntries([...headers].filter(([name]) => name !== "date" && name !== "x-request-id")),
});

/** Tools are served beside the application's own hooks and without them. */
const SERVERS: Readonly<Record<string, object>> = {
  alone: {},
  "beside the application's own routes": {
    configure: (app: FastifyInstance) => void app.get("/mine", async () => "mine"),
  },
};

const readable = (prefix = "X-Svc-") => ({
  "access-control-allow-origin": PAGE,
  "access-control-expose-headers": `${prefix}Sig-V, ${prefix}Tool-Signature, ${prefix}Replay-Memory, Retry-After, X-Request-Id`,
});

const allowing = (prefix = "X-Svc-") => ({
  ...readable(prefix),
  "access-control-allow-methods": "GET, HEAD, POST",
  "access-control-allow-headers": `Content-Type, Accept, ${["Sig-V", "Leader-Id", "Leader-Key-Id", "Input-Hash", "Leader-Signature", "Nonce", "Replay-Memory"].map((name) => prefix + name).join(", ")}`,
  "access-control-max-age": "600",
  vary: "Origin",
});

for (const [how, more] of Object.entries(SERVERS)) {
  describe(`a server ${how}`, () => {
    const options = { allowedOrigins, ...more };

    for (const serve of [serveFor, serveSigned]) {
      it(`answers preflights of allowed pages, ${serve === serveSigned ? "signed" : "unsigned"}`, async () => {
        const { url } = await serve([countingTool({ path: "echo" })], options);
        for (const path of ["/echo/invoke", "/echo/meta", "/echo/health", "/tools", "/health"]) {
          const answer = await preflight(url, path, PAGE);
          assert.deepEqual([answer.status, answer.body.length], [204, 0], path);
          assert.deepEqual(corsHeaders(answer), allowing(), path);
          assert.equal(answer.headers.get("cache-control"), "no-store");
        }
      });
    }

    it("lists the headers with the configured prefix", async () => {
      const { url } = await serveSigned([countingTool({ path: "echo" })], { ...options, headerPrefix: "X-Nexus-" });
      assert.deepEqual(corsHeaders(await preflight(url, "/echo/invoke", PAGE)), allowing("X-Nexus-"));
    });

    it("answers a preflight of another page like a server without allowed pages", async () => {
      const paths = ["/echo/invoke", "/echo/meta", "/tools", "/nothing"];
      const { url } = await serveSigned([countingTool({ path: "echo" })], options);
      const { url: closed } = await serveSigned([countingTool({ path: "echo" })], more);
      for (const path of paths) {
        for (const origin of [OTHER, "null", "http://page.example", `${PAGE}.other.example`]) {
          const answer = whole(await preflight(url, path, origin));
          assert.equal(answer.headers.vary, "Origin");
          delete answer.headers.vary;
          const expected = whole(await preflight(closed, path, origin));
          // Each server has a replay memory of its own.
          for (const { headers } of [answer, expected]) delete headers["x-svc-replay-memory"];
          assert.deepEqual(answer, expected, `${origin} ${path}`);
        }
      }
    });

    it("refuses OPTIONS that is not a preflight, one with a body, and one for an unknown path", async () => {
      const { url } = await serveFor([countingTool({ path: "echo" })], options);
      const plain = await exchange(url, requestText("OPTIONS", "/echo/invoke", [["Origin", PAGE]]), "OPTIONS");
      expectError(plain, 405, "method_not_allowed");
      assert.equal(plain.headers.get("allow"), "POST");
      expectError(await preflight(url, "/echo/invoke", PAGE, [["Content-Length", "9"]]), 405, "method_not_allowed");
      expectError(await preflight(url, "/nothing", PAGE), 404, "not_found");
      expectError(await preflight(url, "/e%63ho/invoke", PAGE), 404, "not_found");
    });

    it("lets allowed pages read results, refusals, metadata and health, and no others", async () => {
      const tool = countingTool({ path: "echo" });
      const { url } = await serveSigned([tool], options);
      const call = echoCall(tool, "1");
      call.headers.push(["Origin", PAGE]);
      const result = await call.send(url);
      expectResult(result, echoed("1"), call);
      assert.deepEqual(corsHeaders(result), { ...readable(), vary: "Origin" });
      const get = (path: string, origin: string) =>
        exchange(url, requestText("GET", path, [["Origin", origin]]), "GET");
      for (const path of ["/echo/meta", "/echo/health", "/tools", "/health"]) {
        assert.deepEqual(corsHeaders(await get(path, PAGE)), { ...readable(), vary: "Origin" }, path);
        assert.deepEqual(corsHeaders(await get(path, OTHER)), { vary: "Origin" }, path);
      }
      const refused = await sendPlain(url, tool.target, "{}", ["Origin", PAGE]);
      expectError(refused, 401, "auth_failed");
      assert.deepEqual(corsHeaders(refused), { ...readable(), vary: "Origin" });
    });

    it("separates both variants of an unsigned result in caches", async () => {
      const tool = countingTool({ path: "echo" });
      const { url } = await serveFor([tool], { ...options, unsignedResults: "json" });
      const answer = await sendPlain(url, tool.target, '{"value":1}', ["Origin", PAGE]);
      expectResult(answer, echoed("1"));
      const vary = answer.headers.get("vary") ?? "";
      assert.deepEqual(vary.split(/, ?/).sort(), ["Accept", "Origin"]);
    });
  });
}

describe("with a CORS plugin of the application", () => {
  const serveWithPlugin = async (tool: CountingTool) => {
    const configure = async (app: FastifyInstance) => {
      await app.register(cors, { origin: PAGE, methods: ["POST"], maxAge: 5 });
      app.get("/mine", async () => "mine");
    };
    return serveFor([tool], { allowedOrigins, configure: configure as (app: object) => unknown });
  };

  it("the plugin determines the headers", async () => {
    const tool = countingTool({ path: "echo" });
    const { url } = await serveWithPlugin(tool);
    assert.equal((await preflight(url, tool.target, PAGE)).headers.get("access-control-max-age"), "5");
    const answer = await sendPlain(url, tool.target, '{"value":1}', ["Origin", PAGE]);
    assert.equal(answer.headers.get("access-control-allow-origin"), PAGE);
    expectError(await sendPlain(url, tool.target, '{"value":1}', ["Origin", OTHER]), 403, "permission_denied");
  });
});

it("routes of the application are not opened to the pages that may call tools", async () => {
  const configure = (app: FastifyInstance) => void app.get("/mine", async () => "mine");
  const { url } = await serveFor([countingTool({ path: "echo" })], {
    allowedOrigins,
    configure: configure as (app: object) => unknown,
  });
  expectError(await preflight(url, "/mine", PAGE), 404, "not_found");
  const answer = await exchange(url, requestText("GET", "/mine", [["Origin", PAGE]]), "GET");
  assert.equal(answer.body.toString(), "mine");
  assert.deepEqual(corsHeaders(answer), {});
});

it("a server without allowed pages sends no header of CORS", async () => {
  const tool = countingTool({ path: "echo" });
  const { url } = await serveSigned([tool]);
  const call = echoCall(tool, "1");
  call.headers.push(["Origin", PAGE]);
  assert.deepEqual(corsHeaders(await call.send(url)), {});
  const options = await preflight(url, tool.target, PAGE);
  expectError(options, 405, "method_not_allowed");
  assert.deepEqual(corsHeaders(options), {});
});

it("malformed preflights are refused like any other request", async () => {
  const { url } = await serveFor([countingTool({ path: "sum" })], { allowedOrigins });
  const text = preflightText("/sum/invoke", PAGE).toString().replace("\r\n", "\r\nHost: other\r\n");
  expectError(await exchange(url, text, "OPTIONS"), 400, "bad_request");
});

it("an application that answers OPTIONS of every path itself is a start-up error", async () => {
  const configure = (app: FastifyInstance) => void app.options("*", async () => "mine");
  await assert.rejects(serveFor([countingTool({ path: "sum" })], { allowedOrigins, configure } as object), {
    name: "StartupError",
    message: /^allowedOrigins: the application already has a route OPTIONS \*; /,
  });
});
