/** docs/deploy/monitoring: the dashboard and the alerts against the metrics of servers, and by promtool. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import type { BootstrapOptions } from "#runtime/index.js";
import { RedisReplayStore } from "#runtime/redis/index.js";
import { readExposition } from "../runtime/exposition.js";
import { countingTool, serveFor } from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { readCompose } from "./deployment.js";

const FOLDER = "docs/deploy/monitoring";
const read = (path: string) => readFileSync(path, "utf8");
const dashboard = JSON.parse(read(`${FOLDER}/grafana-dashboard.json`)) as {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly definition?: string }[] };
};
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const { groups } = parse(read(`${FOLDER}/alerts.yaml`)) as { groups: { rules: { alert: string; expr: string }[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Names of all metrics of a server, as queries write them. */
async function metricNames(options: BootstrapOptions): Promise<string[]> {
  // Unsigned: a server that requires signatures waits for its store.
  const server = await serveFor([countingTool()], { admin: [[127, 0, 0, 1], 0], ...options });
  const families = readExposition(await (await fetch(`${server.adminUrl}/metrics`)).text());
  return [...families].flatMap(([name, { type }]) =>
    type === "histogram" ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  );
}

it("the dashboard and the alerts query only metrics that a server has", async () => {
  const known = new Set([
    ...(await metricNames({})),
    ...(await metricNames({ replayStore: new RedisReplayStore({ url: "unix:///none" }) })),
    // After the first command of a store, with TLS, and of Prometheus itself.
    ...["svc_replay_store_seconds_bucket", "svc_certificate_expiry_timestamp_seconds", "up"],
  ]);
  const namesIn = (expr: string) => expr.match(/\b(?:svc|process|nodejs)_\w+|\bup\b/g) ?? [];
  for (const expr of [...queries, ...rules.map(({ expr }) => expr)]) assert.notEqual(namesIn(expr).length, 0, expr);
  const definitions = dashboard.templating.list.map(({ definition = "" }) => definition);
  const named = [...queries, ...definitions, ...rules.map(({ expr }) => expr)].flatMap(namesIn);
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
});

describe("the scrape configurations for compose", () => {
  for (const [scrape, base, more] of [
    ["prometheus.yaml", "docs/deploy/compose.yaml", `${FOLDER}/compose.yaml`],
    ["prometheus-replicas.yaml", "docs/deploy/replicas/compose.yaml", `${FOLDER}/compose-replicas.yaml`],
  ] as const) {
    it(`${scrape} has the admin port of every server of ${base}, which ${more} opens beyond loopback`, () => {
      const servers = Object.keys(readCompose(read(base)).services).filter((name) => name.startsWith("tool"));
      const { services } = readCompose(read(more));
      const { scrape_configs: configs } = parse(read(`${FOLDER}/${scrape}`)) as {
        scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
      };
      const portOf = (name: string) =>
        /^0\.0\.0\.0:(\d+)$/.exec(services[name]?.environment?.SVC_ADMIN_ADDR ?? "")?.[1];
      // The alerts expect the name of the job.
      assert.deepEqual(
        configs.map(({ job_name, static_configs }) => [job_name, static_configs.flatMap(({ targets }) => targets)]),
        [["svc", servers.map((name) => `${name}:${portOf(name)}`)]],
      );
    });
  }
});

