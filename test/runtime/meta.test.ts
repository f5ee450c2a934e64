/** Metadata, the list of tools, health checks (protocol.md section 9). */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { StatusCode, SvcTool } from "#runtime/index.js";
import { metadataText } from "#runtime/server/wire/metadata.js";
import { provideContracts } from "#runtime/v1.js";
import { proves } from "../proves.js";
import { exchange, expectError, RawConnection, requestText } from "./raw.js";
import { type Behaviour, countingTool, gate, one, sendPlain, serveFor, type TestServer, until } from "./tools.js";

type Headers = [name: string, value: string][];

const root = countingTool({ fqn: "xyz.test.root@01", path: "", input: [one("b"), one("1"), one("a"), one("0")] });
const nested = countingTool({ fqn: "xyz.test.nested@7", path: "/a//b/", timeout: 1234 });
let server: TestServer;
before(async () => {
  server = await serveFor([nested, root].map((tool) => tool));
});

describe("GET /meta", () => {
  const get = (path: string, headers: Headers = []) => exchange(server.url, requestText("GET", path, headers));
  /** HTTP/1.0, so that a request without a host is whole. */
  const bare = (headers: string) => exchange(server.url, `GET /a/b/meta HTTP/1.1\r\n${headers}\r\n`);
  const urlOf = async (headers: Headers, path = "/a/b/meta") => {
    const response = await get(path, headers);
    assert.equal(response.status, 200, response.body.toString());
    return (JSON.parse(response.body.toString()) as { url: string }).url;
  };

  it("is the document, its members in order, the schemas in their textual order", async () => {
    const response = await get("/a/b/meta", [["Host", "tools.example:8443"]]);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.headers.get("cache-control"), "no-store");
    const { contract } = nested;
    assert.equal(
      response.body.toString(),
      `{"fqn":"xyz.test.nested@7","url":"http://tools.example:8443/a/b/","timeout":1234,` +
        `"description":"A tool of the tests.","input_schema":${contract.inputSchema},"output_schema":${contract.outputSchema}}`,
    );
    proves("9.1", "9.7", "11.2");
  });

  it("of a tool at the root has the root as its path; its version is in shortest form", async () => {
    const text = (await get("/meta")).body.toString();
    const document = JSON.parse(text) as { url: string; fqn: string };
    assert.equal(document.url, "http://localhost/");
    assert.equal(document.fqn, "xyz.test.root@1");
    proves("1.22");
  });

  /** Headers of a text such as `Host: h | X-Forwarded-Proto: https`. */
  const headersOf = (text: string) =>
    text.split(" | ").map((header): Headers[number] => {
      const [name = "", ...value] = header.split(": ");
      return [name, value.join(": ")];
    });
  for (const [what, headers, url] of [
    ["Host", "Host: h", "http://h/a/b/"],
    ["a host with a port", "Host: h:80", "http://h:80/a/b/"],
    ["a host that ends in a point", "Host: h.example.:1", "http://h.example.:1/a/b/"],
    ["an underscore", "Host: my_service.default", "http://my_service.default/a/b/"],
    ["IPv4", "Host: 127.0.0.1:8080", "http://127.0.0.1:8080/a/b/"],
    ["IPv6", "Host: [::1]", "http://[::1]/a/b/"],
    ["IPv6 with a port", "Host: [2001:db8::1]:443", "http://[2001:db8::1]:443/a/b/"],
    ["IPv6 that holds IPv4", "Host: [::ffff:1.2.3.4]:1", "http://[::ffff:1.2.3.4]:1/a/b/"],
    ["the largest port", "Host: h:65535", "http://h:65535/a/b/"],
    ["X-Forwarded-Proto https", "Host: h | X-Forwarded-Proto: https", "https://h/a/b/"],
    ["X-Forwarded-Proto http", "Host: h | X-Forwarded-Proto: http", "http://h/a/b/"],
    ["X-Forwarded-Host", "Host: h | X-Forwarded-Host: outer.example:1", "http://outer.example:1/a/b/"],
    [
      "X-Forwarded-Host before a malformed Host",
      "Host: a b | X-Forwarded-Host: [::1] | X-Forwarded-Proto: https",
      "https://[::1]/a/b/",
    ],
    ["white space around", "Host:  h  | X-Forwarded-Proto:  https\t", "https://h/a/b/"],
    [
      "other forwarding headers, which are not looked at",
      "Host: h | Forwarded: host=canary | X-Forwarded-Port: 1 | X-Forwarded-Prefix: /canary",
      "http://h/a/b/",
    ],
  ] as const) {
    it(`url by ${what}`, async () => {
      assert.equal(await urlOf(headersOf(headers)), url);
      proves("9.7");
    });
  }

  it("the URL does not include the query", async () => {
    assert.equal(await urlOf([["Host", "h"]], "/a/b/meta?x=1"), "http://h/a/b/");
  });

  it("X-Forwarded-Host answers a request without Host", async () => {
    const response = await bare("X-Forwarded-Host: outer\r\n");
    assert.equal((JSON.parse(response.body.toString()) as { url: string }).url, "http://outer/a/b/");
  });

  const HOSTS = [
    "", "a b", "a\tb", "a,b", "a, b", "user@h", "user:canary@h", "h:", "h:canary", "h:65536", "h:-1", "h:80:80", "h:123456",
    "::1", "2001:db8::1", "[::1", "::1]", "[::1]canary", "[::1]:", "[::g]", "[]", "[1.2.3.4]", "[:::]", "[v1.x]",
    ":80", "-", "h/canary", "h?canary", "h#canary", "h\\canary", "http://h", "h%20", "<canary>", '"h"', "h;", "h\xe4", ".", "..", "h..example", ".h", "a".repeat(254),
    "127.0.0.256", "1.2.3", "1.2.3.4.5", "0x7f.1", "256.1.1.1:80",
    "0x7f000001", "0x7f000001:80", "0X7F000001.", "0x", "127.0.0.0x1", "h.0xff", "2130706433", "h.1",
  ]; // biome-ignore format: a table
  for (const host of HOSTS) {
    it(`400 host_header_required for ${JSON.stringify(host).slice(0, 40)}`, async () => {
      const details = expectError(await get("/a/b/meta", [["Host", host]]), 400, "host_header_required");
      assert.equal(details, "Host: expected a host name or address with an optional port");
      const forwarded = await get("/a/b/meta", [
        ["Host", "h"],
        ["X-Forwarded-Host", host],
      ]);
      assert.equal(
        expectError(forwarded, 400, "host_header_required"),
        "X-Forwarded-Host: expected a host name or address with an optional port",
      );
      proves("7.18", "9.7");
    });
  }

  it("400 host_header_required without a host, and for two forwarded hosts", async () => {
    expectError(await bare(""), 400, "host_header_required");
    const two = await get("/a/b/meta", [
      ["X-Forwarded-Host", "a"],
      ["X-Forwarded-Host", "a"],
    ]);
    expectError(two, 400, "host_header_required");
    proves("7.18");
  });

  for (const scheme of ["", "ftp", "HTTPS", "Http", "https,http", "https, https", "https:", "canary", "javascript"]) {
    it(`400 invalid_scheme for ${JSON.stringify(scheme)}`, async () => {
      const details = expectError(await get("/a/b/meta", [["X-Forwarded-Proto", scheme]]), 400, "invalid_scheme");
      assert.equal(details, "X-Forwarded-Proto: expected http or https");
      proves("7.18", "9.7");
    });
  }

  it("400 invalid_scheme for two forwarded schemes", async () => {
    const two: Headers = [
      ["X-Forwarded-Proto", "https"],
      ["X-Forwarded-Proto", "https"],
    ];
    expectError(await get("/a/b/meta", two), 400, "invalid_scheme");
  });

  it("a tool's own meta is served unchanged; if it throws, the answer is 500 without its message", async () => {
    const own = countingTool({ path: "own" });
    Object.assign(own.class, { meta: (url: string) => ({ url, mine: true }) });
    const broken = countingTool({ path: "broken" });
    Object.assign(broken.class, { meta: () => assert.fail("canary") });
    const none = countingTool({ path: "none" });
    Object.assign(none.class, { meta: () => undefined });
    const { url, log } = await serveFor([own, broken, none]);
    const answer = await exchange(url, requestText("GET", "/own/meta"));
    assert.equal(answer.body.toString(), '{"url":"http://localhost/own/","mine":true}');
    for (const path of ["/broken/meta", "/none/meta"]) {
      expectError(await exchange(url, requestText("GET", path)), 500, "internal_error");
    }
    assert.equal(log.filter(({ level }) => level === "error").length, 2);
    proves("7.28", "7.32");
  });

  it("an override extends the default document, with exact integers", async () => {
    const tool = countingTool({ path: "extended" });
    const contract = { ...tool.contract, inputSchema: '{"properties":{"n":{"maximum":9223372036854775807}}}' };
    provideContracts([contract]);
    class Extended extends SvcTool<unknown, unknown> {
      static override fqn = () => tool.fqn;
      static override description = () => contract.description;
      static override path = () => contract.path;
      static override meta(url: string) {
        // biome-ignore lint/complexity/noThisInStatic: the call that an author writes
        return { ...super.meta(url), homepage: "https://tools.example" };
      }
      override invoke = () => ({});
    }
    const { url } = await serveFor([{ ...tool, class: Extended }]);
    const text = (await exchange(url, requestText("GET", "/extended/meta"))).body.toString();
    assert.equal(
      text,
      `${metadataText(contract, "http://localhost/extended/").slice(0, -1)},"homepage":"https://tools.example"}`,
    );
    assert.match(text, /"maximum":9223372036854775807\}/);
    class Unknown extends Extended {
      static override fqn = () => "xyz.test.unknown@1";
    }
    assert.throws(() => Unknown.meta("http://localhost/"), {
      name: "TypeError",
      message: "xyz.test.unknown@1 has no contract: run svc-gen and pass its contracts to provideContracts",
    });
  });
});

