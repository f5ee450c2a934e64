/** The benches measure what they say: their arithmetic, and a run of the smallest size. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { judgeRatio, tabulate } from "../bench/report.js";
import { quantile, summarize } from "../bench/statistics.js";
import { TYPESCRIPT } from "../bench/target.js";
import { scratchFolder } from "../scratch-folder.js";

const FULL = process.env.SVC_TEST_FULL === "1";
const RUN = fileURLToPath(new URL("../bench/run.ts", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));

describe("statistics", () => {
  it("quantiles are interpolated between neighbouring values, in any order of the input", () => {
    assert.equal(quantile([9, 1, 5], 0.5), 5);
    assert.equal(quantile([4, 1, 3, 2], 0.5), 2.5);
    assert.equal(quantile([10, 20], 0.99), 19.9);
    assert.equal(quantile([7], 0.99), 7);
    assert.deepEqual(summarize([1, 2, 3, 4, 100]), { median: 3, spread: 1 });
  });

  it("goals compare the measured side with the first side", () => {
    const rows = tabulate(
      [
        ["floor", [{ ms: 10 }, { ms: 20 }]],
        ["measured", [{ ms: 15 }, { ms: 30 }]],
      ],
      "ms",
    );
    assert.equal(rows[0]?.ratio, undefined);
    assert.equal(judgeRatio("ratio", rows[1], { atMost: 1.5 }).met, true);
    assert.equal(judgeRatio("ratio", rows[1], { atMost: 1.4 }).met, false);
    assert.throws(() => judgeRatio("of the floor to itself", rows[0], { atMost: 1 }), /not measured/);
  });
});

describe("npm run bench", () => {
  const run = (names: readonly string[], cwd: string, env: Record<string, string> = {}) =>
    spawnSync(process.execPath, [...TYPESCRIPT, RUN, ...names], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, BENCH_REPEATS: "1", BENCH_CALLS: "40", BENCH_ENTRIES: "40", BENCH_WARM_UP: "40", ...env },
    });

  it("an unknown name is an error that names the others", () => {
    const { status, stderr } = run(["fastest"], REPOSITORY);
    assert.equal(status, 1);
    assert.match(
      stderr,
      /^no bench fastest: choose of signed, unsigned, retry, client, mcp, nonces, first, .*shared, floods, gen\n$/,
    );
  });

  it("one run prints rows, goals and verdicts and writes them to a file", {
    skip: (process.platform !== "linux" || !FULL) && "measures; Linux, test:full",
  }, () => {
    const names = ["signed", "first"];
    const directory = scratchFolder();
    const { status, stdout, stderr } = run(names, directory);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /svc-runtime signed +µs CPU .* × the first/);
    assert.match(stdout, /goal: CPU a signed call, of the floor: .*, at most 1.3: (met|missed)/);
    const { settings, machine, results } = JSON.parse(readFileSync(join(directory, "bench-results.json"), "utf8"));
    assert.deepEqual({ repeats: settings.repeats, calls: settings.calls }, { repeats: 1, calls: 40 });
    assert.equal(machine.node, process.version);
    assert.deepEqual(Object.keys(results), names);
    assert.equal(results.signed.rows.length, 2);
    assert.equal(results.first.rows.length, 4);
  });
});
