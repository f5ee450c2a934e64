/** Mistakes on the command line: exit code 2, and one line with the nearest known name and the help to read. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { COMMANDS } from "#generator/cli/commands.js";
import { ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const doctorUrl = "doctor expects the URL of a tool, such as https://tools.example.org/sum, got";
const addresses =
  "--url expects addresses of servers or tools, such as http://127.0.0.1:8080, without user, password and query";
const TOOL_KEY = "09".repeat(32);

/** Command lines, and what is said of them. */
const LINES: Readonly<Record<string, string>> = {
  "--chekc": 'unknown option "--chekc"; did you mean --check?',
  "--nonsense": 'unknown option "--nonsense"',
  "-x": 'unknown option "-x"',
  "--json=1": "--json takes no value",
  "--out": "--out expects a value",
  "--out --quiet": '--out expects a value, got "--quiet"; write --out=VALUE',
  "-p package.json": '--project expects a tsconfig.json or its folder, got "package.json"',
  "-p src/sum.ts": '--project expects a tsconfig.json or its folder, got "src/sum.ts"',
  dif: 'unknown command "dif"; did you mean diff?',
  unknown: 'unknown command "unknown"',
  toString: 'unknown command "toString"',
  check: 'unknown command "check"; did you mean --check?',
  init: 'unknown command "init"; did you mean new?',
  build: 'unknown command "build"; did you mean npm run build?',
  "help keys": 'unknown command "help"; did you mean --help?',
  "generate x": 'generate takes no argument, got "x"',
  "--quiet dev": 'generate takes no argument, got "dev"; a command precedes options',
  "--url x": 'unknown option "--url"',
  "--check --watch": "--watch and --check exclude each other",
  "explain SVC112 SVC113": "explain takes [CODE], got 2 arguments",
  "explain SVC999": 'unknown code "SVC999"; svc-gen explain lists all codes, such as SVC112',
  "explain ts2322": '"ts2322" is a code of TypeScript; explain knows only the codes of svc-gen',
  meta: "meta expects --url URL, under which the tool is served",
  "meta --watch": 'unknown option "--watch"',
  "diff x": "diff expects two meta.json files or none; git show COMMIT:meta.json > OLD writes one",
  "dev -p 8081": '"8081" does not exist; -p is --project; to set the port, pass --port 8081',
  "dev --project src":
    '"src/tsconfig.json" does not exist; run svc-gen dev in a tool project, or pass --project FOLDER',
  "dev --port http": '--port expects a number from 0 to 65535, got "http"',
  "dev 8080": 'dev takes no argument, got "8080"; did you mean --port 8080?',
  "dev --inspect --inspect-port 0": '--inspect-port expects a number from 1 to 65535, got "0"',
  "dev --inspect-port 9000": "--inspect-port expects --inspect or --inspect-brk too",
  "dev --signd": 'unknown option "--signd"; did you mean --signed?',
  "dev --url http://127.0.0.1:1 --port 1": "--port and --url exclude each other",
  "dev --url http://127.0.0.1:1 --signed": "--signed and --url exclude each other",
  "dev --url nowhere": "--url expects the address of a server, such as http://127.0.0.1:8080",
  "dev --page-port 70000": '--page-port expects a number from 0 to 65535, got "70000"',
  "dev --host 192.0.2.1": "--host expects an address of this machine: EADDRNOTAVAIL",
  "dev --leader-key x": "--leader-key expects --signed or --url too",
  "invoke a {} {}": "invoke takes [TOOL|URL] JSON|@FILE|-, got 3 arguments; quote the JSON for the shell",
  "invoke {} --replay": "--replay expects --signed too",
  "invoke {} --leader-key bob.key": "--leader-key expects --signed too",
  "invoke {} --signed --leader-id bob": "--leader-id expects --leader-key too",
  "invoke {} --signed --key-id 9": "--key-id expects --leader-key too",
  "invoke {} --signed --leader-key bob.key --as bob": "--as and --leader-key exclude each other",
  "invoke {} --as bob": "--as expects --signed too",
  "invoke {} --timeout 1s": '--timeout expects a number of milliseconds from 1 to 2147483647, got "1s"',
  "keys new a b": "keys new takes [FILE], got 2 arguments",
  "keys new --leader x": 'unknown option "--leader"; did you mean --leader-id?',
  "keys new b --key-id -1": '--key-id expects a value, got "-1"; write --key-id=VALUE',
  "keys new b --key-id=-1": '--key-id expects an integer from 0 to 2^64-1, got "-1"',
  "keys new b --key-id x": '--key-id expects an integer from 0 to 2^64-1, got "x"',
  "keys new b --key-id 18446744073709551616":
    '--key-id expects an integer from 0 to 2^64-1, got "18446744073709551616"',
  "keys new b --tool sum": '--tool expects the name of a tool, domain.name@version; got "sum"',
  "keys show": "keys show expects one FILE",
  "keys show a b": "keys show takes FILE, got 2 arguments",
  "keys sho": 'unknown command "keys sho"; did you mean show?',
  "config init --unsigned --tool-private-key x": "--unsigned and --tool-private-key exclude each other",
  "doctor tools.example": `${doctorUrl} "tools.example"`,
  "doctor a.example:8080/sum": `${doctorUrl} "a.example:8080/sum": the scheme is missing: write http://a.example:8080/sum`,
  "doctor htps://user:password@a": `${doctorUrl} "htps://…@a"`,
  "doctor http://a http://b": "doctor takes [URL], got 2 arguments",
  "doctor --size 5": "--size applies only with a URL: svc-gen doctor URL",
  "doctor http://a --size many": '--size expects a number from 0 to 1073741824, got "many"',
  "doctor http://a --size 9007199254740991": '--size expects a number from 0 to 1073741824, got "9007199254740991"',
  [`doctor http://a --tool-key ${TOOL_KEY}`]: "--tool-key expects --config FILE too",
  "doctor http://a --leader-id a": "--leader-id expects --leader-key too",
  "doctor http://a --header-prefix X": '--header-prefix expects letters and hyphens that end in a hyphen, got "X"',
  "openapi --url localhost:8080": '--url expects an http or https URL without a query, got "localhost:8080"',
  "openapi --url http://x/?a": '--url expects an http or https URL without a query, got "http://x/?a"',
  "openapi --header-prefix X": '--header-prefix expects letters and hyphens that end in a hyphen, got "X"',
  "openapi quote": 'openapi takes no argument, got "quote"',
  "schema quote settle": "schema takes [TOOL], got 2 arguments",
  import: "import expects a file or a URL",
  "import a b": "import takes META.json|URL, got 2 arguments",
  "new a b": "new takes [DIR], got 2 arguments",
  "new ---": 'unknown option "---"',
  "new --tool rate --fqn a.b.c@1": "--tool and --fqn exclude each other",
  "env --as toml": "--as expects env, compose or kubernetes",
  verify: "verify expects files of receipts, or - for standard input",
  ...Object.fromEntries(
    ["http://user:password@x", "https://x/?key=secret", "https://x,https://y/#secret"].flatMap((url) => [
      [`mcp --url ${url}`, addresses],
      [`mcp --url ${url} --print-config`, addresses],
    ]),
  ),
};

