/** The admin listener: probes, metrics, its own limits. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, Server as NetServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import * as promClient from "prom-client";
import { prepareSigningKey, publicKeyOf } from "#client/wire/signature/ed25519.js";
import { fastify, svcTools } from "#runtime/fastify.js";
import { type Address, type RunningServer, serve, ToolkitRuntimeConfig } from "#runtime/index.js";
import { RedisReplayStore } from "#runtime/redis/index.js";
import { ServedTool } from "#runtime/server/call/run/served-tool.js";
import { listenAdmin } from "#runtime/server/observe/admin.js";
import { Metrics } from "#runtime/server/observe/metrics.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import { proves } from "../proves.js";
import { scratchFolder } from "../scratch-folder.js";
import { run, stop } from "./child.js";
import { readExposition } from "./exposition.js";
import { exchange, expectError, RawConnection, type RawResponse, requestText } from "./raw.js";
import {
  alice,
  allowList,
  countingTool,
  echoCall,
  gate,
  keptLog,
  OWN_ADDRESS,
  sendPlain,
  serveFor,
  serveSigned,
  signedConfig,
  TOOL_SEED,
  UNSIGNED,
  until,
  waitingTool,
} from "./tools.js";

const LOCAL: Address = [[127, 0, 0, 1], 0];

const adminUrl = ({ adminUrl }: RunningServer): string => adminUrl ?? assert.fail("no admin listener");
const get = (url: string, path: string, method = "GET"): Promise<RawResponse> =>
  exchange(url, requestText(method, path), method);

async function scrape(server: RunningServer) {
  const response = await get(adminUrl(server), "/metrics");
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  const families = readExposition(response.body.toString());
  const samples = new Map([...families.values()].flatMap((family) => [...family.samples]));
  return { families, value: (sample: string) => samples.get(sample), names: [...samples.keys()] };
}

describe("metrics", () => {
  it("count a late result although its tool blocked the event loop", async () => {
    const tool = countingTool({
      fqn: "xyz.test.busy@1",
      timeout: 40,
      invoke: ({ value }) => {
        const end = performance.now() + 60;
        while (performance.now() < end);
        return { ok: { value } };
      },
    });
    const server = await serveSigned([tool], { admin: LOCAL });
    expectError(await echoCall(tool, "1").send(server.url), 504, "tool_invocation_timeout");
    await until(() => server.log.some(({ message }) => message.includes("discarded")), "it ended");
    const { value } = await scrape(server);
    assert.equal(value('svc_late_results_total{tool="xyz.test.busy@1"}'), 1);
    proves("8.11");
  });

  it("count calls by tool, status and code, replays, late results and requests refused before a tool", async () => {
    const open = gate();
    const tool = countingTool({
      fqn: "xyz.test.counted@1",
      timeout: 200,
      invoke: async ({ value }) => {
        if (value === "late") await open.promise;
        return { ok: { value } };
      },
    });
    const server = await serveSigned([tool], { admin: LOCAL });
    const calls = [echoCall(tool, "1"), echoCall(tool, "2")];
    for (const call of [...calls, ...calls.slice(0, 1)]) assert.equal((await call.send(server.url)).status, 200);
    expectError(
      await exchange(server.url, requestText("POST", tool.target, [["Content-Length", "0"]])),
      401,
      "auth_failed",
    );
    expectError(await echoCall(tool, '"late"').send(server.url), 504, "tool_invocation_timeout");
    const before = await scrape(server);
    assert.equal(before.value('svc_tools_running{tool="xyz.test.counted@1"}'), 1);
    assert.equal(before.value('svc_late_results_total{tool="xyz.test.counted@1"}'), 0);
    open.open();
    await until(() => server.log.some(({ message }) => message.includes("discarded")), "it ended");
    for (const path of ["/canary", "/canary2"]) await exchange(server.url, requestText("GET", path));
    await exchange(server.url, "canary\r\n\r\n");

    const { value, names, families } = await scrape(server);
    for (const [sample, expected] of Object.entries({
      'svc_calls_total{tool="xyz.test.counted@1",status="200",code="ok"}': 3,
      'svc_calls_total{tool="xyz.test.counted@1",status="401",code="auth_failed"}': 1,
      'svc_calls_total{tool="xyz.test.counted@1",status="504",code="tool_invocation_timeout"}': 1,
      'svc_call_duration_seconds_count{tool="xyz.test.counted@1"}': 5,
      'svc_replay_hits_total{tool="xyz.test.counted@1"}': 1,
      'svc_late_results_total{tool="xyz.test.counted@1"}': 1,
      'svc_tools_running{tool="xyz.test.counted@1"}': 0,
      'svc_requests_refused_total{code="not_found"}': 2,
      'svc_requests_refused_total{code="bad_request"}': 1,
      'svc_requests_refused_total{code="auth_failed"}': 1,
      'svc_leader_calls_total{leader="alice",code="ok"}': 3,
      'svc_leader_calls_total{leader="alice",code="tool_invocation_timeout"}': 1,
      svc_replay_entries: 3,
      svc_replay_bound_bytes: 536_870_912,
      'svc_memory_budget_bytes{part="replay"}': 536_870_912,
      'svc_memory_budget_bytes{part="bodies"}': 67_108_864,
      svc_ready: 1,
    })) {
      assert.equal(value(sample), expected, sample);
    }
    // In seconds: the call that ended at its deadline of 200 ms is in no lower bucket, and adds at least as much.
    assert.ok((value('svc_call_duration_seconds_bucket{le="0.1",tool="xyz.test.counted@1"}') ?? 5) < 5);
    const seconds = value('svc_call_duration_seconds_sum{tool="xyz.test.counted@1"}') ?? 0;
    assert.ok(seconds >= 0.199 && seconds < 150, `${seconds} s`);
    assert.ok((value("svc_replay_bytes") ?? 0) > 0);
    assert.ok((value("nodejs_eventloop_lag_p99_seconds") ?? -1) >= 0);
    assert.ok((value("process_cpu_seconds_total") ?? 0) > 0);
    const publicKey = Buffer.from(publicKeyOf(TOOL_SEED)).toString("hex");
    assert.equal(value(`svc_signing_key_info{tool="xyz.test.counted@1",public_key="${publicKey}"}`), 1);
    for (const secret of ["canary", TOOL_SEED.toString("hex")]) {
      assert.ok(!names.some((name) => name.includes(secret)), `no ${secret} in a label`);
    }
    assert.equal(families.get("svc_call_duration_seconds")?.type, "histogram");
    proves("8.11");
  });

  it("show one signing key of a tool, also after a rotation", async (t) => {
    const tool = countingTool({ fqn: "xyz.test.rotated@1" });
    const config = signedConfig([tool.fqn]);
    let seed = TOOL_SEED;
    t.mock.method(config, "toolConfig", () => ({ replayTtlMs: 300_000, signingKey: prepareSigningKey(seed) }));
    const server = await serveSigned([tool], { admin: LOCAL, config });
    for (seed of [TOOL_SEED, Buffer.alloc(32, 7)]) {
      const publicKey = Buffer.from(publicKeyOf(seed)).toString("hex");
      const shown = (await scrape(server)).names.filter((name) => name.startsWith("svc_signing_key_info"));
      assert.deepEqual(shown, [`svc_signing_key_info{tool="xyz.test.rotated@1",public_key="${publicKey}"}`]);
    }
  });

  it("show the outcomes and ages of the watched files", async () => {
    const directory = scratchFolder();
    const tool = countingTool({ fqn: "xyz.test.followed@1" });
    const [path, leaders] = [join(directory, "config.json"), join(directory, "leaders.json")];
    writeFileSync(leaders, allowList([alice]), { mode: 0o600 });
    const config = (ttl: number) =>
      JSON.stringify({
        signed_http: { allowed_leaders_path: leaders, tools: { [tool.fqn]: { replay_cache_ttl_ms: ttl } } },
      });
    writeFileSync(path, config(1000), { mode: 0o600 });
    const server = await serveFor([tool], { config: ToolkitRuntimeConfig.fromPath(path), admin: LOCAL });
    writeFileSync(path, config(2000));
    await server.reload();
    writeFileSync(path, "{canary");
    await server.reload();
    const { value } = await scrape(server);
    for (const [sample, expected] of Object.entries({
      'svc_reloads_total{file="config",outcome="applied"}': 1,
      'svc_reloads_total{file="config",outcome="refused"}': 1,
      'svc_reloads_total{file="allow_list",outcome="applied"}': 0,
      'svc_file_faulty{file="config"}': 1,
      'svc_file_faulty{file="allow_list"}': 0,
      'svc_file_faulty{file="certificate"}': undefined,
    })) {
      assert.equal(value(sample), expected, sample);
    }
    const age = value('svc_file_last_good_age_seconds{file="allow_list"}') ?? -1;
    assert.ok(age >= 0 && age < 60, `the file was confirmed ${age} s ago`);
    assert.equal((await get(adminUrl(server), "/readyz")).status, 200, "the last good version serves");
  });

  const page = readFileSync(new URL("../../docs/observe.md", import.meta.url), "utf8");
  /** The metrics that a section of the page lists, with their types. */
  function listedIn(heading: string): [string, string][] {
    const [, section = ""] = page.split(`${heading}\n`);
    const [own = ""] = section.split(/\n##/);
    return own.split("\n").flatMap((row) => {
      if (!row.startsWith("| `svc_")) return [];
      const [, names = "", type = ""] = row.split("|").map((cell) => cell.trim());
      return names.split(", ").map((name): [string, string] => [name.replaceAll("`", ""), type]);
    });
  }
  const given = (families: ReadonlyMap<string, { readonly type: string }>) =>
    [...families].filter(([name]) => name.startsWith("svc_")).map(([name, { type }]): [string, string] => [name, type]);

  it("are listed in docs/observe.md", async () => {
    const { families } = await scrape(await serveFor([countingTool()], { admin: LOCAL }));
    const all = given(families);
    // Only with TLS.
    all.push(["svc_certificate_expiry_timestamp_seconds", "gauge"]);
    assert.deepEqual(listedIn("### Calls and server").sort(), all.sort());
  });

  it("with a shared replay store are listed in docs/observe.md too", async () => {
    const memoryOnly = ["svc_replay_entries", "svc_replay_bytes", "svc_replay_bound_bytes"];
    const { families } = await scrape(await serveFor([countingTool()], { admin: LOCAL }));
    const replayStore = new RedisReplayStore({ url: "unix:///none" });
    const shared = await scrape(await serveFor([countingTool()], { admin: LOCAL, replayStore }));
    const more = given(shared.families).filter(([name]) => !families.has(name));
    // Made with the first command.
    more.push(["svc_replay_store_seconds", "histogram"]);
    assert.deepEqual(listedIn("### Shared replay store").sort(), more.sort());
    const gone = given(families).filter(([name]) => !shared.families.has(name));
    assert.deepEqual(gone.map(([name]) => name).sort(), memoryOnly.sort());
  });

  it("have the ids of at most 1,000 leaders", async () => {
    const registry = new promClient.Registry();
    const loaded = (await Metrics.load(registry)) ?? assert.fail();
    const { class: tool } = countingTool();
    const call = { tool: new ServedTool(tool), request: { id: "1", peer: () => undefined, headers: {} } };
    for (let i = 0; i < 1_002; i++) {
      const ended = { ...call, caller: { leaderId: `leader-${i}` }, ms: 1, steps: {}, replayed: false };
      loaded.ended(ended as never, { status: 200, headers: [], body: Buffer.alloc(0) });
    }
    const { samples } = readExposition(await registry.metrics()).get("svc_leader_calls_total") ?? assert.fail();
    assert.equal(samples.size, 1_001);
    assert.equal(samples.get('svc_leader_calls_total{leader="other leaders",code="ok"}'), 2);
  });

  it("of two servers in a process are separate, except for Node's own metrics", async () => {
    const [one, two] = [countingTool({ fqn: "xyz.test.left@1" }), countingTool({ fqn: "xyz.test.right@1" })];
    const servers = [await serveFor([one], { admin: LOCAL }), await serveFor([two], { admin: LOCAL })] as const;
    await sendPlain(servers[0].url, one.target, '{"value":1}');
    const [left, right] = [await scrape(servers[0]), await scrape(servers[1])];
    assert.equal(left.value('svc_calls_total{tool="xyz.test.left@1",status="200",code="ok"}'), 1);
    assert.ok(!right.names.some((name) => name.includes("left")));
    assert.ok(right.names.includes("nodejs_eventloop_lag_seconds"));
  });
});

