/** `svc-gen dev` under everything that goes wrong while a project is edited: it recovers, and says what is the case. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { WebSocket } from "undici";
import { EXIT } from "#generator/cli/cli.js";
import { CliProcess } from "../generator/cli-process.js";
import { ToolProject } from "../generator/project.js";
import { until } from "../runtime/tools.js";
import { Random } from "../types/random.js";
import { leasePort } from "./process.js";

const PATIENCE = { timeout: 120_000 };
const IS_FULL = process.env.SVC_TEST_FULL === "1";
const SEQUENCES = IS_FULL ? 200 : 6;
const SEED = Number(process.env.SVC_TYPE_SEED ?? 1);

/** A tool that returns its version, its process and a variable. */
const source = (version: number | string, before = "", create = "") => `
import { StatusCode, SvcTool } from "svc-runtime";
declare const process: { readonly pid: number; readonly env: Record<string, string | undefined> };
declare const setTimeout: (run: () => void, ms: number) => void;
${before}
type Output = { ok: { version: number; pid: number; word: string } };
function wordOf({ WORD = "none", PATH }: Record<string, string | undefined>): string {
  return PATH === "/nowhere" ? "PATH was replaced" : WORD;
}
export class Versioned extends SvcTool<{ n?: number }, Output> {
  static override fqn() { return "xyz.test.versioned@1"; }
  static override description() { return "Says its version."; }
  ${create}
  override async invoke(): Promise<Output> {
    return { ok: { version: ${version}, pid: process.pid, word: wordOf(process.env) } };
  }
  override async health() { return StatusCode.OK; }
}
`;
const THROWS = 'if (Date.now() > 0) throw new Error("no database");';

interface Verdict {
  readonly event: string;
  readonly url?: string;
  readonly newest?: boolean;
  readonly restarted?: boolean;
  readonly reason?: string;
  readonly diagnostics?: readonly { readonly severity: string }[];
}

/** A running `svc-gen dev`, with all of its events. */
class Session {
  readonly events: Verdict[] = [];
  readonly process: CliProcess;

  constructor({ root }: ToolProject, ...args: string[]) {
    this.process = new CliProcess(root, ["dev", "--port", "0", "--json", ...args]);
    void this.#collect().catch(() => {});
  }

  async #collect(): Promise<never> {
    for (;;) this.events.push(JSON.parse(await this.process.line(/^\{"event":/)));
  }

  /** The last event that says whether the project serves. */
  get verdict(): Verdict | undefined {
    const isVerdict = ({ event, diagnostics = [] }: Verdict) =>
      ["serving", "failed", "ended"].includes(event) || diagnostics.some(({ severity }) => severity === "error");
    return this.events.findLast(isVerdict);
  }

  get url(): string | undefined {
    return this.events.findLast(({ event }) => event === "serving")?.url;
  }

  async call(): Promise<{ readonly version: number; readonly pid: number; readonly word: string } | undefined> {
    try {
      const headers = { Accept: "application/json", "Content-Type": "application/json" };
      const response = await fetch(`${this.url}/invoke`, { method: "POST", headers, body: "{}" });
      return ((await response.json()) as { ok: { version: number; pid: number; word: string } }).ok;
    } catch {
      return undefined;
    }
  }

  /** Waits until the last event satisfies, among those after `from`. */
  async says(what: string, holds: (verdict: Verdict) => boolean, from = 0): Promise<void> {
    await until(() => this.events.length > from && this.verdict !== undefined && holds(this.verdict), what);
  }

  /** Waits until the newest build serves, and says so. */
  async serves(version: number, from = 0): Promise<void> {
    await this.says(`version ${version} serves`, isServing, from);
    await until(async () => (await this.call())?.version === version, `version ${version} answers`);
  }
}

const isServing = ({ event, newest }: Verdict) => event === "serving" && newest === true;
const hasErrors = ({ event }: Verdict) => event === "run";

