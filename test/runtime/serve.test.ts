/** Routing, the HTTP parser and the limits of a request, on a bare socket (protocol.md sections 1, 7 and 9). */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { ToolkitRuntimeConfig } from "#runtime/index.js";
import { vulnerableNode } from "#runtime/internal/node-version.js";
import { proves, provesRow } from "../proves.js";
import { exchange, expectError, RawConnection, requestText } from "./raw.js";
import { countingTool, echoed, expectResult, sendPlain, serveFor, serveHasty, type TestServer } from "./tools.js";

const CALL = '{"value":1}';
const calling = (...headers: [string, string][]): [string, string][] => [...headers, ["Content-Length", "11"]];

describe("routing (protocol.md sections 7 and 9)", () => {
  const sum = countingTool({ path: "sum" });
  const nested = countingTool({ path: "/a//b/" });
  const odd = countingTool({ path: "o:dd*(x)/100%" });
  const escaped = countingTool({ path: "sp%20ace" });
  let server: TestServer;
  before(async () => {
    server = await serveFor([sum, nested, odd, escaped]);
  });

  for (const [tool, path] of [
    [sum, "/sum/invoke"],
    [sum, "/sum/invoke?query=1"],
    [sum, "/sum/invoke?"],
    [sum, "/sum/invoke?a?/b%zz"],
    [nested, "/a/b/invoke"],
    [odd, "/o:dd*(x)/100%/invoke"],
    [escaped, "/sp%20ace/invoke"],
  ] as const) {
    it(`answers ${path}`, async () => {
      const before = tool.calls.invoked;
      expectResult(await exchange(server.url, requestText("POST", path, calling(), CALL)), echoed("1"));
      assert.equal(tool.calls.invoked, before + 1);
      provesRow(path, { "9.1": ["/a/b/invoke"], "9.2": ["/sp%20ace/invoke", "/sum/invoke?a?/b%zz"] });
    });
  }

  for (const path of [
    "/sum%2Finvoke",
    "/s%75m/invoke",
    "/sum/invok%65",
    "/sum/invoke/",
    "/sum//invoke",
    "//sum/invoke",
    "/sum/./invoke",
    "/x/../sum/invoke",
    "/SUM/invoke",
    "/sum/Invoke",
    "/sum/invoke;a=b",
    "/sum/invoke%3Fa",
    "/sum/invoke%00",
    "/sum/invoke#",
    "/sum",
    "/sum/",
    "/invoke",
    "/a//b/invoke",
    "/a/invoke",
    "/sp ace/invoke".replace(" ", "+"),
    "/%zz",
    "/%",
    "/__proto__/invoke",
    "/constructor",
    `/${"x".repeat(4_000)}`,
    "http://localhost/sum/invoke",
    "*",
  ]) {
    it(`404 for ${path.slice(0, 40)}`, async () => {
      const method = path === "*" ? "OPTIONS" : "POST";
      const response = await exchange(server.url, requestText(method, path, calling(), CALL));
      assert.match(expectError(response, 404, "not_found") ?? "", /GET \/tools/);
      assert.equal(response.headers.has("allow"), false);
      provesRow(path, { "9.2": ["/s%75m/invoke", "/sum/invoke/", "/SUM/invoke"] });
      proves("1.5", "7.21");
    });
  }

  for (const [path, allow, methods] of [
    [
      "/sum/invoke",
      "POST",
      ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "PURGE", "M-SEARCH"],
    ],
    ["/sum/meta", "GET", ["POST", "HEAD", "PUT", "OPTIONS", "TRACE"]],
    ["/tools", "GET", ["POST", "HEAD", "DELETE", "LINK"]],
    ["/sum/health", "GET, HEAD", ["POST", "PUT", "OPTIONS", "PROPFIND"]],
    ["/health", "GET, HEAD", ["POST", "PATCH", "SEARCH"]],
  ] as const) {
    for (const method of methods) {
      it(`405 for ${method} ${path}`, async () => {
        const response = await exchange(server.url, requestText(method, path, [["Content-Length", "0"]]), method);
        if (method === "HEAD") assert.equal(response.status, 405);
        else assert.equal(expectError(response, 405, "method_not_allowed"), `this path allows ${allow}`);
        assert.equal(response.headers.get("allow"), allow);
        provesRow(path, { "9.2": ["/tools", "/sum/meta", "/sum/invoke"] });
        proves("7.21");
      });
    }
  }

  it("refuses without running anything", () => {
    assert.deepEqual(
      [sum, nested, odd, escaped].map(({ calls }) => calls.invoked),
      [4, 1, 1, 1],
    );
  });
});

