/**
 * svc-gen in a checkout that is not trusted (SECURITY.md): no code of it is run, nothing outside of it is written, nothing
 * is sent where it says, and no text of it commands the terminal.
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { delimiter, dirname, join } from "node:path";
import { describe, test } from "node:test";
import { EXIT } from "#generator/cli/cli.js";
import { devServers, makePrivateFolder, privateFolder, stateFile } from "#generator/dev/dev-state.js";
import { replaceFiles } from "#generator/files/atomic-write.js";
import { listen } from "../listening.js";
import { scratchFolder } from "../scratch-folder.js";
import { ToolProject, toolSource } from "./project.js";
import { svcGenIn } from "./run-cli.js";

const SUM = { "src/sum.ts": toolSource("Sum", "{ a: string }") };

/** A folder outside of every checkout, and what is in it by name. */
function outside(files: Readonly<Record<string, string>> = {}) {
  const folder = scratchFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const content = () => Object.fromEntries(readdirSync(folder).map((name) => [name, textIn(join(folder, name))]));
  return { folder, at: (name: string) => join(folder, name), content };
}

function textIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "a folder";
  }
}

describe("code from the checkout is not run", () => {
  describe("diff", () => {
    const { at, folder } = outside();
    const ran = at("ran");
    const program = at("program");
    writeFileSync(program, `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });

    /** A repository whose HEAD has a `meta.json`. */
    function repository(meta = "[]\n"): string {
      const { folder: root } = outside({ "meta.json": meta });
      git(root, "init", "--quiet");
      git(root, "add", "meta.json");
      git(root, "commit", "--quiet", "--message", "one");
      return root;
    }

    function git(root: string, ...args: string[]): string {
      const who = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
      const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };
      return execFileSync("git", ["-C", root, ...who, ...args], { env, encoding: "utf8" }).trim();
    }

    /** A repository that lacks the file, and has a remote that promised it: git fetches what it lacks. */
    function partialClone(url: string, configured: Readonly<Record<string, string>>): string {
      const root = repository();
      const id = git(root, "rev-parse", "HEAD:meta.json");
      rmSync(join(root, ".git/objects", id.slice(0, 2)), { recursive: true });
      for (const [name, value] of Object.entries({
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": url,
        "protocol.allow": "always",
        ...configured,
      })) {
        git(root, "config", name, value);
      }
      return root;
    }

    /** Runs `diff` with variables of the environment. */
    async function diffIn(root: string, variables: Readonly<Record<string, string>> = {}) {
      const before = { ...process.env };
      Object.assign(process.env, variables);
      try {
        rmSync(ran, { force: true });
        return await svcGenIn(root, ["diff"]);
      } finally {
        for (const name of Object.keys(variables)) {
          if (before[name] === undefined) delete process.env[name];
          else process.env[name] = before[name];
        }
      }
    }

    /** Kind, address of the remote (by default a repository), and configuration of a partial clone. */
    const allowed = { "protocol.ext.allow": "always" };
    const LAZY: readonly (readonly [what: string, url: string | undefined, configured: Record<string, string>])[] = [
      ["ext::", `ext::${program}`, allowed],
      ["an upload-pack of the configuration", undefined, { "remote.origin.uploadpack": program }],
      ["core.sshCommand", "ssh://nowhere.invalid/x", { "core.sshCommand": program }],
      ["a remote helper", "x", { "remote.origin.vcs": "ext", "remote.origin.url": program, ...allowed }],
    ];
    const PATH = process.env.PATH ?? "";
    // A git that is too old for GIT_NO_LAZY_FETCH.
    const old = join(folder, "old-git");
    mkdirSync(old);
    const real = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    writeFileSync(join(old, "git"), `#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec ${real} "$@"\n`, { mode: 0o755 });

    for (const [what, url, configured] of LAZY) {
      test(`git does not fetch what a partial clone lacks: ${what}`, async () => {
        const root = partialClone(url ?? repository(), configured);
        for (const variables of [{}, { PATH: `${old}${delimiter}${PATH}` }]) {
          const { code, err } = await diffIn(root, variables);
          assert.ok(!existsSync(ran), JSON.stringify(variables));
          assert.equal(code, EXIT.failure, err);
          assert.match(err, /^svc-gen: cannot read the meta\.json of git HEAD: git: fatal: /);
        }
      });
    }

    test("git runs no program of the configuration: fsmonitor, hooks, textconv, filters, pager, external diff", async () => {
      const root = repository();
      writeFileSync(join(root, ".gitattributes"), "meta.json diff=x filter=x\n");
      for (const name of "core.fsmonitor diff.x.textconv diff.x.command filter.x.smudge filter.x.clean core.pager diff.external".split(
        " ",
      )) {
        git(root, "config", name, program);
      }
      const { code, err } = await diffIn(root);
      assert.equal(code, EXIT.done, err);
      assert.ok(!existsSync(ran));
    });

    test("a folder of the checkout that looks like a repository is not used as one", async () => {
      const root = repository();
      const bare = join(root, "bare");
      cpSync(join(root, ".git"), bare, { recursive: true });
      for (const [name, value] of Object.entries({ "core.bare": "false", "core.worktree": bare })) {
        git(root, "config", "--file", join(bare, "config"), name, value);
      }
      writeFileSync(join(bare, "meta.json"), "[]\n");
      const { code, err } = await diffIn(bare);
      assert.equal(code, EXIT.failure);
      assert.match(err, /: git: fatal: /);
    });

    test("git is never run from the checkout: node_modules/.bin, the project, the current folder", async () => {
      const root = repository();
      for (const place of ["node_modules/.bin", "bin"]) {
        mkdirSync(join(root, place), { recursive: true });
        cpSync(program, join(root, place, "git"));
      }
      const cwd = process.cwd();
      process.chdir(root);
      try {
        for (const place of [join(root, "node_modules/.bin"), join(root, "bin"), "bin", ""]) {
          const { code, err } = await diffIn(root, { PATH: `${place}${delimiter}${PATH}` });
          assert.ok(!existsSync(ran), place);
          assert.equal(code, EXIT.done, err);
        }
      } finally {
        process.chdir(cwd);
      }
      // npm puts that of the whole workspace there.
      mkdirSync(join(root, "packages/tool"), { recursive: true });
      writeFileSync(join(root, "packages/tool/meta.json"), "[]\n");
      git(root, "add", "packages");
      git(root, "commit", "--quiet", "--message", "two");
      const above = join(root, "node_modules/.bin");
      const { code, err } = await diffIn(join(root, "packages/tool"), { PATH: `${above}${delimiter}${PATH}` });
      assert.equal(code, EXIT.done, err);
      assert.ok(!existsSync(ran));
    });

    test("environment variables of git have no effect, and nothing is written", async () => {
      const root = repository();
      const other = repository('[{ "fqn": "xyz.other.tool@1" }]');
      const trace = at("trace");
      const { code, out, err } = await diffIn(root, {
        GIT_DIR: join(other, ".git"),
        GIT_TRACE: trace,
        GIT_EXTERNAL_DIFF: program,
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "core.fsmonitor",
        GIT_CONFIG_VALUE_0: program,
      });
      assert.ok(!existsSync(trace) && !existsSync(ran));
      assert.equal(code, EXIT.done, err);
      assert.equal(out, "");
    });

    test("a committed meta.json of several megabytes is compared; without one the message says why", async () => {
      const description = "x".repeat(3 * 2 ** 20);
      const one = (text: string) => JSON.stringify([{ ...JSON.parse(META)[0], description: text }]);
      const root = repository(one(description));
      writeFileSync(join(root, "meta.json"), one(`${description}y`));
      const { code, out, err } = await diffIn(root);
      assert.equal(code, EXIT.done, err);
      assert.match(out, /^xyz\.test\.tool@1: compatible$/m);

      assert.match(
        (await diffIn(root, { PATH: "/nowhere" })).err,
        /the meta\.json of git HEAD: git is not on the PATH/,
      );
      const { folder: none } = outside({ "meta.json": "[]" });
      assert.match((await diffIn(none)).err, /: git: fatal: not a git repository/);
      git(none, "init", "--quiet");
      git(none, "commit", "--quiet", "--allow-empty", "--message", "one");
      assert.match((await diffIn(none)).err, /: git: fatal: path 'meta\.json' exists on disk, but not in 'HEAD'/);
    });
  });
});

const META = JSON.stringify([
  {
    fqn: "xyz.test.tool@1",
    description: "One.",
    timeout: 1000,
    url: "http://localhost/tool/",
    input_schema: { properties: { a: { type: "string" } } },
    output_schema: { oneOf: [{ properties: { ok: { properties: { b: { type: "string" } } } } }] },
  },
]);

describe("nothing outside of the checkout is written", () => {
  test("through a file whose name is known in advance", async () => {
    const project = new ToolProject(SUM);
    const victim = outside({ mine: "mine" });
    mkdirSync(join(project.root, "src/generated"));
    mkdirSync(join(project.root, "node_modules/.cache/svc-gen"), { recursive: true });
    for (const path of ["meta.json", "src/generated/contracts.ts", "src/generated/server.ts"]) {
      symlinkSync(victim.at("mine"), join(project.root, `${path}.${process.pid}.tmp`));
    }
    const { code, err } = await svcGenIn(project.root, []);
    assert.equal(code, EXIT.done, err);
    assert.deepEqual(victim.content(), { mine: "mine" });
    const left = readdirSync(join(project.root, "src/generated")).filter((name) => !name.includes(`.${process.pid}.`));
    assert.deepEqual(left, ["contracts.ts", "server.ts"]);
  });

  test("through a link: to the folder of generated code, above it, to a file in it, to the cache", async () => {
    const plain = new ToolProject(SUM);
    const { generated } = { generated: plain.build() };
    for (const link of ["src/generated", "src/generated/server.ts", "meta.json", "made", "node_modules/.cache"]) {
      const project = new ToolProject(SUM);
      const isFile = /\.\w+$/.test(link) && !link.endsWith(".cache");
      const victim = outside(isFile ? { mine: "// Generated by svc-gen \nmine" } : {});
      const before = victim.content();
      mkdirSync(dirname(join(project.root, link)), { recursive: true });
      symlinkSync(isFile ? victim.at("mine") : victim.folder, join(project.root, link));
      const { code, err } = await svcGenIn(project.root, link === "made" ? ["--out", "made/deeper"] : []);
      assert.deepEqual(victim.content(), before, link);
      if (link === "node_modules/.cache") assert.equal(code, EXIT.done, err);
      else {
        assert.equal(code, EXIT.failure, err);
        const shown = `"${join(project.root, link)}"`;
        assert.equal(
          err,
          `svc-gen: cannot write ${shown}: it is a symbolic link, which svc-gen does not follow; remove the link (nothing was replaced)\n`,
        );
        assert.ok(link === "meta.json" || !existsSync(join(project.root, "meta.json")), "all or none");
      }
    }
    assert.ok(generated["meta.json"]);
  });

  test("a folder that becomes a link between the check and the rename", () => {
    const { folder: root } = outside();
    const victim = outside();
    mkdirSync(join(root, "out"));
    let asked = 0;
    const swap = () => {
      if (++asked === 2) {
        // The temporary file has been written.
        renameSync(join(root, "out"), join(root, "away"));
        symlinkSync(victim.folder, join(root, "out"));
      }
      return root;
    };
    assert.throws(() => replaceFiles([{ target: join(root, "out/a"), content: "a" }], swap), /it is a symbolic link/);
    assert.deepEqual([victim.content(), asked], [{}, 2]);
  });

  test("keys, configurations, imported classes and new projects are not written through links", async () => {
    const victim = outside();
    const { folder: root } = outside({ "meta.json": META, "import.json": META });
    for (const name of ["keys", "src", "sub"]) symlinkSync(victim.folder, join(root, name));
    for (const args of [
      ["config", "init"],
      ["config", "init", "sub/config.json"],
      ["keys", "new", "keys/leader.key"],
      ["import", "import.json"],
      ["import", "import.json", "--force"],
      ["new", "sub/tool", "--yes", "--skip-install"],
    ]) {
      const { code, err } = await svcGenIn(root, args);
      assert.equal(code, EXIT.failure, args.join(" "));
      assert.match(
        err,
        /"[^"]*\/(?:keys|src|sub)": it is a symbolic link, which svc-gen does not follow; remove the link/,
      );
      assert.deepEqual(victim.content(), {}, args.join(" "));
    }
    assert.ok(!existsSync(join(root, "config.json")), "all or none");
  });

  test("links in the path of a folder that the user gives are followed", async () => {
    const project = new ToolProject(SUM);
    const { folder, at } = outside();
    mkdirSync(at("real"));
    symlinkSync(at("real"), at("link"));
    symlinkSync(join(project.root, "node_modules"), at("node_modules"));
    const { code, err } = await svcGenIn(project.root, ["--out", join(folder, "link/generated")]);
    assert.equal(code, EXIT.done, err);
    assert.deepEqual(readdirSync(at("real/generated")), ["contracts.ts", "server.ts"]);
  });

  test("the build info in a checkout is not trusted", async () => {
    const project = new ToolProject(SUM);
    assert.equal((await svcGenIn(project.root, [])).code, EXIT.done);
    assert.equal((await svcGenIn(project.root, ["--check"])).code, EXIT.done);
    const cache = join(project.root, "node_modules/.cache/svc-gen");
    const [name = ""] = readdirSync(cache);
    const info = JSON.parse(readFileSync(join(cache, name), "utf8").split("\n")[1] ?? "");
    const changed = toolSource("Sum", "{ a: string; b: string }");
    project.write({ "src/sum.ts": changed });
    for (const lookup of info.inputs.lookups) {
      if (lookup[1] === join(project.root, "src/sum.ts")) lookup[2] = createHash("sha1").update(changed).digest("hex");
    }
    const text = JSON.stringify(info);
    rmSync(cache, { recursive: true });
    project.write({
      [`node_modules/.cache/svc-gen/${name}`]: `${createHash("sha1").update(text).digest("hex")}\n${text}`,
    });
    assert.equal((await svcGenIn(project.root, ["--check"])).code, EXIT.stale);
  });
});