/** Series of each alert: their values of 20 minutes, first when the alert fires, then when it does not. */
const SERIES: Readonly<Record<string, readonly (readonly [series: string, fires: string, rests: string])[]>> = {
  ServerDown: [['up{job="svc",instance="a"}', "0x20", "1x20"]],
  NoServer: [['up{job="svc",instance="svc"}', "_x20", "1x20"]],
  CallRanTwice: [["svc_replay_conflicts_total", "0+1x20", "7x20"]],
  ReplayStoreAway: [["svc_replay_store_up", "0x20", "1x20"]],
  ReplayStoreFull: [['svc_replay_claims_total{outcome="full"}', "0+1x20", "7x20"]],
  ReplayMemoryNearlyFull: [
    ["svc_replay_bytes", "91x20", "89x20"],
    ["svc_replay_bound_bytes", "100x20", "100x20"],
  ],
  NotReady: [["svc_ready", "0x20", "1x20"]],
  LeaderRefused: [
    ['svc_leader_calls_total{leader="a",code="auth_failed"}', "0+9x20", "0+9x20"],
    ['svc_leader_calls_total{leader="a",code="ok"}', "5x20", "0+1x20"],
  ],
  CallsUnauthenticated: [
    ['svc_calls_total{tool="t",status="401",code="auth_failed"}', "0+6x20", "0+4x20"],
    ['svc_calls_total{tool="t",status="200",code="ok"}', "0+4x20", "0+6x20"],
  ],
  CallsFail: [
    ['svc_calls_total{tool="t",status="500",code="internal"}', "0+6x20", "0+4x20"],
    ['svc_calls_total{tool="t",status="200",code="ok"}', "0+94x20", "0+96x20"],
  ],
  RunsPastTheirDeadline: [['svc_late_results_total{tool="t"}', "0+1x20", "7x20"]],
  RefusedForLoad: [['svc_load_refused_total{reason="runs"}', "0+1x20", "7x20"]],
  EventLoopHeldUp: [["nodejs_eventloop_lag_p99_seconds", "0.3x20", "0.1x20"]],
  FileRefused: [['svc_file_faulty{file="config"}', "1x20", "0x20"]],
  // Time begins at 0: six days and eight days.
  CertificateEnds: [["svc_certificate_expiry_timestamp_seconds", "518400x20", "691200x20"]],
  LogLinesDropped: [["svc_log_dropped_total", "0+1x20", "7x20"]],
};

const isMissing = spawnSync("promtool", ["--version"]).error !== undefined;
const PROMTOOL = { skip: isMissing && "NOT TESTED: promtool is not installed (apt-get install prometheus)" };

describe("promtool", PROMTOOL, () => {
  const promtool = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync("promtool", args, { encoding: "utf8" });
    assert.equal(status, 0, stdout + stderr);
  };
  /** Tests whose rules are the shipped ones, evaluated each minute. */
  const test = (tests: readonly object[]) => {
    const path = join(scratchFolder(), "tests.yaml");
    // JSON is YAML.
    writeFileSync(path, JSON.stringify({ rule_files: [resolve(FOLDER, "alerts.yaml")], tests }));
    promtool("test", "rules", path);
  };

  it("accepts the scrape configurations for compose", () => {
    for (const name of ["prometheus.yaml", "prometheus-replicas.yaml"])
      promtool("check", "config", `${FOLDER}/${name}`);
  });

  it("can evaluate every query of the dashboard", () => {
    const filled = queries.map((expr) => expr.replace(/\$__r\w+/g, "5m").replace(/\$(?:job|instance|tool)\b/g, ".*"));
    test([{ promql_expr_test: filled.map((expr) => ({ expr: `count(${expr}) < 0`, eval_time: "5m" })) }]);
  });

  it("every alert fires alone, for its cause, and for no other value of the same metrics", () => {
    assert.deepEqual(Object.keys(SERIES).sort(), rules.map(({ alert }) => alert).sort());
    const expr = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const running = { series: 'up{job="svc",instance="svc"}', values: "1x20" };
    test(
      Object.entries(SERIES).flatMap(([alert, series]) =>
        [0, 1].map((at) => ({
          interval: "1m",
          input_series: [
            ...(alert === "NoServer" ? [] : [running]),
            ...series.map(([name, ...values]) => ({ series: name, values: values[at] })),
          ],
          promql_expr_test: [
            { expr, eval_time: "20m", exp_samples: at === 0 ? [{ labels: `{alertname="${alert}"}`, value: 1 }] : [] },
          ],
        })),
      ),
    );
  });
});
