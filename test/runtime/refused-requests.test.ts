/** Which leader is refused, and why: the summary at info, the lines at debug, the metrics. */

import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { SignatureHeaders } from "#client/wire/protocol.js";
import { type Address, PermissionDenied } from "#runtime/index.js";
import { detailsOf, type Refusal } from "#runtime/server/call/messages.js";
import { claimsOf } from "#runtime/server/observe/claims.js";
import { RefusedRequests } from "#runtime/server/observe/refused-requests.js";
import { readExposition } from "./exposition.js";
import { exchange, requestText } from "./raw.js";
import {
  alice,
  aliceKey2,
  bob,
  countingTool,
  echoCall,
  gate,
  keptLog,
  type LogEntry,
  sendPlain,
  serveFor,
  serveSigned,
  until,
} from "./tools.js";

const LOCAL: Address = [[127, 0, 0, 1], 0];
const mallory = { id: "mallory", kid: 5n, seed: Buffer.alloc(32, 66) };

interface Group {
  readonly code: string;
  readonly leader?: string;
  readonly count: number;
  readonly last: Readonly<Record<string, unknown>>;
}
const summaries = (log: readonly LogEntry[]) =>
  log.filter(({ message }) => message === "requests were refused").map(({ fields }) => fields.refused as Group[]);

describe("a refused request", () => {
  it("is in the summary with code, leader, claimed caller, address, details and request id, and at debug", async () => {
    const tool = countingTool();
    const server = await serveSigned([tool]);
    const forged = echoCall(tool, "1", { leader: { ...alice, seed: mallory.seed } });
    const sent = forged.headers.map(([name, value]) => [name, value] as const);
    const length = ["Content-Length", "0"] as const;
    await exchange(server.url, requestText("POST", tool.target, [...sent, length, ["X-Request-Id", "r-1"]]));
    const details = "X-Svc-Leader-Signature: does not verify with this leader's key in the allow-list";
    const last = { details, claimedLeader: "alice", claimedKey: "0", peer: "127.0.0.1", request: "r-1" };
    assert.deepEqual(summaries(server.log), [[{ code: "auth_failed", leader: "alice", count: 1, last }]]);
    const [line, ...more] = server.log.filter(({ level }) => level === "debug");
    assert.deepEqual(more, [], "one line");
    const { ms, ...fields } = line?.fields ?? {};
    assert.ok(ms);
    assert.deepEqual(fields, { tool: tool.fqn, status: 401, code: "auth_failed", ...last });
    assert.equal(line?.message, "refused");
  });

  it("is logged at debug even if it is for no tool, and is part of a summary", async () => {
    const tool = countingTool();
    const server = await serveFor([tool]);
    await exchange(server.url, requestText("GET", `/canary${tool.target}/canary?canary`, [["X-Request-Id", "r-1"]]));
    await exchange(server.url, requestText("GET", tool.target));
    await exchange(server.url, "canary\r\n\r\n");
    await exchange(server.url, "\x16\x03\x01canary");
    await exchange(server.url, requestText("CONNECT", "one.example:443"));
    await sendPlain(server.url, tool.target, "{canary");
    await server.close();
    const lines = server.log.filter(({ level, message }) => level === "debug" && message === "refused");
    assert.deepEqual(
      lines.map(({ fields: { code, peer } }) => [code, peer]),
      [
        "not_found",
        "method_not_allowed",
        "bad_request",
        "bad_request",
        "bad_request",
        "input_deserialization_error",
      ].map((code) => [code, "127.0.0.1"]),
    );
    assert.equal(lines[0]?.fields.request, "r-1");
    const [unknown, method, , handshake] = lines.map(({ fields: { path, details } }) => [path, details]);
    assert.deepEqual(unknown, [
      `/*${tool.target}/*`,
      "no tool endpoint is at this path: GET /tools lists the tools, each with /invoke, /meta and /health",
    ]);
    assert.deepEqual(method, [tool.target, "this path allows POST"]);
    assert.match(String(handshake?.[1]), /^a TLS handshake on a port without TLS/);
    assert.match(String(lines[5]?.fields.details), /JSON/, "why, also where the tool's decoder refused");
    const [first, ...rest] = summaries(server.log).map((groups) => groups.map(({ code, count }) => [code, count]));
    assert.deepEqual(first, [["not_found", 1]]);
    assert.deepEqual(rest, [
      [
        ["method_not_allowed", 1],
        ["bad_request", 3],
        ["input_deserialization_error", 1],
      ],
    ]);
    assert.ok(!JSON.stringify(server.log).includes("canary"), "no text of a caller");
  });

  it("has the verified leader if there is one: 403, 409, 422, 503", async () => {
    const open = gate();
    const tool = countingTool({
      authorize: ({ leaderId }) => {
        if (leaderId === "bob") throw new PermissionDenied("not bob");
      },
      invoke: async ({ value }) => {
        if (value === "held") await open.promise;
        return { ok: { value } };
      },
    });
    const load = { limits: { concurrency: 1 } };
    const server = await serveSigned([tool], { admin: LOCAL, load });
    assert.equal((await echoCall(tool, "1", { leader: bob }).send(server.url)).status, 403);
    const held = echoCall(tool, '"held"');
    const answer = held.send(server.url);
    await until(() => tool.calls.invoked === 1, "it runs");
    assert.equal((await held.send(server.url)).status, 409);
    assert.equal((await echoCall(tool, "2", { leader: aliceKey2 }).send(server.url)).status, 503);
    assert.equal((await echoCall(tool, "3", { hash: Buffer.alloc(32) }).send(server.url)).status, 422);
    open.open();
    assert.equal((await answer).status, 200);
    await server.close();
    const groups = summaries(server.log).flat();
    assert.deepEqual(
      groups.map(({ code, leader, count }) => [code, leader, count]),
      [
        ["permission_denied", "bob", 1],
        ["request_in_flight", "alice", 1],
        ["overloaded", "alice", 1],
        ["input_integrity_error", "alice", 1],
      ],
    );
  });

  it("counts by code, and by leader if listed; unlisted leaders never become labels", async () => {
    const tool = countingTool({ fqn: "xyz.test.labelled@1" });
    const server = await serveSigned([tool], { admin: LOCAL });
    await echoCall(tool, "1").send(server.url);
    await echoCall(tool, "1", { leader: { ...bob, seed: mallory.seed } }).send(server.url);
    await echoCall(tool, "1", { leader: mallory }).send(server.url);
    await exchange(server.url, requestText("GET", "/nothing", [["X-Svc-Leader-Id", "alice"]]));
    const families = readExposition(await (await fetch(`${server.adminUrl}/metrics`)).text());
    const samples = (name: string) => Object.fromEntries(families.get(name)?.samples ?? []);
    assert.deepEqual(samples("svc_requests_refused_total"), {
      'svc_requests_refused_total{code="auth_failed"}': 2,
      'svc_requests_refused_total{code="not_found"}': 1,
    });
    assert.deepEqual(samples("svc_leader_calls_total"), {
      'svc_leader_calls_total{leader="alice",code="ok"}': 1,
      'svc_leader_calls_total{leader="bob",code="auth_failed"}': 1,
    });
  });
});