describe("probes", () => {
  it("readiness changes when shutdown begins, and liveness does not", async () => {
    const { tool, open } = waitingTool();
    const server = await serveFor([tool], { admin: OWN_ADDRESS });
    const url = adminUrl(server);
    for (const path of ["/livez", "/readyz"]) {
      const { status, headers, body } = await get(url, path);
      assert.deepEqual([status, `${body}`], [200, path === "/livez" ? "ok\n" : "ready\n"]);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal((await get(url, path, "HEAD")).status, 200);
    }
    const answer = sendPlain(server.url, tool.target, '{"value":1}');
    await until(() => tool.calls.invoked === 1, "it runs");
    const end = server.close();
    const { status, body } = await get(url, "/readyz?x");
    assert.deepEqual([status, `${body}`], [503, "not ready: stopping\n"]);
    assert.equal((await get(url, "/livez")).status, 200);
    assert.equal((await scrape(server)).value("svc_ready"), 0);
    open();
    assert.equal((await answer).status, 200);
    await end;
    await assert.rejects(RawConnection.open(url), /ECONNREFUSED/);
  });

  it("one request of a connection is answered at a time: a pipelined one closes it", async () => {
    let read = 0;
    const metrics = { contentType: "text/plain", text: async () => `${++read}` };
    const listener = await listenAdmin(
      { host: "127.0.0.1", port: 0 },
      { readiness: { unready: undefined }, metrics, log: keptLog() },
    );
    const connection = await RawConnection.open(listener.url);
    connection.send(Buffer.concat(new Array(100).fill(requestText("GET", "/metrics"))));
    await connection.closed();
    assert.equal(read, 1);
    assert.equal((await get(listener.url, "/metrics")).status, 200);
    await listener.close();
  });

  it("readiness, ready and svc_ready agree, also mounted, while the replay store is unavailable and afterwards", async (t) => {
    const replayStore: ReplayMemory & { unavailable?: string | undefined } = new ReplayMemory();
    const tool = countingTool();
    const options = { address: LOCAL, admin: LOCAL, config: signedConfig([tool.fqn]), logger: keptLog(), replayStore };
    const server = await serve([tool.class], options);
    t.after(() => server.close());
    const [app, registry] = [fastify(), new promClient.Registry()];
    t.after(() => app.close());
    const { config } = options;
    await app.register(svcTools, { tools: [tool.class], config, replayStore, registry });
    for (const unavailable of [undefined, "no connection", undefined]) {
      replayStore.unavailable = unavailable;
      const { status, body } = await get(adminUrl(server), "/readyz");
      const reason = unavailable === undefined ? "ready\n" : "not ready: replay store: no connection\n";
      assert.deepEqual([status, `${body}`], [unavailable === undefined ? 200 : 503, reason]);
      const ready = (await scrape(server)).value("svc_ready");
      assert.deepEqual([ready === 1, server.ready], [status === 200, status === 200]);
      assert.match(await registry.metrics(), new RegExp(`^svc_ready ${ready}$`, "m"), "mounted");
    }
  });

  it("over loopback only the Host of this machine is answered, so no page reads metrics by DNS rebinding", async () => {
    const url = adminUrl(await serveFor([countingTool()], { admin: LOCAL }));
    for (const [host, status] of [
      ["127.0.0.1:9090", 200],
      ["localhost", 200],
      ["LOCALHOST:1", 200],
      ["[::1]:9090", 200],
      ["page.example:9090", 403],
      ["127.0.0.1.page.example", 403],
      ["localhost.page.example", 403],
      ["", 403],
    ] as const) {
      for (const path of ["/metrics", "/readyz"]) {
        const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
        assert.equal((await exchange(url, text)).status, status, host);
      }
    }
  });

  it("nothing else is served: no tool, no other method, no body", async () => {
    const tool = countingTool();
    const url = adminUrl(await serveFor([tool], { admin: LOCAL }));
    for (const path of ["/", tool.target, "/tools", "/health", "/readyz/", "/Livez", "//livez", "/live%7a"]) {
      assert.equal((await get(url, path)).status, 404, path);
    }
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const response = await get(url, "/metrics", method);
      assert.deepEqual([response.status, response.headers.get("allow")], [405, "GET, HEAD"]);
      assert.equal(response.headers.get("connection"), "close");
    }
    const long = (await RawConnection.open(url)).send(requestText("GET", "/livez", [["X", "x".repeat(9_000)]]));
    assert.match(`${await long.closed()}`, /^HTTP\/1\.1 431 /);
    assert.equal(tool.calls.constructed, 0);
  });
});

