/** `svc-gen new`: questions, names, where packages come from, and what is never replaced. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";
import { type CliHost, EXIT } from "#generator/cli/cli.js";
import { fqnFor, packageNameFor, toolNames } from "#generator/scaffold/names.js";
import { packagePlaces, packageSpecs } from "#generator/scaffold/package-specs.js";
import { projectFiles } from "#generator/scaffold/project-files.js";
import { ToolkitRuntimeConfig } from "#runtime/index.js";
import { REPOSITORY } from "../repository.js";
/** Every file of a project whose tool is `my-tool`. */
import { scratchFolder } from "../scratch-folder.js";
import { compile, FASTEST } from "../typescript/compilers.js";
import { svcGenIn } from "./run-cli.js";

const FILES = [
  "package.json",
  "tsconfig.json",
  "src/my-tool.ts",
  "test/my-tool.test.ts",
  "test/tsconfig.json",
  "config.example.json",
  "README.md",
  "AGENTS.md",
  "Dockerfile",
  ".dockerignore",
  ".gitignore",
  ".gitattributes",
  ".github/workflows/ci.yml",
];
const GENERATED = ["src/generated/contracts.ts", "src/generated/server.ts", "meta.json"];

let folder: string;
beforeEach(() => {
  folder = scratchFolder();
});

