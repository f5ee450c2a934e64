/** Files that are followed: every way in which operators and kubelets replace one, really done on a disk. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import fsPromises from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";
import { after, describe, it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { FileFollower, type VersionRefusal } from "#runtime/config/file-follower.js";
import { digestOf } from "#runtime/config/operator-file.js";
import { proves } from "../proves.js";
import { scratchFolder } from "../scratch-folder.js";
import { until } from "./tools.js";

const root = scratchFolder();
const followers: FileFollower[] = [];
after(() => {
  for (const follower of followers) follower.close();
});

let serial = 0;
/** A directory of its own with a file of one version. */
function fileOf(content = "one"): string {
  const directory = join(root, `${serial++}`);
  mkdirSync(directory);
  const path = join(directory, "file");
  writeFileSync(path, content);
  return path;
}

interface Followed {
  readonly follower: FileFollower;
  /** What was put in force, oldest first. */
  readonly adopted: string[];
  readonly warnings: string[];
  /** The fields of the warnings. */
  readonly fields: object[];
  readonly infos: string[];
  /** Waits until the newest version in force is this one. */
  inForce(content: string): Promise<void>;
}

interface Options {
  readonly intervalMs?: number;
  /** In place of taking everything whose parts begin with the word that they end with. */
  readonly adopt?: (content: string) => VersionRefusal | undefined;
}

const torn = (content: string) => (/^(\w+)( .* \1)?$/s.test(content) ? undefined : { refused: "the file is torn" });

function follow(
  paths: readonly string[],
  contents: readonly string[],
  { intervalMs = 20, adopt = torn }: Options = {},
) {
  const [adopted, warnings, infos]: string[][] = [[], [], []] as [string[], string[], string[]];
  const fields: object[] = [];
  const follower = new FileFollower({
    titles: ["the file", "file 1"],
    paths,
    digests: contents.map((content) => digestOf(Buffer.from(content))),
    adopt: (...files) => {
      const content = files.map(({ bytes }) => bytes.toString()).join("+");
      const refusal = adopt(content);
      if (refusal === undefined) (adopted as string[]).push(content);
      return refusal;
    },
    log: {
      info: (_fields, message) => (infos as string[]).push(message),
      warn: (given, message) => {
        fields.push(given);
        (warnings as string[]).push(message);
      },
    },
    intervalMs,
  });
  followers.push(follower);
  const inForce = (content: string) => until(() => adopted?.at(-1) === content, `${content} in force`);
  return { follower, adopted, warnings, fields, infos, inForce } as Followed;
}

/** Calls `seen` before each `open` or `stat` of a path by the runtime. */
function observe(t: TestContext, path: string, seen: (name: "open" | "stat") => void): void {
  for (const name of ["open", "stat"] as const) {
    const real = fsPromises[name] as (...args: unknown[]) => Promise<unknown>;
    t.mock.method(fsPromises, name, ((...args: unknown[]) => {
      if (args[0] === path) seen(name);
      return real(...args);
    }) as never);
  }
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

/** As `mv new file` does. */
function replace(path: string, content: string): void {
  writeFileSync(`${path}.new`, content);
  renameSync(`${path}.new`, path);
}

const KEPT = "; the previous version remains in use";

describe("a new version", () => {
  it("is adopted once, whether renamed, rewritten or appended, whatever its size and timestamps", async () => {
    const path = fileOf();
    const { adopted, warnings, inForce, follower } = follow([path], ["one"]);
    const began = performance.now();
    replace(path, "two");
    await inForce("two");
    writeFileSync(path, "three");
    await inForce("three");
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "seven"); // as long, and as old
    utimesSync(path, atime, mtime);
    await inForce("seven");
    appendFileSync(path, " and seven");
    await inForce("seven and seven");
    truncateSync(path, 5);
    await inForce("seven");
    await follower.reload();
    assert.deepEqual(adopted, ["two", "three", "seven", "seven and seven", "seven"]);
    assert.deepEqual(warnings, []);
    assert.deepEqual([follower.stats.applied, follower.stats.refused], [5, 0]);
    assert.ok(follower.stats.lastGoodAgeMs < performance.now() - began);
    proves("10.13");
  });

  it("is detected through the links of a ConfigMap, which replaces ..data", async () => {
    const mount = dirname(fileOf());
    const project = (version: string) => {
      mkdirSync(join(mount, `..${version}`));
      writeFileSync(join(mount, `..${version}`, "config"), version);
      symlinkSync(`..${version}`, join(mount, "..data_tmp"));
      renameSync(join(mount, "..data_tmp"), join(mount, "..data"));
    };
    project("one");
    symlinkSync(join("..data", "config"), join(mount, "config"));
    const { adopted, warnings, inForce } = follow([join(mount, "config")], ["one"]);
    for (const [version, old] of [
      ["two", "one"],
      ["three", "two"],
      ["four", "three"],
    ] as const) {
      project(version);
      rmSync(join(mount, `..${old}`), { recursive: true });
      await inForce(version);
    }
    assert.deepEqual([adopted, warnings], [["two", "three", "four"], []]);
    proves("10.13");
  });

  it("is detected even if it was written before the first check", async () => {
    const path = fileOf("two");
    await follow([path], ["one"]).inForce("two");
  });

  it("in a directory that was moved away and created again is detected", async () => {
    const path = fileOf();
    const { follower, warnings, inForce } = follow([path], ["one"], { intervalMs: 300 });
    renameSync(dirname(path), `${dirname(path)}.old`);
    await until(() => warnings.length > 0, "a warning");
    mkdirSync(dirname(path));
    writeFileSync(path, "two");
    await inForce("two");
    await follower.reload();
    replace(path, "three");
    await inForce("three");
    assert.deepEqual(warnings, [
      `the file must be a readable file, got ENOENT; correct the path or create the file${KEPT}`,
    ]);
  });
});

