/** Why a call fails, from the page alone: planted faults, each named by what the page says. */

import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { before, describe, test } from "node:test";
import { DevelopmentPage } from "#generator/dev/page-server/development-page.js";
import { serve } from "#runtime/index.js";
import { type Leader, publicKeyOf } from "#runtime/leader.js";
import { provideContracts } from "#runtime/v1.js";
import { alice, keptLog, signedConfig, TOOL_SEED } from "../runtime/tools.js";
import { atEnd } from "../teardown.js";
import { Adding, CONTRACTS } from "./adding.js";
import { openPage, WITHOUT_CHROMIUM } from "./browser.js";

const SIGNER: Leader = { id: alice.id, keyId: alice.kid, key: alice.seed };

describe("planted faults", { skip: WITHOUT_CHROMIUM, timeout: 240_000 }, () => {
  let server: string;
  before(async () => {
    provideContracts(CONTRACTS);
    const config = signedConfig(["xyz.page.adding@1"]);
    const running = await serve([Adding], { address: [[127, 0, 0, 1], 0], config, logger: keptLog() });
    atEnd(() => running.close());
    server = running.url;
  });

  /** Calls with an input from the page of a server; what the page says then. */
  async function callOf(url: string, leader: Leader, input: object): Promise<string> {
    const toolKey = publicKeyOf(TOOL_SEED).toString("hex");
    const development = new DevelopmentPage({ url, leader: async () => ({ leader, toolKey }) });
    await development.open();
    atEnd(() => development.close());
    const { page } = await openPage(development.url);
    await page.getByRole("textbox", { name: "JSON" }).fill(JSON.stringify(input));
    await page.getByRole("button", { name: "Call signed" }).click();
    await page.locator(".report").waitFor();
    const said = await page.locator("main").innerText();
    await page.context().close();
    return said;
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
    await new Promise<void>((listening) => through.listen(0, "127.0.0.1", listening));
    atEnd(() => {
      through.closeAllConnections();
      through.close();
    });
    return `http://127.0.0.1:${(through.address() as AddressInfo).port}`;
  }

  const INPUT = { a: 1, b: 2, words: ["x"] };

  test("none: the call is as the protocol says", async () => {
    assert.match(await callOf(server, SIGNER, INPUT), /200 ok; signature of the tool: verified\s+so\s+✓/);
  });

  test("a wrong key", async () => {
    const said = await callOf(server, { ...SIGNER, key: Buffer.alloc(32, 77) }, INPUT);
    assert.match(said, /The allow-list knows the leader id and key id, but with another public key/);
    assert.match(said, new RegExp(`public key\\s+${publicKeyOf(Buffer.alloc(32, 77)).toString("hex")}`));
  });

  test("a stale allow-list", async () => {
    const said = await callOf(server, { ...SIGNER, keyId: 5n }, INPUT);
    assert.match(said, /no such leader and key in the allow-list/);
    assert.match(said, /it is stale, or of another network/);
  });

  test("a proxy that changes the request", async () => {
    const url = await proxy({ toTool: (body) => body.replace('"data":1}', '"data":7}') });
    assert.match(await callOf(url, SIGNER, INPUT), /something on the way changed it\. Call the tool without the proxy/);
  });

  test("a proxy that changes the result", async () => {
    const url = await proxy({
      fromTool: (body) => Buffer.from(body.toString("latin1").replace("\x013", "\x014"), "latin1"),
    });
    const said = await callOf(url, SIGNER, INPUT);
    assert.match(said, /signature of the tool: not verified: the result is not what the tool with this key signed/);
    assert.match(said, /✗ NOT as the protocol says/);
  });

  test("a missing port", async () => {
    const said = await callOf(server, SIGNER, { a: 1, words: ["x"] });
    assert.match(said, /Correct the input at the named place\. The tool did not run\./);
    assert.match(said, /Go to b\b/);
  });

  test("an over-long list", async () => {
    const said = await callOf(server, SIGNER, { ...INPUT, words: Array.from({ length: 257 }, () => "x") });
    assert.match(said, /more than 256 items: the server refuses it/);
    assert.match(said, /Go to words\b/);
  });
});