const create = (args: readonly string[], host: Partial<CliHost> = {}) => svcGenIn(folder, ["new", ...args], host);
const only = (...args: string[]) => create([...args, "--skip-install"]);
const read = (path: string) => readFileSync(join(folder, path), "utf8");
const filesIn = (path: string) =>
  readdirSync(join(folder, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(join(folder, path), join(entry.parentPath, entry.name)).replaceAll("\\", "/"))
    .sort();

/** An `npm` that links what an install would bring, or fails. */
function fakeNpm(script: string): Partial<CliHost> {
  const path = join(folder, "bin");
  mkdirSync(path);
  writeFileSync(join(path, "npm"), `#!/bin/sh\necho "$*" > "${folder}/npm-args"\n${script}`);
  chmodSync(join(path, "npm"), 0o755);
  return { env: { PATH: `${path}:${process.env.PATH}` } };
}

const LINKING = `mkdir -p node_modules/@types
ln -s "${join(REPOSITORY, "runtime")}" node_modules/svc-runtime
ln -s "${join(REPOSITORY, "node_modules/@types/node")}" node_modules/@types/node
ln -s "${join(REPOSITORY, "node_modules/typescript")}" node_modules/typescript
echo lines of npm
`;

/** With `--nexus`. */
const OPTIONS = "src/server-options.ts";

test("writes every file, installs, generates, and prints the next commands; --nexus: the headers of the network's leaders", {
  skip: process.platform === "win32",
}, async () => {
  const { code, out, err } = await create(["my-tool", "--yes", "--nexus"], fakeNpm(LINKING));
  assert.equal(code, EXIT.done, err);
  assert.equal(err, "npm install …\n", "what npm says is shown only when it fails");
  assert.equal(
    out,
    `${[...FILES.toSpliced(4, 0, OPTIONS), ...GENERATED].map((path) => `wrote my-tool/${path}\n`).join("")}
xyz.demo.my-tool@1 is ready. Next:
  cd my-tool && npm test
  npm run dev
While the server runs, in a second terminal:
  npx svc-gen invoke '{"name":"Ada","options":{"times":2}}'
`,
  );
  assert.match(read("npm-args"), /^install /);
  const root = join(folder, "my-tool");
  assert.equal((await svcGenIn(root, ["--check"])).code, EXIT.done);
  const early = spawnSync("npm", ["start"], { cwd: root, encoding: "utf8" });
  assert.deepEqual(
    [early.status, early.stderr.split("\n")[0]],
    [
      1,
      "dist/generated/server.js is missing: run npm run build; if it stays missing, check rootDir and outDir in tsconfig.json",
    ],
  );
  assert.equal(compile(FASTEST, root), "");
  const meta = spawnSync(process.execPath, ["dist/generated/server.js", "--meta"], { cwd: root, encoding: "utf8" });
  assert.equal(JSON.parse(meta.stdout)[0].fqn, "xyz.demo.my-tool@1", meta.stderr);
  const { options } = await import(pathToFileURL(join(root, "dist/server-options.js")).href);
  assert.deepEqual(options, { headerPrefix: "X-Nexus-" });
  assert.match(read("my-tool/src/generated/server.ts"), /from "\.\.\/server-options\.js"/);
  assert.match(read("my-tool/README.md"), /--header-prefix X-Nexus-/);

  const config = ToolkitRuntimeConfig.fromPath(join(root, "config.example.json"));
  assert.deepEqual([config.signedHttpIsRequired(), config.hasTool("xyz.demo.my-tool@1")], [true, true]);
});

test("a failed npm install shows npm's output and what to do", { skip: process.platform === "win32" }, async () => {
  const { code, err } = await create(["a-tool", "--yes"], fakeNpm("echo no network >&2\nexit 7\n"));
  assert.equal(code, EXIT.failure);
  assert.equal(
    err,
    `npm install …
no network
npm ended with exit code 7
svc-gen: npm install failed; the files were written (cd a-tool && npm install && npm run build)
`,
  );
  assert.ok(existsSync(join(folder, "a-tool/package.json")));
  const none = await create(["b-tool", "--yes"], { env: { PATH: folder } });
  assert.equal(none.code, EXIT.failure);
  assert.match(none.err, /npm was not found on the PATH/);
});

test("Ctrl-C ends npm, and the remaining steps are printed", { skip: process.platform === "win32" }, async () => {
  const npm = { ...fakeNpm(`touch "${folder}/started"\nexec sleep 60\n`) };
  const interrupted = async () => {
    while (!existsSync(join(folder, "started"))) await new Promise((go) => setTimeout(go, 5));
  };
  const { code, err } = await create(["a-tool", "--yes"], { ...npm, interrupted });
  assert.equal(code, EXIT.failure);
  assert.match(
    err,
    /npm ended with SIGTERM\n.*the files were written \(cd a-tool && npm install && npm run build\)\n$/,
  );
});

test("at most three questions, each with a default; an option replaces its question", async () => {
  const asking = async (args: readonly string[], ...answers: string[]) => {
    const questions: string[] = [];
    const ask = async (question: string) => {
      questions.push(question);
      return answers.shift() ?? assert.fail(question);
    };
    return { ...(await create(args, { ask })), questions };
  };
  const defaults = await asking([], "", "", "no");
  assert.deepEqual(defaults.questions, [
    "Folder (my-tool): ",
    "Name of the tool, domain.name@version (xyz.demo.my-tool@1): ",
    "Install the packages now? (yes): ",
  ]);
  assert.equal(defaults.code, EXIT.done, defaults.err);
  assert.match(
    defaults.out,
    /Next:\n {2}cd my-tool && npm install && npm test\n {2}npm run dev\nWhile the server runs/,
  );
  assert.deepEqual(filesIn("my-tool"), [...FILES].sort());

  const answered = await asking([], " other ", "org.example.wind-speed@2", "N");
  assert.equal(answered.code, EXIT.done, answered.err);
  assert.match(
    read("other/src/wind-speed.ts"),
    /class WindSpeed extends .*\n.*\n {4}return "org\.example\.wind-speed@2";/,
  );
  assert.equal(JSON.parse(read("other/package.json")).name, "other");

  const given = await asking(["third", "--fqn", "xyz.demo.third@1"], "n");
  assert.deepEqual(given.questions, ["Install the packages now? (yes): "]);
  const silent = await asking(["fourth", "--yes", "--skip-install"]);
  assert.deepEqual([silent.code, silent.questions], [EXIT.done, []]);
  const json = await asking(["sixth", "--json", "--skip-install"]);
  assert.deepEqual([json.code, json.questions], [EXIT.done, []]);
  const unclear = await asking(["fifth"], "", "perhaps");
  assert.deepEqual([unclear.code, existsSync(join(folder, "fifth"))], [EXIT.usage, false]);
  assert.match(unclear.err, /expected yes or no, got "perhaps"/);
  const taken = await asking(["third"]);
  assert.deepEqual([taken.code, taken.questions], [EXIT.failure, []], "refused before a question");
});

test("--tool adds a class and its test to a project, with a unique name", async () => {
  await only("--yes", "--fqn", "org.example.greet@1");
  const root = join(folder, "my-tool");
  const add = (...args: string[]) => svcGenIn(root, ["new", "--tool", ...args]);
  assert.match((await add("rate")).err, /^$/);
  assert.match(readFileSync(join(root, "src/rate.ts"), "utf8"), /return "xyz\.demo\.rate@1";/);
  writeFileSync(join(root, "meta.json"), '[{ "fqn": "org.example.greet@1", "url": "http://localhost/greet" }]');
  const json = JSON.parse((await add("price", "--json")).out);
  assert.deepEqual([json.fqn, json.wrote], ["org.example.price@1", ["src/price.ts", "test/price.test.ts"]]);
  assert.match((await add("RainFall")).err, /upper-case letter "R"; did you mean --tool rain-fall\?/);
  assert.match((await add("9")).err, /does not begin with a letter; such as --tool xyz\.demo\.my-tool@1/);
  assert.match((await add("price")).err, /already contains "src\/price\.ts", "test\/price\.test\.ts"/);
  assert.match((await add("org.example.greet@1")).err, /the project already has org\.example\.greet@1/);
  assert.match((await svcGenIn(folder, ["new", "--tool", "rate"])).err, /this folder has no package\.json/);
  rmSync(root, { recursive: true });
});

test("without a terminal there are no questions: options and defaults are used, or the missing option is reported", async () => {
  const { code, err } = await only();
  assert.equal(code, EXIT.usage);
  assert.match(err, /without a terminal, new expects a folder: svc-gen new DIR, or --yes for my-tool/);
  assert.deepEqual(readdirSync(folder), []);
  assert.equal((await only("--yes")).code, EXIT.done);
  assert.equal(JSON.parse(read("my-tool/package.json")).name, "my-tool");
  assert.equal((await only("--name", "@scope/by-name")).code, EXIT.done);
  assert.equal(JSON.parse(read("by-name/package.json")).name, "@scope/by-name");
  assert.ok(existsSync(join(folder, "by-name/src/by-name.ts")));
  mkdirSync(join(folder, "here"));
  const here = await svcGenIn(join(folder, "here"), ["new", ".", "--skip-install", "--json"]);
  assert.deepEqual(JSON.parse(here.out), {
    folder: join(folder, "here"),
    name: "here",
    fqn: "xyz.demo.here@1",
    wrote: FILES.map((path) => path.replace("my-tool", "here")),
    installed: false,
    next: ["npm install && npm test", "npm run dev", `npx svc-gen invoke '{"name":"Ada","options":{"times":2}}'`],
  });
  assert.match((await only("it's a tool")).out, /cd 'it'\\''s a tool' && npm install/);
});

test("names are derived safely, and the error for a given name tells what is wrong", async () => {
  for (const [given, name] of [
    ["My Tool", "my-tool"],
    ["_x", "x"],
    [".hidden.", "hidden"],
    ["Größe", "gro-e"],
    ["Café", "cafe"],
    ["3d", "3d"],
  ] as const) {
    assert.equal(packageNameFor(given), name);
  }
  for (const [name, fqn] of [
    ["my-tool", "xyz.demo.my-tool@1"],
    ["@scope/sum_2", "xyz.demo.sum_2@1"],
    ["3d", "xyz.demo.my-tool@1"],
    ["3d-view", "xyz.demo.d-view@1"],
    ["a.b~c", "xyz.demo.a-b-c@1"],
  ] as const) {
    assert.equal(fqnFor(name), fqn);
  }
  for (const [fqn, className, file] of [
    ["xyz.demo.my-tool@01", "MyTool", "my-tool"],
    ["xyz.demo.deep.wind_speed-2x@7", "WindSpeed2x", "wind_speed-2x"],
    ["xyz.demo.input@1", "InputTool", "input"],
    ["xyz.demo.svc-tool@1", "SvcToolTool", "svc-tool"],
    ["xyz.demo.promise@1", "PromiseTool", "promise"],
    ["xyz.demo.a-@1", "A", "a-"],
  ] as const) {
    assert.deepEqual(toolNames(fqn), { fqn: fqn.replace("@01", "@1"), className, file });
  }
  for (const [args, message] of [
    [
      ["x", "--fqn", "sum@1"],
      '"sum@1" is not a name of a tool (domain.name@version): "sum" has one part, expected three or more; such as',
    ],
    [["x", "--fqn", "xyz.demo.Sum@1"], 'part 3 ("Sum") has the upper-case letter "S"'],
    [["x", "--fqn", "xyz.demo.sum"], "the version is missing: add @1"],
    [
      ["x", "--name", "Sum"],
      '"Sum" is not a valid name of a package: expected NAME or @SCOPE/NAME of a to z, 0 to 9 and - . _ ~, without . or _ at the beginning; choose another: --name NAME',
    ],
    [["x", "--name", ".sum"], "expected NAME or @SCOPE/NAME"],
    [["x", "--name", "a/b"], "expected NAME or @SCOPE/NAME"],
    [["x", "--name", "y".repeat(215)], "it has 215 characters; at most 214"],
    [["svc-gen"], '"svc-gen" is not a valid name of a package: the project already depends on a package of this name'],
    [
      ["проект"],
      "whose name has no letter from a to z and no digit; choose a name: svc-gen new 'проект' --name my-tool",
    ],
  ] as const) {
    const { code, err } = await only(...args);
    assert.equal(code, EXIT.usage, err);
    assert.ok(err.includes(message), err);
  }
  assert.deepEqual(readdirSync(folder), []);
});

test("nothing is replaced: a folder with one of the files is refused and not changed", async () => {
  const cases: readonly (readonly [made: string, named: string])[] = [
    ...FILES.map((path) => [path, path] as const),
    ...GENERATED.map((path) => [path, path] as const),
    ["package-lock.json", "package-lock.json"],
    ["node_modules/x", "node_modules"],
    ["src", "src"],
    [".github", ".github"],
  ];
  for (const [index, [path, named]] of cases.entries()) {
    const root = `case-${index}`;
    mkdirSync(dirname(join(folder, root, path)), { recursive: true });
    writeFileSync(join(folder, root, path), "mine");
    const { code, err } = await only(root, "--fqn", "xyz.demo.my-tool@1");
    assert.equal(code, EXIT.failure);
    assert.match(err, new RegExp(`^svc-gen: "${root}" already contains (?:.*, )?"${named.replace(/\./g, "\\.")}"`));
    assert.match(err, /\(choose another folder, or move the existing files out of this folder\)\n$/);
    assert.deepEqual(filesIn(root), [path]);
    assert.equal(read(`${root}/${path}`), "mine");
  }
  // A link is something too, wherever it leads.
  mkdirSync(join(folder, "linked"));
  symlinkSync(join(folder, "elsewhere"), join(folder, "linked/README.md"));
  symlinkSync(join(folder, "case-0"), join(folder, "linked/src"));
  const linked = await only("linked");
  assert.match(linked.err, /"linked" already contains "README\.md", "src"/);
  assert.deepEqual(readdirSync(join(folder, "linked")).sort(), ["README.md", "src"]);
  assert.equal(existsSync(join(folder, "elsewhere")), false);
  writeFileSync(join(folder, "file"), "mine");
  assert.match((await only("file")).err, /"file" is a file \(name another folder\)/);
  // Other files may be there.
  mkdirSync(join(folder, "other/src"), { recursive: true });
  writeFileSync(join(folder, "other/src/mine.ts"), "export {};");
  assert.equal((await only("other")).code, EXIT.done);
  assert.equal(read("other/src/mine.ts"), "export {};");
});

test("after a full disk no file and no folder remains", { skip: process.platform !== "linux" }, () => {
  mkdirSync(join(folder, "kept"));
  const bin = join(REPOSITORY, "generator/bin.js");
  for (const name of ["made/deep", "kept"]) {
    // Simulates a disk that is full after the first few files, by a limit on the size of files.
    const line = `ulimit -f 1; trap '' XFSZ; exec "$0" "$1" new ${name} --skip-install --yes 2>&1`;
    const { status, stdout } = spawnSync("sh", ["-c", line, process.execPath, bin], { cwd: folder, encoding: "utf8" });
    assert.match(
      stdout,
      /^svc-gen: cannot write "\S+": the file is larger than the system allows \(nothing was replaced\)\n$/,
    );
    assert.equal(status, EXIT.failure);
  }
  assert.deepEqual(readdirSync(folder), ["kept"]);
  assert.deepEqual(readdirSync(join(folder, "kept")), []);
});

test("packages are those of this checkout, with paths relative to the project", async () => {
  assert.equal((await only("deep/er/tool")).code, EXIT.done);
  const root = join(folder, "deep/er/tool");
  const { dependencies, devDependencies, overrides, engines } = JSON.parse(read("deep/er/tool/package.json"));
  const path = (spec: string) => realpathSync(join(root, spec.replace(/^file:/, "")));
  assert.equal(path(dependencies["svc-runtime"]), realpathSync(join(REPOSITORY, "runtime")));
  assert.equal(path(devDependencies["svc-gen"]), realpathSync(REPOSITORY));
  const own = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));
  assert.equal(devDependencies["@types/node"], own.devDependencies["@types/node"]);
  assert.equal(devDependencies.typescript, `~${own.devDependencies.typescript}`);
  assert.deepEqual([overrides, engines], [own.overrides, own.engines]);

  // npm follows the real path of the project.
  mkdirSync(join(folder, "a/b"), { recursive: true });
  symlinkSync(join(folder, "a/b"), join(folder, "link"));
  const { generator } = packageSpecs(join(folder, "link/p"));
  assert.equal(resolve(realpathSync(folder), "a/b/p", generator.replace(/^file:/, "")), realpathSync(REPOSITORY));
});