describe("its address", { concurrency: 2 }, () => {
  /** The admin URL of a process, and what it has logged until its end. */
  const adminOf = async (options: string, env: Record<string, string> = {}) => {
    const code = `console.log((await bootstrap(One, ${options})).adminUrl ?? "off");`;
    const child = run(code, { env: { BIND_ADDR: "127.0.0.1:0", ...env } });
    await child.url;
    await until(() => child.stdout() !== "", "it says so");
    await stop(child);
    return { url: child.stdout().trim(), log: child.stderr() };
  };

  it("is off by default; SVC_ADMIN_ADDR or the option turns it on, and the option takes precedence", async () => {
    assert.equal((await adminOf("{}")).url, "off");
    const { url } = await adminOf("{ admin: [[127, 0, 0, 2], 0] }", { SVC_ADMIN_ADDR: "127.0.0.1:0" });
    assert.match(url, /^http:\/\/127\.0\.0\.2:\d+$/);
  });

  it("can be an IPv6 address in the environment; the listener ends with the process", async () => {
    const { url, log } = await adminOf("{}", { SVC_ADMIN_ADDR: "[::1]:0" });
    assert.match(url, /^http:\/\/\[::1\]:\d+$/);
    assert.ok(log.includes(`"admin":"${url}"`), "the log says where");
    assert.ok(!log.includes("the admin listener"), "no warning");
  });

  it("logs a warning when other machines can reach it", async () => {
    const server = await serveFor([countingTool()], { admin: [[0, 0, 0, 0], 0] });
    const warnings = server.log.filter(({ level }) => level === "warn").map(({ message }) => message);
    assert.ok(
      warnings.includes(
        "the admin listener is unauthenticated and reachable from other machines: bind it to a loopback or private address",
      ),
    );
  });

  it("an invalid or used address is a start-up error, after which nothing stays open", async (t) => {
    const options = { address: LOCAL, config: UNSIGNED, logger: keptLog() };
    process.env.SVC_ADMIN_ADDR = "localhost:9090";
    t.after(() => delete process.env.SVC_ADMIN_ADDR);
    await assert.rejects(serve([countingTool().class], options), {
      name: "StartupError",
      message:
        "SVC_ADMIN_ADDR: expected an IP literal and a port, such as 127.0.0.1:9090 or [::1]:9090, got a host name",
    });
    const wrong = [[127, 0, 0], 1] as unknown as Address;
    await assert.rejects(serve([countingTool().class], { ...options, admin: wrong }), {
      message: "admin: expected an address such as [[127, 0, 0, 1], 8080], got another value",
    });
    const taken = createServer().listen(0, "127.0.0.1");
    t.after(() => taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    await assert.rejects(serve([countingTool().class], { ...options, admin: [[127, 0, 0, 1], port] }), /EADDRINUSE/);
    // One port of IPv4 and IPv6 is not one address: the system decides, and a machine may have no IPv6.
    process.env.SVC_ADMIN_ADDR = `[::1]:${port}`;
    const both = { ...options, address: [[0, 0, 0, 0], port] as Address, allowUnsigned: true };
    await assert.rejects(serve([countingTool().class], both), /EADDRINUSE|EADDRNOTAVAIL|EAFNOSUPPORT/);
    // The other way round: the port for callers is taken, the admin listener is closed again.
    const listened: NetServer[] = [];
    const { listen } = NetServer.prototype;
    t.mock.method(NetServer.prototype, "listen", function (this: NetServer, ...to: Parameters<typeof listen>) {
      this.once("listening", () => listened.push(this));
      return listen.apply(this, to);
    });
    const failing = serve([countingTool().class], { ...options, address: [[127, 0, 0, 1], port], admin: LOCAL });
    await assert.rejects(failing, /EADDRINUSE/);
    assert.deepEqual(
      listened.map(({ listening }) => listening),
      [false],
    );
  });
});
