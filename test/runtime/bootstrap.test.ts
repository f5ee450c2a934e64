/** A process from start to exit: forms, addresses, `--meta`, start-up errors, stray exceptions (protocol.md sections 1, 9 and 11). */

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { serve } from "#runtime/index.js";
import { serveTools } from "#runtime/server/call/run/served-tool.js";
import { proves, provesRow } from "../proves.js";
import { type Child, run, stop } from "./child.js";
import { exchange, requestText } from "./raw.js";
import { countingTool, echoed, expectResult, keptLog, sendPlain, UNSIGNED, until } from "./tools.js";

/**
 * Starts servers one after the other in one process.
 *
 * @param starts expressions that start a server, each with its environment
 * @returns their addresses, and the process that serves them all
 */
async function startEach(
  starts: readonly (readonly [code: string, env: Record<string, string>])[],
): Promise<[child: Child, urls: string[]]> {
  const code = starts.map(
    ([code, env]) => `Object.assign(process.env, ${JSON.stringify(env)}); urls.push((await ${code}).url);`,
  );
  const child = run(`const urls = []; ${code.join("\n")} process.stdout.write(JSON.stringify(urls));`);
  await Promise.race([until(() => child.stdout().endsWith("]"), "all serve"), child.ended]);
  return [child, JSON.parse(child.stdout() || assert.fail(child.stderr())) as string[]];
}

describe("the four forms of bootstrap", () => {
  const OCTETS = "[127, 0, 0, 1]";
  const FORMS = [
    ["bootstrap(One)", 1],
    ["bootstrap([One, Two])", 2],
    [`bootstrap([${OCTETS}, 0], One)`, 1],
    [`bootstrap([${OCTETS}, 0], [One, Two])`, 2],
    ['bootstrap(One, { headerPrefix: "X-Nexus-" })', 1],
    ['bootstrap([One, Two], { headerPrefix: "X-Nexus-" })', 2],
    [`bootstrap([${OCTETS}, 0], One, { headerPrefix: "X-Nexus-" })`, 1],
    [`bootstrap([${OCTETS}, 0], [One, Two], { headerPrefix: "X-Nexus-" })`, 2],
  ] as const;
  let child: Child;
  let urls: string[];
  before(async () => {
    [child, urls] = await startEach(FORMS.map(([form]) => [form, { BIND_ADDR: "[::1]:0" }]));
  });
  after(() => stop(child));
  for (const [at, [form, tools]] of FORMS.entries()) {
    it(`${form}: the address as an argument takes precedence over the environment`, async () => {
      const url = urls[at] ?? assert.fail("it did not start");
      assert.equal(new URL(url).hostname, form.includes(OCTETS) ? "127.0.0.1" : "[::1]");
      const list = await exchange(url, requestText("GET", "/tools"));
      assert.equal(list.body.toString(), tools === 1 ? '["one"]' : '["one","two"]');
      expectResult(await sendPlain(url, "/one/invoke", '{"value":1}'), echoed("1"));
      proves("9.10");
    });
  }

  it("the default address is 127.0.0.1:8080; the error for a port in use names the port", async () => {
    // Where a start would listen is written down; it gets a port that this test holds.
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const recorded = (code: string) => `
      const { Server } = await import("node:net");
      const { listen } = Server.prototype;
      Server.prototype.listen = function (options, ...more) {
        Server.prototype.listen = listen;
        process.stdout.write("listen " + options.host + ":" + options.port + "\\n");
        return listen.call(this, { ...options, port: ${port} }, ...more);
      };
      ${code}`;
    try {
      const codes = [
        recorded("delete process.env.BIND_ADDR; await bootstrap(One);"),
        `process.env.BIND_ADDR = "127.0.0.1:${port}"; await bootstrap(One);`,
        `await bootstrap([${OCTETS}, ${port}], One);`,
        `process.env.SVC_ADMIN_ADDR = "127.0.0.1:${port}"; await bootstrap(One);`,
      ];
      const inUse = `cannot start: listen EADDRINUSE: address already in use 127.0.0.1:${port}; free the address, or set another one: BIND_ADDR for the tools, SVC_ADMIN_ADDR for the admin listener\n`;
      assert.deepEqual(
        await cannotStartEach(codes, ["listen 127.0.0.1:8080"]),
        codes.map(() => [1, inUse]),
      );
    } finally {
      taken.close();
    }
    proves("9.10");
  });
});

