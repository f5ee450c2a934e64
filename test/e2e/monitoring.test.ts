/** docs/deploy/monitoring: the dashboard and the alerts, against the metrics of servers, and in Prometheus itself. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import type { Address, BootstrapOptions } from "#runtime/index.js";
import { RedisReplayStore } from "#runtime/redis/index.js";
import { SUM, signedConfig } from "../bench/requests.js";
import { readExposition } from "../runtime/exposition.js";
import { countingTool, echoCall, serveFor, serveSigned, until } from "../runtime/tools.js";
import { readCompose } from "./deployment.js";
import { startExample } from "./process.js";
import { Prometheus, withPrometheus } from "./prometheus.js";
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
    // Made by Prometheus for each target.
    "up",
  ]);
}

const namesIn = (expr: string) => expr.match(/\b(?:svc|process|nodejs)_\w+|\bup\b/g) ?? [];

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
  it("queries only metrics that a server has", async () => {
    const known = await allNames();
    for (const { title, expr } of queries) {
      assert.ok(namesIn(expr).length > 0, title);
      for (const name of namesIn(expr)) assert.ok(known.has(name), `${title}: ${name}`);
    }
    for (const { name, definition } of dashboard.templating.list) {
      for (const metric of namesIn(definition ?? "")) assert.ok(known.has(metric), `${name}: ${metric}`);
    }
  });

  it("shows every metric of svc-runtime except those of a fixed list", async () => {
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

  it("has a title, a description, a unit and a position for each panel", () => {
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

it("the alerts query metrics that a server has, and have descriptions", async () => {
  const known = await allNames();
  for (const { alert, expr, annotations } of rules) {
    assert.ok(namesIn(expr).length > 0, alert);
    for (const name of namesIn(expr)) assert.ok(known.has(name), `${alert}: ${name}`);
    assert.ok(annotations.summary, alert);
  }
});

/** What has no data here: no TLS, and nothing goes wrong. */
const EMPTY = ["Certificate", "Failed commands"];

const FOLDER = "docs/deploy/monitoring";

interface ScrapeFile {
  readonly global: object;
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly static_configs?: readonly { readonly targets: readonly string[] }[];
    readonly kubernetes_sd_configs?: readonly { role: string; selectors: readonly { label: string }[] }[];
  }[];
}
interface PodSpec {
  readonly containers: readonly {
    readonly name: string;
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  }[];
}

describe("the scrape configurations for compose", () => {
  for (const [scrape, base, more] of [
    ["prometheus.yaml", "docs/deploy/compose.yaml", `${FOLDER}/compose.yaml`],
    ["prometheus-replicas.yaml", "docs/deploy/replicas/compose.yaml", `${FOLDER}/compose-replicas.yaml`],
  ] as const) {
    it(`${scrape} has the admin port of every server of ${base}, which ${more} opens beyond loopback`, () => {
      const servers = Object.keys(readCompose(readFileSync(base, "utf8")).services).filter((name) =>
        /^tool/.test(name),
      );
      const { services } = readCompose(readFileSync(more, "utf8"));
      const config = parse(readFileSync(`${FOLDER}/${scrape}`, "utf8")) as ScrapeFile;
      const targets = config.scrape_configs.flatMap(({ job_name, static_configs = [] }) => {
        assert.equal(job_name, "svc", "the alerts expect it");
        return static_configs.flatMap((each) => each.targets);
      });
      assert.ok(servers.length > 0);
      assert.deepEqual(
        targets,
        servers.map(
          (name) => `${name}:${/^0\.0\.0\.0:(\d+)$/.exec(services[name]?.environment?.SVC_ADMIN_ADDR ?? "")?.[1]}`,
        ),
      );
      const { command = [] } = services.prometheus ?? assert.fail();
      assert.ok(command.includes(`--config.file=/etc/prometheus/${scrape}`));
    });
  }
});

describe("Prometheus", withPrometheus(), () => {
  it("accepts the alerts", () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "rules", ALERTS], { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  });

  it("accepts the scrape configurations for compose", () => {
    for (const name of ["prometheus.yaml", "prometheus-replicas.yaml"]) {
      const args = ["check", "config", `${FOLDER}/${name}`];
      const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
      assert.equal(status, 0, stdout + stderr);
    }
  });

  it("scrapes the admin port of the pods of kubernetes.yaml", async () => {
    const server = await serveFor([tool()], { admin: LOCAL });
    const resources = parseAllDocuments(readFileSync("docs/deploy/kubernetes.yaml", "utf8")).map((document) =>
      document.toJS(),
    ) as { kind: string; spec: { template: { metadata: { labels: Record<string, string> }; spec: PodSpec } } }[];
    const { metadata, spec } = (resources.find(({ kind }) => kind === "Deployment") ?? assert.fail()).spec.template;
    const config = parse(readFileSync(`${FOLDER}/prometheus-kubernetes.yaml`, "utf8")) as ScrapeFile;
    const [job = assert.fail()] = config.scrape_configs;
    const [{ role, selectors } = assert.fail()] = job.kubernetes_sd_configs ?? [];
    assert.equal(role, "pod");
    const [name, value] = selectors[0]?.label.split("=") ?? [];
    assert.equal(metadata.labels[name ?? ""], value, "the selector finds the pods");
    // Debian builds Prometheus without discovery of Kubernetes: these are the targets that it makes of two pods.
    const targets = ["Running", "Failed"].flatMap((phase) =>
      spec.containers.flatMap(({ ports }) =>
        ports.map(({ name: port }) => ({
          targets: [port === "admin" ? new URL(server.adminUrl ?? "").host : new URL(server.url).host],
          labels: {
            __meta_kubernetes_pod_name: `tool-${phase}`,
            __meta_kubernetes_pod_phase: phase,
            __meta_kubernetes_pod_container_port_name: port,
          },
        })),
      ),
    );
    const { kubernetes_sd_configs: _discovery, ...rest } = job;
    const prometheus = new Prometheus();
    prometheus.write("alerts.yaml", readFileSync(ALERTS, "utf8"));
    const here = { ...rest, static_configs: targets, scrape_interval: "1s" };
    await prometheus.start(JSON.stringify({ ...config, scrape_configs: [here] }));
    await until(async () => (await prometheus.query("svc_ready == 1")).length > 0, "a scraped pod");
    const found = (await prometheus.query("up == 1")).map(({ metric }) => [metric.job, metric.instance]);
    assert.deepEqual(found, [["svc", "tool-Running"]]);
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
    const config = {
      global: { scrape_interval: "1s", evaluation_interval: "1s" },
      scrape_configs: [{ job_name: "svc", static_configs: [{ targets }] }],
    };
    const prometheus = new Prometheus();
    // JSON is YAML.
    await prometheus.start(JSON.stringify(config));
    const ask = async (expr: string) => (await prometheus.query(filledIn(expr))).length;
    let call = 0;
    const callAll = async () => {
      for (const [at, server] of servers.entries()) {
        const signed = echoCall(tools[at] as (typeof tools)[number], `${++call}`);
        for (let times = 0; times < 2; times++) assert.equal((await signed.send(server.url)).status, 200);
        const tampered = echoCall(tools[at] as (typeof tools)[number], "1", { hash: Buffer.alloc(32) });
        assert.equal((await tampered.send(server.url)).status, 422);
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
  });
});
