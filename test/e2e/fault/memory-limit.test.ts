/** A server in a small container: what traffic within the limits fills is refused, and the kernel ends nothing. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { publicKeyOf } from "#client/wire/signature/ed25519.js";
import { PRELUDE, start } from "../../runtime/child.js";
import { expectError, RawConnection } from "../../runtime/raw.js";
import { alice, countingTool, echoCall, sendPlain } from "../../runtime/tools.js";
import { scratchFolder } from "../../scratch-folder.js";
import { belowLimit, whyNoLimit } from "./cgroup.js";

const MIB = 2 ** 20;
const skip = whyNoLimit();

const directory = scratchFolder();

const config = join(directory, "config.json");
const key = { kid: Number(alice.kid), public_key: Buffer.from(publicKeyOf(alice.seed)).toString("hex") };
const leaders = [{ leader_id: alice.id, keys: [key] }];
const signed_http = { allowed_leaders: { version: 1, leaders }, tools: { "xyz.test.one@1": {} } };
writeFileSync(config, JSON.stringify({ signed_http }), { mode: 0o600 });

/** Starts the server of `child.ts` below a limit. */
function startBelow(bytes: number, env: Record<string, string>) {
  const [command = "", ...args] = belowLimit(bytes);
  const code = `${PRELUDE}await bootstrap([[127, 0, 0, 1], 0], One);`;
  return start(command, [...args, process.execPath, "--input-type=module", "-e", code], env);
}

describe("a small container", { skip }, () => {
  it("remembers large results up to its share, refuses further calls, and answers retries", async () => {
    const server = startBelow(192 * MIB, { SVC_TOOLKIT_CONFIG_PATH: config });
    const url = await server.url;
    // The tests' own copy of the contract that the process has.
    const tool = countingTool({ fqn: "xyz.test.one@1", path: "one" });
    const call = (i: number) => echoCall(tool, JSON.stringify(`${i} `.padEnd(60_000, "x")));
    const first = call(0);
    const statuses: number[] = [];
    // Four times what the kernel would leave: 192 MiB hold 3,200 of these results.
    const total = 12_000;
    let sent = 0;
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        const connection = await RawConnection.open(url);
        while (sent < total && !statuses.includes(503)) {
          const next = sent++ === 0 ? first : call(sent);
          const { status } = await connection.send(next.text()).response("POST");
          statuses.push(status);
        }
        connection.close();
      }),
    );
    assert.ok(statuses.includes(503), `${statuses.length} calls`);
    assert.equal((await first.send(url)).status, 200);
    expectError(await call(total).send(url), 503, "replay_store_full");
    assert.equal(server.process.exitCode, null);
  });

  it("accepts several bodies of the largest size at once, and refuses those that do not fit", async () => {
    const server = startBelow(256 * MIB, { SVC_ALLOW_UNSIGNED: "1" });
    const url = await server.url;
    const most = 12 * MIB - 100;
    const list = (item: string, count: number) => `[${`${item},`.repeat(count - 1)}${item}]`;
    const bodies = [
      JSON.stringify("x".repeat(most)),
      JSON.stringify(`é${"x".repeat(most)}`),
      list("{}", 240_000),
      list('"abcdefgh"', 240_000),
      list("{}", most / 3),
      list("[]", most / 3),
    ];
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      const sent = [...bodies, ...bodies].map(async (body) => {
        const { status } = await sendPlain(url, "/one/invoke", `{"value":${body}}`);
        statuses.push(status);
      });
      // A refusal ends the connection of a body that is still on its way.
      await Promise.allSettled(sent);
    }
    const counts = new Set(statuses);
    // A result of that size does not fit (500): the tool has run.
    assert.ok(counts.has(500) && counts.has(503), JSON.stringify(statuses));
    assert.deepEqual(
      [...counts].filter((status) => ![413, 500, 503].includes(status)),
      [],
    );
    const alone: number[] = [];
    for (const body of bodies) alone.push((await sendPlain(url, "/one/invoke", `{"value":${body}}`)).status);
    // Whether the second one fits depends on the heap that node takes.
    assert.deepEqual(alone.toSpliced(1, 1), [500, 500, 500, 413, 413]);
    assert.equal((await sendPlain(url, "/one/invoke", '{"value":1}')).status, 200);
    assert.equal(server.process.exitCode, null);
  });
});
