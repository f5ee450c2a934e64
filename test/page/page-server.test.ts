/** The server of the development page without a browser: who is answered, what is sent, what never leaves it. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { withoutSecrets } from "#generator/dev/page-server/calls/hidden-secrets.js";
import { DevelopmentPage } from "#generator/dev/page-server/development-page.js";
import type { CallEntry, ExchangeReport } from "#generator/dev/page-server/page-api.js";
import { type PageContent, PageServer } from "#generator/dev/page-server/page-server.js";
import { createHarness, type Harness } from "#runtime/testing.js";
import { REPOSITORY } from "../repository.js";
import { until } from "../runtime/tools.js";
import { Adding, CONTRACTS } from "./adding.js";
import { firstEvents, stateOf } from "./requests.js";

const WRONG_CALL = "a call needs a known kind and an input as text: reload the page";
const LEADER = { id: "alice", keyId: 0, key: "11".repeat(32) };

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

async function send(url: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> {
  const method = body === undefined ? "GET" : "POST";
  const sent = request(url, { method, headers, agent: false }).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

describe("the page's server", () => {
  let harness: Harness<typeof Adding>;
  let page: DevelopmentPage;
  let origin: string;
  before(async () => {
    harness = await createHarness(Adding, { contracts: CONTRACTS, signed: false });
    page = new DevelopmentPage({ url: await harness.http(), leader: () => ({ leader: LEADER }) });
    await page.open();
    origin = new URL(page.url).origin;
  });
  after(async () => {
    await page.close();
    await harness.close();
  });

  const post = (name: string, body: unknown, headers: Record<string, string> = {}) => {
    const text = JSON.stringify(body);
    const length = String(Buffer.byteLength(text));
    const own = { Origin: origin, "Content-Type": "application/json", "Content-Length": length };
    return send(`${page.url}api/${name}`, { ...own, ...headers }, text);
  };

  test("answers requests with its address, token and origin", async () => {
    assert.match(page.url, /^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
    const { status, headers } = await send(page.url, { "Accept-Encoding": "gzip" });
    assert.equal(status, 200);
    assert.equal(headers["content-type"], "text/html; charset=utf-8");
    const policy = String(headers["content-security-policy"]);
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.equal(headers["referrer-policy"], "no-referrer", "the token goes to no other host");
    assert.equal(headers["access-control-allow-origin"], undefined);
  });

  test("listens on 127.0.0.1 only", { skip: process.platform !== "linux" }, async () => {
    // Linux has the whole of 127.0.0.0/8, so a listener on every address would answer here.
    const socket = connect({ host: "127.0.0.2", port: Number(new URL(origin).port) });
    await assert.rejects(once(socket, "connect"), { code: "ECONNREFUSED" });
  });

  const content: PageContent = {
    endpoints: {},
    events: () => [
      ["state", {}],
      ["log", []],
      ["history", []],
    ],
    served: () => null,
    openApi: () => undefined,
  };

  /** The streams that a server has: an event is written once for each. */
  const streamsOf = (server: PageServer) => {
    let written = 0;
    server.send("state", { toJSON: () => written++ });
    return written;
  };

  test("disconnects a page that does not read its events", async (t) => {
    const server = new PageServer(content);
    await server.listen();
    const stream = request(`${server.url}api/events`).on("error", () => undefined);
    t.after(() => {
      stream.destroy();
      return server.close();
    });
    // Not read from here on.
    await once(stream.end(), "response");
    assert.equal(streamsOf(server), 1);
    const text = "x".repeat(2 ** 20);
    const isCut = () => {
      server.send("state", text);
      return streamsOf(server) === 0;
    };
    await until(isCut, "cut", 200);
  });

  test("closes the event stream of a page that is reloaded", async (t) => {
    const server = new PageServer(content);
    await server.listen();
    t.after(() => server.close());
    for (let loads = 0; loads < 3; loads++) await firstEvents(server.url);
    await until(() => streamsOf(server) === 0, "no stream is left", 4_000);
  });

  test("refuses another Host, another origin, another site, and a wrong token", async () => {
    const { port } = new URL(origin);
    assert.equal((await send(page.url, { Host: `localhost:${port}` })).status, 403, "a name that was rebound");
    assert.equal((await send(page.url, { Host: "127.0.0.1" })).status, 403);
    assert.equal((await send(page.url, { Origin: "http://evil.example" })).status, 403);
    assert.equal((await send(page.url, { "Sec-Fetch-Site": "cross-site" })).status, 403);
    assert.equal((await send(page.url, { "Sec-Fetch-Site": "same-site" })).status, 403, "another port of this machine");
    for (const path of ["/", "/page.js", `/${"a".repeat(32)}/`, "/../"]) {
      assert.equal((await send(`${origin}${path}`)).status, 404, path);
    }
    assert.equal((await post("health", { fqn: "x" }, { Origin: "http://evil.example" })).status, 403);
    assert.equal((await send(`${page.url}api/call`, { "Content-Length": "2" }, "{}")).status, 403, "without an Origin");
    assert.equal((await post("health", {}, { "Content-Type": "text/plain" })).status, 415);
    assert.equal((await post("nothing", {})).status, 404);
    assert.equal((await send(`${page.url}openapi.json`)).status, 404, "of a project only");
    assert.equal((await post("constructor", {})).status, 404);
    assert.equal((await send(`${page.url}..%2f..%2fpackage.json`)).status, 404);
    const chunked = { "Content-Type": "application/json", Origin: origin, "Transfer-Encoding": "chunked" };
    assert.equal((await send(`${page.url}api/health`, chunked, "{}")).status, 413, "of no length");
    const huge = String(64 * 1024 * 1024);
    assert.equal((await post("call", {}, { "Content-Length": huge })).status, 413);
  });

  test("answers an invalid request with the reason", async () => {
    const fqn = "xyz.page.adding@1";
    assert.deepEqual(JSON.parse((await post("call", { fqn: "x", kind: "call" })).text), {
      error: "this tool is no longer served",
    });
    const call = { fqn, kind: "call", signed: false };
    assert.match((await post("call", { ...call, input: "{" })).text, /the input is not JSON/);
    assert.match((await post("call", { ...call, input: "[]" })).text, /the input is not a JSON object/);
    assert.match(
      (await post("call", { ...call, input: "{}", kind: "retry", of: "?" })).text,
      /no longer in the history/,
    );
    for (const kind of ["nonsense", "constructor", "__proto__", undefined]) {
      const { status, text } = await post("call", { ...call, input: "{}", kind });
      assert.deepEqual([status, JSON.parse(text)], [400, { error: WRONG_CALL }], kind);
    }
    assert.deepEqual(JSON.parse((await post("call", call)).text), { error: WRONG_CALL });
    assert.deepEqual(await post("call", null).then(({ status }) => status), 400);
  });

  test("sends a secret, and hides it in texts, hex and answers that repeat it", async () => {
    const secret = 'sk-"canary"-1';
    const shown = '{"a":"••••••••","b":2,"words":["x"]}';
    const input = JSON.stringify({ a: secret, b: 2, words: ["x"] });
    const call = { fqn: "xyz.page.adding@1", kind: "call", input, shown, secrets: [secret] };
    for (const signed of [false, true]) {
      const { text } = await post("call", { ...call, signed });
      const { input: kept, exchange } = JSON.parse(text) as ExchangeReport;
      assert.equal(kept, shown);
      assert.equal(exchange.request.body.hex, "");
      assert.match(exchange.request.body.text ?? "", /"••••••••"/);
      assert.doesNotMatch(text, /canary/);
      assert.ok(!text.includes(Buffer.from("canary").toString("hex")));
      const again = await post("call", { ...call, kind: "retry", of: (JSON.parse(text) as ExchangeReport).id, signed });
      assert.doesNotMatch(again.text, /canary/);
    }
    await page.follow({ event: "line", line: `the tool writes ${secret}` }, () => "");
    assert.match(await firstEvents(page.url), /the tool writes ••••••••/);
  });

  test("shows a blocked server until it answers again, and sends a line of the log once", async () => {
    const problems = async () => (await stateOf(page.url)).problems.map(({ title }) => title);
    await page.follow({ event: "blocked", seconds: 5 }, () => "");
    assert.deepEqual(await problems(), ["the server is blocked"]);
    await page.follow({ event: "blocked", seconds: 0 }, () => "");
    assert.deepEqual(await problems(), []);
    const lines: string[] = [];
    const stream = request(`${page.url}api/events`, (response) => {
      response.setEncoding("utf8").on("data", (text: string) => lines.push(text));
    }).end();
    await page.follow({ event: "line", line: "once" }, () => "");
    await until(() => lines.join("").includes("event: history"), "the page is open");
    await page.follow({ event: "line", line: "last" }, () => "");
    await until(() => lines.join("").includes("last"), "the last line arrives");
    assert.equal(lines.join("").match(/"text":"once"/g)?.length, 1);
    stream.destroy();
  });

  test("hides secrets of any length", async () => {
    const secret = 'sk-"canary"-1';
    const call = { fqn: "xyz.page.adding@1", kind: "call", input: "{}" };
    assert.equal(withoutSecrets(`{"a":"x","b":"xy"} ${secret}`, ["x", secret]), '{"a":"••••••••","b":"xy"} ••••••••');
    assert.equal((await post("call", { ...call, secrets: [1] })).status, 400);
  });

  test("sends the history, without secrets, to every page that opens", async () => {
    const input = `{"a":1,"b":2,"words":["${"x".repeat(500)}"]}`;
    const call = { fqn: "xyz.page.adding@1", kind: "call", signed: false, input };
    const report = JSON.parse((await post("call", call)).text) as ExchangeReport;
    const entries = JSON.parse(
      /^event: history\ndata: (.*)$/m.exec(await firstEvents(page.url))?.[1] ?? "",
    ) as CallEntry[];
    const [last] = entries;
    assert.deepEqual([last?.id, last?.status, last?.outcome, last?.kind], [report.id, 200, "ok", "call"]);
    assert.ok(last !== undefined && last.ms > 0 && last.preview.length <= 160 && !("exchange" in last));
    assert.deepEqual(JSON.parse((await post("report", { id: report.id })).text), report);
    assert.match((await post("report", { id: "?" })).text, /this call is no longer in the history/);
    assert.ok(entries.length > 1 && !JSON.stringify(entries).includes("canary"));
  });

  test("the last 200 calls can be repeated", async () => {
    const call = { fqn: "xyz.page.adding@1", signed: false, input: '{"a":1,"b":2,"words":["x"]}' };
    const ids: string[] = [];
    for (let calls = 0; calls < 201; calls++) {
      ids.push((JSON.parse((await post("call", { ...call, kind: "call" })).text) as ExchangeReport).id);
    }
    assert.match((await post("call", { ...call, kind: "retry", of: ids[0] })).text, /no longer in the history/);
    assert.equal((await post("call", { ...call, kind: "retry", of: ids[1] })).status, 200);
  });

  test("--host: accepts IP addresses and names of the machine, refuses other names", async (t) => {
    const server = new PageServer(content);
    await server.listen({ host: "127.0.0.2", port: 0, exact: true, token: "t".repeat(32) });
    t.after(() => server.close());
    const { port } = new URL(server.url);
    assert.equal(server.url, `http://127.0.0.2:${port}/${"t".repeat(32)}/`);
    const served = async (headers: Record<string, string>) => (await send(`${server.url}api/served`, headers)).status;
    for (const host of [`127.0.0.2:${port}`, "192.0.2.7:99", "[2001:db8::1]:99", "localhost:1", hostname()])
      assert.equal(await served({ Host: host }), 200, host);
    for (const host of ["evil.example", `evil.example:${port}`, "localhost.evil.example", "."])
      assert.equal(await served({ Host: host }), 403, host);
    assert.equal(await served({ Host: "192.0.2.7:99", Origin: "http://192.0.2.8:99" }), 403, "another origin");
  });

  test("refuses a taken port if it was requested, otherwise chooses another", async (t) => {
    const first = new PageServer(content);
    const second = new PageServer(content);
    await first.listen();
    t.after(() => Promise.all([first.close(), second.close()]));
    const port = Number(new URL(first.url).port);
    await assert.rejects(second.listen({ port, exact: true }), /port \d+ of the page is not available \(EADDRINUSE\)/);
    await second.listen({ port, exact: false });
    assert.notEqual(Number(new URL(second.url).port), port);
  });

  test("a call, with no private key in any output", async () => {
    const events = await firstEvents(page.url);
    const state = await stateOf(page.url);
    assert.equal(state.signed, false);
    assert.equal(state.signers[0]?.leaderId, "alice");
    const answer = await post("call", {
      fqn: "xyz.page.adding@1",
      kind: "call",
      signed: true,
      input: '{"a":1,"b":2,"words":["x"]}',
    });
    const report = JSON.parse(answer.text) as ExchangeReport;
    assert.equal(report.exchange.response?.status, 422, "the server runs unsigned");
    assert.match(report.exchange.error?.advice ?? "", /The server accepts unsigned calls only/);
    const health = await post("health", { fqn: "xyz.page.adding@1" });
    assert.equal(JSON.parse(health.text).status, 200);
    for (const text of [events, answer.text]) assert.ok(!text.includes(LEADER.key));
  });

  test("the page has at most 250 kB compressed, and refers to no other host", () => {
    const folder = join(REPOSITORY, "dist/page");
    const licences = readFileSync(join(folder, "licences.txt"), "utf8");
    assert.equal(licences.match(/Permission is hereby granted/g)?.length, 4, "of all that is bundled");
    const served = readdirSync(folder).filter((name) => name !== "licences.txt");
    const texts = served.map((name) => readFileSync(join(folder, name)));
    const size = texts.reduce((sum, text) => sum + gzipSync(text).length, 0);
    assert.ok(size > 5_000 && size < 250_000, `${size} bytes`);
    const hosts = texts.flatMap((text) => text.toString().match(/https?:\/\/[^/"'`\s)]+/g) ?? []);
    // Names of the namespaces of SVG and MathML are no addresses that a browser asks.
    assert.deepEqual(
      hosts.filter((host) => host !== "http://www.w3.org"),
      [],
    );
  });
});