test("no private key of a project is part of the build of its image", async () => {
  assert.equal((await only("tool")).code, EXIT.done);
  const word = (part: string) => part.replaceAll(/[.+]/g, "\\$&").replaceAll("*", "[^/]*");
  const patterns = read("tool/.dockerignore")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => new RegExp(`^${line.split("**/").map(word).join("(?:.*/)?")}(?:/|$)`));
  const isLeftOut = (path: string) => patterns.some((pattern) => pattern.test(path));
  const secret =
    "signing.key leader.next.key keys/a.key deploy/b.key a/b/c.key tls.pem certs/tls.pem config.json config/config.json config/any .npmrc .env .svc/leader.key";
  for (const path of secret.split(" ")) assert.ok(isLeftOut(path), path);
  for (const path of ["package.json", "src/key.ts", "src/keys/a.ts", "src/config.ts", "tsconfig.json"]) {
    assert.ok(!isLeftOut(path), path);
  }
  // The tested container file names the same list.
  const tested = readFileSync(join(REPOSITORY, "docs/deploy/Containerfile"), "utf8");
  const [, named = ""] = /^# A \.dockerignore keeps (.*) out of the build\.$/m.exec(tested) ?? [];
  const lines = new Set(read("tool/.dockerignore").split("\n"));
  for (const name of named.split(/, | and /)) assert.ok(lines.has(name), name);
});