describe("the checkout cannot choose where requests are sent", () => {
  /** A server on this machine, and the requests that it got. */
  async function listener(answer: RequestListener = (_, response) => response.end("{}")) {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? "");
      answer(request, response);
    });
    return { url: `http://${await listen(server)}`, requests };
  }

  test("invoke reads neither addresses nor keys in .svc", async () => {
    const evil = await listener();
    const { folder: root } = outside({ "meta.json": META, "real.key": "07".repeat(32) });
    mkdirSync(join(root, ".svc"));
    const state = { url: evil.url, signed: true, pid: process.pid, page: `${evil.url}/` };
    writeFileSync(join(root, ".svc/dev-8080.json"), JSON.stringify(state));
    for (const name of ["leader.key", "tool.key"]) writeFileSync(join(root, ".svc", name), "07".repeat(32));
    // Whether a server of the developer has port 8080 or none: this one is not asked.
    await svcGenIn(root, ["invoke", '{"a":"x"}', "--signed", "--leader-key", "real.key"]);
    await svcGenIn(root, ["invoke", '{"a":"x"}']);
    assert.deepEqual(evil.requests, []);
    const { code, err } = await svcGenIn(root, ["invoke", `${evil.url}/tool`, '{"a":"x"}', "--signed"]);
    assert.deepEqual([code, evil.requests], [EXIT.usage, []], err);
    assert.match(err, /--signed expects --leader-key FILE, or a project served by/);
  });

  test("the address of an ended svc-gen dev is not used, even if another process has its port", async () => {
    const { folder: root } = outside();
    const env = { XDG_STATE_HOME: outside().folder };
    const folder = makePrivateFolder(root, env);
    const served = { current: null as object | null };
    const own = await listener(({ url }, response) => {
      response.statusCode = url === "/token/api/served" ? 200 : 404;
      response.end(JSON.stringify(served.current));
    });
    const state = { url: "http://127.0.0.1:9", signed: true, pid: process.pid, page: `${own.url}/token/` };
    const write = (change: object = {}) =>
      writeFileSync(stateFile(folder, state.url), JSON.stringify({ ...state, ...change }));
    const found = async () => (await devServers(root, env)).map(({ url }) => url);
    write();
    assert.deepEqual(await found(), [], "it serves nothing now");
    served.current = { url: "http://127.0.0.1:10", signed: true };
    assert.deepEqual(await found(), [], "it serves elsewhere");
    served.current = { url: state.url, signed: false };
    assert.deepEqual(await found(), [], "it serves unsigned calls there");
    served.current = { url: state.url, signed: true };
    assert.deepEqual(await found(), [state.url]);
    write({ page: `${own.url}/other/` });
    assert.deepEqual(await found(), [], "another process");
    const closed = await listener((_, response) => response.destroy());
    write({ page: `${closed.url}/token/` });
    assert.deepEqual(await found(), [], "no answer");
  });

  const posix = { skip: process.platform === "win32" };
  test(
    "dev keeps keys and addresses in a folder that only the user can change, and that is no link",
    posix,
    async () => {
      const { folder: root } = outside();
      const states = outside();
      const env = { XDG_STATE_HOME: states.folder };
      const folder = makePrivateFolder(root, env);
      assert.equal(folder, privateFolder(root, env));
      assert.equal(dirname(dirname(folder)), states.folder);
      assert.ok(
        !privateFolder(root, { XDG_STATE_HOME: "relative" }).includes("relative"),
        "it would be in the checkout",
      );
      const own = await listener((_, response) => response.end('{"url":"http://127.0.0.1:9","signed":false}'));
      const state = { url: "http://127.0.0.1:9", signed: false, pid: process.pid, page: `${own.url}/` };
      writeFileSync(stateFile(folder, state.url), JSON.stringify(state));
      assert.equal((await devServers(root, env)).length, 1);
      for (const path of [folder, dirname(folder)]) {
        chmodSync(path, 0o770);
        assert.deepEqual(await devServers(root, env), []);
        assert.throws(
          () => makePrivateFolder(root, env),
          /^UnwritableError|another user of this machine can change it; remove it/,
        );
        chmodSync(path, 0o700);
      }
      renameSync(folder, states.at("moved"));
      symlinkSync(states.at("moved"), folder);
      assert.deepEqual(await devServers(root, env), []);
      assert.throws(() => makePrivateFolder(root, env), /another user of this machine can change it; remove it/);
    },
  );
});

