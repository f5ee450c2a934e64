/** `svc-gen dev` and `svc-gen invoke` as their user sees them: a server that follows the files, and calls from a shell. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { publicKeyOf } from "svc-runtime/leader";
import { EXIT } from "#generator/cli/cli.js";
import { privateFolder } from "#generator/dev/dev-state.js";
import { CliProcess } from "../generator/cli-process.js";
import { STRICT, ToolProject } from "../generator/project.js";
import { svcGenIn } from "../generator/run-cli.js";
import { listen } from "../listening.js";

/** A failing test ends, before the file's own limit; how fast a restart is is the bench's business. */
const PATIENCE = { timeout: 60_000 };

const double = (body: string, input = "{ pair: bigint; words: string[]; note?: string }", before = "") => `
import { errEval, StatusCode, SvcTool } from "svc-runtime";
declare const process: { exit(code: number): never; readonly pid: number; kill(pid: number, signal: string): never };
declare const console: { log(text: string): void };
${before}
type Output = { ok: { double: bigint; words: string[] } } | { err: { reason: string } };
export class Double extends SvcTool<${input}, Output> {
  static override fqn() { return "xyz.test.double@1"; }
  static override description() { return "Doubles."; }
  static override path() { return "double"; }
  override async invoke({ pair, words }: ${input}): Promise<Output> {
    if (words.length > 5) return errEval("too long");
    ${body}
  }
  override async health() { return StatusCode.OK; }
}
`;
const GOOD = double("return { ok: { double: pair * 2n, words } };");
const INPUT = '{"pair":4611686018427387905,"words":["x"]}';

interface Serving {
  readonly event: "serving";
  readonly url: string;
  /** Whether another build serves than before. */
  readonly restarted: boolean;
  readonly tools: readonly { readonly fqn: string; readonly url: string; readonly sample: string }[];
}
interface Run {
  readonly event: "run";
  readonly diagnostics: readonly { readonly code: string; readonly place?: { readonly line: number } }[];
  readonly changes: readonly unknown[];
  readonly serving: boolean;
}

/** The commands of one project. */
class DevProject extends ToolProject {
  dev(...args: string[]): CliProcess {
    return new CliProcess(this.root, ["dev", "--port", "0", "--json", ...args]);
  }

  invoke(...args: string[]): ReturnType<typeof svcGenIn> {
    return svcGenIn(this.root, ["invoke", ...args]);
  }
}

/** Waits for the build with a change: a command in the project may cause a run that finds none, and reports that the old one serves. */
const restart = (process: CliProcess) => process.event<Serving>("serving", ({ restarted }) => restarted);

/** What it prints for such a build. */
const RESTARTED = /^✓ serving on \S+ after/;

const resultOf = ({ code, out, err }: Awaited<ReturnType<typeof svcGenIn>>) => {
  assert.equal(code, EXIT.done, err);
  return out.replaceAll(/\s/g, "");
};

/** The private folder of a project. */
const kept = ({ root }: ToolProject) => privateFolder(root, process.env);

/** The files that name the running servers of a project. */
const statesOf = (project: ToolProject) => readdirSync(kept(project)).filter((name) => name.startsWith("dev-"));