describe("the summary", () => {
  const listed = { has: (id: string) => id.startsWith("listed") };
  const claims = claimsOf(new SignatureHeaders("X-Svc-"), () => listed as never);
  const refusal = (code: Refusal["code"], leader?: string): Refusal => ({
    ...{ id: "1", code, details: undefined, peer: "192.0.2.1", isCall: true },
    headers: leader === undefined ? {} : { "x-svc-leader-id": leader },
  });

  it("logs the first at once, later ones together every minute, and nothing if there are none", () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      const log = keptLog();
      const requests = new RefusedRequests(log, claims, () => {});
      const lines = () =>
        summaries(log.entries.splice(0)).map((all) => all.map(({ code, leader, count }) => [code, leader, count]));
      requests.add(refusal("auth_failed", "listed"));
      assert.deepEqual(lines(), [[["auth_failed", "listed", 1]]]);
      for (const leader of ["listed", "other", "another", "listed"]) requests.add(refusal("auth_failed", leader));
      requests.add(refusal("overloaded", "listed"));
      assert.deepEqual(lines(), []);
      mock.timers.tick(60_000);
      assert.deepEqual(lines(), [
        [
          ["auth_failed", "listed", 2],
          ["auth_failed", undefined, 2],
          ["overloaded", "listed", 1],
        ],
      ]);
      mock.timers.tick(60_000);
      assert.deepEqual(lines(), []);
      requests.add(refusal("not_found"));
      assert.deepEqual(lines(), [[["not_found", undefined, 1]]]);
    } finally {
      mock.timers.reset();
    }
  });

  it("is bounded for any number of listed or claimed leaders, and loses no count", () => {
    const log = keptLog();
    const requests = new RefusedRequests(log, claims, () => {});
    const total = 1_000;
    for (let i = 0; i < total; i++) {
      requests.add(refusal("auth_failed", `listed-${i}-${"x".repeat(10_000)}`));
      requests.add(refusal("auth_failed", `claimed-${i}\u0007${"y".repeat(10_000)}`));
    }
    requests.close();
    const groups = summaries(log.entries).flat();
    assert.ok(groups.length <= 102, `${groups.length} groups`);
    assert.equal(
      groups.reduce((sum, { count }) => sum + count, 0),
      2 * total,
    );
    const text = JSON.stringify(log.entries);
    assert.ok(text.length < 102 * 300, `${text.length} bytes`);
    assert.ok(!/[^\x20-\x7e]|\\u/.test(text), "printable");
  });
});

it("details are truncated and printable, and absent for an invalid body", () => {
  const body = (details: unknown) => Buffer.from(JSON.stringify({ error: "bad_request", details }));
  assert.equal(detailsOf(body("a\nb\u00e9")), "a?b?");
  assert.equal(detailsOf(body("x".repeat(1_000)))?.length, 256);
  for (const other of [body(undefined), body(7), Buffer.from("[]"), Buffer.from("{"), Buffer.alloc(0)]) {
    assert.equal(detailsOf(other), undefined);
  }
});
