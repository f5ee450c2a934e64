/** Servers without signatures: what they say at start, and where they refuse to start. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { fastify, svcTools } from "#runtime/fastify.js";
import { type BootstrapOptions, serve, ToolkitRuntimeConfig } from "#runtime/index.js";
import { proves } from "../proves.js";
import { countingTool, keptLog, signedConfig, UNSIGNED } from "./tools.js";

const EVERYWHERE = { address: [[0, 0, 0, 0], 0] } as const;
const HERE = { address: [[127, 0, 0, 1], 0] } as const;
const DISABLED = ToolkitRuntimeConfig.fromJsonStr('{"signed_http":{"mode":"disabled"}}');
const UNASKED =
  'signatures are not required, but 0.0.0.0:0 is reachable from other machines, which could all call the tools; set SVC_TOOLKIT_CONFIG_PATH to a configuration that requires signatures, or allow unsigned calls explicitly: SVC_ALLOW_UNSIGNED=1, allowUnsigned: true in code, or "mode": "disabled" in the configuration';

/** Sets variables of this process until the end of a test; those of the tests themselves are hidden. */
function environment(t: TestContext, variables: Record<string, string> = {}): void {
  const before = { ...process.env };
  for (const name of Object.keys(process.env)) if (/^(?:SVC|NEXUS)_/.test(name)) delete process.env[name];
  Object.assign(process.env, variables);
  t.after(() => {
    for (const name of Object.keys(variables)) delete process.env[name];
    Object.assign(process.env, before);
  });
}

/** Starts and closes a server; gives its warnings. */
async function warningsOf(options: BootstrapOptions & { address: BootstrapOptions["admin"] & {} }): Promise<string[]> {
  const logger = keptLog();
  const { class: tool, fqn } = countingTool();
  const server = await serve([tool], { logger, ...options });
  await server.close();
  const warnings = logger.entries.filter(({ level }) => level === "warn").map(({ message }) => message);
  const uncalled = `authorize of ${fqn} does not run: calls are unsigned`;
  assert.equal(warnings.includes(uncalled), options.config?.signedHttpIsRequired() !== true);
  return warnings.filter((message) => message !== uncalled);
}

describe("a server without signatures", () => {
  it("logs a warning at start, on a loopback address and if explicitly allowed", async (t) => {
    environment(t);
    const warning = "signatures are not required: any program that can reach this address may call the tools";
    assert.deepEqual(await warningsOf(HERE), [`${warning}; SVC_TOOLKIT_CONFIG_PATH is not set`]);
    assert.deepEqual(await warningsOf({ ...HERE, config: UNSIGNED }), [warning]);
    assert.deepEqual(await warningsOf({ ...EVERYWHERE, config: DISABLED }), [warning]);
    assert.deepEqual(await warningsOf({ ...EVERYWHERE, config: UNSIGNED, allowUnsigned: true }), [warning]);
  });

  it("says that PORT is not read, unless BIND_ADDR is set", async (t) => {
    environment(t, { PORT: "3000", BIND_ADDR: "127.0.0.1:0" });
    const logger = keptLog();
    const start = async () => (await serve([countingTool().class], { logger, config: UNSIGNED })).close();
    const said = () =>
      logger.entries.some(({ message }) => message.startsWith("the environment variable PORT is ignored"));
    await start();
    assert.equal(said(), false);
    // The default port may be taken: it is said before the server listens.
    delete process.env.BIND_ADDR;
    await start().catch(() => undefined);
    assert.equal(said(), true);
  });

  it("says that settings of a shared replay store are not used, also misspelt ones", async (t) => {
    environment(t, { SVC_REDIS_URL: "x" });
    assert.match((await warningsOf({ ...HERE, config: UNSIGNED }))[0] ?? "", / did you mean SVC_REPLAY_REDIS_URL\?$/);
    environment(t, { SVC_REPLAY_REDIS_URL: "redis://127.0.0.1:1" });
    assert.match(
      (await warningsOf({ ...HERE, config: UNSIGNED }))[0] ?? "",
      /^the settings of the shared replay store are ignored, /,
    );
  });

  it("does not start on an address reachable from other machines unless allowed explicitly", async (t) => {
    environment(t);
    const refused = { name: "StartupError", message: UNASKED };
    await assert.rejects(warningsOf({ ...EVERYWHERE }), refused);
    await assert.rejects(warningsOf({ ...EVERYWHERE, config: UNSIGNED }), refused);
    await assert.rejects(warningsOf({ ...EVERYWHERE, allowUnsigned: false }), refused);
    process.env.BIND_ADDR = "[::]:0";
    t.after(() => delete process.env.BIND_ADDR);
    await assert.rejects(serve([countingTool().class], { logger: keptLog() }), {
      message: UNASKED.replace("0.0.0.0:0", "[::]:0"),
    });
    proves("9.11");
  });

  it("is allowed by SVC_ALLOW_UNSIGNED=1, over which the option takes precedence", async (t) => {
    environment(t, { SVC_ALLOW_UNSIGNED: "1" });
    assert.equal((await warningsOf(EVERYWHERE)).length, 1);
    await assert.rejects(warningsOf({ ...EVERYWHERE, allowUnsigned: false }), { message: UNASKED });
    process.env.SVC_ALLOW_UNSIGNED = "0";
    await assert.rejects(warningsOf(EVERYWHERE), { message: UNASKED });
    process.env.SVC_ALLOW_UNSIGNED = "yes";
    await assert.rejects(warningsOf(EVERYWHERE), {
      name: "StartupError",
      message: "SVC_ALLOW_UNSIGNED: expected 1 to serve calls without signatures, or 0, got another value",
    });
  });

  it("with required signatures, no permission is needed and no warning is logged", async (t) => {
    environment(t);
    const tool = countingTool();
    const logger = keptLog();
    const server = await serve([tool.class], { ...EVERYWHERE, logger, config: signedConfig([tool.fqn]) });
    await server.close();
    assert.deepEqual(
      logger.entries.filter(({ level }) => level === "warn"),
      [],
    );
  });

  it("mounted: the application owns the address, so a warning is logged and nothing is refused", async (t) => {
    environment(t);
    const logger = keptLog();
    const app = fastify();
    t.after(() => app.close());
    await app.register(svcTools, { tools: [countingTool().class], logger });
    await app.ready();
    assert.deepEqual(
      logger.entries.filter(({ fields }) => fields.signed === false && "variable" in fields === false).at(0)?.message,
      "signatures are not required: any program that can reach the application may call the tools; SVC_TOOLKIT_CONFIG_PATH is not set",
    );
  });
});