const project = new ToolProject({ "src/sum.ts": toolSource("Sum", "{ a: bigint }") });
const svcGen = (...args: readonly string[]) => svcGenIn(project.root, args);

test("usage errors exit with 2 and one line with the nearest known name", async () => {
  project.build();
  const lines = Object.entries(LINES).map(([line, message]) => [line.split(" "), message] as const);
  for (const [args, message] of [
    ...lines,
    [["--out", "-----BEGIN PRIVATE KEY-----"], "--out expects a value; write --out=VALUE"],
    [["keys", "new", "b", "--leader-id", "a b"], '--leader-id expects visible ASCII characters, got "a b"'],
  ] as const) {
    const { code, out, err } = await svcGen(...args);
    const [said, help] = err.split(/ \(see (.*) --help\)\n$/);
    assert.deepEqual([code, out, said], [EXIT.usage, "", `svc-gen: ${message}`], args.join(" "));
    assert.ok(/^svc-gen(?: keys)?$/.test(`${help}`) || COMMANDS.some(({ name }) => help === `svc-gen ${name}`), help);
  }
});

test("a usage error names the help of its command or group, and is data with --json", async () => {
  for (const [line, help] of [
    ["invoke --sined", "svc-gen invoke"],
    ["keys new --leadr x", "svc-gen keys new"],
    ["keys nwe", "svc-gen keys"],
    ["config", "svc-gen config"],
    ["--sined", "svc-gen"],
  ] as const) {
    const { err } = await svcGen(...line.split(" "));
    assert.ok(err.endsWith(` (see ${help} --help)\n`), err);
  }
  const json = await svcGen("--chekc", "--json");
  assert.deepEqual([json.code, json.err], [EXIT.usage, ""]);
  const message = 'unknown option "--chekc"; did you mean --check?';
  const usage = { severity: "error", code: "usage", message, hint: "see svc-gen --help" };
  assert.deepEqual(JSON.parse(json.out), { diagnostics: [usage] });
});