describe("a project that is edited", PATIENCE, () => {
  let project: DevProject;
  let process: CliProcess;
  let serving: Serving;
  before(async () => {
    project = new DevProject({ "src/double.ts": GOOD });
    process = project.dev();
    serving = await process.event<Serving>("serving");
  });

  test("only this machine can reach the server", { skip: globalThis.process.platform !== "linux" }, async () => {
    // Linux has the whole of 127.0.0.0/8, so a listener on every address would answer here.
    const socket = connect({ host: "127.0.0.2", port: Number(new URL(serving.url).port) });
    await assert.rejects(once(socket, "connect"), { code: "ECONNREFUSED" });
  });

  test("a save serves the new build; after a save with an error the last good build keeps serving", async () => {
    assert.deepEqual(
      serving.tools.map(({ fqn, url }) => [fqn, url]),
      [["xyz.test.double@1", `${serving.url}/double`]],
    );
    assert.equal((await fetch(`${serving.url}/double/health`)).status, 200);
    const before = '{"ok":{"double":9223372036854775810,"words":["x"]}}';
    assert.equal(resultOf(await project.invoke(INPUT)), before);
    assert.equal((await project.invoke(serving.tools[0]?.sample ?? "")).code, EXIT.done, "the sample fits");

    project.write({ "src/double.ts": double("return { ok: { double: pair * 2, words } };") });
    // A save may be seen half written, as a file without a tool.
    const broken = await process.event<Run>("run", ({ diagnostics }) =>
      diagnostics.some(({ code }) => /^TS/.test(code)),
    );
    assert.deepEqual(
      broken.diagnostics.filter(({ code }) => code.startsWith("TS")).map(({ code, place }) => [code, place?.line]),
      [["TS2365", 13]],
    );
    assert.deepEqual([broken.serving, broken.changes], [true, []]);
    assert.equal(resultOf(await project.invoke(INPUT)), before);

    project.write({ "src/double.ts": double("return { ok: { double: pair * 3n, words } };") });
    await restart(process);
    assert.equal(resultOf(await project.invoke(INPUT)), before.replace("9223372036854775810", "13835058055282163715"));

    project.write({ "src/double.ts": GOOD });
    await restart(process);
    assert.equal(resultOf(await project.invoke(INPUT)), before);
  });

  test("if a new build fails to start, the previous one keeps serving; a process that exits is restarted on the same port", async () => {
    const thrown = 'if (Date.now() > 0) throw new Error("no database");';
    project.write({
      "src/double.ts": double("return { err: { reason: String(pair + words[0]!) } };", undefined, thrown),
    });
    const failed = await process.event<{ event: "failed"; reason: string; serving: boolean }>("failed");
    assert.deepEqual([failed.reason, failed.serving], ["it ended with exit code 1", true]);
    assert.match(resultOf(await project.invoke(INPUT)), /"double":9223372036854775810/);

    project.write({
      "src/double.ts": double("if (words[0] === 'end') process.exit(7); return { ok: { double: pair, words } };"),
    });
    await restart(process);
    const cut = await project.invoke('{"pair":1,"words":["end"]}');
    assert.equal(cut.code, EXIT.failure);
    const next = () => process.line(/"ended"|the process ended during/);
    const said = [await next(), await next()].join(); // in either order
    assert.match(said, /it ended with exit code 7/);
    assert.match(said, /the process ended during POST \/double\/invoke/);
    assert.equal((await restart(process)).url, serving.url);
    assert.match(resultOf(await project.invoke(INPUT)), /"double":/);

    project.write({ "src/double.ts": GOOD });
    assert.equal((await restart(process)).url, serving.url);
    assert.match(resultOf(await project.invoke(INPUT)), /"double":9223372036854775810/);
  });

  test("after a signal ended the server, the next build takes another port if another process took the last port", async (t) => {
    const kill = 'return process.kill(process.pid, "SIGKILL");';
    project.write({ "src/double.ts": double(kill) });
    await restart(process);
    // A build that cannot start, so that the port is free after the end of the process that serves.
    project.write({ "src/double.ts": double(kill, undefined, 'if (Date.now() > 0) throw new Error("no database");') });
    await process.event("failed");
    await project.invoke('{"pair":2,"words":["x"]}');
    await process.event("ended");
    await process.event<{ readonly serving: boolean }>("failed", ({ serving }) => !serving);
    const { port } = new URL(serving.url);
    const thief = createServer();
    t.after(() => thief.close());
    await once(thief.listen(Number(port), "127.0.0.1"), "listening");
    project.write({ "src/double.ts": GOOD });
    const { url } = await restart(process);
    assert.notEqual(url, serving.url);
    assert.deepEqual(statesOf(project), [`dev-${new URL(url).port}.json`]);
    assert.match(resultOf(await project.invoke(INPUT)), /"double":9223372036854775810/);
  });

  test("a build serves when its tools listen, not when another listener of its process does", async () => {
    const create = `static override async create() {
      await new Promise<void>((listening) => createServer().listen(0, "127.0.0.1", () => listening()));
      throw new Error("no database");
    }`;
    project.write({
      "src/net.d.ts": `declare module "node:net" {
    export function createServer(): { listen(port: number, host: string, listening: () => void): void };
  }`,
      "src/double.ts": double(
        "return { ok: { double: pair, words } };",
        undefined,
        'import { createServer } from "node:net";',
      ).replace("static override path", `${create}\n  static override path`),
    });
    const failed = await process.event<{ reason: string; serving: boolean }>("failed");
    assert.deepEqual([failed.reason, failed.serving], ["it ended with exit code 1", true]);
    assert.match(resultOf(await project.invoke(INPUT)), /"double":9223372036854775810/);
  });

  test("Ctrl-C ends the server, and invoke no longer finds it", async () => {
    const [state = ""] = statesOf(project);
    const url = `http://127.0.0.1:${/\d+/.exec(state)?.[0]}`;
    assert.equal((await fetch(`${url}/double/health`)).status, 200);
    assert.equal(await process.interrupt(), EXIT.done);
    assert.deepEqual(statesOf(project), []);
    await assert.rejects(fetch(url));
    const isTaken = await fetch("http://127.0.0.1:8080").then(
      () => true,
      () => false,
    );
    // Another server of this machine answers in place of the one that ended.
    if (isTaken) return;
    assert.match((await project.invoke(INPUT)).err, /ECONNREFUSED.* \(start the server: svc-gen dev\)/);
    project.write({ "leader.key": "07".repeat(32) });
    const signed = await project.invoke(INPUT, "--signed", "--leader-key", "leader.key");
    assert.match(signed.err, /ECONNREFUSED.* \(start the server: svc-gen dev --signed\)/);
  });
});