describe("bytes that are not a request (protocol.md section 7, bad_request)", () => {
  const tool = countingTool({ path: "sum" });
  let server: TestServer;
  before(async () => {
    server = await serveFor([tool]);
  });

  const head = "POST /sum/invoke HTTP/1.1\r\nHost: x\r\n";
  for (const [what, text] of [
    ["garbage", "canary\r\n\r\n"],
    ["a TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
    ["an unknown method", "BREW /sum/invoke HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a method in lower case", "post /sum/invoke HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a tunnel", "CONNECT canary.example:80 HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["an unknown version", "GET /tools HTTP/9.9\r\nHost: x\r\n\r\n"],
    ["a header without a colon", `${head}canary\r\n\r\n`],
    // The parser of older versions of Node accepts it.
    ...(vulnerableNode === undefined ? [["a space before the colon", `${head}X-Canary : 1\r\n\r\n`] as const] : []),
    ["a control character in a header", `${head}X-Canary: a\x01b\r\n\r\n`],
    ["a folded header", `${head}X-Canary: a\r\n b\r\n\r\n`],
    ["length and chunked", `${head}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ["chunked and length", `${head}Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n`],
    ["two lengths", `${head}Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx`],
    ["two equal lengths", `${head}Content-Length: 1\r\nContent-Length: 1\r\n\r\nx`],
    ["a negative length", `${head}Content-Length: -1\r\n\r\n`],
    ["a length in hex", `${head}Content-Length: 0x1\r\n\r\n`],
    ["a length of text", `${head}Content-Length: canary\r\n\r\n`],
    ["a length beyond 64 bits", `${head}Content-Length: 99999999999999999999999\r\n\r\n`],
    ["a list of lengths", `${head}Content-Length: 1, 1\r\n\r\n`],
    ["no host", "POST /sum/invoke HTTP/1.1\r\nContent-Length: 0\r\n\r\n"],
    ["no host, HTTP/1.0", "GET /tools HTTP/1.0\r\n\r\n"],
    ["no host, no such path", "GET /canary HTTP/1.1\r\n\r\n"],
    ["no host, no such metadata", "GET /canary/meta HTTP/1.1\r\n\r\n"],
    ["two hosts", "GET /tools HTTP/1.1\r\nHost: canary\r\nhost: y\r\n\r\n"],
    ["two equal hosts", "GET /tools HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"],
    ["two hosts for the metadata", "GET /sum/meta HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"],
    ["two hosts, no such path", "GET /canary HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"],
  ] as const) {
    it(`400 for ${what}`, async () => {
      assert.equal(expectError(await exchange(server.url, text), 400, "bad_request"), undefined);
      proves("7.17");
    });
  }
});

describe("step 1: length and coding of the body (protocol.md section 7)", () => {
  const tool = countingTool({ path: "sum" });
  let server: TestServer;
  before(async () => {
    server = await serveFor([tool]);
  });

  const refused = async (headers: [string, string][], status: number, code: string, body = "") => {
    const response = await exchange(server.url, requestText("POST", "/sum/invoke", headers, body));
    return expectError(response, status, code);
  };

  it("411 without Content-Length", async () => {
    assert.match((await refused([], 411, "length_required")) ?? "", /^Content-Length: required/);
    proves("7.2", "7.22");
  });

  it("411 for chunked bodies, whatever their other headers", async () => {
    const chunked = 'b\r\n{"value":1}\r\n0\r\n\r\n';
    await refused([["Transfer-Encoding", "chunked"]], 411, "length_required", chunked);
    await refused([["Transfer-Encoding", "gzip, chunked"]], 411, "length_required", chunked);
    await refused(
      [
        ["Transfer-Encoding", "chunked"],
        ["Content-Encoding", "gzip"],
      ],
      411,
      "length_required",
      chunked,
    );
    proves("7.2");
  });

  it("413 over 12 MiB by default, before the body is sent; exactly 12 MiB is read", async () => {
    const details = await refused([["Content-Length", "12582913"]], 413, "payload_too_large");
    assert.match(details ?? "", /12582912 bytes/);
    await refused([["Content-Length", `${2 ** 60}`]], 413, "payload_too_large");
    const body = Buffer.alloc(12_582_912, 0x20);
    body.write(CALL);
    expectResult(await sendPlain(server.url, tool.target, body), echoed("1"));
    proves("1.15", "7.2", "7.22");
  });

  it("413 over a configured limit, exactly at it the body is read", async () => {
    const config = ToolkitRuntimeConfig.fromJsonStr('{"invoke_max_body_bytes":11}');
    const small = await serveFor([tool], { config });
    expectResult(await sendPlain(small.url, tool.target, CALL), echoed("1"));
    const response = await sendPlain(small.url, tool.target, `${CALL} `);
    assert.match(expectError(response, 413, "payload_too_large") ?? "", /11 bytes/);
    proves("1.15");
  });

  it("a body within the limit that cannot be allocated is refused, and the server continues", async () => {
    const config = ToolkitRuntimeConfig.fromJsonStr('{"invoke_max_body_bytes":18446744073709551615}');
    const huge = await serveFor([tool], { config });
    for (const length of [2 ** 52, 2n ** 63n]) {
      const text = requestText("POST", tool.target, [["Content-Length", `${length}`]], "x");
      expectError(await exchange(huge.url, text), 413, "payload_too_large");
    }
    expectResult(await sendPlain(huge.url, tool.target, CALL), echoed("1"));
  });

  for (const coding of ["gzip", "br", "identity, gzip", "x-canary", "gzip, identity"]) {
    it(`415 for Content-Encoding: ${coding}`, async () => {
      const details = await refused(calling(["Content-Encoding", coding]), 415, "unsupported_content_encoding", CALL);
      assert.match(details ?? "", /^Content-Encoding: only identity/);
      proves("7.2", "7.22");
    });
  }

  it("415 for a coding that is given twice", async () => {
    const twice = calling(["Content-Encoding", "identity"], ["Content-Encoding", "gzip"]);
    await refused(twice, 415, "unsupported_content_encoding", CALL);
  });

  it("identity is accepted, in any letter case", async () => {
    for (const coding of ["identity", "Identity"]) {
      expectResult(await sendPlain(server.url, tool.target, CALL, ["Content-Encoding", coding]), echoed("1"));
    }
    proves("7.2");
  });

  it("411 and 413 take precedence over 415", async () => {
    await refused([["Content-Encoding", "gzip"]], 411, "length_required");
    await refused(
      [
        ["Content-Encoding", "gzip"],
        ["Content-Length", "12582913"],
      ],
      413,
      "payload_too_large",
    );
  });

  for (const type of [
    "",
    "text/plain",
    "application/json;;;",
    "garbage",
    "application/x-www-form-urlencoded",
    "a/b/c",
  ]) {
    it(`Content-Type is ignored: ${JSON.stringify(type)}`, async () => {
      expectResult(await sendPlain(server.url, tool.target, CALL, ["Content-Type", type]), echoed("1"));
      proves("7.3");
    });
  }

  it("a body that arrives byte by byte is read completely, and the next request on the connection is answered", async () => {
    const connection = await RawConnection.open(server.url);
    connection.socket.setNoDelay(true);
    for (const byte of requestText("POST", tool.target, calling(), CALL)) {
      connection.send(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expectResult(await connection.response(), echoed("1"));
    connection.send(Buffer.concat([2, 3].map((n) => requestText("POST", tool.target, calling(), `{"value":${n}}`))));
    expectResult(await connection.response(), echoed("2"));
    expectResult(await connection.response(), echoed("3"));
    connection.close();
  });
});

describe("headers and time (protocol.md section 1)", () => {
  const tool = countingTool({ path: "sum" });
  let server: TestServer;
  before(async () => {
    server = await serveFor([tool]);
  });
  const padding = (count: number, value = "1") =>
    Array.from({ length: count }, (_, i): [string, string] => [`X-Pad-${i}`, value]);

  for (const [path, method, own] of [
    ["/sum/invoke", "POST", 2],
    ["/tools", "GET", 2],
  ] as const) {
    it(`64 headers are accepted, 65, 66 and 1,100 are 431: ${method} ${path}`, async () => {
      const send = (count: number) =>
        exchange(server.url, requestText(method, path, [...padding(count - own), ["Content-Length", "11"]], CALL));
      assert.equal((await send(64)).status, 200);
      for (const count of [65, 66, 1_100]) {
        const details = expectError(await send(count), 431, "headers_too_large");
        assert.match(details ?? "", /at most 64 headers|at most 16384 bytes/);
      }
      proves("1.20", "7.22");
    });
  }

  it("431 for 20 KB of headers, in one, in many, or in the path", async () => {
    const over = [
      requestText("GET", "/tools", [["X-Canary", "c".repeat(20_000)]]),
      requestText("GET", "/tools", padding(50, "c".repeat(400))),
      requestText("GET", `/tools?${"c".repeat(20_000)}`),
    ];
    for (const text of over) {
      const details = expectError(await exchange(server.url, text), 431, "headers_too_large");
      assert.equal(details, "at most 16384 bytes of headers");
    }
    const within = requestText("GET", "/tools", [["X-Large", "c".repeat(15_000)]]);
    assert.equal((await exchange(server.url, within)).status, 200);
  });

  it("408 for headers that do not arrive, and for such a body", async () => {
    const { url, log } = await serveHasty([tool], { headersMs: 200, requestMs: 200 });
    const before = tool.calls.constructed;
    const slow = [
      "GET /tools HTTP/1.1\r\nHost: x\r\nX-Canary: ",
      "GE",
      requestText("POST", tool.target, [["Content-Length", "11"]], '{"val'),
    ];
    await Promise.all(
      slow.map(async (text) => {
        const connection = await RawConnection.open(url);
        const details = expectError(await connection.send(text).response(), 408, "request_timeout");
        assert.equal(details, "headers within 10000 ms, the whole request within 30000 ms");
        assert.equal((await connection.closed()).length, 0);
      }),
    );
    assert.equal(tool.calls.constructed, before);
    assert.deepEqual(log.entries, []);
    proves("1.20", "7.22");
  });
});
