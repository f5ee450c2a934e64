/** Requests that web pages make a browser send, in unsigned mode (protocol.md section 7). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { proves } from "../proves.js";
import { exchange, expectError, requestText } from "./raw.js";
import { countingTool, echoCall, echoed, expectResult, sendPlain, serveFor, serveSigned } from "./tools.js";

const BODY = '{"value":1}';
const PAGE = "https://page.example";
const DETAILS = "Origin: requests of web pages are refused unless their origin is allowed by name";

type Headers = readonly (readonly [name: string, value: string])[];

/** What browsers send with a simple request: `fetch(url, { method: "POST", body, mode: "no-cors" })`. */
const FORBIDDEN: Readonly<Record<string, Headers>> = {
  "of another site": [
    ["Content-Type", "text/plain;charset=UTF-8"],
    ["Origin", PAGE],
    ["Sec-Fetch-Site", "cross-site"],
  ],
  "of another site, by a browser without Sec-Fetch-Site": [["Origin", PAGE]],
  "of another site, without Origin": [["Sec-Fetch-Site", "cross-site"]],
  "of the same site": [
    ["Origin", "http://localhost:3000"],
    ["Sec-Fetch-Site", "same-site"],
  ],
  "of the same site, without Origin": [["Sec-Fetch-Site", "same-site"]],
  "of a page without an origin": [["Origin", "null"]],
  // To the browser it is the same origin: the page's name resolves to this server now.
  "of a rebound name": [
    ["Host", "page.example"],
    ["Origin", "http://page.example"],
    ["Sec-Fetch-Site", "same-origin"],
  ],
  "of a rebound name, without Origin": [
    ["Host", "page.example"],
    ["Sec-Fetch-Site", "same-origin"],
  ],
  "with a value that no browser sends": [["Sec-Fetch-Site", "canary"]],
  "with two origins": [
    ["Origin", "https://allowed.example"],
    ["Origin", PAGE],
  ],
  "with an origin in other letters": [["Origin", "https://ALLOWED.example"]],
  "of an allowed name under another scheme": [["Origin", "http://allowed.example"]],
};

const ALLOWED: Readonly<Record<string, Headers>> = {
  "of no browser": [],
  "that a user made": [["Sec-Fetch-Site", "none"]],
  "of an allowed page": [
    ["Origin", "https://allowed.example"],
    ["Sec-Fetch-Site", "cross-site"],
  ],
  "of another allowed page": [["Origin", "http://localhost:3000"]],
};

describe("without signatures, a request", () => {
  const allowedOrigins = ["https://allowed.example", "http://localhost:3000"];

  for (const [what, headers] of Object.entries(FORBIDDEN)) {
    it(`${what}: 403, and nothing runs`, async () => {
      const tool = countingTool({ path: "sum" });
      const named = headers.some(([, value]) => allowedOrigins.includes(value)) && what !== "with two origins";
      for (const options of [{}, ...(named ? [] : [{ allowedOrigins }])]) {
        const { url, load } = await serveFor([tool], options);
        const response = await sendPlain(url, tool.target, BODY, ...headers);
        assert.equal(expectError(response, 403, "permission_denied"), DETAILS);
        assert.equal(load().bodyBytes.inFlight, 0);
      }
      assert.equal(tool.calls.constructed, 0);
      proves("7.35");
    });
  }

  for (const [what, headers] of Object.entries(ALLOWED)) {
    it(`${what}: served`, async () => {
      const tool = countingTool({ path: "sum" });
      const { url } = await serveFor([tool], { allowedOrigins });
      expectResult(await sendPlain(url, tool.target, BODY, ...headers), echoed("1"));
    });
  }

  it("of a page is refused before its body is read", async () => {
    const tool = countingTool({ path: "sum" });
    const { url } = await serveFor([tool]);
    // The body never comes: only a refusal can answer.
    const announced = requestText("POST", tool.target, [
      ["Content-Length", "100000"],
      ["Origin", PAGE],
    ]);
    expectError(await exchange(url, announced), 403, "permission_denied");
    proves("7.35");
  });
});

it("with signatures, the signature decides", async () => {
  const tool = countingTool({ path: "sum" });
  const { url } = await serveSigned([tool], { allowedOrigins: [PAGE] });
  expectError(await sendPlain(url, tool.target, BODY, ["Origin", PAGE]), 401, "auth_failed");
  const call = echoCall(tool, "1");
  call.headers.push(["Origin", "https://other.example"], ["Sec-Fetch-Site", "cross-site"]);
  expectResult(await call.send(url), echoed("1"), call);
  proves("7.35");
});

describe("invalid allowed origins are a start-up error", () => {
  for (const origin of ["null", "*", "page.example", "https://page.example/", "https://Page.example", "file://", ""]) {
    it(JSON.stringify(origin), async () => {
      await assert.rejects(
        serveFor([countingTool()], { allowedOrigins: [origin] }),
        new RangeError(
          `allowedOrigins: expected origins as browsers send them, such as https://app.example or http://localhost:3000, got ${JSON.stringify(origin)}`,
        ),
      );
    });
  }
});