describe("a project that is served signed", PATIENCE, () => {
  let project: DevProject;
  let process: CliProcess;
  let url: string;
  before(async () => {
    project = new DevProject({ "src/double.ts": GOOD });
    process = project.dev("--signed", "--as", "treasurer", "--as", "auditor");
    ({ url } = await process.event<Serving>("serving"));
  });

  test("--receipt writes a receipt that svc-gen verify verifies; --with-inputs encloses the inputs", async () => {
    const publicKey = (name: string) =>
      Buffer.from(publicKeyOf(Buffer.from(readFileSync(join(kept(project), name), "utf8").trim(), "hex"))).toString(
        "hex",
      );
    const keys = ["--leader-key", publicKey("leader.key"), "--tool-key", publicKey("tool.key")];
    for (const [more, enclosed] of [
      [[], "0 of 3"],
      [["--with-inputs"], "3 of 3"],
    ] as const) {
      const { code, err } = await project.invoke("double", INPUT, "--signed", "--receipt", "receipt.json", ...more);
      assert.equal(code, EXIT.done, err);
      const verified = await svcGenIn(project.root, ["verify", "receipt.json", ...keys, "--contract", "meta.json"]);
      assert.equal(verified.code, EXIT.done, verified.out + verified.err);
      assert.match(verified.out, /"words": \[\n/);
      assert.match(verified.out, new RegExp(`\\n✓ ${enclosed} input values are enclosed`));
    }
    const unverified = await project.invoke(
      "double",
      INPUT,
      "--signed",
      "--leader-key",
      join(kept(project), "leader.key"),
      "--receipt",
      "r",
    );
    assert.match(unverified.err, /--receipt expects --tool-key HEX/);
    assert.match((await project.invoke("double", INPUT, "--receipt", "r")).err, /--receipt expects --signed too/);
  });

  test("--as: calls in the name of the leaders that the server accepts, and of no other", async () => {
    for (const leader of ["treasurer", "auditor"]) {
      assert.match((await project.invoke(INPUT, "--signed", "--as", leader)).err, /result signature ✓$/m);
    }
    const other = await project.invoke(INPUT, "--signed", "--as", "stranger");
    assert.match(other.err, /401 .*no such leader.*start svc-gen dev --signed --as stranger/);
  });

  test("--leader-key: the server accepts this leader too", async () => {
    project.write({ "own.key": "06".repeat(32) });
    const leader = ["--leader-key", "own.key", "--leader-id", "own", "--key-id", "7"];
    const own = project.dev("--signed", ...leader);
    const serving = await own.event<Serving>("serving");
    const { err } = await project.invoke(`${serving.url}/double`, INPUT, "--signed", ...leader);
    assert.match(err, /^✓ 200 ok/m);
    assert.equal(await own.interrupt(), EXIT.done);
  });

  test("--signed: keys of mode 0600, signed calls, retries and refusals", async () => {
    for (const name of ["leader.key", "tool.key", "config.json"]) {
      assert.equal(statSync(join(kept(project), name)).mode & 0o777, 0o600, name);
    }
    assert.equal(statSync(kept(project)).mode & 0o777, 0o700);
    assert.ok(!existsSync(join(project.root, ".svc")), "compiled files are in the outDir");

    const { code, out, err } = await project.invoke("double", INPUT, "--signed", "--replay");
    assert.equal(code, EXIT.done, err);
    assert.deepEqual(JSON.parse(out).ok.words, ["x"]);
    assert.match(err, /^✓ 200 ok in \d+ ms · input hash ✓ nonce ✓ result signature ✓$/m);
    assert.match(err, /^✓ retry: 200 in \d+ ms · the same result and signature: the tool did not run again$/m);
    // A server that refuses the retry, as after a change of the allow-list.
    let posts = 0;
    const refusing = createHttpServer((request, response) => {
      if (request.method === "POST" && ++posts > 1) return response.writeHead(401).end('{"error":"auth_failed"}');
      const { method, headers } = request;
      const passed = httpRequest(`${url}${request.url}`, { method, headers }, (answer) => {
        answer.pipe(response.writeHead(answer.statusCode ?? 0, answer.headers));
      });
      return request.pipe(passed);
    });
    const half = await project.invoke(`http://${await listen(refusing)}/double`, INPUT, "--signed", "--replay");
    assert.deepEqual([half.code, half.out], [EXIT.failure, out], "the first result is printed");
    assert.match(half.err, /^✓ 200 ok .*\nsvc-gen: the tool answered 401 auth_failed/m);
    const { result, replay, ...facts } = JSON.parse(
      (await project.invoke(`${url}/double/invoke`, "@input.json", "--signed", "--replay", "--json")).out || "{}",
    );
    assert.deepEqual([result, facts], [undefined, { diagnostics: facts.diagnostics }], "the file is missing");
    project.write({ "input.json": INPUT });
    const json = await project.invoke(`${url}/double/invoke`, "@input.json", "--signed", "--replay", "--json");
    const report = JSON.parse(json.out);
    assert.deepEqual([report.variant, report.signature, report.replay.same], ["ok", "verified", true]);
    assert.ok(json.out.includes("9223372036854775810"), "exact");

    const failure = await project.invoke('{"pair":1,"words":["1","2","3","4","5","6"]}', "--signed");
    assert.deepEqual([failure.code, JSON.parse(failure.out)], [EXIT.failure, { _err_eval: { reason: "too long" } }]);
    const otherKey = ["--tool-key", "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c"];
    for (const [args, said] of [
      [[INPUT], /401 auth_failed.* \(the server requires signatures: add --signed;/],
      [
        ['{"pair":"1","words":["1"]}', "--signed"],
        /422 input_deserialization_error: pair: expected an integer, got a string/,
      ],
      [
        [INPUT, "--signed", ...otherKey],
        /wrong_signature.*\(the result was not signed with the key that belongs to --tool-key: /,
      ],
      [
        [INPUT, "--signed", "--header-prefix", "X-Nexus-"],
        /401 .* \(this server expects another header prefix: pass --header-prefix X-Svc-;/,
      ],
    ] as const)
      assert.match((await project.invoke(...args)).err, said);
  });

  test("two servers of one project: signed and unsigned calls go to the right server; doctor signs with the development keys", async () => {
    const plain = project.dev();
    await plain.event<Serving>("serving");
    assert.match((await project.invoke(INPUT)).err, /· unsigned$/m);
    assert.match((await project.invoke(INPUT, "--signed")).err, /result signature ✓$/m);

    const doctor = (address: string) => svcGenIn(project.root, ["doctor", address]);
    for (const address of [url, url.replace("127.0.0.1", "localhost")]) {
      const { code, out } = await doctor(`${address}/double`);
      assert.match(
        out,
        /^✓ headers: the server receives all six signature headers, and the leader's signature is valid$/m,
      );
      assert.match(out, /^✓ body: arrives unchanged: the input hash matches$/m);
      assert.equal(code, EXIT.done, out);
    }

    assert.equal(await plain.interrupt(), EXIT.done);
    assert.match((await project.invoke(INPUT)).err, /401 .* add --signed/, "the other server is still known");
  });

  test("invoke: control characters of a result are escaped", async () => {
    project.write({
      "src/double.ts": double("return { ok: { double: pair, words } };", "{ pair?: bigint; words?: string[] }")
        .replace("words.length > 5", "words !== undefined && words.length > 256")
        .replace("double: pair, words", 'double: pair ?? 0n, words: words ?? ["\\u009b31m\\u202e\\u007f"]'),
    });
    await restart(process);
    const { code, out, err } = await project.invoke("{}", "--signed");
    assert.equal(code, EXIT.done, err);
    assert.match(out, /"\\u009b31m\\u202e\\u007f"/);
    const json = await project.invoke("{}", "--signed", "--json");
    assert.deepEqual(JSON.parse(json.out).result.ok.words, ["\u009b31m\u202e\u007f"]);
    assert.ok(json.out.includes("\\u009b"));
  });

  test("--header-prefix: signed calls and retries to a server for older leaders", async () => {
    project.write({
      "src/server-options.ts":
        'import type { BootstrapOptions } from "svc-runtime";\nexport const options: BootstrapOptions = { headerPrefix: "X-Nexus-" };\n',
      "src/double.ts": GOOD,
    });
    await restart(process);
    const { code, err } = await project.invoke(INPUT, "--signed", "--replay", "--header-prefix", "X-Nexus-");
    assert.equal(code, EXIT.done, err);
    assert.match(err, /^✓ 200 ok in \d+ ms · input hash ✓ nonce ✓ result signature ✓$/m);
    const without = await project.invoke(`${url}/double`, INPUT, "--signed");
    assert.match(without.err, /401 .* \(this server expects another header prefix: pass --header-prefix X-Nexus-;/);
    project.write({ "other.key": "07".repeat(32) });
    const other = ["--leader-key", "other.key", "--leader-id", "other", "--header-prefix", "X-Nexus-"];
    assert.match(
      (await project.invoke(INPUT, "--signed", ...other)).err,
      /no such leader .* \(add this leader ID and key ID with the leader's public key to /,
    );
    writeFileSync(join(kept(project), "leader.key"), "08".repeat(32));
    const stranger = await project.invoke(INPUT, "--signed", "--header-prefix", "X-Nexus-");
    assert.match(
      stranger.err,
      /\(the request was signed with the keys of svc-gen dev --signed, which this server does not know: pass/,
    );
  });

  test("after a killed dev session the next one uses its keys, and its state is not taken for a running server", async () => {
    await process.interrupt("SIGKILL");
    const keys = readFileSync(join(kept(project), "leader.key"), "utf8");
    const again = project.dev("--signed");
    await again.event("serving");
    assert.equal(statesOf(project).length, 1);
    assert.equal(readFileSync(join(kept(project), "leader.key"), "utf8"), keys);
    assert.equal((await project.invoke(INPUT, "--signed", "--header-prefix", "X-Nexus-")).code, EXIT.done);
    assert.equal(await again.interrupt("SIGHUP"), EXIT.done);
    assert.deepEqual(statesOf(project), []);
  });
});

test("printed: notes, URLs, a call to try, calls, frames, changes, new tools, and the log", PATIENCE, async (t) => {
  const taken = createServer();
  t.after(() => taken.close());
  // Whether this test or another program has it: it is taken.
  await new Promise<void>((done) => taken.once("error", () => done()).listen(8080, "127.0.0.1", () => done()));
  const project = new DevProject({
    "src/double.ts": GOOD.replace(
      "override async invoke",
      "override authorize() {}\n  override async invoke",
    ).replaceAll("words: string[];", "words: string[];\n/** @pattern ^[A-Z]{3}$ */\ncode: string;"),
    ".env": "BIND_ADDR=0.0.0.0:8080\nPORT=1\n",
  });
  const process = new CliProcess(project.root, ["dev"]);
  await process.complaint(/^only the port of BIND_ADDR is used: .*\nPORT is ignored, .* use --port or BIND_ADDR$/m);
  await process.complaint(/ warn authorize of xyz\.test\.double@1 does not run: calls are unsigned/);
  await process.complaint(/^reading and checking the project …\n[\s\S]*^starting the server …$/m);
  const [, url = ""] = /serving on (\S+) after/.exec(await process.line(/^✓ serving/)) ?? [];
  assert.match(await process.line(/port 8080/), /^ {2}another process uses port 8080; choose a port with --port/);
  await process.line(new RegExp(`^ {2}xyz\\.test\\.double@1 {2}POST ${url}/double/invoke$`));
  const [, sample = ""] = /svc-gen invoke '(.*)'$/.exec(await process.line(/^ {2}try {5}npx svc-gen/)) ?? [];
  const openapi = await process.line(/^ {2}openapi/);
  const [, page = ""] = /^ {2}page {4}(\S+)$/.exec(await process.line(/^ {2}page/)) ?? [];
  assert.equal(openapi, `  openapi ${page}openapi.json`);
  const second = new CliProcess(project.root, ["dev", "--port", "0"]);
  await second.complaint(/^svc-gen dev already runs in this folder: it serves /m);
  await second.interrupt();
  assert.equal((await project.invoke(sample)).code, EXIT.done);
  await process.complaint(/^\d\d:\d\d:\d\d 200 xyz\.test\.double@1 · [\d.]+ ms · request \S+$/m);
  project.write({ "src/double.ts": double("return { ok: { double: pair * 2, words } };") });
  await process.complaint(
    /src\/double\.ts:13:\d+ - error TS2365[\s\S]*~~~~[\s\S]*✗ 1 error; the last good build keeps serving/,
  );
  project.write({
    "src/double.ts": double('console.log("here"); throw new Error("boom");', "{ pair: bigint; words: string[] }"),
  });
  await process.line(/^xyz\.test\.double@1: breaking \(callers fail: make it @2 before you publish it\)$/);
  await process.line(/^ {2}breaking: input note: removed$/);
  await process.line(RESTARTED);
  assert.match(
    (await project.invoke(INPUT)).err,
    /^svc-gen: the tool answered 500 tool_invocation_failed \(a retry gets the same answer; the exception is only in the server's log; the tool may have run; request [\w-]+\)\n$/,
  );
  await process.complaint(/^here$/m);
  await process.complaint(/^\d\d:\d\d:\d\d error [\s\S]*boom[\s\S]*src\/double\.ts:13/m);
  project.write({
    "src/other.ts": GOOD.replaceAll("Double", "Other")
      .replaceAll('"double"', '"other"')
      .replace("test.double@", "test.other@"),
  });
  await process.line(RESTARTED);
  assert.equal(await process.line(/^ {2}xyz\.test\./), `  xyz.test.other@1  POST ${url}/other/invoke`);
  await process.line(/^ {2}try {5}npx svc-gen invoke xyz\.test\.other@1 /);
  project.write({ "src/double.ts": double("if (pair > 0n) process.exit(7); return { ok: { double: pair, words } };") });
  await process.line(RESTARTED);
  await project.invoke("double", INPUT);
  await process.complaint(
    /^process\.exit was called at Double\.invoke \(src\/double\.ts:\d+:\d+\): throw an error instead$/m,
  );
  assert.equal(await process.interrupt(), EXIT.done);
});

describe("mistakes", () => {
  let project: ToolProject;
  before(async () => {
    project = new ToolProject({ "src/double.ts": GOOD });
    await svcGenIn(project.root, ["--quiet"]);
  });

  test("--port names a port that is taken", PATIENCE, async (t) => {
    const taken = createServer();
    t.after(() => taken.close());
    await once(taken.listen(0, "127.0.0.1"), "listening");
    const { port } = taken.address() as AddressInfo;
    const process = new CliProcess(project.root, ["dev", "--quiet", "--port", `${port}`]);
    assert.equal(await process.exit(), EXIT.failure);
    assert.equal(
      process.complaints,
      `svc-gen: port ${port} of 127.0.0.1 is taken (choose another port, or omit --port)\n`,
    );
  });

  test("compiled files of a project without outDir are not written through a linked .svc", PATIENCE, async () => {
    const { outDir: _, rootDir: __, ...options } = STRICT;
    const linked = new ToolProject({ "src/double.ts": GOOD }, options);
    const elsewhere = new ToolProject({});
    symlinkSync(elsewhere.root, join(linked.root, ".svc"));
    const before = readdirSync(elsewhere.root);
    const process = new CliProcess(linked.root, ["dev", "--port", "0", "--json"]);
    const { reason } = await process.event<{ readonly reason: string }>("failed");
    assert.match(reason, /^cannot write "[^"]*\/\.svc": it is a symbolic link/);
    assert.deepEqual(readdirSync(elsewhere.root), before);
  });

  test("an error names a file that is in the place of the folder of dev", PATIENCE, async () => {
    rmSync(kept(project), { recursive: true });
    writeFileSync(kept(project), "");
    const process = new CliProcess(project.root, ["dev", "--port", "0"]);
    assert.equal(await process.exit(), EXIT.failure);
    assert.match(process.complaints, /^svc-gen: cannot write "[^"]*": its folder is a file /);
  });
});
