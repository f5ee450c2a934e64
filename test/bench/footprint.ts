/** What a server of twenty tools needs before it is called: time to its first answer, memory when idle. */

import { setTimeout as sleep } from "node:timers/promises";
import { residentMegabytes } from "./accounting.js";
import { Caller } from "./load.js";
import { type Bench, compare, type Figures, judgeDifference, judgeFigure, print, type Row } from "./report.js";
import { CallSigner, signedConfig } from "./requests.js";
import type { Summary } from "./statistics.js";
import { type Target, type TargetOptions, withTarget } from "./target.js";
import { type BuiltServer, REPLY, toolSet, withServer } from "./tools.js";

const TOOLS = 20;
const MANY_TOOLS = 200;
const REST_MS = 1_000;

/** A node process that does nothing but say that it is there. */
const EMPTY: TargetOptions = {
  args: ["--eval", `process.stderr.write('"msg":"serving"'); setInterval(() => {}, 1_000_000);`],
  path: "",
};

/** A server of some tools, the last of which is {@link REPLY}. */
export function tooled({ entrypoint, fqns }: BuiltServer): TargetOptions {
  return { args: [entrypoint], path: REPLY.path, config: signedConfig(fqns) };
}

/** Milliseconds from the start of a process to its first word. */
const firstWord = async ({ startedAt }: Target) => performance.now() - startedAt;

/** Milliseconds from the start of a server to its first answer, to a signed call. */
export async function firstAnswer(target: Target): Promise<number> {
  const request = new CallSigner(REPLY.ports).sign([['"first"']]);
  const caller = new Caller(target);
  await caller.success(request);
  const milliseconds = performance.now() - target.startedAt;
  caller.close();
  return milliseconds;
}

async function idleMemory({ pid }: Target): Promise<number> {
  await sleep(REST_MS);
  return residentMegabytes(pid);
}

function footprint(
  title: string,
  figure: string,
  limit: number,
  empty: (target: Target) => Promise<number>,
  served: (target: Target) => Promise<number>,
): Bench {
  return {
    title,
    run: ({ repeats }) =>
      withServer(toolSet(TOOLS), async (server) => {
        const side = (name: string, options: TargetOptions, use: (target: Target) => Promise<number>) => ({
          name,
          measure: () => withTarget(options, async (target): Promise<Figures> => ({ [figure]: await use(target) })),
        });
        const sides = [side("an empty node process", EMPTY, empty), side(`${TOOLS} tools`, tooled(server), served)];
        const rows = await compare(repeats, sides, figure);
        return { rows, goals: [judgeDifference(`${figure} above an empty process`, rows[1], { atMost: limit })] };
      }),
  };
}

const startOfSome = footprint(
  `the start of a server of ${TOOLS} tools to its first answer, beside an empty node process to its first word; and of ${MANY_TOOLS}`,
  "ms",
  280,
  firstWord,
  firstAnswer,
);

export const start: Bench = {
  title: startOfSome.title,
  async run(settings) {
    const { rows, goals = [] } = await startOfSome.run(settings);
    return withServer(toolSet(TOOLS), (some) =>
      withServer(toolSet(MANY_TOOLS), async (many) => {
        const side = (server: BuiltServer) => ({
          name: `${server.fqns.length} tools`,
          measure: () =>
            withTarget(tooled(server), async (target): Promise<Figures> => ({ ms: await firstAnswer(target) })),
        });
        const [first, other] = await compare(settings.repeats, [side(some), side(many)], "ms");
        const { median, spread } = (other as Row).difference as Summary;
        const more = MANY_TOOLS - TOOLS;
        const each = { name: "each tool more", figures: { ms: { median: median / more, spread: spread / more } } };
        print(each);
        const goal = judgeFigure("ms of the start for each tool", each, "ms", { atMost: 0.5 });
        return { rows: [...rows, first, other, each], goals: [...goals, goal] };
      }),
    );
  },
};

export const memory = footprint(
  `resident memory of an idle server of ${TOOLS} tools, beside an empty node process`,
  "MB",
  40,
  idleMemory,
  idleMemory,
);
