/**
 * What generation costs, as a ratio to one bare `createProgram` plus full check of the same project in the same run, by
 * the same compiler. Whole processes, cold but for the file cache: neither side has any compiled code.
 */

import { spawn, spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { STRICT, ToolProject } from "../generator/project.js";
import { REPOSITORY } from "../repository.js";
import { realTypesProject } from "./real-types.js";
import { type Bench, type Figures, judgeFigure, judgeRatio, type Outcome, tabulate } from "./report.js";

const { cpuSeconds } = (await import(new URL("../cpu-time.mjs", import.meta.url).href)) as { cpuSeconds(): number };

const BIN = join(REPOSITORY, "generator/bin.js");
const TSC = join(REPOSITORY, "node_modules/typescript/bin/tsc");

interface Goals {
  /** Processor time of a whole run, beside the bare check. */
  readonly run: number;
  /** tsc over the project with generated files, beside the project without. */
  readonly tsc: number;
  /** Milliseconds from a save to the written files. */
  readonly save?: number;
}

/** By the number of tools. */
const GOALS = {
  1: { run: 1.3, tsc: 1.1 },
  20: { run: 1.35, tsc: 1.1, save: 150 },
  200: { run: 1.5, tsc: 1.1, save: 500 },
} satisfies Record<number, Goals>;

/** One tool in the manner of the examples; `seed` varies names, sizes and shapes. */
function tool(seed: number): string {
  const kinds = [
    "string",
    "number",
    "bigint",
    "Date",
    "boolean",
    '"low" | "high"',
    "string[]",
    "Address",
    "Address[]",
    "Record<string, number>",
  ];
  const members = Array.from({ length: 4 + (seed % 9) }, (_, index) => {
    const kind = kinds[(seed * 7 + index * 3) % kinds.length];
    return `  /** Member ${index} of tool ${seed}. */\n  member${index}${(seed + index) % 4 === 0 ? "?" : ""}: ${kind};`;
  });
  return `import { StatusCode, SvcTool } from "svc-runtime";
import type { Address } from "./shared.js";

export interface Input {
${members.join("\n")}
}
export type Output = { ok: { total: number; items: Address[] } } | { err: { reason: string } };

/** Tool number ${seed}. */
export class Tool${seed} extends SvcTool<Input, Output> {
  static override fqn() { return "xyz.bench.tool${seed}@1"; }
  static override path() { return "tool${seed}"; }
  override async invoke(input: Input): Promise<Output> {
    return Object.keys(input).length > 0 ? { ok: { total: 1, items: [] } } : { err: { reason: "empty" } };
  }
  override async health() { return StatusCode.OK; }
}
`;
}

const shared = `export interface Address { street: string; city: { name: string; code?: number }; tags: string[]; geo: { lat: number; lon: number } | null }
`;

/** The compiler of svc-gen, loaded by `require`, with the library files that svc-gen reads. */
const bare = `
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
const require = createRequire(${JSON.stringify(join(REPOSITORY, "package.json"))});
const common = createRequire(require.resolve("ts-morph")).resolve("@ts-morph/common");
const ts = require(join(dirname(common), "typescript.js"));
const library = dirname(createRequire(require.resolve("typescript-json-schema")).resolve("typescript"));
const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd());
const rootNames = fileNames.filter((name) => !name.includes("/generated/"));
const host = ts.createCompilerHost(options);
host.getDefaultLibLocation = () => library;
host.getDefaultLibFileName = (wanted) => join(library, ts.getDefaultLibFileName(wanted));
const program = ts.createProgram(rootNames, { ...options, noEmit: true }, host);
if (ts.getPreEmitDiagnostics(program).length > 0) process.exit(1);
`;

/** Wall time and processor time of a process, in milliseconds. */
function timed(cwd: string, args: readonly string[]): Figures {
  const [start, before] = [performance.now(), cpuSeconds()];
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return { "CPU ms": 1_000 * (cpuSeconds() - before), ms: performance.now() - start };
}

/** Projects of 1, 20 and 200 tools without the types of DOM and node, and one with types of libraries. */
export const gen: Bench = {
  title: "generation, beside one bare createProgram and full check of the same project; processor time",
  async run({ repeats }) {
    const outcomes: Outcome[] = [];
    for (const tools of [1, 20, 200] as const) {
      const project = projectOf(tools);
      const goals: Goals = GOALS[tools];
      const what = `${tools} tools, lean`;
      try {
        outcomes.push(measureRuns(what, goals, project, repeats));
        if (goals.save !== undefined) outcomes.push(await measureWatch(what, goals.save, project, repeats));
      } finally {
        project.remove();
      }
    }
    const project = realTypesProject({ "bare.mjs": bare, "tsconfig.without.json": WITHOUT_GENERATED });
    try {
      outcomes.push(measureRuns("types of libraries", { run: 1.6, tsc: 1.1 }, project, repeats));
    } finally {
      project.remove();
    }
    return {
      rows: outcomes.flatMap(({ rows }) => rows),
      goals: outcomes.flatMap(({ goals = [] }) => goals),
    };
  },
};

const WITHOUT_GENERATED =
  '{ "extends": "./tsconfig.json", "compilerOptions": { "noEmit": true }, "exclude": ["src/generated"] }';

function projectOf(tools: number): ToolProject {
  return new ToolProject(
    {
      "src/shared.ts": shared,
      "bare.mjs": bare,
      "tsconfig.without.json": WITHOUT_GENERATED,
      ...Object.fromEntries(Array.from({ length: tools }, (_, index) => [`src/tool${index}.ts`, tool(index)])),
    },
    { ...STRICT, types: [] },
  );
}

/** A run and a check of the types, each a process of its own. */
function measureRuns(what: string, goals: Goals, project: ToolProject, repeats: number): Outcome {
  const kinds = ["bare", "full", "idle", "changed", "without", "with"] as const;
  const times = Object.fromEntries(kinds.map((kind) => [kind, []])) as unknown as Record<
    (typeof kinds)[number],
    Figures[]
  >;
  const take = (kind: (typeof kinds)[number], figures: Figures) => times[kind].push(figures);
  for (let repeat = 0; repeat < repeats; repeat++) {
    take("bare", timed(project.root, ["bare.mjs"]));
    take("full", firstRun(project));
    take("idle", timed(project.root, [BIN, "--quiet"]));
    change(project, `run ${repeat}`);
    take("changed", timed(project.root, [BIN, "--quiet"]));
    take("without", timed(project.root, [TSC, "-p", "tsconfig.without.json"]));
    take("with", timed(project.root, [TSC, "-p", "tsconfig.json", "--noEmit"]));
  }
  const runs = tabulate(
    [
      [`${what}: bare`, times.bare],
      ["everything", times.full],
      ["nothing changed", times.idle],
      ["one file changed", times.changed],
    ],
    "CPU ms",
  );
  const checks = tabulate(
    [
      [`${what}: tsc without generated files`, times.without],
      ["tsc with them", times.with],
    ],
    "CPU ms",
  );
  return {
    rows: [...runs, ...checks],
    goals: [
      judgeRatio(`${what}: everything`, runs[1], { atMost: goals.run }),
      judgeFigure(`${what}: nothing changed, ms`, runs[2], "ms", { atMost: 300 }),
      judgeRatio(`${what}: tsc with generated files`, checks[1], { atMost: goals.tsc }),
    ],
  };
}

/** A run without a record of the project. */
function firstRun({ root }: ToolProject): Figures {
  rmSync(join(root, "node_modules/.cache"), { recursive: true, force: true });
  return timed(root, [BIN, "--quiet"]);
}

/** Gives the first tool another description. */
function change(project: ToolProject, words: string): void {
  const path = "src/tool0.ts";
  const text = readFileSync(join(project.root, path), "utf8");
  project.write({ [path]: text.replace(/Tool number .*\. \*\//, `Tool number ${words}. */`) });
}

/** From a save to the line that tells of the written files, and the memory of the process that rests after it. */
async function measureWatch(what: string, save: number, project: ToolProject, repeats: number): Promise<Outcome> {
  const watching = spawn(process.execPath, [BIN, "--watch", "--quiet"], { cwd: project.root });
  const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
  const saves: Figures[] = [];
  await lines.next();
  for (let turn = 0; turn < repeats + 5; turn++) {
    await setTimeout(700);
    const start = performance.now();
    change(project, `save ${turn}`);
    await lines.next();
    const ms = performance.now() - start;
    await setTimeout(700);
    const status = readFileSync(`/proc/${watching.pid}/status`, "utf8");
    saves.push({ ms, MB: Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1_024 });
  }
  watching.kill("SIGINT");
  // The first saves compile the code.
  const rows = tabulate([[`${what}: watch`, saves.slice(5)]], "ms");
  return {
    rows,
    goals: [
      judgeFigure(`${what}: watch, save to written, ms`, rows[0], "ms", { atMost: save }),
      judgeFigure(`${what}: watch, MB resident`, rows[0], "MB", { atMost: 300 }),
    ],
  };
}