describe("a session", PATIENCE, () => {
  let project: ToolProject;
  let session: Session;
  before(async () => {
    // The same version of one package twice, which TypeScript reads once.
    const dup = { "package.json": '{"name":"dup","version":"1.0.0","types":"index.d.ts"}' };
    const types = "export interface Dup { a: string }\n";
    project = new ToolProject({
      "src/versioned.ts": source(
        1,
        'import type { Other } from "other"; import type { Dup } from "dup"; export type D = [Dup, Other];',
      ),
      "node_modules/dup/package.json": dup["package.json"],
      "node_modules/dup/index.d.ts": types,
      "node_modules/other/package.json": '{"name":"other","version":"1.0.0","types":"index.d.ts"}',
      "node_modules/other/index.d.ts": 'import type { Dup } from "dup";\nexport interface Other { d: Dup }\n',
      "node_modules/other/node_modules/dup/package.json": dup["package.json"],
      "node_modules/other/node_modules/dup/index.d.ts": types,
    });
    session = new Session(project);
    await session.serves(1);
  });

  test("the steps of the first build are reported before it serves", () => {
    const names = session.events.map((each) => `${each.event} ${(each as { step?: string }).step ?? ""}`.trim());
    assert.deepEqual(names.slice(0, 4), ["page", "progress building", "run", "progress starting"]);
  });

  test("a save is served if one version of a package is installed twice", async () => {
    const text = readFileSync(join(project.root, "src/versioned.ts"), "utf8");
    project.write({ "src/versioned.ts": text.replace("version: 1", "version: 2") });
    await session.serves(2);
  });

  test("a server whose event loop is blocked is reported, and a save replaces it", async () => {
    const blocking = source(20).replace("return { ok", "while (Date.now() > 0); return { ok");
    project.write({ "src/versioned.ts": blocking });
    const from = session.events.length;
    await until(() => session.events.slice(from).some(isServing), "the blocking version serves");
    const isBlocked = () => session.events.some(({ event }) => event === "blocked");
    // A kept connection may still lead to the process before.
    const calls = (async () => {
      while (!isBlocked()) await session.call();
    })();
    await until(isBlocked, "the block is reported");
    project.write({ "src/versioned.ts": source(21) });
    await session.serves(21, session.events.length);
    await calls;
  });

  test("after an error was undone, a file restored or a configuration repaired, the session reports that the build serves", async () => {
    const tsconfig = readFileSync(join(project.root, "tsconfig.json"), "utf8");
    const good = source(3);
    project.write({ "src/versioned.ts": good });
    await session.serves(3);
    const breaks: readonly (() => void)[] = [
      () => project.write({ "src/versioned.ts": source('"no number"') }),
      () => rmSync(join(project.root, "src/versioned.ts")),
      () => project.write({ "tsconfig.json": "{" }),
    ];
    for (const breakIt of breaks) {
      const from = session.events.length;
      breakIt();
      await session.says("the errors are reported", hasErrors, from);
      project.write({ "tsconfig.json": tsconfig, "src/versioned.ts": good });
      await session.serves(3, from);
    }
  });

  test(".env is read at start and after each change, its errors are reported, and variables that are set take precedence", async () => {
    assert.equal((await session.call())?.word, "none");
    project.write({ ".env": 'WORD="first"\nPATH=/nowhere\n' });
    await until(async () => (await session.call())?.word === "first", "the variable arrives");
    rmSync(join(project.root, ".env"));
    mkdirSync(join(project.root, ".env"));
    await session.says("the fault", ({ event, reason = "" }) => event === "failed" && /\.env: EISDIR/.test(reason));
    rmSync(join(project.root, ".env"), { recursive: true });
    await session.says("it serves", isServing);
    await until(async () => (await session.call())?.word === "none", "the variable is gone");
    assert.ok(!JSON.stringify(session.events).includes("first"), "no value of .env is printed");
  });

  test("a save during a hung start replaces the start; Ctrl-C during a hung start, then a save, leaves no server", async () => {
    const hung = source(
      4,
      "",
      "static override async create() { await new Promise<void>((go) => setTimeout(go, 1e9)); }",
    );
    project.write({ "src/versioned.ts": hung });
    await until(() => (session.events.at(-1) as { step?: string }).step === "starting", "it starts");
    project.write({ "src/versioned.ts": source(5) });
    await session.serves(5);
    assert.equal(await session.process.interrupt(), EXIT.done);
    project.write({ "src/versioned.ts": hung });
    const other = new Session(project);
    await until(() => other.events.some((each) => (each as { step?: string }).step === "starting"), "it starts");
    const ended = other.process.interrupt();
    project.write({ "src/versioned.ts": source(6) });
    assert.equal(await ended, EXIT.done);
    assert.deepEqual(serversOf(project), []);
  });

  test("Ctrl-C during the first build does not wait for the build", async () => {
    const other = new Session(project);
    await until(() => other.events.length === 2, "it builds");
    assert.equal(await other.process.interrupt(), EXIT.done);
    assert.deepEqual(
      other.events.map(({ event }) => event),
      ["page", "progress"],
    );
  });
});

