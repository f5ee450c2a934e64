/** The demo of the report example: a result of several MiB through the development store, two tools and a leader. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LeaderClient, LeaderError } from "#runtime/leader.js";
import { until } from "../runtime/tools.js";
import { startExample } from "./process.js";

const DEMO = fileURLToPath(new URL("../../examples/report/dist/demo.js", import.meta.url));

describe("report", () => {
  test("the demo prints every step and exits with 0", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [DEMO], { encoding: "utf8", timeout: 120_000 });
    assert.equal(status, 0, stderr);
    assert.equal(stderr, "");
    const steps = stdout.split("\n").flatMap((line) => /^(\w+) {2,}\S/.exec(line)?.[1] ?? []);
    assert.deepEqual(steps, ["small", "large", "result", "resolved", "audited", "failure", "journal"]);
    assert.match(stdout, /250 accounts: 30000 lines, 3\.\d MiB stored in one blob/);
    assert.match(stdout, /30000 lines are correct/);
    assert.match(stdout, /one upload of 2\.\d MiB is not, paid: maybe/);
    assert.ok(stdout.endsWith("\nAll checks passed.\n"));
  });

  test("without the settings of the operator the tool renders nothing, and only the log has the reason", async () => {
    const server = await startExample("report", {}, { WALRUS_PUBLISHER: "", REPORT_JOURNAL: join("no", "where") });
    try {
      const render = await LeaderClient.connect(`${server.url}/report/render`);
      const input = { title: "", currency: "EUR", from: new Date(0), months: 1, accounts: ["a"] };
      await assert.rejects(render.invokeUnsigned(input), (error: unknown) => {
        assert.ok(error instanceof LeaderError);
        assert.equal(error.message, "the tool answered 500 tool_invocation_failed");
        return true;
      });
      assert.equal(await render.health(), 500);
      const reason = /REPORT_JOURNAL|WALRUS_PUBLISHER is not set/;
      await until(() => reason.test(server.log()), "the reason is in the log");
      render.close();
      const audit = await LeaderClient.connect(`${server.url}/report/audit`);
      const line = { account: "a", month: "2024-01", opening: 1n, credits: 5n, debits: 2n, closing: 4n };
      const report = (...lines: object[]) => ({ report: { title: "", currency: "EUR", from: new Date(0), lines } });
      const next = { ...line, month: "2024-02", opening: 4n, closing: 7n };
      assert.deepEqual((await audit.invokeUnsigned(report(line, next))).value, { lines: 2, closing: 7 });
      const broken = { ...next, closing: 8n };
      assert.deepEqual((await audit.invokeUnsigned(report(line, broken))).value, { line: 1, reason: "closing" });
      const jump = { ...next, opening: 5n, closing: 8n };
      assert.deepEqual((await audit.invokeUnsigned(report(line, jump))).value, { line: 1, reason: "opening" });
      audit.close();
    } finally {
      assert.equal(await server.stop(), 0);
    }
  });
});
