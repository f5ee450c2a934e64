/** The command line: exit codes, what it writes and leaves alone, what it prints. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkUse, findCommand, readArguments } from "#generator/cli/arguments.js";
import { EXIT } from "#generator/cli/cli.js";
import { COMMANDS as TABLE } from "#generator/cli/commands.js";
import { unified } from "#generator/commands/stale-report.js";
import { CODES, formatDiagnostic } from "#generator/compile/diagnostics/diagnostics.js";
import { toolNamed } from "#generator/invoke/tool-names.js";
import { REPOSITORY } from "../repository.js";
import { ToolProject, toolSource } from "./project.js";
import { type Ran, svcGenIn as runIn } from "./run-cli.js";

const COMMANDS = await Promise.all(TABLE.map(({ load }) => load()));

const project = new ToolProject({
  "src/sum.ts": toolSource("Sum", "{ a: bigint; tags: string[] }", "{ ok: { sum: bigint } }"),
});

const svcGen = (...args: string[]) => svcGenIn(project.root, ...args);

const svcGenIn = (cwd: string, ...args: string[]): Promise<Ran> => runIn(cwd, args);

const FILES = ["src/generated/contracts.ts", "src/generated/server.ts", "meta.json"];

test("the first run writes files, the second changes none", async () => {
  const first = await svcGen();
  assert.equal(first.code, EXIT.done);
  assert.equal(first.out, FILES.map((path) => `wrote ${path}\n`).join(""));
  assert.match(first.err, /note SVC155: Sum\.Input\.tags: this list cannot be empty/);
  for (const path of FILES) utimesSync(join(project.root, path), 1000, 1000);
  const second = await svcGen();
  const known = "3 notes as before (svc-gen --notes prints them)\n";
  assert.deepEqual(second, { code: EXIT.done, out: "up to date\n", err: known });
  assert.equal((await svcGen("--quiet")).err, "");
  assert.match((await svcGen("--notes")).err, /note SVC155: Sum\.Input\.tags: [\s\S]*silences it\n$/);
  assert.equal(JSON.parse((await svcGen("--json")).out).diagnostics.length, 3);
  for (const path of FILES) assert.equal(statSync(join(project.root, path)).mtimeMs, 1_000_000);
  assert.deepEqual(readdirSync(join(project.root, "src/generated")).sort(), ["contracts.ts", "server.ts"]);
});

test("a run prints notes that are new since the last run, and counts the others", async () => {
  const other = new ToolProject({ "src/a.ts": toolSource("A", "{ one: string[] }") });
  assert.match((await svcGenIn(other.root)).err, /A\.Input\.one/);
  other.write({ "src/a.ts": `\n${toolSource("A", "{ one: string[]; two: string[] }")}` });
  const shown = `src/a.ts:4:49 - note SVC155: A.Input.two: this list cannot be empty\n`;
  for (const args of [["--check"], []]) {
    const { err } = await svcGenIn(other.root, ...args);
    assert.ok(err.startsWith(shown), err);
    assert.match(err, /^ {2}hint: .*\n1 note as before \(svc-gen --notes prints it\)\n/m);
  }
  assert.equal((await svcGenIn(other.root, "--check")).err, "2 notes as before (svc-gen --notes prints them)\n");
});

test("--check is 0 when up to date, 3 with a difference when stale, and writes nothing", async () => {
  assert.deepEqual(await svcGen("--check", "--quiet"), { code: EXIT.done, out: "", err: "" });
  assert.equal((await svcGen("--check")).out, "up to date\n");
  const path = join(project.root, "meta.json");
  const text = readFileSync(path, "utf8");
  project.write({ "meta.json": text.replaceAll("\n", "\r\n") });
  assert.equal((await svcGen("--check", "--quiet")).code, EXIT.done);
  project.write({ "meta.json": text.replace("A tool.", "Another tool.") });
  const stale = await svcGen("--check", "--quiet");
  assert.equal(stale.code, EXIT.stale);
  assert.match(
    stale.err,
    /^--- meta\.json\n\+\+\+ meta\.json\tas svc-gen would write it\n@@ -3,7 \+3,7 @@\n(?: .*\n){3}-.*Another tool\..*\n\+.*"A tool\..*\n(?: .*\n){3}\n/,
  );
  assert.match(stale.err, /1 file is stale; run `svc-gen`/);
  const listed = await svcGen("--check", "--quiet", "--json");
  const { diagnostics, wrote } = JSON.parse(listed.out);
  assert.deepEqual(diagnostics, [{ severity: "error", code: "stale", file: "meta.json", hint: "run `svc-gen`" }]);
  assert.deepEqual(wrote, []);
  assert.deepEqual([listed.code, listed.err], [EXIT.stale, ""]);
  assert.match(readFileSync(path, "utf8"), /Another tool/);
  assert.equal((await svcGen("--quiet")).out, "wrote meta.json\n");
  assert.equal(readFileSync(path, "utf8"), text);
});

test("errors exit with 1 and write nothing; --json prints the same as data", async () => {
  const before = readFileSync(join(project.root, "src/generated/contracts.ts"), "utf8");
  project.write({
    "src/bad.ts": toolSource("Bad", "{ items: { when: Map<string, string> }[] }", "{ ok: {}; err: {} }"),
  });
  const { code, err } = await svcGen();
  assert.equal(code, EXIT.failure);
  assert.match(
    err,
    /src\/bad\.ts:3:45 - error SVC134: Bad\.Input\.items\[\]\.when: this collection has no JSON form: Map<string, string>/,
  );
  assert.match(err, /^3 \| export class Bad .*\n {2}\| +~~~~$/m);
  assert.match(err, / {2}hint: use Record<string, T> or an array of pairs for a Map/);
  assert.match(
    err,
    /src\/bad\.ts:3:\d+ - error SVC164: Bad\.Output: a variant does not have exactly one member: it has 2: ok, err/,
  );
  assert.match(err, /svc-gen: 2 errors in 1 file; nothing was written/);
  const json = await svcGen("--json");
  assert.equal(json.code, EXIT.failure);
  type Found = { code: string; severity: string; place?: { file: string; line: number } };
  const { diagnostics: parsed } = JSON.parse(json.out) as { diagnostics: Found[] };
  assert.deepEqual(
    parsed.filter(({ severity }) => severity === "error").map((each) => `${each.code} ${each.place?.file}`),
    ["SVC134 src/bad.ts", "SVC164 src/bad.ts"],
  );
  assert.equal(readFileSync(join(project.root, "src/generated/contracts.ts"), "utf8"), before);
  project.write({ "src/bad.ts": "export {};\n" });
});

test("the help of a group of commands lists them", async () => {
  const { code, out } = await svcGen("keys", "--help");
  assert.deepEqual(
    [code, [...out.matchAll(/^ {2}svc-gen (keys \w+)/gm)].map(([, name]) => name), / {2}svc-gen (?!keys)/.test(out)],
    [EXIT.done, ["keys new", "keys show"], false],
  );
});

test("docs/commands.md has a heading for each command, and names options that the command has", () => {
  const page = readFileSync(join(REPOSITORY, "docs/commands.md"), "utf8").replace(/^## /gm, "### ");
  const sections = page.split(/^### /m).filter((section) => section.startsWith("`svc-gen"));
  const documented = sections.map((section) => /^`svc-gen ?(.*)`/.exec(section)?.[1] || "generate");
  const groups = new Set(COMMANDS.map(({ name }) => name.replace(/ .*/, "")));
  assert.deepEqual(documented.toSorted(), [...groups].toSorted());
  for (const [at, section] of sections.entries()) {
    const group = COMMANDS.filter(({ name }) => name.split(" ")[0] === documented[at]);
    const known = new Set(group.flatMap(({ options }) => Object.keys(options)));
    for (const [, command = ""] of section.matchAll(/`((?:svc-gen|--)[^`]*)`/g)) {
      for (const [, option = ""] of command.matchAll(/--([a-z-]+)/g)) assert.ok(known.has(option), command);
      const named = /^svc-gen ((?:keys|config) \w+)/.exec(command)?.[1];
      assert.ok(named === undefined || group.some(({ name }) => name === named), command);
    }
  }
});

test("missing or invalid files exit with 1 and one line that says what to do", async () => {
  const conflict = "line 2 begins a merge conflict (<<<<<<<): resolve it, or let svc-gen write the file anew";
  project.write({ "conflict.json": "[\n<<<<<<< HEAD\n=======\n>>>>>>> other\n]\n" });
  const wrote = "compare files that svc-gen wrote";
  for (const [args, message, hint] of [
    [
      ["diff", "HEAD~1", "y"],
      'cannot read "HEAD~1": the file does not exist',
      "correct the path, or write the file of a commit: git show COMMIT:meta.json > OLD",
    ],
    [
      ["dev", "--url", "http://127.0.0.1:1", "--leader-key", "none"],
      'cannot read "none": the file does not exist',
      "create one with svc-gen keys new",
    ],
    [["diff", "src", "y"], 'cannot read "src": it is a folder: name its files', "correct the path"],
    [["invoke", "Sum", "@none.json"], 'cannot read "none.json": the file does not exist', "correct the path"],
    [
      ["diff", "package.json", "src/sum.ts"],
      '"package.json" is not metadata: at /fqn: expected the name of a tool, got nothing',
      wrote,
    ],
    [
      ["diff", "meta.json", "src/sum.ts"],
      '"src/sum.ts" is not metadata: expected JSON: expected a value at byte 0',
      wrote,
    ],
    [["diff", "meta.json", "conflict.json"], `"conflict.json" is not metadata: expected JSON: ${conflict}`, wrote],
  ] as const) {
    const said = `svc-gen: ${message} (${hint})\n`;
    assert.deepEqual(await svcGen(...args), { code: EXIT.failure, out: "", err: said });
  }
});

test("--help lists all commands, each with examples that parse; -v prints the version", async () => {
  const all = await svcGen("--help");
  assert.equal(all.code, EXIT.done);
  for (const command of COMMANDS) {
    assert.ok(all.out.includes(command.summary), command.name);
    const words = command.name.split(" ");
    const help = await svcGen(...words, "--help");
    assert.deepEqual([help.code, help.err], [EXIT.done, ""]);
    assert.match(help.out, new RegExp(`^svc-gen ${command.name}\\b`));
    for (const name of Object.keys(command.options)) assert.ok(help.out.includes(`--${name}`), name);
    assert.ok(command.examples.length > 0, command.name);
    for (const [line] of command.examples) {
      const [, given] = /svc-gen ?([^&|)]*)/.exec(line) ?? assert.fail(line);
      const words = (given?.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^'|'$/g, ""));
      const found = findCommand(words, TABLE);
      if ("group" in found) continue;
      const used = await found.entry.load();
      checkUse(used, found.words, readArguments(found.words, used));
    }
    for (const text of help.out.split("\n")) assert.ok(text.length <= 140, text);
  }
  const { version } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));
  assert.deepEqual(await svcGen("-v"), { code: EXIT.done, out: `${version}\n`, err: "" });
  const unknown = await svcGen("dif", "--help");
  assert.match(unknown.err, /did you mean diff\?/);
});

test("messages quote, escape and truncate arguments, but not paths", async () => {
  const { err } = await svcGen(`\u001b[31m\u202e${"x".repeat(300)}`);
  assert.equal(err, `svc-gen: unknown command "\\u001b[31m\\u202e${"x".repeat(250)}…" (see svc-gen --help)\n`);
  const path = `${"deep/".repeat(30)}config.json`;
  assert.match((await svcGen("keys", "show", path)).err, new RegExp(`cannot read "${path}": `));
});

test("a key or a text in place of the name of a file is refused, and not printed", async () => {
  const key = Buffer.alloc(32, 7);
  const texts = [
    key.toString("hex"),
    `0x${key.toString("hex")}`,
    key.toString("base64url"),
    '{"a":"0707"}',
    "-----0707-----",
  ];
  for (const { name, options, arguments: syntax = "" } of COMMANDS) {
    const named = Object.keys(options).filter((option) => options[option]?.value === "FILE");
    for (const text of texts) {
      const calls = [
        ...named.map((option) => [`--${option}=${text}`]),
        ...(syntax.includes("@FILE") ? [[`@${text}`]] : /FILE|OLD|META/.test(syntax) ? [[text], ["k.key", text]] : []),
      ];
      for (const args of calls) {
        const { code, out, err } = await svcGen(...name.split(" "), ...args);
        assert.deepEqual([code, out], [EXIT.usage, ""], `${name} ${args}`);
        assert.match(
          err,
          /expects the name of a file, got (?:a key; it may now be|\w+ text)|unknown option PEM text|got 2 arguments/,
        );
        assert.ok(!err.includes(text), err);
      }
    }
  }
});

test("the name of a file may look like JSON, and its path may be long", async () => {
  const meta = readFileSync(join(project.root, "meta.json"), "utf8");
  const paths = ["{{name}}/meta.json", `${"deep/".repeat(110)}meta.json`];
  project.write(Object.fromEntries(paths.map((path) => [path, meta])));
  assert.equal((await svcGen("diff", ...paths)).code, EXIT.done);
});

test("explain prints the text about a code, and docs/diagnostics.md contains all of them", async () => {
  const { code, out } = await svcGen("explain", "svc112");
  assert.equal(code, EXIT.done);
  assert.match(out, /^SVC112 \(error\): fqn\(\) is missing/);
  const entries = Object.entries(CODES).map(([name, { severity, title, hint, why }]) => {
    assert.match(name, /^SVC[12]\d\d$/);
    return `## ${name}\n\n**${title}** (${severity})\n\n${why}\n\nWhat to do: ${hint}\n`;
  });
  const page = `# Diagnostics of svc-gen\n\n\`svc-gen explain CODE\` prints one entry of this page.\n\n${entries.join("\n")}`;
  assert.equal(readFileSync(join(REPOSITORY, "docs/diagnostics.md"), "utf8"), page);
  assert.deepEqual(await svcGen("explain", "112"), { code, out, err: "" });
  const json = await svcGen("explain", "SVC112", "--json");
  assert.deepEqual(JSON.parse(json.out), { code: "SVC112", ...CODES.SVC112 });
});