test("Ctrl-C and Ctrl-D at a question end the program with the exit code of a cancelled one", async () => {
  // Without a terminal: the two streams say that they are one, and Ctrl-C arrives as the character that it is there.
  const asTerminal = "process.stdin.isTTY = process.stderr.isTTY = true";
  for (const key of ["\x03", "\x04"]) {
    const { status, stderr } = spawnSync(
      process.execPath,
      ["--import", `data:text/javascript,${asTerminal}`, join(REPOSITORY, "generator/bin.js"), "new"],
      { cwd: folder, input: key, encoding: "utf8", timeout: 60_000 },
    );
    assert.match(stderr, /Folder \(/);
    assert.equal(status, 130);
  }
  assert.deepEqual(readdirSync(folder), []);
});

test("container file and workflow refer to the sources of the packages", () => {
  const texts = (generator: string, runtime: string) =>
    Object.fromEntries(
      projectFiles("@scope/my-tool", toolNames("xyz.demo.my-tool@1"), { generator, runtime }).map(({ path, text }) => [
        path,
        text,
      ]),
    );
  const registry = texts("0.1.0", "0.1.0");
  assert.match(registry.Dockerfile ?? "", /^# {3}docker build -t scope\/my-tool \.$/m);
  assert.doesNotMatch(registry.Dockerfile ?? "", /build-context|COPY --from=svc|\{\{/);
  assert.doesNotMatch(registry[".github/workflows/ci.yml"] ?? "", /SVC_REPOSITORY|tool|\{\{/);

  const checkout = texts("file:../svc", "file:../svc/runtime");
  // The same steps as the tested container file.
  const steps = (text: string) =>
    text.split("\n").filter((line) => /^(?:ARG|FROM|RUN|ENV|USER|CMD|EXPOSE|HEALTHCHECK|WORKDIR| )/.test(line));
  const tested = readFileSync(join(REPOSITORY, "docs/deploy/Containerfile"), "utf8");
  assert.deepEqual(steps(checkout.Dockerfile ?? ""), steps(tested));
  assert.match(checkout.Dockerfile ?? "", /^# {3}docker build --build-context svc=\.\.\/svc -t/m);
  assert.match(checkout.Dockerfile ?? "", /^COPY --from=svc \["\.", "\/svc"\]$/m);
  const workflow = checkout[".github/workflows/ci.yml"] ?? "";
  assert.match(workflow, /repository: \$\{\{ vars\.SVC_REPOSITORY \}\}\n {10}path: "svc"$/m);

  const files = texts("file:../my packs/g.tgz", "file:../my packs/r.tgz");
  assert.match(files.Dockerfile ?? "", /--build-context packages='\.\.\/my packs' -t/);
  assert.match(files.Dockerfile ?? "", /^COPY --from=packages \["\.", "\/my packs"\]$/m);
  assert.equal(packagePlaces({ generator: "file:../a/g.tgz", runtime: "file:../b/r.tgz" }).contexts.length, 2);
  for (const set of [registry, checkout, files]) {
    for (const [path, text] of Object.entries(set)) {
      assert.doesNotMatch(text.replace(/\$\{\{ vars\.SVC_REPOSITORY \}\}/, ""), /\{\{|undefined|\[object/, path);
      assert.ok(text.endsWith("\n") && !/[ \t]$|\n\n\n/m.test(text), path);
      if (path.endsWith(".json")) JSON.parse(text);
    }
  }
});

test("every template is used and part of the package", () => {
  const templates = readdirSync(join(REPOSITORY, "templates/project"));
  assert.equal(templates.length, [...FILES, OPTIONS, "bundle.mjs"].length);
  // npm leaves out or renames some names of a package, such as .gitignore.
  for (const name of templates) assert.match(name, /^[a-zA-Z].*\.hbs$/);
  const { files } = JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8"));
  assert.ok(files.includes("templates"));
});
