/** What a server costs before it is called: CPU until its first answer, and memory. */

import { build } from "esbuild";
import { cpuMicros, cpuTime, residentMegabytes } from "./accounting.js";
import { Caller } from "./load.js";
import { type Bench, compare, type Figures, judgeRatio, type Side } from "./report.js";
import { CallSigner, signedConfig } from "./requests.js";
import { type Target, type TargetOptions, withTarget } from "./target.js";
import { type BuiltServer, REPLY, toolSet, withServer } from "./tools.js";

const FIGURE = "ms CPU";

/** Tools of a server, and at most how often its start may cost that of an empty process. */
const GOALS = [
  [1, 3.0],
  [20, 3.3],
  [200, 4.5],
] as const;

/** A node process that does nothing but say that it is there. */
const EMPTY: TargetOptions = {
  args: ["--eval", `process.stderr.write('"msg":"serving"'); setInterval(() => {}, 1_000_000);`],
  path: "",
};

/** The server as one file beside its own, with the packages that no bundler includes. */
async function bundled(server: BuiltServer): Promise<string> {
  const outfile = server.built("bundle.mjs");
  await build({
    entryPoints: [server.entrypoint],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    logLevel: "error",
    banner: { js: "const require = (await import('node:module')).createRequire(import.meta.url);" },
  });
  return outfile;
}

/** A start, until a process has said that it serves and has answered a call. */
export async function startOf(options: TargetOptions, call?: (target: Target) => Promise<void>): Promise<Figures> {
  return withTarget(options, async (target) => {
    await call?.(target);
    const ms = performance.now() - target.startedAt;
    const cpu = cpuMicros({ ticks: 0, threads: new Map() }, cpuTime(target.pid)) / 1000;
    return { [FIGURE]: cpu, ms, "MB resident": residentMegabytes(target.pid) };
  });
}

/** A signed call of {@link REPLY}. */
export async function callReply(target: Target): Promise<void> {
  const caller = new Caller(target);
  await caller.success(new CallSigner(REPLY.ports).sign([['"first"']]));
  caller.close();
}

function side(name: string, server: BuiltServer, entrypoint: string): Side {
  const options = { args: [entrypoint], path: REPLY.path, config: signedConfig(server.fqns) };
  return { name, measure: () => startOf(options, callReply) };
}

export const start: Bench = {
  title: "the start of a server to its first answer, installed and as one file, beside an empty node process",
  run: async ({ repeats }) => {
    const rows = [];
    const goals = [];
    for (const [tools, atMost] of GOALS) {
      const [empty, installed, file] = await withServer(toolSet(tools), async (server) =>
        compare(
          repeats,
          [
            { name: "an empty node process", measure: () => startOf(EMPTY) },
            side(`${tools} tools, installed`, server, server.entrypoint),
            side(`${tools} tools, one file`, server, await bundled(server)),
          ],
          FIGURE,
        ),
      );
      rows.push(empty, installed, file);
      goals.push(judgeRatio(`CPU of a start of ${tools} tools, of an empty process`, installed, { atMost }));
      goals.push(judgeRatio(`CPU of a start of ${tools} tools in one file, of an empty process`, file, { atMost }));
    }
    return { rows, goals };
  },
};