test("meta prints the document of the only tool with its address", async () => {
  const { code, out } = await svcGen(
    "meta",
    "--fqn",
    "xyz.test.tool-sum@01",
    "--url",
    "https://tools.example.org/Sum/",
  );
  assert.equal(code, EXIT.done);
  const document = JSON.parse(out) as { url: string; fqn: string };
  assert.equal(document.url, "https://tools.example.org/Sum/");
  assert.equal(document.fqn, "xyz.test.tool-sum@1");
  assert.equal((await svcGen("meta", "--url", "https://x.org/")).code, EXIT.done);
  const near = await svcGen("meta", "--fqn", "xyz.test.tool-sun@1", "--url", "https://x.org/");
  assert.equal(near.code, EXIT.usage);
  assert.match(near.err, /unknown tool "xyz\.test\.tool-sun@1"; did you mean xyz\.test\.tool-sum@1\?/);
  const far = await svcGen("meta", "--fqn", "none", "--url", "https://x.org/");
  assert.match(far.err, /unknown tool "none"; there is xyz\.test\.tool-sum@1 /);
  assert.equal((await svcGen("meta", "--url", "file:///x")).code, EXIT.usage);
});

test("a name that several tools have is refused, unless it is the whole name of one", () => {
  const tools = [
    { fqn: "org.example.sum@1", path: "one" },
    { fqn: "net.other.sum@1", path: "sum" },
    { fqn: "org.example.sum@2", path: "two" },
  ];
  assert.throws(
    () => toolNamed("meta", "sum", tools),
    /"sum" names several tools; choose one: org\.example\.sum@1, net/,
  );
  assert.throws(
    () => toolNamed("meta", "org.example.sum", tools),
    /choose one: org\.example\.sum@1, org\.example\.sum@2$/,
  );
  assert.deepEqual(
    [toolNamed("meta", "org.example.sum@2", tools), toolNamed("meta", "one", tools)],
    [tools[2], tools[0]],
  );
});

