/** The demo of the replicas, as `npm run demo:replicas` starts it after the build. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { scratchFolder } from "../scratch-folder.js";
import { atEnd } from "../teardown.js";

const DEMO = fileURLToPath(new URL("../../examples/sum/dist/replicas-demo.js", import.meta.url));
const hasProgram = (name: string, version: string) => spawnSync(name, [version]).status === 0;
const missing = [
  ...(hasProgram("redis-server", "--version") ? [] : ["redis-server"]),
  ...(hasProgram("nginx", "-v") ? [] : ["nginx-light"]),
];
const WITHOUT = {
  skip:
    missing.length > 0 && `NOT TESTED: needs Debian's ${missing.join(" and ")} (apt-get install ${missing.join(" ")})`,
};
after(() => {
  if (WITHOUT.skip !== false) console.error(`\n${WITHOUT.skip}: npm run demo:replicas was not run\n`);
});

/** A folder for the files of a demo; gone with the test. */
function folder(): string {
  const directory = scratchFolder();
  // nginx's workers would be another user.
  chmodSync(directory, 0o755);
  return directory;
}

async function run(
  args: readonly string[],
  env: Record<string, string>,
  signal?: { after: RegExp; send: NodeJS.Signals },
) {
  const child = spawn(process.execPath, [DEMO, ...args], { env: { ...process.env, ...env } });
  atEnd(() => child.kill("SIGTERM"));
  const text = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text.out += more;
    if (signal?.after.test(text.out)) child.kill(signal.send);
  });
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    text.err += more;
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...text };
}

/** Processes whose arguments or environment name a folder. */
function processesOf(directory: string): string[] {
  const read = (pid: string, file: string) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "utf8");
    } catch {
      return "";
    }
  };
  const isOther = (pid: string) => /^\d+$/.test(pid) && pid !== String(process.pid);
  return readdirSync("/proc").filter(
    (pid) => isOther(pid) && (read(pid, "cmdline") + read(pid, "environ")).includes(directory),
  );
}

/** Waits until a demo that has ended has no process left: each was killed before it ended. */
async function allEnd(directory: string): Promise<void> {
  for (let tries = 0; processesOf(directory).length > 0; tries++) {
    assert.ok(tries < 1_200, `processes ${processesOf(directory)} outlive the demo`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("npm run demo:replicas", WITHOUT, () => {
  it("prints which replica ran which call, and exits with 0 because no call ran twice", async () => {
    const directory = folder();
    const { code, out, err } = await run([], { TMPDIR: directory });
    assert.equal(code, 0, out + err);
    assert.equal(err, "");
    const steps = out.split("\n").flatMap((line) => /^(\S[\w-]*(?: -9)?) {2,}/.exec(line)?.[1] ?? []);
    assert.deepEqual(steps, ["redis", "replicas", "nginx", "calls", "kill -9", "retries", "counted"]);
    assert.match(out, /^calls {6}200 signed calls, each sent 3 times at once: 600 verified results$/m);
    const [, ...runs] = /^ +runs: (\d+) in A, (\d+) in B, (\d+) in C$/m.exec(out) ?? [];
    assert.equal(
      runs.reduce((sum, text) => sum + Number(text), 0),
      200,
    );
    const [, results, lost] = /^ +(\d+) got their results; under way in B when it died: (\d+)$/m.exec(out) ?? [];
    assert.equal(Number(results) + Number(lost), 200);
    assert.ok(Number(lost) > 0, "no call was under way when the replica died");
    const [, counted, all] = /^counted .*: (\d+) calls, (\d+) runs$/m.exec(out) ?? [];
    assert.equal(counted, "400");
    // A call that was under way in B may have died between its claim and its run.
    assert.ok(Number(all) <= 400 && Number(all) >= 400 - Number(lost), all);
    assert.ok(
      out.endsWith("\nNothing ran twice, and all results of a call have the same bytes and the same signature.\n"),
    );
    assert.deepEqual(readdirSync(directory), [], "its files are gone");
    await allEnd(directory);
  });

  it("without a shared store, copies of calls are refused and the demo exits with 1", async () => {
    const { code, out, err } = await run(["--memory"], { TMPDIR: folder() });
    assert.equal(code, 1, out);
    assert.match(err, /^\nFailed: a replica refused a copy of a call: the replicas share no replay memory\n/);
  });

  for (const [signal, exitCode] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    it(`${signal} ends all processes of the demo`, async () => {
      const directory = folder();
      const { code } = await run([], { TMPDIR: directory }, { after: /^nginx /m, send: signal });
      assert.equal(code, exitCode);
      await allEnd(directory);
      assert.deepEqual(readdirSync(directory), []);
    });
  }
});

describe("npm run demo:replicas without a required program", () => {
  it("names the missing program, says how to install it, and exits with 1", async () => {
    const programs = folder();
    const env = { TMPDIR: folder(), PATH: programs };
    const without = await run([], env);
    assert.deepEqual([without.code, without.out], [1, ""]);
    assert.equal(
      without.err,
      "this demo needs redis-server or valkey-server, which is not on PATH; it installs nothing itself. Debian: apt-get install redis-server\n",
    );
    symlinkSync("/bin/true", join(programs, "valkey-server"));
    const { code, err } = await run([], env);
    assert.equal(code, 1);
    assert.match(err, /^this demo needs nginx, .* Debian: apt-get install nginx-light\n$/);
  });
});
