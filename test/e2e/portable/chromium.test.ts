/** The client in pages of Chromium: all vectors, and calls of a server by pages that may call it and pages that may not. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { describe, test } from "node:test";
import type { Page } from "playwright-core";
import { listen } from "../../listening.js";
import { bundleForBrowsers, platformProgram } from "../../portable/bundle.js";
import { expectConformance, expectSignedCall, FILES, serveEcho, serveUnsignedEcho } from "../../portable/expected.js";
import type * as Platform from "../../portable/platform.js";
import { openPage, withoutChromium } from "../page/browser.js";

const skip = withoutChromium("the client in a browser");
const { code } = await platformProgram({ format: "iife", globalName: "platform" });

declare const platform: typeof Platform;

/** The exports of the example in docs/client.md. */
interface PageOfDocs {
  readonly page: { call(url: string, leaderKey: string, toolKey: string, input: object): Promise<unknown> };
}

/** Serves the page with the client, on an origin of its own. */
async function servePage(): Promise<string> {
  const server = createServer((request, response) => {
    const isScript = request.url === "/platform.js";
    response.setHeader("Content-Type", isScript ? "text/javascript; charset=utf-8" : "text/html; charset=utf-8");
    response.end(isScript ? code : '<!doctype html><title>page</title><script src="/platform.js"></script>');
  });
  return `http://${await listen(server)}`;
}

async function open(origin: string): Promise<Page> {
  return (await openPage(`${origin}/`)).page;
}

/** What a page learns that posts to a tool without the client, as any page can. */
const post = (page: Page, url: string, mode: "cors" | "no-cors") =>
  page.evaluate(
    async ([url, mode]) => {
      const init = { method: "POST", mode, body: '{"value":1}' };
      return fetch(url, init).then(
        async ({ type, status }) => `${type} ${status}`,
        () => "nothing",
      );
    },
    [`${url}/invoke`, mode] as const,
  );

describe("in Chromium", { skip }, () => {
  test("the client passes all recorded vectors", async () => {
    const page = await open(await servePage());
    expectConformance(await page.evaluate((files) => platform.runVectors(files), FILES));
  });

  test("an allowed page signs, retries and verifies the result; another page can neither call nor read", async () => {
    const [allowed, other] = await Promise.all([servePage(), servePage()]);
    const served = await serveEcho({ allowedOrigins: [allowed] });
    const call = (page: Page) => page.evaluate((target) => platform.callSigned(target), served.target);
    expectSignedCall(await call(await open(allowed)), served);
    const page = await open(other);
    await assert.rejects(call(page), /connection_failed/);
    assert.equal(await page.evaluate((url) => platform.connectFault(url), served.target.url), "connection_failed");
    // Without a preflight a page can send no signature, and reads no answer.
    assert.equal(await post(page, served.target.url, "cors"), "nothing");
    assert.equal(await post(page, served.target.url, "no-cors"), "opaque 0");
    assert.equal(served.tool.calls.invoked, 1);
  });

  test("the page of docs/client.md calls a tool", async () => {
    const [, source = ""] =
      /^```ts file=src\/page\.ts\n([\s\S]*?)^```$/m.exec(readFileSync("docs/client.md", "utf8")) ?? [];
    const { code } = await bundleForBrowsers(source, undefined, { format: "iife", globalName: "page" });
    const origin = await servePage();
    const { target } = await serveEcho({ allowedOrigins: [origin] });
    const opened = await open(origin);
    // The leader of the tests has another name.
    await opened.addScriptTag({ content: code.replace('id: "leader"', 'id: "alice"') });
    const result = await opened.evaluate(
      ({ url, leaderKey, toolKey }) =>
        (globalThis as unknown as PageOfDocs).page.call(url, leaderKey, toolKey, { value: 7 }),
      target,
    );
    assert.deepEqual(result, { signature: "verified", value: { value: 7 } });
  });

  test("an allowed page calls without signatures; a call of another page runs nothing", async () => {
    const [allowed, other] = await Promise.all([servePage(), servePage()]);
    const { tool, url } = await serveUnsignedEcho({ allowedOrigins: [allowed] });
    assert.equal(await (await open(allowed)).evaluate((url) => platform.callUnsigned(url), url), 7);
    const page = await open(other);
    assert.equal(await page.evaluate((url) => platform.connectFault(url), url), "connection_failed");
    assert.equal(await post(page, url, "cors"), "nothing");
    assert.equal(await post(page, url, "no-cors"), "opaque 0");
    assert.equal(tool.calls.constructed, 1);
  });

  test("a server without allowedOrigins refuses all pages", async () => {
    const { target } = await serveEcho();
    const page = await open(await servePage());
    assert.equal(await page.evaluate((url) => platform.connectFault(url), target.url), "connection_failed");
  });
});