describe("BIND_ADDR", () => {
  const ADDRESSES = [
    ["IPv4", "127.0.0.1:0", "127.0.0.1"],
    ["IPv6", "[::1]:0", "[::1]"],
    ["all addresses", "0.0.0.0:0", "127.0.0.1"],
  ] as const;
  it(`is ${ADDRESSES.map(([what, text]) => `${what}: ${text}`).join(", ")}`, async () => {
    const starts = ADDRESSES.map(
      ([, BIND_ADDR]) => ["bootstrap(One)", { BIND_ADDR, SVC_ALLOW_UNSIGNED: "1" }] as const,
    );
    const [child, urls] = await startEach(starts);
    for (const [at, [what, , host]] of ADDRESSES.entries()) {
      assert.equal(new URL(urls[at] ?? assert.fail("it did not start")).hostname, host);
      provesRow(what, { "9.10": ["IPv4", "IPv6"] });
    }
    await stop(child);
  });

  for (const [text, got] of [
    ["", "an empty string"],
    ["127.0.0.1", "another value"],
    [":8080", "a port alone"],
    ["8080", "a port alone"],
    ["localhost:8080", "a host name"],
    ["127.0.0.1:65536", "another value"],
    ["127.0.0.1:8080 ", "a value with white space around it; remove that"],
    ['"127.0.0.1:8080"', "a value in quotes; remove them"],
    ["127.0.0.1:8080\r", "a value that ends in a carriage return (Windows line ends in its file?)"],
    ["0x7f000001:8080", "another value"],
    ["256.0.0.1:80", "another value"],
    ["::1:8080", "another value"],
    ["[::1]", "another value"],
    ["[127.0.0.1]:80", "another value"],
    ["127.0.0.1:000080", "another value"],
  ] as const) {
    it(`${JSON.stringify(text)} is a start-up error`, async (t) => {
      // In process: each of these is one look at the environment.
      process.env.BIND_ADDR = text;
      t.after(() => delete process.env.BIND_ADDR);
      await assert.rejects(serve([countingTool().class], { config: UNSIGNED, logger: keptLog() }), {
        name: "StartupError",
        message: `BIND_ADDR: expected an IP literal and a port, such as 127.0.0.1:8080 or [::1]:8080, got ${got}`,
      });
      proves("9.10");
    });
  }
});

/**
 * Runs pieces of code that cannot start, one after the other in one process whose end is kept back. Each begins with the
 * environment of the first.
 *
 * @param written lines that they write to standard output, all together
 * @returns for each its exit code and what it wrote to standard error
 */
async function cannotStartEach(
  codes: readonly string[],
  written: readonly string[] = [],
): Promise<[code: number, stderr: string][]> {
  const child = run(
    `
    process.setMaxListeners(0);
    const { exit } = process;
    const ends = [];
    const environment = { ...process.env };
    for (const code of ${JSON.stringify(codes)}) {
      for (const name of Object.keys(process.env)) delete process.env[name];
      Object.assign(process.env, environment);
      const ended = new Promise((resolve) => { process.exit = resolve; });
      const run = new Function("bootstrap", "tool", "contract", "provide", "SvcTool", "One", "Two", "ToolkitRuntimeConfig",
        "return (async () => {" + code + "})()");
      void run(bootstrap, tool, contract, provide, SvcTool, One, Two, (await import("svc-runtime")).ToolkitRuntimeConfig);
      ends.push(await ended);
    }
    process.stdout.write(JSON.stringify(ends), () => exit(0));`,
    { env: { BIND_ADDR: "127.0.0.1:0" } },
  );
  const { stdout, stderr } = await child.ended;
  // Without lines of the log.
  const texts = stderr.replace(/^\{.*\}\n/gm, "").split(/^(?=cannot start: )/m);
  const lines = stdout.split("\n");
  const ends = JSON.parse(lines.pop() || assert.fail(stderr)) as number[];
  assert.equal(texts.length, ends.length, stderr);
  assert.deepEqual(lines, written);
  return ends.map((code, i) => [code, texts[i] as string]);
}

