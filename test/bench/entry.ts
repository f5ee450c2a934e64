/** The memory of a live replay entry. */

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { LONG_TTL_MS } from "./calls.js";
import type { Held } from "./controlled.js";
import { Caller, type LoadRequest, measure, SPARE } from "./load.js";
import { type Bench, type Figures, judgeFigure, tabulate } from "./report.js";
import { CallSigner, nextSerial, signedConfig } from "./requests.js";
import { type Target, type TargetOptions, TYPESCRIPT, withTarget } from "./target.js";
import { type BuiltServer, REPLY, withServer } from "./tools.js";

const RESULT_BYTES = 400;

/** controlled.ts, which forgets no entry during a measurement. */
function controlled(server: BuiltServer): TargetOptions {
  const program = fileURLToPath(new URL("controlled.ts", import.meta.url));
  const args = ["--expose-gc", ...TYPESCRIPT, program, dirname(server.built("reply.js"))];
  return { args, path: REPLY.path, ipc: true, config: signedConfig([REPLY.fqn], LONG_TTL_MS) };
}

const REPLY_CALLS = new CallSigner(REPLY.ports);

/** Signed calls of {@link REPLY}. */
function replyCalls(count: number): LoadRequest[] {
  return Array.from({ length: count }, () => REPLY_CALLS.sign([[`"call ${nextSerial()}"`]]));
}

export const entry: Bench = {
  title: `memory of a live replay entry with a result of ${RESULT_BYTES} bytes, and the store's own account of it`,
  run: ({ repeats, calls, entries }) =>
    withServer([REPLY], async (server) => {
      const measured: Figures[] = [];
      for (let repeat = 0; repeat < repeats; repeat++) {
        await withTarget(controlled(server), async (target) => {
          await measure(target, replyCalls(calls + SPARE));
          const before = (await target.ask("memory")) as Held;
          await measure(target, replyCalls(entries + SPARE));
          await requireResultBytes(target);
          const after = (await target.ask("memory")) as Held;
          const count = after.entries - before.entries;
          const held = (after.held - before.held) / count;
          const accounted = (after.accounted - before.accounted) / count;
          measured.push({
            "bytes held": held,
            "bytes accounted": accounted,
            "% the account is off": Math.abs(accounted / held - 1) * 100,
          });
        });
      }
      const rows = tabulate([[`${entries} entries`, measured]], "bytes held");
      const goals = [
        judgeFigure("bytes held by a live entry", rows[0], "bytes held", { atMost: 700 }),
        judgeFigure("% that the store's account is off", rows[0], "% the account is off", { atMost: 10 }),
      ];
      return { rows, goals };
    }),
};

/** @throws Error when results have not the size that the figures are about */
async function requireResultBytes(target: Target): Promise<void> {
  const caller = new Caller(target);
  const { body } = await caller.success(replyCalls(1)[0] as LoadRequest);
  caller.close();
  if (body.length !== RESULT_BYTES) throw new Error(`a result has ${body.length} bytes, not ${RESULT_BYTES}`);
}
