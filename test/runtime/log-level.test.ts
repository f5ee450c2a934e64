/** SIGUSR2: the level of the log of a running process. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Child, run, stop } from "./child.js";
import { sendPlain, until } from "./tools.js";

const isWindows = process.platform === "win32" && "Windows has no SIGUSR2";

const DEBUG_TOOL = `
  class Noisy extends One {
    async invoke({ value }, { log }) { log.debug("tool " + value); return { ok: { value } }; }
  }
  await bootstrap(Noisy, OPTIONS);`;
const code = (options: string) => DEBUG_TOOL.replace("OPTIONS", options);
const env = { BIND_ADDR: "127.0.0.1:0" };

const toggle = async (child: Child, message: string) => {
  const before = child.stderr().split(message).length;
  child.process.kill("SIGUSR2");
  await until(() => child.stderr().split(message).length > before, message);
};
const RAISED = "the log level was raised to debug until the next SIGUSR2";
const LOWERED = "the log level was reset to the configured one";

describe("SIGUSR2", { skip: isWindows }, () => {
  it("raises the level to debug and lowers it again, also for existing loggers of tools and calls", async () => {
    const child = run(code("{}"), { env });
    const call = async (value: number) =>
      assert.equal((await sendPlain(await child.url, "/one/invoke", `{"value":${value}}`)).status, 200);
    await call(1);
    await toggle(child, RAISED);
    await call(2);
    await until(() => child.stderr().includes('"msg":"answered"'), "the line of the call");
    await toggle(child, LOWERED);
    await call(3);
    await toggle(child, RAISED);
    await call(4);
    await until(() => child.stderr().includes('"tool 4"'), "the line of the last call");
    await stop(child);
    const lines = child
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"msg":"tool '));
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { msg: string }).msg),
      ["tool 2", "tool 4"],
    );
  });

  for (const level of ["silent", "error", "trace"]) {
    it(`raises ${level} to debug at least`, async () => {
      const up = "process.stdout.write((await bootstrap(One)).url);";
      const child = run(up, { env: { ...env, SVC_LOG_LEVEL: level } });
      await until(() => child.stdout() !== "", "it serves");
      await toggle(child, RAISED);
      await sendPlain(child.stdout(), "/one/invoke", '{"value":1}');
      await until(() => child.stderr().includes('"msg":"answered"'), "the line of the call");
      await toggle(child, LOWERED);
      await sendPlain(child.stdout(), "/one/invoke", '{"value":1}');
      await stop(child);
      const lines = child.stderr().split('"msg":"answered"').length - 1;
      assert.equal(lines, level === "trace" ? 2 : 1);
    });
  }

  it("has no effect on a logger of the application, which is logged", async () => {
    const logger = `{ logger: (() => {
      const write = (first, message) => process.stderr.write(JSON.stringify({ ...Object(first), msg: message ?? first }) + "\\n");
      const quiet = { debug() {}, info: write, warn: write, error: write, child: () => quiet, isLevelEnabled: (level) => level !== "debug" };
      return quiet;
    })() }`;
    const child = run(code(logger), { env });
    await child.url;
    await toggle(child, "SIGUSR2 was ignored: the application passed its own logger");
    await sendPlain(await child.url, "/one/invoke", '{"value":1}');
    await stop(child);
    assert.ok(!child.stderr().includes("tool 1"));
  });
});
