/** What a server of twenty tools needs before it is called: time to its first answer. */

import { Caller } from "./load.js";
import { type Bench, compare, type Figures, judgeDifference, judgeFigure, print, type Row } from "./report.js";
import { CallSigner, signedConfig } from "./requests.js";
import type { Summary } from "./statistics.js";
import { type Target, type TargetOptions, withTarget } from "./target.js";
import { type BuiltServer, REPLY, toolSet, withServer } from "./tools.js";

const TOOLS = 20;
const MANY_TOOLS = 200;

/** A node process that does nothing but say that it is there. */
const EMPTY: TargetOptions = {
  args: ["--eval", `process.stderr.write('"msg":"serving"'); setInterval(() => {}, 1_000_000);`],
  path: "",
};

/** A server of some tools, the last of which is {@link REPLY}. */
function tooled({ entrypoint, fqns }: BuiltServer): TargetOptions {
  return { args: [entrypoint], path: REPLY.path, config: signedConfig(fqns) };
}

/** Milliseconds from the start of a process to its first word. */
const firstWord = async ({ startedAt }: Target) => performance.now() - startedAt;

/** Milliseconds from the start of a server to its first answer, to a signed call. */
async function firstAnswer(target: Target): Promise<number> {
  const request = new CallSigner(REPLY.ports).sign([['"first"']]);
  const caller = new Caller(target);
  await caller.success(request);
  const milliseconds = performance.now() - target.startedAt;
  caller.close();
  return milliseconds;
}

async function startOf(options: TargetOptions, answered: (target: Target) => Promise<number>): Promise<Figures> {
  return withTarget(options, async (target) => ({ ms: await answered(target) }));
}

export const start: Bench = {
  title: `the start of a server of ${TOOLS} tools to its first answer, beside an empty node process to its first word; and of ${MANY_TOOLS}`,
  run: ({ repeats }) =>
    withServer(toolSet(TOOLS), (some) =>
      withServer(toolSet(MANY_TOOLS), async (many) => {
        const side = (server: BuiltServer) => ({
          name: `${server.fqns.length} tools`,
          measure: () => startOf(tooled(server), firstAnswer),
        });
        const empty = { name: "an empty node process", measure: () => startOf(EMPTY, firstWord) };
        const rows = await compare(repeats, [empty, side(some)], "ms");
        const [first, other] = await compare(repeats, [side(some), side(many)], "ms");
        const { median, spread } = (other as Row).difference as Summary;
        const more = MANY_TOOLS - TOOLS;
        const each = { name: "each tool more", figures: { ms: { median: median / more, spread: spread / more } } };
        print(each);
        const goals = [
          judgeDifference("ms above an empty process", rows[1], { atMost: 280 }),
          judgeFigure("ms of the start for each tool", each, "ms", { atMost: 0.5 }),
        ];
        return { rows: [...rows, first, other, each], goals };
      }),
    ),
};
