/** A real Prometheus (Debian's package) with a configuration of a test. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { until } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";
import { leasePort } from "./process.js";

const isThere = (program: string) => spawnSync(program, ["--version"]).status === 0;
const MISSING =
  !(isThere("prometheus") && isThere("promtool")) &&
  "NOT TESTED: prometheus is not installed (apt-get install prometheus)";

/** Options of a test or suite that needs Prometheus; a skipped one is reported on standard error. */
export function withPrometheus(): { readonly skip: string | false } {
  if (MISSING) after(() => console.error(`\n${MISSING}: docs/deploy/monitoring was not run\n`));
  return { skip: MISSING };
}

/** An alert that is pending or firing. */
export interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
}

interface Rule {
  readonly name: string;
  readonly health: "ok" | "err" | "unknown";
  readonly lastError?: string;
}

export class Prometheus {
  /** Folder of the configuration: file names in it are relative to this folder. */
  readonly folder = mkdtempSync(join(tmpdir(), "svc-prometheus-"));
  #url = "";

  /** Files beside the configuration, by name. */
  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  /** Starts it with a configuration, as YAML or JSON, and waits until it is ready. */
  async start(config: string): Promise<void> {
    const port = await leasePort();
    this.#url = `http://127.0.0.1:${port}`;
    this.write("prometheus.yml", config);
    const args = [`--config.file=${this.folder}/prometheus.yml`, `--storage.tsdb.path=${this.folder}/data`];
    const child = spawn("prometheus", [...args, `--web.listen-address=127.0.0.1:${port}`, "--log.level=error"], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    atEnd(() => {
      child.kill("SIGKILL");
      rmSync(this.folder, { recursive: true, force: true });
    });
    await until(async () => {
      assert.equal(child.exitCode, null, "Prometheus runs");
      return (await fetch(`${this.#url}/-/ready`).catch(() => undefined))?.ok === true;
    }, "Prometheus");
  }

  /** The samples of an instant query. */
  async query(expr: string): Promise<readonly { readonly metric: Readonly<Record<string, string>> }[]> {
    return (await this.#get<{ result: [] }>(`query?query=${encodeURIComponent(expr)}`, expr)).result;
  }

  async alerts(): Promise<readonly Alert[]> {
    return (await this.#get<{ alerts: Alert[] }>("alerts")).alerts;
  }

  async rules(): Promise<readonly Rule[]> {
    return (await this.#get<{ groups: { rules: Rule[] }[] }>("rules")).groups.flatMap(({ rules }) => rules);
  }

  async #get<T>(path: string, what = path): Promise<T> {
    const response = await fetch(`${this.#url}/api/v1/${path}`);
    const { status, error, data } = (await response.json()) as { status: string; error?: string; data: T };
    assert.equal(status, "success", `${what}: ${error}`);
    return data;
  }
}