test("diff compares port by port, and exits with 4 if a contract is broken without a new version", async () => {
  const meta = readFileSync(join(project.root, "meta.json"), "utf8");
  const against = async (change: (text: string) => string) => {
    project.write({ "old.json": meta, "new.json": change(meta) });
    return svcGen("diff", "old.json", "new.json");
  };
  assert.deepEqual(await against((text) => text), { code: EXIT.done, out: "xyz.test.tool-sum@1: same\n", err: "" });
  const described = await against((text) => text.replace("A tool.", "B."));
  assert.equal(described.code, EXIT.done);
  assert.match(described.out, /compatible\n {2}compatible: description changed/);
  const gone = await against((text) => text.replace('"a": {', '"b": {'));
  assert.equal(gone.code, EXIT.broken);
  assert.match(gone.out, /breaking: input a: removed/);
  assert.equal(gone.err, "svc-gen: breaking change: raise the version in fqn(), or undo the change\n");
  assert.match(gone.out, /breaking: input b: added/);
  const retyped = await against((text) => text.replace('"type": "array",', '"type": ["array"],'));
  assert.equal(retyped.code, EXIT.broken);
  assert.match(retyped.out, /input tags: changed from a list \(many\) to one value/);
  const bumped = await against((text) => text.replace('"a": {', '"b": {').replace("sum@1", "sum@2"));
  assert.equal(bumped.code, EXIT.done);
  assert.match(bumped.out, /@1 -> @2: breaking/);
  assert.equal((await against(() => "[]")).code, EXIT.broken);
  const json = await svcGen("diff", "old.json", "new.json", "--json");
  assert.equal(json.code, EXIT.broken);
  assert.deepEqual(JSON.parse(json.out), [
    { tool: "xyz.test.tool-sum", before: "1", kind: "breaking", change: "the tool was removed" },
  ]);
});

