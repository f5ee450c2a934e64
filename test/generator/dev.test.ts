/** `svc-gen dev` and `svc-gen invoke` as their user sees them: a server that follows the files, and calls from a shell. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { EXIT } from "#generator/cli.js";
import { CliProcess } from "./cli-process.js";
import { ToolProject } from "./project.js";
import { svcGenIn } from "./run-cli.js";

/** A failing test ends, before the file's own limit; how fast a restart is is the bench's business. */
const PATIENCE = { timeout: 60_000 };

const double = (body: string, input = "{ pair: bigint; words: string[]; note?: string }", before = "") => `
import { errEval, StatusCode, SvcTool } from "svc-runtime";
declare const process: { exit(code: number): never };
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
  readonly tools: readonly { readonly fqn: string; readonly url: string; readonly sample: string }[];
}
interface Run {
  readonly event: "run";
  readonly diagnostics: readonly { readonly code: string; readonly place?: { readonly line: number } }[];
  readonly changes: readonly { readonly verdict: string; readonly changes: readonly { readonly port?: string }[] }[];
  readonly serving: boolean;
}

let project: ToolProject;
beforeEach(() => {
  project = new ToolProject({ "src/double.ts": GOOD });
});
after(() => project.remove());

const dev = (...args: string[]) => new CliProcess(project.root, ["dev", "--port", "0", "--json", ...args]);
const invoke = (...args: string[]) => svcGenIn(project.root, ["invoke", ...args]);
const resultOf = ({ code, out, err }: Awaited<ReturnType<typeof invoke>>) => {
  assert.equal(code, EXIT.done, err);
  return out.replaceAll(/\s/g, "");
};

test("a save serves the new build; with an error the last good one keeps serving", PATIENCE, async () => {
  const process = dev();
  const serving = await process.event<Serving>("serving");
  assert.deepEqual(
    serving.tools.map(({ fqn, url }) => [fqn, url]),
    [["xyz.test.double@1", `${serving.url}/double`]],
  );
  assert.equal((await fetch(`${serving.url}/double/health`)).status, 200);
  const before = '{"ok":{"double":9223372036854775810,"words":["x"]}}';
  assert.equal(resultOf(await invoke(INPUT)), before);
  assert.equal((await invoke(serving.tools[0]?.sample ?? "")).code, EXIT.done, "the sample fits");

  project.write({ "src/double.ts": double("return { ok: { double: pair * 2, words } };") });
  // A save may be seen half written, as a file without a tool.
  const broken = await process.event<Run>("run", ({ diagnostics }) => diagnostics.some(({ code }) => /^TS/.test(code)));
  assert.deepEqual(
    broken.diagnostics.filter(({ code }) => code.startsWith("TS")).map(({ code, place }) => [code, place?.line]),
    [["TS2365", 13]],
  );
  assert.deepEqual([broken.serving, broken.changes], [true, []]);
  assert.equal(resultOf(await invoke(INPUT)), before);

  project.write({ "src/double.ts": double("return { ok: { double: pair * 3n, words } };") });
  await process.event("serving");
  assert.equal(resultOf(await invoke(INPUT)), before.replace("9223372036854775810", "13835058055282163715"));

  const input = "{ pear: bigint; words: string[] }";
  const renamed = double("return { ok: { double: pair, words } };", input).replace(
    "{ pair, words }",
    "{ pear: pair, words }",
  );
  project.write({ "src/double.ts": renamed });
  const { changes } = await process.event<Run>("run", (run) => run.changes.length > 0);
  assert.deepEqual(
    changes.map(({ verdict, changes: found }) => [verdict, found.map(({ port }) => port)]),
    [["breaking", ["input pair", "input note", "input pear"]]],
  );
  await process.event("serving");
  const unknown = await invoke(INPUT);
  assert.deepEqual(unknown, {
    code: EXIT.failure,
    out: "",
    err: 'svc-gen: unknown input port "pair"; did you mean pear? (the tool has: pear, words)\n',
  });

  const state = join(project.root, `.svc/dev-${new URL(serving.url).port}.json`);
  assert.ok(existsSync(state));
  assert.equal(await process.interrupt(), EXIT.done);
  assert.equal(existsSync(state), false);
  await assert.rejects(fetch(serving.url));
  assert.match((await invoke(INPUT)).err, /ECONNREFUSED.* \(start it: svc-gen dev\)/);
});

test("a build that does not start leaves the last good one; a process that ends is replaced", PATIENCE, async () => {
  const process = dev();
  await process.event("serving");
  const thrown = 'if (Date.now() > 0) throw new Error("no database");';
  project.write({
    "src/double.ts": double("return { err: { reason: String(pair + words[0]!) } };", undefined, thrown),
  });
  const failed = await process.event<{ event: "failed"; reason: string; serving: boolean }>("failed");
  assert.deepEqual([failed.reason, failed.serving], ["it ended with exit code 1", true]);
  assert.match(resultOf(await invoke(INPUT)), /"double":9223372036854775810/);

  project.write({
    "src/double.ts": double("if (words[0] === 'end') process.exit(7); return { ok: { double: pair, words } };"),
  });
  await process.event("serving");
  const cut = await invoke('{"pair":1,"words":["end"]}');
  assert.equal(cut.code, EXIT.failure);
  const ended = await process.event<{ event: "ended"; reason: string }>("ended");
  assert.equal(ended.reason, "it ended with exit code 7");

  project.write({ "src/double.ts": GOOD });
  await process.event("serving");
  assert.match(resultOf(await invoke(INPUT)), /"double":9223372036854775810/);
  assert.equal(await process.interrupt(), EXIT.done);
});

test("a build serves once its tools listen, not at another listener of its process", PATIENCE, async () => {
  const process = dev();
  await process.event("serving");
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
  assert.match(resultOf(await invoke(INPUT)), /"double":9223372036854775810/);
  assert.equal(await process.interrupt(), EXIT.done);
});

test("--signed: keys of mode 0600, signed calls, retries and refusals", PATIENCE, async () => {
  const process = dev("--signed");
  const { url } = await process.event<Serving>("serving");
  for (const name of ["leader.key", "tool.key", "config.json"]) {
    assert.equal(statSync(join(project.root, ".svc", name)).mode & 0o777, 0o600, name);
  }
  assert.equal(readFileSync(join(project.root, ".svc/.gitignore"), "utf8"), "*\n");
  const keys = readFileSync(join(project.root, ".svc/leader.key"), "utf8");

  const { code, out, err } = await invoke("double", INPUT, "--signed", "--replay", "--tamper");
  assert.equal(code, EXIT.done, err);
  assert.deepEqual(JSON.parse(out).ok.words, ["x"]);
  assert.match(err, /^✓ 200 ok in \d+ ms · input hash ✓ nonce ✓ result signature ✓$/m);
  assert.match(err, /^✓ retry: 200 in \d+ ms · the same result and signature: the tool did not run again$/m);
  assert.match(err, /^✓ changed on the way: refused: 422 input_integrity_error$/m);
  const { result, replay, tamper, ...facts } = JSON.parse(
    (await invoke(`${url}/double/invoke`, "@input.json", "--signed", "--replay", "--tamper", "--json")).out || "{}",
  );
  assert.deepEqual([result, facts], [undefined, { diagnostics: facts.diagnostics }], "the file is missing");
  project.write({ "input.json": INPUT });
  const json = await invoke(`${url}/double/invoke`, "@input.json", "--signed", "--replay", "--tamper", "--json");
  const report = JSON.parse(json.out);
  assert.deepEqual(
    [report.variant, report.signature, report.replay.same, report.tamper.code],
    ["ok", "verified", true, "input_integrity_error"],
  );
  assert.ok(json.out.includes("9223372036854775810"), "exact");

  const refused = await invoke(INPUT);
  assert.equal(refused.code, EXIT.failure);
  assert.match(refused.err, /401 auth_failed.* \(the server requires signatures: add --signed\)/);
  const failure = await invoke('{"pair":1,"words":["1","2","3","4","5","6"]}', "--signed");
  assert.deepEqual([failure.code, JSON.parse(failure.out)], [EXIT.failure, { _err_eval: { reason: "too long" } }]);
  const wrong = await invoke('{"pair":"1","words":["1"]}', "--signed");
  assert.match(wrong.err, /422 input_deserialization_error: pair: expected an integer, got a string/);
  const otherTool = await invoke(
    INPUT,
    "--signed",
    "--tool-key",
    "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c",
  );
  assert.match(
    otherTool.err,
    /wrong_signature.*\(the result is not of the tool with this public key: take the public half of its /,
  );
  const otherHeaders = await invoke(INPUT, "--signed", "--header-prefix", "X-Nexus-");
  assert.match(otherHeaders.err, /401 .* \(this server reads other headers: give --header-prefix X-Svc-\)/);

  assert.equal(await process.interrupt(), EXIT.done);
  const again = dev("--signed");
  await again.event("serving");
  assert.equal(readFileSync(join(project.root, ".svc/leader.key"), "utf8"), keys, "keys are kept");
  assert.equal((await invoke(INPUT, "--signed")).code, EXIT.done);
  assert.equal(await again.interrupt(), EXIT.done);
});

test(
  "two servers of one project: each call goes to the one that is meant; doctor signs with the keys",
  PATIENCE,
  async () => {
    const signed = dev("--signed");
    const { url } = await signed.event<Serving>("serving");
    const plain = dev();
    await plain.event<Serving>("serving");
    assert.match((await invoke(INPUT)).err, /· unsigned$/m);
    assert.match((await invoke(INPUT, "--signed")).err, /result signature ✓$/m);

    const doctor = (address: string) => svcGenIn(project.root, ["doctor", address]);
    for (const address of [url, url.replace("127.0.0.1", "localhost")]) {
      const { code, out } = await doctor(`${address}/double`);
      assert.match(out, /^✓ headers: all six arrived, and the leader's signature verifies$/m);
      assert.match(out, /^✓ body: it arrives unchanged: the input hash agrees$/m);
      assert.equal(code, EXIT.done, out);
    }

    assert.equal(await plain.interrupt(), EXIT.done);
    assert.match((await invoke(INPUT)).err, /401 .* add --signed/, "the other server is still known");
    assert.equal(await signed.interrupt("SIGHUP"), EXIT.done);
    assert.deepEqual(
      readdirSync(join(project.root, ".svc")).filter((name) => name.startsWith("dev-")),
      [],
    );
  },
);

test("what a killed dev leaves is not taken for a server", PATIENCE, async () => {
  const killed = dev();
  await killed.event("serving");
  await killed.interrupt("SIGKILL");
  const process = dev();
  await process.event("serving");
  assert.equal(readdirSync(join(project.root, ".svc")).filter((name) => name.startsWith("dev-")).length, 1);
  assert.equal((await invoke(INPUT)).code, EXIT.done);
  assert.equal(await process.interrupt(), EXIT.done);
});

test("--header-prefix: a server of older leaders is called, signed and retried", PATIENCE, async () => {
  project.write({ "src/server-options.ts": 'export const options = { headerPrefix: "X-Nexus-" };\n' });
  const process = dev("--signed");
  const { url } = await process.event<Serving>("serving");
  const { code, err } = await invoke(INPUT, "--signed", "--replay", "--tamper", "--header-prefix", "X-Nexus-");
  assert.equal(code, EXIT.done, err);
  assert.match(err, /^✓ 200 ok in \d+ ms · input hash ✓ nonce ✓ result signature ✓$/m);
  assert.match(err, /^✓ changed on the way: refused: 422 input_integrity_error$/m);
  const without = await invoke(`${url}/double`, INPUT, "--signed");
  assert.match(without.err, /401 .* \(this server reads other headers: give --header-prefix X-Nexus-\)/);
  project.write({ "other.key": "07".repeat(32) });
  const other = ["--leader-key", "other.key", "--leader-id", "other", "--header-prefix", "X-Nexus-"];
  assert.match(
    (await invoke(INPUT, "--signed", ...other)).err,
    /no such leader .* \(compare the leader.s id, key id and public key /,
  );
  project.write({ ".svc/leader.key": "08".repeat(32) });
  const stranger = await invoke(INPUT, "--signed", "--header-prefix", "X-Nexus-");
  assert.match(stranger.err, /\(signed with the keys of svc-gen dev --signed, which this server does not know: give/);
  assert.equal(await process.interrupt(), EXIT.done);
});

test("what is printed for people: URLs, a call to try, frames, changes, and the log", PATIENCE, async () => {
  const process = new CliProcess(project.root, ["dev", "--port", "0"]);
  const [, url = ""] = /serving on (\S+) after/.exec(await process.line(/^✓ serving/)) ?? [];
  await process.line(/^ {2}xyz\.test\.double@1$/);
  await process.line(new RegExp(`^ {4}health {2}${url}/double/health$`));
  const [, sample = ""] = /svc-gen invoke '(.*)'$/.exec(await process.line(/^ {2}try {5}npx svc-gen/)) ?? [];
  assert.equal((await invoke(sample)).code, EXIT.done);
  project.write({ "src/double.ts": double("return { ok: { double: pair * 2, words } };") });
  await process.complaint(
    /src\/double\.ts:13:\d+ - error TS2365[\s\S]*~~~~[\s\S]*✗ 1 error; the last good build keeps serving/,
  );
  project.write({
    "src/double.ts": double('console.log("here"); throw new Error("boom");', "{ pair: bigint; words: string[] }"),
  });
  await process.line(/^xyz\.test\.double@1: breaking \(callers fail: make it @2 before you publish it\)$/);
  await process.line(/^ {2}breaking: input note: it is gone$/);
  await process.line(/^✓ serving/);
  assert.equal(
    (await invoke(INPUT)).err,
    "svc-gen: the tool answered 500 tool_invocation_failed (code of the tool threw: the log of the server has the exception)\n",
  );
  await process.complaint(/^here$/m);
  await process.complaint(/^\d\d:\d\d:\d\d error [\s\S]*boom[\s\S]*src\/double\.ts:13/m);
  assert.equal(await process.interrupt(), EXIT.done);
});

test("the text of a key in place of its file is repeated by no message", async () => {
  await svcGenIn(project.root, ["--quiet"]);
  const key = "d1".repeat(32);
  for (const args of [
    ["invoke", "{}", "--signed", "--leader-id", "leader", "--leader-key", key],
    ["doctor", "--leader-key", key],
    ["doctor", "http://127.0.0.1:9/double", "--leader-key", key],
    ["config", "init", "--leader-key", key],
    ["config", "init", "--tool-key", key],
  ]) {
    const { code, out, err } = await svcGenIn(project.root, args);
    assert.equal(code, EXIT.failure);
    assert.match(err, /^svc-gen: expected the name of a file, got the text of a key \(write it to a file; /);
    assert.ok(!`${out}${err}`.includes("d1d1"), args.join(" "));
  }
});

test("invoke: a result that a terminal would obey; --tamper of a full list, and of nothing", PATIENCE, async () => {
  project.write({
    "src/double.ts": double("return { ok: { double: pair, words } };", "{ pair?: bigint; words?: string[] }")
      .replace("words.length > 5", "words !== undefined && words.length > 256")
      .replace("double: pair, words", 'double: pair ?? 0n, words: words ?? ["\\u009b31m\\u202e\\u007f"]'),
  });
  const process = dev("--signed");
  await process.event("serving");
  const { code, out, err } = await invoke("{}", "--signed");
  assert.equal(code, EXIT.done, err);
  assert.match(out, /"\\u009b31m\\u202e\\u007f"/);
  const json = await invoke("{}", "--signed", "--json");
  assert.deepEqual(JSON.parse(json.out).result.ok.words, ["\u009b31m\u202e\u007f"]);
  assert.ok(json.out.includes("\\u009b"));
  const nothing = await invoke("{}", "--signed", "--tamper");
  assert.deepEqual(
    [nothing.code, nothing.err],
    [EXIT.failure, "svc-gen: there is no value that --tamper could change (leave --tamper out)\n"],
  );
  const words = JSON.stringify({ words: Array.from({ length: 256 }, () => "w") });
  assert.match((await invoke(words, "--signed", "--tamper")).err, /^✓ changed on the way: refused: 422 /m);
  assert.equal(await process.interrupt(), EXIT.done);
});

test("a file where the folder of dev belongs is named", PATIENCE, async () => {
  project.write({ ".svc": "" });
  const process = new CliProcess(project.root, ["dev", "--port", "0"]);
  assert.equal(await process.exit(), EXIT.usage);
  assert.match(process.complaints, /^svc-gen: cannot write "[^"]*": a file is where its folder should be /);
});

test("a taken port is named, and so is every tool that is new", PATIENCE, async (t) => {
  const taken = createServer();
  t.after(() => taken.close());
  // Whether this test or another program has it: it is taken.
  await new Promise<void>((done) => taken.once("error", () => done()).listen(8080, "127.0.0.1", () => done()));
  const process = new CliProcess(project.root, ["dev"]);
  const [, url = ""] = /serving on (\S+) after/.exec(await process.line(/^✓ serving/)) ?? [];
  assert.match(await process.line(/port 8080/), /^ {2}port 8080 is taken by another process; --port names/);
  await process.line(/^ {2}try /);
  project.write({
    "src/other.ts": GOOD.replaceAll("Double", "Other")
      .replaceAll('"double"', '"other"')
      .replace("test.double@", "test.other@"),
  });
  await process.line(/^✓ serving/);
  assert.equal(await process.line(/^ {2}xyz\.test\./), "  xyz.test.other@1");
  await process.line(new RegExp(`^ {4}meta {4}${url}/other/meta$`));
  await process.line(/^ {2}try {5}npx svc-gen invoke xyz\.test\.other@1 /);
  assert.equal(await process.interrupt(), EXIT.done);
});

test("mistakes on the command line of dev and invoke", async () => {
  await svcGenIn(project.root, ["--quiet"]);
  for (const [args, code, message] of [
    [["dev", "--project", "src"], EXIT.usage, 'there is no "src/tsconfig.json" here'],
    [["dev", "--port", "http"], EXIT.usage, "--port wants a number from 0 to 65535"],
    [["dev", "--signd"], EXIT.usage, 'unknown option "--signd"; did you mean --signed?'],
    [["invoke"], EXIT.usage, "invoke wants an input: JSON, @FILE or - for standard input, such as"],
    [["invoke", "duoble", "{}"], EXIT.usage, 'unknown tool "duoble"; did you mean double?'],
    [["invoke", "{}", "--replay"], EXIT.usage, "--replay wants --signed"],
    [
      ["invoke", "{}", "--signed"],
      EXIT.usage,
      "--signed wants --leader-key FILE and --leader-id ID, or a project served",
    ],
    [["invoke", "double", "@none.json"], EXIT.usage, 'cannot read "none.json": ENOENT'],
    [["invoke", "{}", "--timeout", "1s"], EXIT.usage, '--timeout wants a number, got "1s"'],
    [["invoke", "double", "{}", "{}"], EXIT.usage, "invoke wants a tool and an input; quote the JSON for the shell"],
  ] as const) {
    const { code: got, err } = await svcGenIn(project.root, args);
    assert.equal(got, code, err);
    assert.ok(err.startsWith(`svc-gen: ${message}`), err);
  }
});