describe("text of the checkout cannot control the terminal", () => {
  const ODD = "\u001b]0;x\u0007\u001b[8m\u009b31m\u202e\r";
  const COMMANDS = /[^\P{Cc}\t\n]|\p{Bidi_Control}/u;
  const COLOURS = new RegExp(`${"\u001b"}\\[(?:[02]|3[1-6])m`, "g");

  test("names of files, texts of errors, lines of sources and of generated files, names of ports", async () => {
    const project = new ToolProject({
      ...SUM,
      [`src/${ODD}.ts`]: `export const text: number = "${ODD.replace("\r", "")}";\n`,
    });
    const metaOf = (port: string) => META.replace('"a"', JSON.stringify(port));
    project.write({ "old.json": metaOf("a"), "new.json": metaOf(ODD) });
    const stale = new ToolProject(SUM);
    stale.build();
    const contracts = join(stale.root, "src/generated/contracts.ts");
    writeFileSync(contracts, `${readFileSync(contracts, "utf8")}// ${ODD}\n`);
    for (const [root, args] of [
      [project.root, []],
      [project.root, ["--json"]],
      [project.root, ["doctor"]],
      [project.root, ["diff", "old.json", "new.json"]],
      [project.root, ["diff", "old.json", "new.json", "--json"]],
      [stale.root, ["--check"]],
    ] as const) {
      const plain = await svcGenIn(root, args);
      assert.ok((plain.out + plain.err).length > 0, args.join(" "));
      assert.doesNotMatch(plain.out + plain.err, COMMANDS, args.join(" "));
      const coloured = await svcGenIn(root, args, { colour: true });
      assert.doesNotMatch((coloured.out + coloured.err).replaceAll(COLOURS, ""), COMMANDS, args.join(" "));
    }
  });

  test("JSON for programs keeps its values", async () => {
    const source = SUM["src/sum.ts"].replace('"A tool."', '"A \\u202e tool."');
    const { out } = await svcGenIn(new ToolProject({ "src/sum.ts": source }).root, ["meta", "--url", "http://x"]);
    assert.doesNotMatch(out, COMMANDS);
    assert.equal(JSON.parse(out).description, "A \u202e tool.");
  });

  test("a diff prints nothing of a linked file", async () => {
    const project = new ToolProject(SUM);
    project.build();
    const secret = outside({ secret: "// Generated by svc-gen \nhunter2" });
    for (const path of ["meta.json", "src/generated/contracts.ts"]) {
      rmSync(join(project.root, path));
      symlinkSync(secret.at("secret"), join(project.root, path));
    }
    const { code, err } = await svcGenIn(project.root, ["--check"]);
    assert.equal(code, EXIT.stale);
    assert.doesNotMatch(err, /hunter2/);
    assert.match(err, /^meta\.json: missing$/m);
  });
});