describe("a file that is being written", () => {
  it("is checked only when a second read returns the same", async (t) => {
    const path = fileOf();
    const contents = ["one", "two ", "two and two"];
    // Each look finds the next content.
    observe(t, path, (name) => {
      const [content = "two and two"] = name === "open" ? contents.splice(0, 1) : [];
      if (name === "open") writeFileSync(path, content);
    });
    const { adopted, warnings, inForce } = follow([path], ["one"]);
    await inForce("two and two");
    assert.deepEqual([adopted, warnings], [["two and two"], []]);
  });

  it("and incomplete is refused and logged once, and adopted when complete", async () => {
    const path = fileOf();
    const { follower, adopted, warnings, inForce } = follow([path], ["one"]);
    writeFileSync(path, "two ");
    await until(() => follower.stats.refused > 0, "a refusal");
    await sleep(100);
    assert.deepEqual([adopted, warnings], [[], [`the file is torn${KEPT}`]]);
    assert.equal(follower.stats.fault, "the file is torn");
    assert.ok(follower.stats.lastGoodAgeMs >= 90);
    appendFileSync(path, "and two");
    await inForce("two and two");
    assert.deepEqual([follower.stats.applied, follower.stats.refused, follower.stats.fault], [1, 1, undefined]);
  });

  it("without end is checked after a limit", async () => {
    const path = fileOf();
    const { adopted } = follow([path], ["one"]);
    let n = 0;
    const writer = setInterval(() => replace(path, `version${n++}`), 5);
    try {
      await until(() => adopted.length > 0, "a version in force");
    } finally {
      clearInterval(writer);
    }
  });
});

