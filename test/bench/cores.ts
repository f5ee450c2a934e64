/** What a second core is worth, while replay stays exact. */

import type { BootstrapOptions } from "#runtime/index.js";
import { Caller, type LoadRequest, measure, SPARE } from "./load.js";
import { controlled, replyCalls } from "./replay.js";
import { type Bench, compare, judgeRatio, type Side } from "./report.js";
import { signedConfig } from "./requests.js";
import { LOAD_CORE, pinned, SERVER_CORE, type Target, withTarget } from "./target.js";
import { type BuiltServer, REPLY, withServer } from "./tools.js";

const BOTH = `${SERVER_CORE},${LOAD_CORE}`;
const RETRIES = 200;

/** What `bootstrap` is given for each number of threads that verify and sign. */
const THREADS = [1, 2];

/** @throws Error when a retry, on whatever connection, is not the answer of the first call */
async function requireExactReplay(target: Target): Promise<void> {
  const callers = Array.from({ length: 8 }, () => new Caller(target));
  for (const [index, request] of replyCalls(RETRIES).entries()) {
    const answers = [];
    for (const turn of [0, 1, 2]) answers.push(await (callers[(index + turn) % 8] as Caller).success(request));
    const [first, ...others] = answers.map(({ body }) => body);
    if (others.some((body) => !body.equals(first as Buffer))) throw new Error("an exact retry ran the tool again");
  }
  for (const caller of callers) caller.close();
}

/** One request sent on many connections at once runs once: the others are in flight or get its answer. */
async function requireOneRun(target: Target): Promise<void> {
  const callers = Array.from({ length: 8 }, () => new Caller(target));
  const request = replyCalls(1)[0] as LoadRequest;
  const answers = await Promise.all(callers.map((caller) => caller.call(request)));
  const results = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.toString("hex")));
  const others = answers.filter(({ status }) => status !== 200 && status !== 409);
  for (const caller of callers) caller.close();
  if (results.size !== 1 || others.length > 0)
    throw new Error("one request at once on many connections ran more than once");
}

interface Placement {
  readonly cores: string;
  /** Where the load runs. */
  readonly load: string;
  readonly options: BootstrapOptions;
}

function placed(name: string, server: BuiltServer, { cores, load, options }: Placement, calls: number): Side {
  const target = { ...controlled(server, options), config: signedConfig([REPLY.fqn]), cores };
  return {
    name,
    measure: () =>
      withTarget(target, async (running) => {
        await measure(running, replyCalls(calls + SPARE), load);
        await requireExactReplay(running);
        await requireOneRun(running);
        return measure(running, replyCalls(calls + SPARE), load);
      }),
  };
}

export const cores: Bench = {
  title: "signed calls a second on two cores with threads that verify and sign, beside one core without",
  async run({ repeats, calls }) {
    if (!pinned) {
      const skipped = "this system cannot give a process one core of two";
      console.log(`  ${skipped}`);
      return { rows: [], skipped };
    }
    return withServer([REPLY], async (server) => {
      const both = { cores: BOTH, load: BOTH };
      const sides = [
        placed("one core", server, { cores: SERVER_CORE, load: LOAD_CORE, options: {} }, calls),
        ...THREADS.map((cryptoThreads) =>
          placed(`two cores, cryptoThreads: ${cryptoThreads}`, server, { ...both, options: { cryptoThreads } }, calls),
        ),
      ];
      const rows = await compare(repeats, sides, "calls/s");
      const goals = THREADS.map((threads, index) =>
        judgeRatio(`calls a second on two cores with cryptoThreads ${threads}, of one core`, rows[index + 1], {
          atLeast: 1.5,
        }),
      );
      return { rows, goals };
    });
  },
};
