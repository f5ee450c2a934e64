/**
 * What generation costs, as a ratio to one bare `createProgram` plus full check of the same project in the same run.
 * Wall time of whole processes, cold but for the file cache.
 */

import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY, STRICT, ToolProject } from "../generator/project.js";

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

const bare = `
import { createRequire } from "node:module";
const ts = createRequire(${JSON.stringify(join(REPOSITORY, "package.json"))})("typescript");
const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, process.cwd());
const rootNames = fileNames.filter((name) => !name.includes("/generated/"));
const program = ts.createProgram(rootNames, { ...options, noEmit: true });
if (ts.getPreEmitDiagnostics(program).length > 0) process.exit(1);
`;

/** The median of the wall times of some runs, in milliseconds. */
function median(times: readonly number[]): number {
  return [...times].sort((one, other) => one - other)[Math.floor(times.length / 2)] as number;
}

function timed(cwd: string, args: readonly string[]): number {
  const start = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return performance.now() - start;
}

/** Measures projects of 1, 20 and 200 tools, without libraries and with those of DOM and node; prints a line each. */
export function benchGeneration(rounds: number): object[] {
  console.log("\ngeneration: wall time of svc-gen, beside one bare createProgram and full check of the same project");
  const rows: object[] = [];
  for (const tools of [1, 20, 200]) {
    for (const types of [[], ["node"]]) {
      const project = new ToolProject(
        {
          "src/shared.ts": shared,
          "bare.mjs": bare,
          ...Object.fromEntries(Array.from({ length: tools }, (_, index) => [`src/tool${index}.ts`, tool(index)])),
        },
        { ...STRICT, types, ...(types.length > 0 ? { lib: ["ES2023", "DOM"] } : {}) },
      );
      const row = { tools, types: types.length > 0 ? "DOM and node" : "lean", ...measure(project, rounds) };
      project.remove();
      const { bare: floor, ms } = row;
      console.log(
        `  ${String(tools).padStart(3)} tools, ${row.types.padEnd(12)} bare ${floor} ms   ` +
          Object.entries(ms)
            .map(([name, time]) => `${name} ${time} ms = ${(time / floor).toFixed(2)} ×`)
            .join("   "),
      );
      rows.push(row);
    }
  }
  return rows;
}

function measure(project: ToolProject, rounds: number): { bare: number; ms: Record<string, number> } {
  const bin = join(REPOSITORY, "generator/bin.js");
  const times = {
    bare: [] as number[],
    full: [] as number[],
    unchanged: [] as number[],
    "one changed": [] as number[],
  };
  for (let round = 0; round < rounds; round++) {
    times.bare.push(timed(project.root, ["bare.mjs"]));
    rmSync(join(project.root, "node_modules/.cache"), { recursive: true, force: true });
    times.full.push(timed(project.root, [bin, "--quiet"]));
    times.unchanged.push(timed(project.root, [bin, "--quiet"]));
    const path = join(project.root, "src/tool0.ts");
    project.write({ "src/tool0.ts": `${readFileSync(path, "utf8")}// ${round}\n` });
    times["one changed"].push(timed(project.root, [bin, "--quiet"]));
  }
  const { bare, ...ms } = Object.fromEntries(
    Object.entries(times).map(([name, each]) => [name, Math.round(median(each))]),
  ) as Record<string, number>;
  return { bare: bare as number, ms };
}