describe("GET /tools", () => {
  it("lists the path() texts unchanged, in the order of the tools", async () => {
    const response = await exchange(server.url, requestText("GET", "/tools"));
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "application/json");
    assert.equal(response.headers.get("cache-control"), "no-store");
    assert.equal(response.body.toString(), '["/a//b/",""]');
    proves("9.5");
  });
});

describe("GET /health", () => {
  const health = async (behaviour: Behaviour, method = "GET") => {
    const tool = countingTool({ path: "t", ...behaviour });
    const { url, log } = await serveFor([tool]);
    const response = await exchange(url, requestText(method, "/t/health"), method);
    assert.equal(response.body.length, 0);
    assert.equal(response.headers.get("content-type"), undefined, "an empty body has no type");
    assert.equal(response.headers.get("cache-control"), "no-store");
    return { tool, status: response.status, log };
  };
  const fail = () => {
    throw new Error("canary");
  };

  for (const status of [
    StatusCode.OK,
    StatusCode.ACCEPTED,
    StatusCode.NO_CONTENT,
    304,
    StatusCode.SERVICE_UNAVAILABLE,
    599,
  ]) {
    it(`answers ${status} with an empty body, to HEAD too`, async () => {
      for (const method of ["GET", "HEAD"]) {
        const { status: got, tool } = await health({ health: () => status }, method);
        assert.equal(got, status);
        assert.deepEqual([tool.calls.constructed, tool.calls.authorized, tool.calls.invoked], [1, 0, 0]);
      }
      assert.equal((await health({ health: async () => status })).status, status);
      proves("9.2", "9.3");
    });
  }

  for (const [what, behaviour] of [
    ["health() throws", { health: fail }],
    ["health() rejects", { health: () => Promise.reject(null) }],
    ["new throws", { construct: fail }],
    ["new rejects", { construct: () => Promise.reject(undefined) }],
    ["health() gives no status", { health: () => undefined }],
    ["health() gives a text", { health: () => "200" }],
    ["health() gives 0", { health: () => 0 }],
    ["health() gives an interim status", { health: () => 100 }],
    ["health() gives 600", { health: () => 600 }],
    ["health() gives 200.5", { health: () => 200.5 }],
    ["health() gives NaN", { health: () => Number.NaN }],
  ] as const) {
    it(`500 and a log line when ${what}`, async () => {
      for (const method of ["GET", "HEAD"]) {
        const { status, log } = await health(behaviour, method);
        assert.equal(status, 500);
        assert.equal(log.filter(({ level }) => level === "error").length, 1);
      }
      proves("9.3");
    });
  }

  it("503 after the tool's timeout, also when it blocks the event loop; its late end has no effect", async () => {
    const never = () => new Promise(() => {});
    const late = () => new Promise((_, reject) => setTimeout(() => reject(new Error("canary")), 80));
    const busy = () => {
      const end = performance.now() + 60;
      while (performance.now() < end);
      return 200;
    };
    for (const behaviour of [{ health: never }, { construct: never }, { health: late }, { health: busy }]) {
      const started = performance.now();
      const { status, log } = await health({ timeout: 40, ...behaviour });
      assert.equal(status, 503);
      assert.ok(performance.now() - started >= 39);
      if (behaviour.health === late)
        await until(() => log.some(({ level }) => level === "error"), "the late end is logged");
    }
    proves("9.3");
  });

  it("200 for a class without the method, one instance for each check", async () => {
    const tool = countingTool({ path: "t" });
    const { url } = await serveFor([tool]);
    for (let i = 1; i < 4; i++) {
      assert.equal((await exchange(url, requestText("GET", "/t/health"))).status, 200);
      assert.equal(tool.calls.constructed, i);
    }
    proves("7.8");
  });

  it("one check at a time: 100 requests share one instance and its answer", async () => {
    const open = gate();
    const tool = countingTool({ path: "t", timeout: 600_000, health: () => open.promise.then(() => 418) });
    const { url } = await serveFor([tool]);
    const connections = await Promise.all(Array.from({ length: 100 }, () => RawConnection.open(url)));
    for (const connection of connections) connection.send(requestText("GET", "/t/health"));
    // The server has read every check when it has answered this call.
    assert.equal((await sendPlain(url, tool.target, '{"value":1}')).status, 200);
    assert.equal(tool.calls.constructed, 2, "one instance for the checks, one for the call");
    open.open();
    for (const connection of connections) {
      assert.equal((await connection.response()).status, 418);
      connection.close();
    }
    assert.equal((await exchange(url, requestText("GET", "/t/health"))).status, 418);
    assert.equal(tool.calls.constructed, 3, "the next check has its own");
    proves("9.3");
  });

  it("a check that never ends does not block the next one after its deadline", async () => {
    const tool = countingTool({
      path: "t",
      timeout: 40,
      health: () => (tool.calls.constructed === 1 ? new Promise(() => {}) : 200),
    });
    const { url } = await serveFor([tool]);
    assert.equal((await exchange(url, requestText("GET", "/t/health"))).status, 503);
    await until(
      async () => (await exchange(url, requestText("GET", "/t/health"))).status === 200,
      "a check that ends in time",
    );
  });

  it("/health answers 200 if no tool is at the root, otherwise with that tool's status", async () => {
    const broken = countingTool({ path: "t", health: fail });
    const { url } = await serveFor([broken]);
    for (const method of ["GET", "HEAD"]) {
      const response = await exchange(url, requestText(method, "/health"), method);
      assert.deepEqual([response.status, response.body.length], [200, 0]);
    }
    assert.equal(broken.calls.constructed, 0);
    const atRoot = countingTool({ path: "/", health: () => 418 });
    const own = await serveFor([atRoot]);
    assert.equal((await exchange(own.url, requestText("GET", "/health"))).status, 418);
    proves("9.4");
  });
});