test("diff without files compares with git HEAD", async () => {
  const git = (...args: string[]) =>
    spawnSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: project.root });
  git("init", "-q");
  const none = await svcGen("diff");
  assert.equal(none.code, EXIT.failure);
  assert.match(
    none.err,
    /^svc-gen: cannot read the meta\.json of git HEAD: git: fatal: .* \(commit it, or name two files: OLD NEW\)\n$/,
  );
  git("add", "meta.json");
  git("commit", "-qm", "first");
  assert.equal((await svcGen("diff")).out, "xyz.test.tool-sum@1: same\n");
  const meta = readFileSync(join(project.root, "meta.json"), "utf8");
  project.write({ "meta.json": meta.replace('"a": {', '"b": {') });
  assert.equal((await svcGen("diff")).code, EXIT.broken);
  project.write({ "meta.json": meta });
});

test("diagnostics are coloured only on request", async () => {
  const place = { file: "a.ts", line: 12, column: 2, length: 3, source: "\tabc: x" };
  const each = { code: "SVC134", severity: "error", message: "no", hint: "do", subject: "A.b", place } as const;
  assert.equal(formatDiagnostic(each), "a.ts:12:2 - error SVC134: A.b: no\n\n12 | \tabc: x\n   | \t~~~\n\n  hint: do");
  assert.ok(formatDiagnostic(each, true).includes("\u001b[31merror\u001b[0m"));
});