describe("start-up errors: exit code 1 and what to do", { concurrency: 2 }, () => {
  const configured = (config: string) =>
    `await bootstrap(One, { config: ToolkitRuntimeConfig.fromJsonStr(${JSON.stringify(config)}) });`;
  const signed = (tools: string) =>
    configured(`{"signed_http":{"allowed_leaders":{"version":1,"leaders":[]},"tools":${tools}}}`);
  const configuredBy = (path: string) =>
    `process.env.SVC_TOOLKIT_CONFIG_PATH = ${JSON.stringify(path)}; await bootstrap(One);`;
  const NO_CLASS = "bootstrap: expected classes that extend SvcTool, got another value";
  const ONE_NAME = "two tools have the name xyz.test.one@1: change fqn() of one of them";
  const TABLE = [
    [
      "a tool without its contract",
      'await bootstrap(tool("xyz.test.none@1", ""));',
      /^xyz\.test\.none@1 has no contract: run svc-gen .*src\/generated\/server\.ts.*\n {2}import \{ provideContracts \} from "svc-runtime\/v1";\n {2}import \{ contracts \} from "\.\/generated\/contracts\.js";\n {2}provideContracts\(contracts\);\nbefore bootstrap$/,
    ],
    ["no tool", "await bootstrap([]);", "bootstrap: expected at least one tool, got none"],
    ["nothing", "await bootstrap();", NO_CLASS],
    ["an address without tools", "await bootstrap([[127, 0, 0, 1], 0]);", NO_CLASS],
    ["a class that is no tool", "await bootstrap(class {});", NO_CLASS],
    ["an instance", "await bootstrap(new One());", NO_CLASS],
    [
      "a tool of another copy of svc-runtime",
      "{ class SvcTool {} class Base extends SvcTool {} await bootstrap(class Seats extends Base {}); }",
      /got Seats, which extends SvcTool of another copy of svc-runtime: install one copy/,
    ],
    [
      "a tool without fqn",
      "await bootstrap(class extends SvcTool {});",
      /fqn\(\) is missing: add `static override fqn\(\)/,
    ],
    [
      "no FQN",
      'await bootstrap(tool("xyz.one@1", ""));',
      /^fqn\(\) "xyz\.one@1": expected domain\.name@version, such as xyz\.demo\.sum@1$/,
    ],
    ["a version of 0", 'await bootstrap(tool("xyz.test.one@0", "one"));', /expected domain\.name@version/],
    ["two tools of one name", "await bootstrap([One, One]);", ONE_NAME],
    ["two spellings of one name", 'await bootstrap([One, tool("xyz.test.one@01", "one")]);', ONE_NAME],
    [
      "two tools on one path",
      'provide(contract("xyz.test.same@1", "/one/")); await bootstrap([One, tool("xyz.test.same@1", "/one/")]);',
      'xyz.test.one@1 and xyz.test.same@1 have the same path, "/one": change path() of one of them',
    ],
    [
      "two tools at the root",
      'provide(contract("xyz.test.rr@1", ""), contract("xyz.test.ss@1", "//")); await bootstrap([tool("xyz.test.rr@1", ""), tool("xyz.test.ss@1", "//")]);',
      'xyz.test.rr@1 and xyz.test.ss@1 have the same path, "/": change path() of one of them',
    ],
    [
      "a class that changed since svc-gen ran",
      'await bootstrap(tool("xyz.test.one@1", "one", {}, { timeout: () => 5 }));',
      "xyz.test.one@1: timeout() is 5, but the generated contract has 10000: run svc-gen again",
    ],
    ["a bad prefix", 'await bootstrap(One, { headerPrefix: "X Svc" });', /^headerPrefix: expected letters/],
    ["too small a replay memory", "await bootstrap(One, { replayMaxBytes: 1000 });", /replay|maxBytes/i],
    ["an unknown engine", 'await bootstrap(One, { engine: "canary" });', /engine|libsodium/i],
    [
      "a bad address",
      "await bootstrap([[127, 0, 0], 80], One);",
      "bootstrap: expected an address such as [[127, 0, 0, 1], 8080], got another value",
    ],
    ["an octet of 256", "await bootstrap([[127, 0, 0, 256], 80], One);", /^bootstrap: expected an address/],
    ["a port of 65536", "await bootstrap([[127, 0, 0, 1], 65536], One);", /^bootstrap: expected an address/],
    [
      "signed mode without an entry",
      signed('{"xyz.test.two@1":{}}'),
      /^signed requests are required, but xyz\.test\.one@1 has no entry: add "xyz\.test\.one@1" to \/signed_http\/tools/,
    ],
    ["an entry of a later version", signed('{"xyz.test.one@2024":{}}'), /it contains "xyz\.test\.one@2024"/],
    [
      "an entry under another spelling",
      signed('{"xyz.test.one@01":{}}'),
      /xyz\.test\.one@1 has no entry: .*; it contains "xyz\.test\.one@01": rename it if it is meant$/,
    ],
    [
      "a class whose create() fails",
      'await bootstrap(Object.assign(class extends One {}, { create() { throw new Error("no database"); } }));',
      "create() of xyz.test.one@1 failed: no database",
    ],
    [
      "an unsigned server that other machines reach",
      'process.env.BIND_ADDR = "0.0.0.0:0"; await bootstrap(One);',
      /^signatures are not required, but 0\.0\.0\.0:0 is reachable from other machines, /,
    ],
    ["a bad BIND_ADDR", 'process.env.BIND_ADDR = "localhost:80"; await bootstrap(One);', /^BIND_ADDR: expected/],
    ["an empty SVC_TOOLKIT_CONFIG_PATH", configuredBy(""), /SVC_TOOLKIT_CONFIG_PATH/],
    ["SVC_TOOLKIT_CONFIG_PATH that names nothing", configuredBy("/nonexistent/config.json"), /ENOENT; correct/],
    ["one below a folder with an id", configuredBy(`/nonexistent/${"09".repeat(32)}/config.json`), /ENOENT; correct/],
    [
      "a relative SVC_TOOLKIT_CONFIG_PATH that names nothing",
      configuredBy("none.json"),
      `configuration "none.json" must be a readable file, got ENOENT in ${JSON.stringify(process.cwd())}; correct the path or create the file`,
    ],
    ...(
      [
        ["a configuration", '{\n  "signed_http": {}\n}', "JSON text"],
        ["PEM text", "-----BEGIN PRIVATE KEY-----\nMC4C\n", "PEM text"],
        ["a key", "09".repeat(32), "a key"],
        ["YAML", "signed_http:\n  mode: required", "several lines of text"],
        ["base64", "ewog".repeat(200), "800 characters"],
      ] as const
    ).map(
      ([what, text, got]) =>
        [
          `${what} in SVC_TOOLKIT_CONFIG_PATH, which is not printed`,
          configuredBy(text),
          `configuration SVC_TOOLKIT_CONFIG_PATH must be the path of a readable file, got ${got}; write that to a file of mode 0600, and give the path`,
        ] as const,
    ),
    [
      "SVC_TOOLKIT_CONFIG_PATH that names what is no configuration",
      configuredBy(fileURLToPath(new URL("../../package.json", import.meta.url))),
      /package\.json.*, line \d+, column \d+: .*must contain only/,
    ],
    [
      "an unknown level of the log",
      'process.env.SVC_LOG_LEVEL = "loud"; await bootstrap(One);',
      /^SVC_LOG_LEVEL: expected one of .*, silent, got another value$/m,
    ],
  ] as const;
  let results: [code: number, stderr: string][];
  before(async () => {
    results = await cannotStartEach(TABLE.map(([, code]) => code));
  });
  for (const [at, [what, , message]] of TABLE.entries()) {
    it(what, () => {
      const [code, stderr] = results[at] ?? assert.fail("it did not end");
      assert.equal(code, 1);
      const [, said = ""] = /^cannot start: ([\s\S]*)\n$/.exec(stderr) ?? assert.fail(stderr);
      assert.doesNotMatch(said, /\n\s+at /, "a message, not a stack");
      if (typeof message === "string") assert.equal(said, message);
      else assert.match(said, message);
      provesRow(what, {
        "1.22": ["two spellings of one name", "an entry under another spelling"],
        "9.2": ["two tools on one path", "two tools of one name"],
        "10.10": ["signed mode without an entry"],
      });
    });
  }

  it("the process ends, with nothing on standard output, although a module keeps a handle open", async () => {
    const { code, stdout, stderr } = await run("setInterval(() => {}, 1000); await bootstrap([]);").ended;
    assert.deepEqual(
      [code, stdout, stderr],
      [1, "", "cannot start: bootstrap: expected at least one tool, got none\n"],
    );
  });

  for (const timeout of [0, 1.5, Number.NaN, 2_147_483_648, "10", undefined]) {
    it(`a timeout of ${typeof timeout} ${timeout}`, () => {
      const tool = countingTool({ fqn: "xyz.test.bad@1", timeout: timeout as number });
      if (timeout === undefined) Object.assign(tool.class, { timeout: () => undefined });
      const message = `xyz.test.bad@1: timeout(): expected an integer from 1 to 2147483647 milliseconds, got ${timeout}`;
      assert.throws(() => serveTools([tool.class]), { name: "StartupError", message });
      proves("1.16");
    });
  }

  it("the minimum and maximum timeout are accepted", () => {
    for (const timeout of [1, 2_147_483_647]) serveTools([countingTool({ timeout }).class]);
    proves("1.16");
  });

  for (const description of ["", " \t\n", "\u3000"]) {
    it(`a description of ${JSON.stringify(description)}`, () => {
      const tool = countingTool({ fqn: "xyz.test.bad@1" });
      Object.assign(tool.class, { description: () => description });
      const message = "xyz.test.bad@1: description() is blank: return a sentence that describes the tool";
      assert.throws(() => serveTools([tool.class]), { name: "StartupError", message });
      proves("1.23");
    });
  }
});

describe("--meta", { concurrency: 2 }, () => {
  const document = (fqn: string, url: string) => `  {
    "fqn": "${fqn}",
    "url": "${url}",
    "timeout": 10000,
    "description": "A tool.",
    "input_schema": {
      "properties": {
        "1": {},
        "0": {},
        "value": {}
      }
    },
    "output_schema": {
      "oneOf": []
    }
  }`;

  it("prints one document per tool, members in textual order, and exits 0 without listening, create() or reading configuration", async () => {
    const serving = `
      for (const method of ["create", "close"]) One[method] = () => process.stdout.write(method);
      setInterval(() => {}, 1000); await bootstrap([One, Two]); process.exit(9);`;
    const child = run(serving, {
      args: ["--meta"],
      env: { BIND_ADDR: "rubbish", SVC_TOOLKIT_CONFIG_PATH: "/nonexistent", SVC_LOG_LEVEL: "rubbish" },
    });
    const { code, stdout, stderr } = await child.ended;
    assert.deepEqual([code, stderr], [0, ""]);
    const documents = [
      document("xyz.test.one@1", "http://localhost/one"),
      document("xyz.test.two@1", "http://localhost/two"),
    ];
    assert.equal(stdout, `[\n${documents.join(",\n")}\n]\n`);
    proves("9.8");
  });

  it("url: localhost and the path, a leading slash added if missing and nothing else changed", async () => {
    // Two listings, because two spellings of a path are one path.
    const listings = [
      { "": "", a: "a", "a?b": "a?b", "//b//c/": "/b//c/" },
      { "/": "", "/a": "a", "b/": "b/" },
    ];
    const codes = listings.map((listed) => {
      const facts = Object.keys(listed).map((path, i) => `"xyz.test.tool${i}@1", ${JSON.stringify(path)}`);
      return `provide(${facts.map((of) => `contract(${of})`)}); await bootstrap([${facts.map((of) => `tool(${of})`)}]);`;
    });
    // The process is not let end after the first.
    const code = `
      const { exit } = process;
      await new Promise((resolve) => { process.exit = resolve; void (async () => { ${codes[0]} })(); });
      process.exit = exit;
      process.stdout.write("\\0");
      ${codes[1]}`;
    const { stdout } = await run(code, { args: ["--meta"] }).ended;
    const urls = stdout.split("\0").map((text) => (JSON.parse(text) as { url: string }[]).map(({ url }) => url));
    assert.deepEqual(
      urls,
      listings.map((listed) => Object.values(listed).map((path) => `http://localhost/${path}`)),
    );
    proves("9.8");
  });

  it("a large listing arrives complete through a pipe", async () => {
    const code = `
      const inputSchema = '{"properties":{"value":{"description":"' + "x".repeat(3_000_000) + '"}}}';
      provide(contract("xyz.test.one@1", "one", { inputSchema })); await bootstrap(One);`;
    const { code: exitCode, stdout } = await run(code, { args: ["--meta"] }).ended;
    assert.equal(exitCode, 0);
    assert.equal((JSON.parse(stdout) as unknown[]).length, 1);
  });

  it("fails like a start if the tools cannot be served", async () => {
    const { code, stdout, stderr } = await run("await bootstrap([One, One]);", { args: ["--meta"] }).ended;
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /^cannot start: two tools have the name/);
  });
});

describe("exceptions outside a call (protocol.md section 11)", () => {
  it("are logged and do not end the process", async () => {
    const child = run("await bootstrap(One);", { env: { BIND_ADDR: "127.0.0.1:0" } });
    const url = await child.url;
    for (const [value, message] of [
      ["stray", "a stray exception"],
      ["floating", "a floating rejection"],
    ] as const) {
      expectResult(await sendPlain(url, "/one/invoke", `{"value":"${value}"}`), echoed(`"${value}"`));
      await until(() => child.stderr().includes(message), "the log has it");
    }
    expectResult(await sendPlain(url, "/one/invoke", '{"value":1}'), echoed("1"));
    await stop(child);
    proves("11.3");
  });
});
