/** What a server costs before it is called: CPU until its first answer, and memory. */

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
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

/** The least that a server of fastify does. */
const FASTIFY = `import { fastify } from "${fileURLToPath(import.meta.resolve("fastify"))}";
const app = fastify();
app.post("/invoke", async () => "");
await app.listen({ port: 0, host: "127.0.0.1" });
process.stderr.write('"msg":"serving"');
`;

/** A program of the server's folder as one file beside it, with the packages that no bundler includes. */
async function bundled(program: string): Promise<string> {
  const outfile = program.replace(/\.js$/, ".mjs");
  await build({
    entryPoints: [program],
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
      const [empty, installed, file, ...floors] = await withServer(toolSet(tools), async (server) => {
        const floor = server.built("fastify.js");
        writeFileSync(floor, FASTIFY);
        const bare = (name: string, program: string) => ({
          name,
          measure: () => startOf({ args: [program], path: "" }),
        });
        const sides = [
          { name: "an empty node process", measure: () => startOf(EMPTY) },
          side(`${tools} tools, installed`, server, server.entrypoint),
          side(`${tools} tools, one file`, server, await bundled(server.entrypoint)),
          bare("a bare fastify server, installed", floor),
          bare("a bare fastify server, one file", await bundled(floor)),
        ];
        return compare(repeats, sides, FIGURE);
      });
      rows.push(empty, installed, file, ...floors);
      goals.push(judgeRatio(`CPU of a start of ${tools} tools, of an empty process`, installed, { atMost }));
      goals.push(judgeRatio(`CPU of a start of ${tools} tools in one file, of an empty process`, file, { atMost }));
    }
    return { rows, goals };
  },
};