test("the diff of a whole file is truncated", () => {
  const lines = (prefix: string) => Array.from({ length: 100 }, (_, i) => `${prefix} ${i}\n`).join("");
  const text = unified("a.ts", lines("old"), lines("x".repeat(300)));
  assert.equal(text.split("\n").length, 62);
  assert.match(text, /^… 143 more lines$/m);
  const other = unified("a.ts", "a\nb\nc\nd\ne\nf\ng\nh\n", `A\nb\nc\nd\ne\nf\ng\n${"h".repeat(300)}\n`);
  assert.match(other, /^-h\n\+h{199}… \(301 characters\)$/m);
  const many = (prefix: string) => Array.from({ length: 5000 }, (_, i) => `${prefix} ${i}\n`).join("");
  assert.equal(unified("a.ts", many("a"), many("b")), "a.ts: more than 2000 lines differ\n");
});

test("notes have one line each and a common hint; TypeScript's errors have code frames and related places", async () => {
  const other = new ToolProject({
    "src/a.ts": toolSource(
      "A",
      "{\n  one: string[];\n  two: string[];\n}",
      '"done"',
      "const point: { x: number; y: number } = { x: 1 };",
    ),
  });
  const { err } = await svcGenIn(other.root);
  assert.equal(
    err,
    `src/a.ts:4:3 - note SVC155: A.Input.one: this list cannot be empty
src/a.ts:5:3 - note SVC155: A.Input.two: this list cannot be empty
  hint: if the list is never empty, add @minItems 1; if it may be empty, make the member optional; the port then changes from many to one, which breaks existing callers; @acknowledge SVC155 silences it

src/a.ts:2:7 - error TS2741: Property 'y' is missing in type '{ x: number; }' but required in type '{ x: number; y: number; }'.

2 | const point: { x: number; y: number } = { x: 1 };
  |       ~~~~~

  src/a.ts:2:27 - 'y' is declared here.
    2 | const point: { x: number; y: number } = { x: 1 };
      |                           ~

svc-gen: 1 error in 1 file; nothing was written
`,
  );
});

test("a long line is shown around the place", () => {
  const source = `${"a".repeat(300)}WRONG${"b".repeat(300)}`;
  const place = { file: "a.ts", line: 1, column: 301, length: 5, source };
  const lines = formatDiagnostic({ code: "TS1", severity: "error", message: "no", place }).split("\n");
  assert.equal(lines[2], `1 | ${"a".repeat(40)}WRONG${"b".repeat(115)}`);
  assert.equal(lines[3], `  | ${" ".repeat(40)}~~~~~`);
});

test("the executable runs without a shell", async () => {
  const bin = join(REPOSITORY, "generator/bin.js");
  assert.ok(existsSync(bin));
  const { status, stdout } = spawnSync(process.execPath, [bin, "explain", "SVC134"], { encoding: "utf8" });
  assert.equal(status, 0);
  assert.match(stdout, /collection/);
});

test("--project selects the project of that file or folder, from any working directory", async () => {
  await svcGen();
  const elsewhere = new ToolProject({ "src/other.ts": "export {};" });
  for (const given of [project.root, join(project.root, "tsconfig.json")]) {
    const checked = await svcGenIn(elsewhere.root, "--check", "--quiet", "--project", given);
    assert.deepEqual(checked, { code: EXIT.done, out: "", err: "" });
  }
  assert.equal(existsSync(join(elsewhere.root, "meta.json")), false);
});