/** Processes that run the project's server. */
function serversOf({ root }: ToolProject): string[] {
  const { stdout } = spawnSync("ps", ["-eo", "pid,args"], { encoding: "utf8" });
  return stdout.split("\n").filter((line) => line.includes(`${root}/dist/generated/server.js`));
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly scriptId?: string;
    readonly url?: string;
    readonly sourceMapURL?: string;
    readonly callFrames?: readonly { readonly location: { readonly scriptId: string } }[];
  };
}

/** A debugger, which speaks the inspector's protocol as editors do. */
class Debugger {
  readonly messages: Message[] = [];
  #id = 0;

  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.messages.push(JSON.parse(String(data))));
  }

  static async attach(port: number): Promise<Debugger> {
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
      readonly webSocketDebuggerUrl: string;
    }[];
    const socket = new WebSocket(target?.webSocketDebuggerUrl ?? "");
    await new Promise((open) => socket.addEventListener("open", open));
    const attached = new Debugger(socket);
    await attached.send("Debugger.enable");
    return attached;
  }

  async send(method: string): Promise<void> {
    const id = ++this.#id;
    this.#socket.send(JSON.stringify({ id, method }));
    await this.message((message) => message.id === id);
  }

  async message(fits: (message: Message) => boolean): Promise<Message> {
    await until(() => this.messages.some(fits), "a message of the inspector");
    return this.messages.find(fits) as Message;
  }

  /** Sources of the script that is paused, by the source map that the process gives to its debugger. */
  async pausedIn(): Promise<string[]> {
    const { params: paused } = await this.message(({ method }) => method === "Debugger.paused");
    const { scriptId } = paused?.callFrames?.[0]?.location ?? {};
    const { params } = await this.message(
      (each) => each.method === "Debugger.scriptParsed" && each.params?.scriptId === scriptId,
    );
    const map = JSON.parse(await (await fetch(params?.sourceMapURL ?? "")).text());
    return map.sources.map((each: string) => fileURLToPath(new URL(each, params?.url)));
  }

  close(): void {
    this.#socket.close();
  }
}

test("--inspect: a debugger holds a call in the .ts file, on the same port after a restart", PATIENCE, async () => {
  const held = (version: number) => source(version).replace("return { ok:", "debugger; return { ok:");
  const project = new ToolProject({ "src/versioned.ts": held(1) });
  const port = await leasePort();
  const session = new Session(project, "--inspect", "--inspect-port", `${port}`);
  for (const version of [1, 2]) {
    project.write({ "src/versioned.ts": held(version) });
    await session.serves(version);
    const attached = await Debugger.attach(port);
    const call = session.call();
    assert.deepEqual(await attached.pausedIn(), [join(project.root, "src/versioned.ts")]);
    await attached.send("Debugger.resume");
    assert.equal((await call)?.version, version);
    attached.close();
  }
  assert.equal(await session.process.interrupt(), EXIT.done);
});

test("--inspect-brk: the server waits for a debugger before its first line", PATIENCE, async () => {
  const project = new ToolProject({ "src/versioned.ts": source(1) });
  const port = await leasePort();
  const session = new Session(project, "--inspect-brk", "--inspect-port", `${port}`);
  await until(() => JSON.stringify(session.events).includes("Debugger listening"), "it listens");
  const attached = await Debugger.attach(port);
  await attached.send("Runtime.runIfWaitingForDebugger");
  await attached.message(({ method }) => method === "Debugger.paused");
  assert.equal(session.url, undefined);
  await attached.send("Debugger.resume");
  await session.serves(1);
  attached.close();
  assert.equal(await session.process.interrupt(), EXIT.done);
});