describe("environment variables that are not settings", () => {
  for (const name of [
    "NEXUS_TOOLKIT_CONFIG_PATH",
    "SVC_TOOLKIT_CONFIG",
    "SVC_TOOLKIT_CONFG_PATH",
    "SCV_TOOLKIT_CONFIG_PATH",
    "TOOLKIT_CONFIG_PATH",
    "SVC_CONFIG_PATH",
    "SVC_CONFIG",
    "svc_toolkit_config_path",
  ]) {
    it(`${name} without a configuration: a start-up error on every address`, async (t) => {
      environment(t, { [name]: "/etc/svc/config.json" });
      const message = `${name} is set but SVC_TOOLKIT_CONFIG_PATH is not: without a configuration every caller would be served without signatures; rename the variable to SVC_TOOLKIT_CONFIG_PATH, or unset it, or allow unsigned calls explicitly: SVC_ALLOW_UNSIGNED=1, allowUnsigned: true in code, or "mode": "disabled" in the configuration`;
      await assert.rejects(warningsOf(HERE), { name: "StartupError", message });
      const app = fastify();
      t.after(() => app.close());
      app.register(svcTools, { tools: [countingTool().class], logger: keptLog() });
      await assert.rejects(async () => app.ready(), { name: "StartupError", message });
      // With a configuration, or asked for by name, it is named and nothing more.
      for (const options of [{ config: UNSIGNED }, { allowUnsigned: true }]) {
        const [warning] = await warningsOf({ ...HERE, ...options });
        assert.equal(
          warning,
          `the environment variable ${name} is not a setting and is ignored; did you mean SVC_TOOLKIT_CONFIG_PATH?`,
        );
      }
      proves("9.12");
    });
  }

  for (const [name, remedy] of [
    ["SVC_LOGLEVEL", "did you mean SVC_LOG_LEVEL?"],
    ["SVC_BIND_ADDR", "did you mean BIND_ADDR?"],
    ["svc_admin_addr", "did you mean SVC_ADMIN_ADDR?"],
    ["SVC_THREADS", "unset it, or see docs/settings.md"],
  ] as const) {
    it(`${name}: named in a warning`, async (t) => {
      environment(t, { [name]: "x" });
      const [warning] = await warningsOf(HERE);
      assert.equal(warning, `the environment variable ${name} is not a setting and is ignored; ${remedy}`);
    });
  }

  for (const [name, meant] of [
    ["SVC_TLS_CERT_PATH", "SVC_TOOL_TLS_CERT_PATH"],
    ["NEXUS_TOOL_TLS_KEY_PATH", "SVC_TOOL_TLS_KEY_PATH"],
    ["SVC_TOOL_TSL_CERT_PATH", "SVC_TOOL_TLS_CERT_PATH"],
    ["SVC_SERVER_TLS_CERTIFICATE", "SVC_TOOL_TLS_CERT_PATH or SVC_TOOL_TLS_KEY_PATH"],
  ]) {
    it(`${name}: a start-up error, because the server would serve plain HTTP`, async (t) => {
      environment(t, { [`${name}`]: "x" });
      const message = `${name} is not a setting, and the server would not use its certificate: rename it to ${meant}, or unset it`;
      await assert.rejects(warningsOf(HERE), { name: "StartupError", message });
    });
  }

  it("ignores variables of other programs, and of Kubernetes for services called svc-config and svc-toolkit-config", async (t) => {
    environment(t, {
      NEXUS_URL: "x",
      MY_CONFIG_PATH: "x",
      SVC_CONFIG_SERVICE_HOST: "x",
      SVC_CONFIG_SERVICE_PORT_HTTP: "x",
      SVC_CONFIG_PORT: "x",
      SVC_CONFIG_PORT_80_TCP_ADDR: "x",
      SVC_TOOLKIT_CONFIG_SERVICE_HOST: "10.0.0.1",
      SVC_TOOLKIT_CONFIG_SERVICE_PORT: "80",
    });
    assert.equal((await warningsOf(HERE)).length, 1);
  });

  it("many variables of an application: a few log lines, those similar to a setting first, and no error", async (t) => {
    const many = Array.from({ length: 30 }, (_, i) => [`SVC_ORDERS_${i}_CONFIG`, "x"]);
    environment(t, { ...Object.fromEntries(many), SVC_LOGLEVEL: "info" });
    const warnings = await warningsOf(HERE);
    assert.equal(warnings.length, 7);
    assert.match(warnings[0] ?? "", /SVC_LOGLEVEL .* did you mean SVC_LOG_LEVEL\?$/);
    assert.equal(warnings[5], "more environment variables are not settings and are ignored");
  });
});