describe("a fault", () => {
  it("of every kind is logged once, and the current version is valid again when it returns", async () => {
    const path = fileOf();
    const { follower, adopted, warnings, infos } = follow([path], ["one"]);
    const faults: [make: () => void, got: string][] = [
      [() => {}, "got ENOENT; correct the path or create the file"],
      [() => mkdirSync(path), "got a directory or a special file; correct the path or create the file"],
      [() => symlinkSync(basename(path), path), "got ELOOP; correct the path or create the file"],
    ];
    for (const [i, [make, got]] of faults.entries()) {
      rmSync(path, { recursive: true, force: true });
      make();
      await until(() => warnings.length > i, got);
      await sleep(60);
      assert.equal(warnings.at(-1)?.endsWith(`${got}${KEPT}`), true, warnings.at(-1));
    }
    assert.deepEqual([warnings.length, follower.stats.refused >= 3], [3, true]);
    rmSync(path);
    writeFileSync(path, "one");
    await until(() => infos.length > 0, "good again");
    assert.deepEqual([infos, adopted], [["the file again contains the version in use"], []]);
    assert.equal(follower.stats.fault, undefined);
    rmSync(path); // news again after a good version
    await until(() => warnings.length === 4, "a fourth warning");
  });

  it("in permissions is detected although the content is the same", {
    skip: process.platform === "win32",
  }, async () => {
    const path = fileOf();
    const { warnings, infos } = follow([path], ["one"]);
    chmodSync(path, 0o666);
    await until(() => warnings.length > 0, "a warning");
    assert.match(
      warnings[0] ?? "",
      /^the file must not be writable by every user of this machine; .*chmod o-w.*previous version remains/,
    );
    chmodSync(path, 0o644);
    await until(() => infos.length > 0, "good again");
  });

  it("in the file is checked once: a check of a long list takes seconds", async () => {
    const path = fileOf();
    let checks = 0;
    const { follower } = follow([path], ["one"], { adopt: () => ({ refused: `it is torn ${checks++}` }) });
    writeFileSync(path, "two");
    await until(() => checks > 0, "a check");
    await sleep(100);
    assert.deepEqual([checks, follower.stats.refused], [1, 1]);
  });

  it("outside the file is checked again without a new version", async () => {
    const path = fileOf();
    let elsewhere = false;
    const adopt = () => (elsewhere ? undefined : { refused: "the other file is missing", retry: true });
    const { follower, warnings, inForce } = follow([path], ["one"], { adopt });
    writeFileSync(path, "two");
    await until(() => warnings.length > 0, "a warning");
    await sleep(100);
    assert.deepEqual([warnings, follower.stats.refused], [[`the other file is missing${KEPT}`], 1]);
    elsewhere = true;
    await inForce("two");
  });

  it("that is unexpected is logged and counted, without its text", async () => {
    const path = fileOf();
    const adopt = () => {
      throw new RangeError("canary");
    };
    const { follower, warnings, fields } = follow([path], ["one"], { adopt });
    writeFileSync(path, "two");
    await until(() => warnings.length > 0, "a warning");
    await follower.reload();
    assert.equal(follower.stats.refused, 2);
    assert.match(JSON.stringify(fields[0]), /^{"cause":"RangeError","in":\["adopt",.*]}$/);
    assert.deepEqual(warnings, [`the file could not be loaded${KEPT}`, `the file could not be loaded${KEPT}`]);
  });
});

describe("several files are one version", () => {
  it("and are checked together", async () => {
    const [a, b] = [fileOf("a1"), fileOf("b1")];
    const adopt = (content: string) => {
      const [, one, other] = /^a(\d)\+b(\d)$/.exec(content) ?? [];
      return one === other ? undefined : { refused: "they do not match" };
    };
    const { warnings, adopted, inForce } = follow([a, b], ["a1", "b1"], { adopt });
    replace(a, "a2");
    await until(() => warnings.length > 0, "a warning");
    replace(b, "b2");
    await inForce("a2+b2");
    rmSync(b);
    await until(() => warnings.length > 1, "a second warning");
    assert.deepEqual([warnings[0], adopted], [`they do not match${KEPT}`, ["a2+b2"]]);
    assert.match(warnings[1] ?? "", /^file 1 .*ENOENT/);
  });
});

describe("reload()", () => {
  it("checks at once, logs the outcome even without a change, and resolves for all callers", async () => {
    const path = fileOf();
    const { follower, adopted, warnings, infos } = follow([path], ["one"], { intervalMs: 3_600_000 });
    await follower.reload();
    assert.deepEqual(infos, ["the file is unchanged"]);
    writeFileSync(path, "two");
    await Promise.all([follower.reload(), follower.reload(), follower.reload()]);
    assert.deepEqual(adopted, ["two"]);
    writeFileSync(path, "three and");
    await follower.reload();
    await follower.reload();
    assert.deepEqual([warnings, adopted], [[`the file is torn${KEPT}`, `the file is torn${KEPT}`], ["two"]]);
    assert.equal(follower.stats.refused, 2);
  });

  it("resolves if the follower is closed before or during the reload", async () => {
    const path = fileOf();
    const { follower, adopted } = follow([path], ["one"]);
    writeFileSync(path, "two");
    const asked = follower.reload();
    follower.close();
    await asked;
    await follower.reload();
    await sleep(60);
    assert.deepEqual(adopted, []);
  });
});

it("watching does not keep a process alive", () => {
  const module = fileURLToPath(new URL("../../runtime/dist/config/file-follower.js", import.meta.url));
  const path = fileOf();
  const code = `
    import { FileFollower } from ${JSON.stringify(module)};
    const follower = new FileFollower({
      titles: [""], paths: [${JSON.stringify(path)}], digests: [""], log: console,
      adopt: () => void console.log("adopted"), intervalMs: 60000 });
    await follower.reload();`;
  const { status, signal, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    timeout: 10_000,
    encoding: "utf8",
  });
  assert.deepEqual([status, signal, stdout], [0, null, "adopted\n"]);
});
