/** The account of decoded inputs (docs/observe.md, "Memory"): what calls may hold on the heap. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LoadControl } from "#runtime/server/load/load-control.js";
import { expectError, type RawResponse } from "./raw.js";
import {
  alice,
  bob,
  countingTool,
  data,
  echoCall,
  gate,
  keptLog,
  NOTHING_REFUSED,
  one,
  sendPlain,
  serveHasty,
  signedCall,
  signedConfig,
  UNSIGNED,
  until,
} from "./tools.js";

/** Some 100 KB of memory: 1,000 values of 96 bytes each, and their text. */
const INPUT = JSON.stringify(new Array(1_000).fill(1));
/** Room for three of them, and not for four. */
const ROOM = 340_000;

/** A server with little room for inputs, whose runs wait for the test. */
async function serveSmall(signed: boolean, inputBytes = ROOM, hasOneLeader = false) {
  const open = gate();
  const tool = countingTool({
    path: "sum",
    output: [{ name: "ok", ports: [one("value")] }],
    invoke: async () => {
      await open.promise;
      return { ok: { value: 1 } };
    },
  });
  const load = new LoadControl(
    {},
    {
      tools: [tool.fqn],
      signed,
      bodyBytes: 100_000_000,
      inputBytes,
      hasOneLeader: () => hasOneLeader,
      log: keptLog(),
    },
  );
  const config = signed ? signedConfig([tool.fqn]) : UNSIGNED;
  const { url } = await serveHasty([tool], {}, config, undefined, { load });
  return { tool, url, load, open: () => open.open() };
}

const overloaded = (response: RawResponse) => assert.equal(expectError(response, 503, "overloaded"), undefined);

describe("memory of inputs", () => {
  it("is held until the run has ended; one leader may use at most as much as remains for others", async () => {
    const { tool, url, load, open } = await serveSmall(true);
    const call = (leader = alice) => signedCall(tool, { value: data(INPUT) }, { leader });
    const first = call().send(url);
    await until(() => tool.calls.invoked === 1, "it runs");
    const each = load.inputBytes.inFlight;
    assert.ok(each > 90_000 && each < ROOM / 3, `${each} bytes`);
    const second = call();
    overloaded(await second.send(url));
    const other = call(bob).send(url);
    await until(() => tool.calls.invoked === 2, "another leader's runs");
    overloaded(await call(bob).send(url));
    // A small input is not counted.
    const small = echoCall(tool, "1").send(url);
    await until(() => tool.calls.invoked === 3, "a small one runs");
    open();
    for (const answer of [first, other, small]) assert.equal((await answer).status, 200);
    assert.equal(load.inputBytes.inFlight, 0);
    assert.deepEqual(load.refused, { ...NOTHING_REFUSED, inputBytes: 2 });
    // It kept no claim: the same request runs now.
    assert.equal((await second.send(url)).status, 200);
  });

  it("may be used completely by the only leader", async () => {
    const { tool, url, load, open } = await serveSmall(true, ROOM, true);
    const call = () => signedCall(tool, { value: data(INPUT) }).send(url);
    const answers = [call(), call(), call()];
    await until(() => tool.calls.invoked === 3, "all run");
    overloaded(await call());
    open();
    for (const answer of answers) assert.equal((await answer).status, 200);
    assert.equal(load.inputBytes.inFlight, 0);
  });

  it("is counted by connection without signatures", async () => {
    const { tool, url, load, open } = await serveSmall(false);
    const call = () => sendPlain(url, tool.target, `{"value":${INPUT}}`);
    const answers = [call(), call(), call(), call()];
    await until(() => load.refused.inputBytes === 2, "half of them find no room");
    open();
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    assert.deepEqual(statuses.sort(), [200, 200, 503, 503]);
    assert.equal(load.inputBytes.inFlight, 0);
  });

  it("causes 413 for an input that can never fit, before the nonce is claimed", async () => {
    for (const signed of [true, false]) {
      const { tool, url, load } = await serveSmall(signed, 150_000);
      const call = signed
        ? () => signedCall(tool, { value: data(INPUT) }).send(url)
        : () => sendPlain(url, tool.target, `{"value":${INPUT}}`);
      const details = expectError(await call(), 413, "payload_too_large");
      assert.match(details ?? "", /^the decoded input may take at most 75000 bytes of memory, got up to \d+$/);
      assert.deepEqual([tool.calls.constructed, load.inputBytes.inFlight, load.runs.inFlight], [0, 0, 0]);
    }
  });
});
