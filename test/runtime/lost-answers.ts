/** Random calls whose answers are lost, while keys of leaders come and go. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { ERROR_CODES, isErrorCode } from "#client/wire/error-codes.js";
import { PermissionDenied } from "#runtime/index.js";
import type { Claim, ReplayRequest, ReplayStore } from "#runtime/server/replay/store.js";
import { Random } from "../types/random.js";
import {
  alice,
  aliceKey2,
  bob,
  countingTool,
  echoCall,
  type Leader,
  serveSigned,
  signedConfig,
  type TestServer,
} from "./tools.js";

/** Sends calls to a server for each store, and requires that no answer says that nothing ran after a run. */
export async function loseAnswers(stores: readonly ReplayStore[]): Promise<void> {
  const random = new Random(Number(process.env.SVC_TEST_SEED ?? 7));
  const runs = new Map<string, number>();
  let denied = 0;
  // Runs last until all other calls of their round are answered.
  const waiting: (() => void)[] = [];
  let [round, unanswered] = [0, 0];
  const endRuns = () => {
    if (waiting.length === unanswered) for (const end of waiting.splice(0)) end();
  };
  const tool = countingTool({
    authorize: () => {
      if (!random.chance(0.1)) return;
      denied++;
      throw new PermissionDenied("not now");
    },
    invoke: async ({ value }, { auth }) => {
      const pair = `${Buffer.from(auth?.nonce ?? []).toString("hex")} ${value}`;
      runs.set(pair, (runs.get(pair) ?? 0) + 1);
      if (random.chance(0.8)) await new Promise<void>((end) => waiting.push(end) && endRuns());
      if (random.chance(0.1)) throw new Error("a fault of the tool");
      return { ok: { value } };
    },
  });
  const config = signedConfig([tool.fqn]);
  const { leaders } = config;
  const callers = [alice, aliceKey2, bob];
  let absent: Leader | undefined;
  const lookup = (id: string, kid: bigint) =>
    id === absent?.id && kid === absent.kid ? undefined : leaders.lookup(id, kid);
  Object.defineProperty(config, "leaders", { get: () => ({ lookup, has: () => true, keys: [], isEmpty: false }) });
  const servers: TestServer[] = [];
  for (const store of stores) {
    const claim = async (request: ReplayRequest): Promise<Claim> => {
      const found = await store.claim(request);
      if (store.scope === "process" || found.state !== "completed" || !random.chance(0.1)) return found;
      // The record of another deployment.
      return { ...found, answer: { ...found.answer, seal: undefined } };
    };
    const { scope, memoryName } = store;
    const start = store.start?.bind(store);
    const close = store.close?.bind(store);
    const named = memoryName === undefined ? {} : { memoryName };
    const replayStore: ReplayStore = { scope, claim, ...named, ...(start && { start }), ...(close && { close }) };
    servers.push(await serveSigned([tool], { replayStore, config, load: { limits: { concurrency: 1 } } }));
  }
  const nonces = Array.from({ length: 60 }, () => randomBytes(32));
  const seen: Record<string, number> = {};
  const attempt = async () => {
    const nonce = nonces[Math.floor(round / 2) + random.below(8)] as Buffer;
    const value = `${random.below(2)}`;
    const hadRun = runs.has(`${nonce.toString("hex")} ${value}`);
    unanswered++;
    const response = await echoCall(tool, value, { nonce, leader: random.pick(callers) }).send(
      random.pick(servers).url,
    );
    unanswered--;
    endRuns();
    // Half of the answers are lost: their callers send the call again without knowing whether it ran.
    if (random.chance(0.5)) return;
    const code = response.status === 200 ? "200" : (JSON.parse(response.body.toString()) as { error: string }).error;
    const key = `${code}${hadRun ? " after a run" : ""}`;
    seen[key] = (seen[key] ?? 0) + 1;
  };
  for (; round < 100; round++) {
    absent = random.pick([undefined, ...callers]);
    await Promise.all(Array.from({ length: 6 }, attempt));
  }
  await Promise.all(servers.map((server) => server.close()));
  const isNo = (code: string) => isErrorCode(code) && ERROR_CODES[code].ran === "no";
  const after = Object.keys(seen).flatMap((key) =>
    / after a run$/.test(key) ? [key.replace(" after a run", "")] : [],
  );
  // The first two say why this caller gets no answer, before the server looks for a run or its caller.
  const allowed = ["auth_failed", "permission_denied"];
  const said = JSON.stringify(seen);
  assert.deepEqual(
    after.filter((code) => isNo(code) && !allowed.includes(code)),
    [],
    said,
  );
  assert.deepEqual([...new Set(runs.values())], [1], "no call runs twice");
  assert.ok(denied > 0 && (seen["200 after a run"] ?? 0) > 10 && (seen["auth_failed after a run"] ?? 0) > 0, said);
  assert.ok((seen.overloaded ?? 0) > 0, said);
  assert.ok((seen["request_in_flight after a run"] ?? 0) > 0, said);
}
