/** docs/deploy/monitoring: the dashboard and the alerts, against the metrics of servers, and in Prometheus itself. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import type { Address, BootstrapOptions } from "#runtime/index.js";
import { RedisReplayStore } from "#runtime/redis/index.js";
import { SUM, signedConfig } from "../bench/requests.js";
import { readExposition } from "../runtime/exposition.js";
import { countingTool, echoCall, serveFor, serveSigned, until } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";
import { leasePort, startExample } from "./process.js";
import { withRedis } from "./redis/installed.js";
import { RedisServer } from "./redis/redis-server.js";

const DASHBOARD = "docs/deploy/monitoring/grafana-dashboard.json";
const ALERTS = "docs/deploy/monitoring/alerts.yaml";

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly datasource: object }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const dashboard = JSON.parse(readFileSync(DASHBOARD, "utf8")) as Dashboard;
const drawn = dashboard.panels.filter(({ type }) => type !== "row");

/** Each query of the dashboard, by the title of its panel. */
const queries = drawn.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}
const rules = (parse(readFileSync(ALERTS, "utf8")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

const LOCAL: Address = [[127, 0, 0, 1], 0];
const tool = () => countingTool({ fqn: "xyz.test.shown@1" });

/** Names of all metrics, as queries write them. */
async function metricNames(options: BootstrapOptions): Promise<string[]> {
  // Unsigned: a server that requires signatures waits for its store.
  const server = await serveFor([tool()], { admin: LOCAL, ...options });
  const families = readExposition(await (await fetch(`${server.adminUrl}/metrics`)).text());
  return [...families].flatMap(([name, { type }]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
}

/** Those of a memory and of a shared store; some exist only with TLS, or after the first command of a store. */
async function allNames(): Promise<Set<string>> {
  const replayStore = new RedisReplayStore({ url: "unix:///none" });
  return new Set([
    ...(await metricNames({})),
    ...(await metricNames({ replayStore })),
    "svc_replay_store_seconds_bucket",
    "svc_certificate_expiry_timestamp_seconds",
  ]);
}

const namesIn = (expr: string) => expr.match(/\b(?:svc|process|nodejs)_\w+/g) ?? [];

/** A query with values in place of Grafana's variables. */
function filledIn(expr: string): string {
  const filled = expr
    .replaceAll("$__rate_interval", "5s")
    .replaceAll("$__range", "10m")
    .replace(/\$(?:job|instance|tool)\b/g, ".*");
  assert.doesNotMatch(filled, /\$/, "no other variable");
  return filled;
}

describe("the dashboard", () => {
  it("asks for metrics that a server has", async () => {
    const known = await allNames();
    for (const { title, expr } of queries) {
      assert.ok(namesIn(expr).length > 0, title);
      for (const name of namesIn(expr)) assert.ok(known.has(name), `${title}: ${name}`);
    }
    for (const { name, definition } of dashboard.templating.list) {
      for (const metric of namesIn(definition ?? "")) assert.ok(known.has(metric), `${name}: ${metric}`);
    }
  });

  it("shows every metric of svc-runtime but those that are told elsewhere", async () => {
    const shown = new Set(queries.flatMap(({ expr }) => namesIn(expr)).map((name) => name.replace(/_bucket$/, "")));
    const names = [...(await allNames())].filter((name) => name.startsWith("svc_")).map(withoutSuffix);
    const missing = [...new Set(names)].filter((name) => !shown.has(name));
    assert.deepEqual(missing.sort(), [
      "svc_file_version_age_seconds",
      "svc_memory_budget_bytes",
      "svc_replay_renewals_total",
      "svc_replay_replaced_connections_total",
      "svc_replay_running",
      "svc_replay_takebacks_total",
      "svc_signing_key_info",
    ]);
  });

  it("has a title, a text, a unit and a place of its own for each panel", () => {
    assert.equal(new Set(dashboard.panels.map(({ id }) => id)).size, dashboard.panels.length);
    const taken = new Set<string>();
    for (const { title, description = "", fieldConfig, gridPos, targets = [] } of drawn) {
      assert.ok(title !== "" && description !== "" && fieldConfig?.defaults.unit !== undefined, title);
      assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
      for (const { datasource } of targets) {
        assert.deepEqual(datasource, { type: "prometheus", uid: `\${datasource}` });
      }
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          assert.ok(x < 24 && !taken.has(`${x} ${y}`), `${title} lies on another panel`);
          taken.add(`${x} ${y}`);
        }
      }
    }
  });
});

const withoutSuffix = (name: string) => name.replace(/(_seconds)_(?:bucket|sum|count)$/, "$1");

it("the alerts ask for metrics that a server has, and say what it means", async () => {
  const known = await allNames();
  for (const { alert, expr, annotations } of rules) {
    assert.ok(namesIn(expr).length > 0, alert);
    for (const name of namesIn(expr)) assert.ok(known.has(name), `${alert}: ${name}`);
    assert.ok(annotations.summary, alert);
  }
});

const isThere = (program: string) => spawnSync(program, ["--version"]).status === 0;
const WITH_PROMETHEUS = {
  skip:
    (process.env.SVC_TEST_FULL !== "1" && "test:full") ||
    (!(isThere("prometheus") && isThere("promtool")) && "NOT TESTED: needs Debian's prometheus"),
};

/** What has no data here: no TLS, and nothing goes wrong. */
const EMPTY = ["Certificate", "Failed commands"];

describe("Prometheus", WITH_PROMETHEUS, () => {
  it("accepts the alerts", () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", ALERTS], { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  });

  it("answers every query of the dashboard with data", withRedis(), async () => {
    const redis = await RedisServer.start();
    const tools = [tool(), tool()] as const;
    const options = { admin: LOCAL, load: { tools: { "xyz.test.shown@1": { concurrency: 4 } } } };
    const servers = [
      await serveSigned([tools[0]], options),
      await serveSigned([tools[1]], { ...options, replayStore: new RedisReplayStore({ url: redis.url }) }),
    ];
    // It follows a file.
    const { admin } = await startExample("sum", signedConfig([SUM.fqn]), { SVC_ADMIN_ADDR: "127.0.0.1:0" });
    const targets = [admin, ...servers.map(({ adminUrl }) => adminUrl)].map((url) => new URL(url ?? "").host);
    const port = await leasePort();
    const directory = mkdtempSync(join(tmpdir(), "svc-prometheus-"));
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      rule_files: [resolve(ALERTS)],
      scrape_configs: [{ job_name: "tools", static_configs: [{ targets }] }],
    };
    // JSON is YAML.
    writeFileSync(join(directory, "prometheus.yml"), JSON.stringify(config));
    const args = [`--config.file=${directory}/prometheus.yml`, `--storage.tsdb.path=${directory}/data`];
    const child = spawn("prometheus", [...args, `--web.listen-address=127.0.0.1:${port}`, "--log.level=error"], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    atEnd(() => {
      child.kill("SIGKILL");
      rmSync(directory, { recursive: true, force: true });
    });

    const url = `http://127.0.0.1:${port}`;
    const isReady = async () => (await fetch(`${url}/-/ready`).catch(() => undefined))?.ok === true;
    await until(async () => {
      assert.equal(child.exitCode, null, "Prometheus runs");
      return isReady();
    }, "Prometheus");
    const ask = async (expr: string): Promise<number> => {
      const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(filledIn(expr))}`);
      const answer = (await response.json()) as { status: string; error?: string; data?: { result: unknown[] } };
      assert.equal(answer.status, "success", `${expr}: ${answer.error}`);
      return answer.data?.result.length ?? 0;
    };
    let call = 0;
    const callAll = async () => {
      for (const [at, server] of servers.entries()) {
        const signed = echoCall(tools[at] as (typeof tools)[number], `${++call}`);
        for (let times = 0; times < 2; times++) assert.equal((await signed.send(server.url)).status, 200);
        assert.equal((await fetch(`${server.url}/nothing-here`)).status, 404);
        const unsigned = await fetch(server.url + signed.target, { method: "POST", body: "{}" });
        assert.equal(unsigned.status, 401);
      }
    };
    for (const { title, expr } of queries.filter(({ title }) => !EMPTY.includes(title))) {
      await until(async () => {
        await callAll();
        return (await ask(expr)) > 0;
      }, `data for ${title}: ${expr}`);
    }
    for (const { expr } of rules) await ask(expr);
  });
});
