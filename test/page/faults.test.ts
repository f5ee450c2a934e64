/** Why a call fails, from what the page shows alone: planted faults, each named by its report. */

import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import { DevelopmentPage } from "#generator/dev/page-server/development-page.js";
import type { ExchangeReport } from "#generator/dev/page-server/page-api.js";
import { serve } from "#runtime/index.js";
import { type Leader, publicKeyOf, readReceipt } from "#runtime/leader.js";
import { provideContracts } from "#runtime/v1.js";
import { listen } from "../listening.js";
import { alice, keptLog, signedConfig, TOOL_SEED } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";
import { Adding, CONTRACTS } from "./adding.js";
import { postAs } from "./requests.js";

const SIGNER: Leader = { id: alice.id, keyId: alice.kid, key: alice.seed };

describe("verdicts and advice for planted faults", { timeout: 60_000 }, () => {
  let server: string;
  before(async () => {
    provideContracts(CONTRACTS);
    const config = signedConfig(["xyz.page.adding@1"]);
    const running = await serve([Adding], { address: [[127, 0, 0, 1], 0], config, logger: keptLog() });
    atEnd(() => running.close());
    server = running.url;
  });

  /** A signed call from the page of a server. */
  async function callOf(url: string, leader: Leader, input: object, isKnown = true): Promise<ExchangeReport> {
    const toolKey = Buffer.from(publicKeyOf(TOOL_SEED)).toString("hex");
    const page = new DevelopmentPage({ url, leader: () => ({ leader, ...(isKnown && { toolKey }) }) });
    await page.open();
    atEnd(() => page.close());
    const call = { fqn: "xyz.page.adding@1", kind: "call", signed: true, input: JSON.stringify(input) };
    return JSON.parse((await postAs(page.url, "call", call)).text) as ExchangeReport;
  }

  /** A proxy that changes bodies on the way. */
  async function proxy(change: {
    toTool?: (body: string) => string;
    fromTool?: (body: Buffer) => Buffer;
  }): Promise<string> {
    const { toTool = (body) => body, fromTool = (body) => body } = change;
    const through = createServer(async (incoming, outgoing) => {
      const body = Buffer.from(toTool((await buffer(incoming)).toString()));
      const isCall = body.length > 0;
      const headers = { ...incoming.headers, ...(isCall && { "content-length": String(body.length) }) };
      const onward = request(`${server}${incoming.url}`, { method: incoming.method ?? "GET", headers, agent: false });
      onward.once("response", async (response) => {
        const answer = await buffer(response);
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        outgoing.end(isCall && response.statusCode === 200 ? fromTool(answer) : answer);
      });
      onward.once("error", () => outgoing.destroy());
      onward.end(body);
    });
    return `http://${await listen(through)}`;
  }

  const INPUT = { a: 1, b: 2, words: ["x"] };

  test("no fault: the result is verified and has a receipt", async () => {
    const { status, outcome, verdict, holds, exchange } = await callOf(server, SIGNER, INPUT);
    const { tool, claims } = readReceipt(exchange.receipt ?? "");
    assert.equal(tool, exchange.receipt && JSON.parse(exchange.receipt).tool);
    assert.ok(claims.every(({ verdict }) => verdict !== "false"));
    assert.deepEqual([status, outcome, holds], [200, "ok", true]);
    assert.equal(verdict, "the result has the tool's valid signature for this request");
    assert.match(new Map(exchange.signed).get("nonce") ?? "", /^[0-9a-f]{64}$/);
    const unverified = await callOf(server, SIGNER, INPUT, false);
    assert.deepEqual([unverified.holds, unverified.exchange.receipt], [null, null]);
    assert.match(unverified.verdict ?? "", /signed, but not verified: pass the tool's public key as --tool-key/);
  });

  test("a wrong key", async () => {
    const { exchange } = await callOf(server, { ...SIGNER, key: Buffer.alloc(32, 77) }, INPUT);
    assert.match(
      exchange.error?.advice ?? "",
      /Compare the public key of this leader ID and key ID in the server's allow-list/,
    );
    const key = Buffer.from(publicKeyOf(Buffer.alloc(32, 77))).toString("hex");
    assert.equal(new Map(exchange.signed).get("public key of the leader"), key);
  });

  test("an outdated allow-list", async () => {
    const { exchange } = await callOf(server, { ...SIGNER, keyId: 5n }, INPUT);
    assert.match(exchange.error?.details ?? "", /no such leader and key in the allow-list/);
    assert.match(exchange.error?.advice ?? "", /Add this leader ID and key ID with the leader's public key/);
  });

  test("a proxy that changes the request", async () => {
    const url = await proxy({ toTool: (body) => body.replace('"data":1}', '"data":7}') });
    const { exchange } = await callOf(url, SIGNER, INPUT);
    assert.match(exchange.error?.advice ?? "", /^A proxy changed the body: call the tool without the proxy/);
  });

  test("a proxy that changes the result", async () => {
    const url = await proxy({
      fromTool: (body) => Buffer.from(body.toString("latin1").replace("\x013", "\x014"), "latin1"),
    });
    const { verdict, holds, exchange } = await callOf(url, SIGNER, INPUT);
    assert.match(verdict ?? "", /the signature is not valid: a proxy changed the result/);
    assert.deepEqual([holds, exchange.receipt], [false, null]);
  });

  test("a missing port", async () => {
    const { exchange } = await callOf(server, SIGNER, { a: 1, words: ["x"] });
    assert.equal(exchange.error?.path, "b");
    assert.match(
      exchange.error.advice,
      /Correct the input at the position named in the details\. The tool did not run\./,
    );
  });
});