test("random edits end with the newest good build, or with a report of the error", {
  timeout: IS_FULL ? 1_700_000 : 200_000,
}, async () => {
  const random = new Random(SEED);
  const project = new ToolProject({ "src/versioned.ts": source(0) });
  const tsconfig = readFileSync(join(project.root, "tsconfig.json"), "utf8");
  let session = new Session(project);
  after(() => session.process.interrupt("SIGKILL"));
  await session.serves(0);
  let version = 0;
  let state: "good" | "errors" | "throws" = "good";
  let isConfigured = true;
  const save = (text: string, how: "good" | "errors" | "throws") => {
    state = how;
    // As editors do: another file takes the place of the old one, or the same file is written.
    if (random.chance(0.5)) return project.write({ "src/versioned.ts": text });
    project.write({ "src/versioned.ts~": text });
    renameSync(join(project.root, "src/versioned.ts~"), join(project.root, "src/versioned.ts"));
  };
  const steps: Readonly<Record<string, () => unknown>> = {
    edit: () => save(source(++version), "good"),
    undo: () => save(source(version), "good"),
    break: () => save(source('"text"'), "errors"),
    throw: () => save(source(++version, THROWS), "throws"),
    delete: () => {
      rmSync(join(project.root, "src/versioned.ts"), { force: true });
      state = "errors";
    },
    configure: () => {
      isConfigured = random.chance(0.5);
      project.write({ "tsconfig.json": isConfigured ? tsconfig : "{" });
    },
    // The next build writes them again.
    clean: () => rmSync(join(project.root, "dist"), { recursive: true, force: true }),
    // An editor may save the generated file in the same moment.
    generated: () => project.write({ "src/generated/contracts.ts": "// Generated by svc-gen by hand\n" }),
    variables: () => project.write({ ".env": `WORD=${++version}\n` }),
    suspend: async () => {
      session.process.signal("SIGSTOP");
      await delay(random.below(300));
      session.process.signal("SIGCONT");
    },
    crash: async () => {
      const pid = (await session.call())?.pid;
      if (pid === undefined) return;
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It was replaced meanwhile.
      }
    },
    restart: async () => {
      // Before that it has no handlers yet, and nothing to end.
      await until(() => session.events.length > 1, "it has begun");
      const signal = random.pick(["SIGINT", "SIGTERM", "SIGHUP"] as const);
      const ended = session.process.interrupt(signal);
      if (random.chance(0.5)) save(source(++version), "good");
      assert.equal(await ended, EXIT.done);
      assert.deepEqual(serversOf(project), []);
      session = new Session(project);
    },
  };
  const names = Object.keys(steps);
  const settled = async () => {
    const { verdict } = session;
    if (verdict === undefined) return false;
    if (isConfigured && state === "good") {
      return isServing(verdict) && (await session.call())?.version === versionIn(project);
    }
    if (isConfigured && state === "throws") return verdict.event === "failed" || verdict.event === "ended";
    return !isServing(verdict);
  };
  for (let sequence = 0; sequence < SEQUENCES; sequence++) {
    const played: string[] = [];
    for (let left = 1 + random.below(5); left > 0; left--) {
      const name = random.pick(names);
      played.push(name);
      await steps[name]?.();
      if (random.chance(0.5)) await delay(random.below(800));
    }
    const said = () => `${played.join(", ")} (seed ${SEED}, sequence ${sequence}; ${JSON.stringify(session.verdict)})`;
    await until(settled, played.join(", ")).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${said()}\n${session.process.complaints}`);
    });
  }
  assert.equal(await session.process.interrupt(), EXIT.done);
  assert.deepEqual(serversOf(project), []);
});

/** The version that the source names. */
function versionIn({ root }: ToolProject): number {
  return Number(/version: (\d+)/.exec(readFileSync(join(root, "src/versioned.ts"), "utf8"))?.[1]);
}
