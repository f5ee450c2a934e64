/** `svc-gen doctor URL` against servers, and gateways in front of them that are wrong in one thing. */

import assert from "node:assert/strict";
import dns from "node:dns";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { exchange } from "#generator/http/exchange.js";
import { PermissionDenied } from "#runtime/index.js";
import { leasePort } from "../e2e/process.js";
import { listen } from "../listening.js";
import { makeCertificate } from "../runtime/certificate.js";
import { alice, bob, type CountingTool, countingTool, many, one, serveFor, serveSigned } from "../runtime/tools.js";
import { scratchFolder } from "../scratch-folder.js";
import { doctorIn } from "./doctor-run.js";
import { svcGenIn } from "./run-cli.js";

const folder = scratchFolder();

const doctor = (url: string, ...args: string[]) => doctorIn(folder, [url, ...args]);

const AS_ALICE = ["--leader-key", "alice.key", "--leader-id", "alice"];

/** What a gateway does other than to pass a call. */
interface Tricks {
  readonly tls?: { readonly cert: string; readonly key: string };
  /** The whole answer, without asking the server; asks it if there is none. */
  readonly instead?: (
    request: IncomingMessage,
  ) => readonly [status: number, headers?: OutgoingHttpHeaders, body?: string] | false;
  /** Changes the headers of a request: names and values in turn. */
  readonly headers?: (raw: readonly string[]) => string[];
  readonly body?: (body: Buffer) => Buffer;
  /** Changes the headers of an answer. */
  readonly answer?: (headers: OutgoingHttpHeaders, status: number) => OutgoingHttpHeaders;
  /** Whether it keeps a body that was only announced waiting, without a word. */
  readonly isSilent?: boolean;
  /** Whether it says under which address it was asked. True without it. */
  readonly forwarded?: boolean;
}

/** A gateway in front of a server, until the end of the tests. Its URL has the path of the tool. */
async function gateway(server: string, tricks: Tricks = {}): Promise<string> {
  const scheme = tricks.tls === undefined ? "http" : "https";
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    // The date is the server's, if any.
    response.sendDate = false;
    const own = tricks.instead?.(request) ?? false;
    if (own !== false) return void response.writeHead(own[0], own[1]).end(own[2]);
    const raw = tricks.headers?.(request.rawHeaders) ?? request.rawHeaders;
    const isLength = (_: string, at: number) => raw[at - (at % 2)]?.toLowerCase() === "content-length";
    const isWhole = tricks.body !== undefined && Number(request.headers["content-length"] ?? 0) > 0;
    const sent = isWhole ? tricks.body?.(await buffer(request).catch(() => Buffer.alloc(0))) : undefined;
    const forwarded =
      tricks.forwarded === false ? [] : ["X-Forwarded-Proto", scheme, "X-Forwarded-Host", `${request.headers.host}`];
    const size = sent?.length ?? request.headers["content-length"];
    const length = size === undefined ? [] : ["Content-Length", String(size)];
    const upstream = httpRequest(
      `${server}${request.url}`,
      {
        agent: false,
        method: request.method,
        headers: [
          ...raw.filter((text, at) => !isLength(text, at)),
          ...forwarded,
          ...length,
        ] as unknown as OutgoingHttpHeaders,
      },
      (answer) => {
        const headers = tricks.answer?.(answer.headers, answer.statusCode ?? 0) ?? answer.headers;
        response.writeHead(answer.statusCode ?? 0, headers);
        answer.pipe(response);
      },
    );
    upstream.on("error", () => response.destroy());
    request.once("close", () => request.complete || upstream.destroy());
    if (sent === undefined) {
      upstream.flushHeaders();
      request.pipe(upstream);
    } else upstream.end(sent);
  };
  const { tls } = tricks;
  const front = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  if (tricks.isSilent) front.on("checkContinue", () => {});
  return `${scheme}://${await listen(front)}/tool`;
}

let tool: CountingTool;
let origin: string;
let unsigned: string;

/** The meta.json of the folder: what the server has, at another address. */
async function commit(change: (document: Record<string, unknown>) => object = (same) => same): Promise<void> {
  const document = await (await fetch(`${origin}/tool/meta`)).json();
  writeFileSync(
    join(folder, "meta.json"),
    JSON.stringify([change({ ...(document as object), url: "http://localhost/tool" })], undefined, 2),
  );
}

before(async () => {
  tool = countingTool({ input: [one("value"), many("list"), one("more")] });
  origin = (await serveSigned([tool])).url;
  unsigned = (await serveFor([countingTool()])).url;
  writeFileSync(join(folder, "alice.key"), `${alice.seed.toString("hex")}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "bob.key"), bob.seed.toString("base64"), { mode: 0o600 });
  await commit();
});

after(() => assert.equal(tool.calls.invoked, 0, "no probe has run the tool"));

describe("doctor of a healthy server", () => {
  it("passes all checks, signed with a leader's key; also through a gateway", async () => {
    for (const url of [`${origin}/tool`, `${origin}/tool/invoke`, await gateway(origin)]) {
      const { code, checks, failed } = await doctor(url, ...AS_ALICE);
      assert.deepEqual([code, failed], [0, []]);
      assert.deepEqual(
        checks.filter(({ ok }) => ok === true).map(({ name }) => name),
        ["connection", "redirects", "health", "metadata", "public url", "signatures", "headers", "body", "size"],
      );
      assert.deepEqual(
        checks.filter(({ ok }) => ok === null).map(({ name, detail }) => [name, detail]),
        [["tls", "plain HTTP on this machine"]],
      );
    }
    assert.ok(tool.calls.constructed > 0);
  });

  it("prints one line per check, followed by the next step where there is one", async () => {
    const { code, out } = await svcGenIn(folder, ["doctor", `${origin}/tool`]);
    assert.equal(code, 0);
    assert.match(
      out,
      /^✓ connection: 127\.0\.0\.1:\d+\n- tls: plain HTTP on this machine\n✓ redirects: none\n✓ health: 200\n/,
    );
    assert.match(
      out,
      /- body: not checked: only a signed probe can show whether bodies arrive unchanged\n {4}next: pass --leader-key FILE/,
    );
    const coloured = await svcGenIn(folder, ["doctor", `${origin}/tool`], { colour: true });
    assert.ok(coloured.out.includes("\u001b[32m✓\u001b[0m health"));
  });

  it("checks without a leader key that the headers arrive", async () => {
    const { of, failed } = await doctor(`${origin}/tool`);
    assert.deepEqual(failed, []);
    assert.match(of("headers").detail, /^the server receives all six signature headers; pass --leader-key/);
    assert.equal(of("body").ok, null);
  });

  it("never sends a tool without inputs a correct hash, which would run it", async () => {
    const idle = countingTool({ input: [], path: "idle" });
    const { url } = await serveSigned([idle]);
    const { of, failed } = await doctor(`${url}/idle`, ...AS_ALICE);
    assert.deepEqual(failed, ["metadata"]);
    assert.deepEqual([of("body").ok, of("headers").ok, idle.calls.invoked], [null, true, 0]);
  });

  it("checks the body even if authorize() refuses the leader or throws", async () => {
    let fault: Error = new PermissionDenied("not you");
    const closed = countingTool({
      path: "closed",
      authorize: () => {
        throw fault;
      },
    });
    const { url } = await serveSigned([closed]);
    const refused = await doctor(`${url}/closed`, ...AS_ALICE);
    assert.deepEqual([refused.of("body").ok, closed.calls.authorized], [true, 1]);
    assert.match(refused.of("body").detail, /the tool's authorize refuses this leader$/);
    fault = new Error("no database");
    const { of } = await doctor(`${url}/closed`, ...AS_ALICE);
    assert.equal(of("body").detail, "500 tool_invocation_failed");
    assert.match(of("body").next, /\(error code: tool_invocation_failed\)$/);
    assert.equal(closed.calls.invoked, 0);
  });

  it("fails an unsigned server except on a loopback address or with --unsigned; runs no call", async () => {
    const { of, failed } = await doctor(`${unsigned}/tool`);
    assert.deepEqual(failed, ["metadata"]);
    assert.deepEqual([of("signatures").ok, of("headers").ok, of("body").ok], [null, null, null]);
    assert.match(of("size").detail, /^the server accepts an announced body of 12582912 bytes/);
    const everywhere = `http://0.0.0.0:${new URL(unsigned).port}/tool`;
    const open = await doctor(everywhere);
    assert.deepEqual(open.failed, ["tls", "metadata", "signatures"]);
    assert.match(open.of("signatures").next, /SVC_TOOLKIT_CONFIG_PATH/);
    assert.equal((await doctor(everywhere, "--unsigned")).of("signatures").ok, true);
  });

  it("treats every host name as another machine, even one that starts with 127.", async (t) => {
    // As DNS could answer; the names are not known here.
    t.mock.method(dns, "lookup", (...given: unknown[]) => {
      const done = given.at(-1) as (error: null, address: unknown, family?: number) => void;
      const { all } = given.at(-2) as { all?: boolean };
      if (all) done(null, [{ address: "127.0.0.1", family: 4 }]);
      else done(null, "127.0.0.1", 4);
    });
    for (const host of ["127.example.org", "127.0.0.1.example.org", "localhost.example.org"]) {
      const { failed } = await doctor(`http://${host}:${new URL(unsigned).port}/tool`);
      assert.deepEqual(failed, ["tls", "metadata", "signatures"], host);
    }
  });
});

describe("doctor of a connection", () => {
  it("reports a closed port and an unknown name", async () => {
    const host = `127.0.0.1:${await leasePort()}`;
    const refused = await doctor(`http://${host}/tool`);
    assert.deepEqual(
      refused.checks.map(({ name, detail }) => [name, detail]),
      [["connection", `nothing is listening at ${host} (ECONNREFUSED)`]],
    );
    assert.match(refused.of("connection").next, /^start the server, or correct the port/);
    assert.match((await doctor("http://tool.invalid/")).of("connection").detail, /DNS/);
  });

  it("reports http sent to a TLS port, and https sent to a plain one", async () => {
    const certificate = makeCertificate();
    const secure = await gateway(origin, { tls: certificate });
    const plain = await doctor(secure.replace("https:", "http:"));
    assert.deepEqual(plain.failed, ["connection"]);
    assert.match(plain.of("connection").next, /try https/);
    const tls = await doctor(`${origin}/tool`.replace("http:", "https:"));
    assert.deepEqual(tls.failed, ["connection"]);
    assert.match(tls.of("connection").detail, /^the TLS handshake with \S+ failed/);
    assert.match(tls.of("connection").next, /plain HTTP.*use http:\/\//);
  });

  it("judges certificates: trusted, self-signed, expired, about to expire, for another name", async () => {
    const authority = makeCertificate({ name: "authority", to: 100 });
    const issued = makeCertificate({ issuer: authority, to: 50 });
    writeFileSync(join(folder, "ca.pem"), authority.cert);
    const url = await gateway(origin, { tls: issued });
    const trusted = await doctor(url, "--ca", "ca.pem", ...AS_ALICE);
    assert.deepEqual(trusted.failed, []);
    assert.match(
      trusted.of("tls").detail,
      /^TLSv1\.3, the chain is trusted, the certificate expires in (?:49|50) days$/,
    );
    assert.match(trusted.of("public url").detail, /^https:/);

    const unknown = await doctor(url, ...AS_ALICE);
    // The rest is looked at all the same.
    assert.deepEqual([unknown.failed, unknown.of("body").ok], [["tls"], true]);
    assert.match(unknown.of("tls").next, /--ca FILE/);
    assert.match(
      (await doctor(await gateway(origin, { tls: makeCertificate() }))).of("tls").detail,
      /^the certificate is self-signed/,
    );

    const expired = await gateway(origin, { tls: makeCertificate({ issuer: authority, from: -3, to: -1 }) });
    assert.match(
      (await doctor(expired, "--ca", "ca.pem")).of("tls").detail,
      /^the certificate has expired \(CERT_HAS_EXPIRED\)/,
    );
    for (const [to, ok] of [
      [6.9, false],
      [7.5, true],
    ] as const) {
      const ending = await gateway(origin, { tls: makeCertificate({ issuer: authority, to }) });
      const { of } = await doctor(ending, "--ca", "ca.pem");
      assert.equal(of("tls").ok, ok, of("tls").detail);
      if (!ok) assert.match(of("tls").next, /^renew the certificate/);
    }
    const other = (await doctor(url.replace("127.0.0.1", "127.0.0.2"), "--ca", "ca.pem")).checks[0];
    assert.match(`${other?.detail}`, /for another name|nothing is listening/);
  });

  it("stops at a redirect", async () => {
    const redirect = [308, { Location: "https://tools.example/" }] as const;
    const { failed, of } = await doctor(await gateway(origin, { instead: () => redirect }));
    assert.deepEqual(failed, ["redirects"]);
    assert.equal(of("redirects").detail, "308 to https://tools.example/");
  });

  it("removes terminal escapes and bidirectional controls from text of the server", async () => {
    const details = "a\u001b[31m\u0085\u202e\u2066\u200b\u2028\u2029b";
    const headers = { "Content-Type": "application/json", "Retry-After": "1\u0085" };
    const body = JSON.stringify({ error: "overloaded", details });
    const url = await gateway(origin, { instead: () => [503, headers, body] });
    const { out } = await svcGenIn(folder, ["doctor", url]);
    assert.match(out, /503 overloaded: a\ufffd\[31m\ufffd{6}b, Retry-After 1\ufffd/);
    assert.doesNotMatch(out, /[\p{Cf}\p{Zl}\p{Zp}\u0085]/u);
  });
});

describe("doctor of a gateway", () => {
  /** The names and values of the headers whose names fit. */
  const only = (raw: readonly string[], fits: (name: string) => boolean) =>
    raw.filter((_, at) => fits(raw[at - (at % 2)]?.toLowerCase() ?? ""));
  const changed = (name: string, change: (value: string) => string) => (raw: readonly string[]) =>
    raw.map((text, at) => (at % 2 === 1 && raw[at - 1]?.toLowerCase() === name ? change(text) : text));

  it("reports one or all headers dropped", async () => {
    for (const args of [[], AS_ALICE]) {
      const { failed, of } = await doctor(
        await gateway(origin, { headers: (raw) => only(raw, (name) => name !== "x-svc-nonce") }),
        ...args,
      );
      assert.deepEqual(failed, ["headers"]);
      assert.equal(of("headers").detail, "401 X-Svc-Nonce: missing");
      assert.equal(
        of("headers").next,
        "a gateway drops or changes the header: let it pass all headers that start with X-Svc- (error code: auth_failed)",
      );
    }
    const all = await gateway(origin, { headers: (raw) => only(raw, (name) => !name.startsWith("x-svc-")) });
    assert.equal(
      (await doctor(all)).of("headers").detail,
      "401 X-Svc-Sig-V: missing; this server accepts only signed calls",
    );
  });

  it("reports a duplicated header, a changed one and a changed signature", async () => {
    const twice = await gateway(origin, {
      headers: (raw) => [...raw, ...only(raw, (name) => name === "x-svc-nonce")],
    });
    assert.equal((await doctor(twice)).of("headers").detail, "401 X-Svc-Nonce: given twice");
    const lower = await gateway(origin, {
      headers: changed("x-svc-nonce", (text) => text.toLowerCase().slice(1)),
    });
    assert.match((await doctor(lower)).of("headers").detail, /^401 X-Svc-Nonce: expected base64url of 32 bytes/);
    const other = Buffer.alloc(64, 5).toString("base64url");
    const forged = await gateway(origin, { headers: changed("x-svc-leader-signature", () => other) });
    assert.equal(
      (await doctor(forged, ...AS_ALICE)).of("headers").detail,
      "401 X-Svc-Leader-Signature: does not verify with this leader's key in the allow-list",
    );
  });

  it("reports a body whose JSON was reformatted", async () => {
    const url = await gateway(origin, {
      body: (body) => (body[0] === 0x7b ? Buffer.from(JSON.stringify(JSON.parse(body.toString()))) : body),
    });
    const { failed, of } = await doctor(url, ...AS_ALICE);
    assert.deepEqual(failed, ["body"]);
    assert.equal(
      of("body").next,
      "configure the gateway to pass bodies unchanged, byte for byte (error code: input_integrity_error)",
    );
  });

  it("reports a broken envelope", async () => {
    const { failed, of } = await doctor(
      await gateway(origin, { body: (body) => Buffer.from(body.toString().replace('"ports"', '"parts"')) }),
      ...AS_ALICE,
    );
    assert.deepEqual(failed, ["body"]);
    assert.match(of("body").detail, /^422 input_deserialization_error: /);
  });

  it("reports missing X-Forwarded headers", async () => {
    const { failed, of } = await doctor(
      await gateway(origin, { forwarded: false, headers: changed("host", () => "internal:80") }),
    );
    assert.deepEqual(failed, ["public url"]);
    assert.match(of("public url").next, /^configure the gateway to set X-Forwarded-Proto and X-Forwarded-Host/);
  });

  it("tells a gateway's body limit from the tool's own", async () => {
    const limited: Tricks = {
      instead: ({ headers }) =>
        Number(headers["content-length"] ?? 0) > 1_048_576 && [413, { Connection: "close" }, "<h1>413</h1>"],
    };
    for (const args of [[], ["--size", "2000000"]]) {
      const { failed, of } = await doctor(await gateway(origin, limited), ...args);
      assert.deepEqual(failed, ["size"]);
      assert.match(of("size").detail, /^a gateway refuses an? .*body of \d+ bytes \(its 413 is not the tool's\)$/);
      assert.match(of("size").next, /client_max_body_size 12m\) \(error code: payload_too_large\)$/);
    }
    assert.equal(
      (await doctor(await gateway(origin, limited), "--size", "1000000")).of("size").detail,
      "a body of 1000000 bytes reaches the tool",
    );
    const { ok, detail } = (await doctor(await gateway(unsigned, { isSilent: true }))).of("size");
    assert.equal(
      `${ok} ${detail}`,
      "null neither the server nor a gateway answered to an announced body of 12582912 bytes",
    );
    const small = countingTool({ path: "small" });
    const { url } = await serveSigned([small], { maxBody: 1000 });
    const own = await doctor(`${url}/small`);
    assert.deepEqual(own.failed, ["metadata", "size"]);
    assert.match(own.of("size").detail, /exceeds the tool's own limit/);
    writeFileSync(join(folder, "small.json"), '{"invoke_max_body_bytes":1000}');
    assert.equal((await doctor(`${url}/small`, "--config", "small.json")).of("size").ok, true);
  });

  it("reports an answer of a cache", async () => {
    const cached = await doctor(await gateway(origin, { answer: (headers) => ({ ...headers, age: "7" }) }));
    assert.deepEqual([cached.failed, cached.of("cache").detail], [["cache"], "a cache answered GET /health (Age: 7)"]);
  });

  it("reports 502, a dropped Retry-After, compressed requests and answers to every path", async () => {
    const html = (status: number): Tricks => ({ instead: () => [status, { "Content-Type": "text/html" }, "<h1>"] });
    const bad = await doctor(await gateway(origin, html(502)));
    assert.equal(bad.of("health").detail, "502 without a protocol error");
    assert.match(bad.of("health").next, /^the gateway cannot reach the server/);
    const page = await doctor(await gateway(origin, html(200)));
    assert.ok(page.failed.includes("metadata") && page.failed.includes("signatures"));
    const busy = await gateway(origin, {
      instead: ({ method }) =>
        method === "POST" && [503, { "Content-Type": "application/json" }, '{"error":"overloaded"}'],
    });
    const { of } = await doctor(busy);
    assert.equal(of("signatures").detail, "503 overloaded");
    assert.match(of("signatures").next, /\(error code: overloaded\); configure the gateway to pass Retry-After$/);
    const packed = await gateway(origin, { headers: (raw) => [...raw, "Content-Encoding", "gzip"] });
    assert.match((await doctor(packed)).of("signatures").next, /compression of requests/);
  });
});

describe("doctor of a server with a fault", () => {
  it("reports another header prefix", async () => {
    const older = countingTool({ path: "older" });
    const { url } = await serveSigned([older], { headerPrefix: "X-Nexus-" });
    const { of } = await doctor(`${url}/older`, ...AS_ALICE);
    assert.match(of("headers").next, /--header-prefix X-Nexus-/);
    assert.equal((await doctor(`${url}/older`, ...AS_ALICE, "--header-prefix", "X-Nexus-")).of("body").ok, true);
  });

  it("reports a leader that is not in the allow-list, or there with another key", async () => {
    const nobody = await doctor(`${origin}/tool`, "--leader-key", "alice.key", "--leader-id", "carol", "--key-id", "7");
    assert.deepEqual([nobody.failed, nobody.of("body").ok], [["headers"], null]);
    assert.match(
      nobody.of("headers").next,
      /^add this leader ID .* to the server's allow-list.* \(leader carol, key 7\); .*remains in use/,
    );
    const wrong = await doctor(`${origin}/tool`, "--leader-key", "bob.key", "--leader-id", "alice");
    assert.match(
      wrong.of("headers").next,
      /^compare the public key of this leader ID and key ID in the server's allow-list/,
    );
  });

  it("compares the contract and the tool with meta.json, if there is one", async () => {
    try {
      await commit((document) => ({ ...document, description: "Another.", timeout: 5 }));
      const old = await doctor(`${origin}/tool`);
      assert.deepEqual(old.failed, ["metadata"]);
      assert.match(
        old.of("metadata").detail,
        /^the server and meta\.json differ in xyz\.test\.tool\d+@1: compatible: description changed$/,
      );
      await commit((document) => ({ ...document, fqn: "xyz.test.other@1" }));
      assert.match(
        (await doctor(`${origin}/tool`)).of("metadata").detail,
        /^the server has xyz\.test\.tool\d+@1, which is not in meta\.json$/,
      );
      const [own] = JSON.parse(readFileSync(join(folder, "meta.json"), "utf8"));
      const versions = [tool.fqn, tool.fqn.replace("@1", "@2")].map((fqn) => ({ ...own, fqn, description: "A." }));
      writeFileSync(join(folder, "meta.json"), JSON.stringify(versions));
      const side = (await doctor(`${origin}/tool`)).of("metadata").detail;
      assert.ok(side.includes(`differ in ${tool.fqn}: `), side);
      rmSync(join(folder, "meta.json"));
      assert.equal((await doctor(`${origin}/tool`)).of("metadata").ok, null);
    } finally {
      await commit();
    }
  });

  it("reports where metadata is invalid, with the expected and actual value", async () => {
    const meta = (body: string): Tricks => ({
      instead: ({ url = "" }) => url.endsWith("/meta") && [200, {}, body],
    });
    const whole = {
      fqn: "xyz.test.a@1",
      url: "http://h/",
      timeout: 5,
      description: "A.",
      input_schema: {},
      output_schema: {},
    };
    const answers: readonly (readonly [answer: unknown, problem: RegExp])[] = [
      [{ ...whole, timeout: undefined }, /at \/timeout: expected a timeout from 1 to \d+ milliseconds, got nothing$/],
      [{ ...whole, input_schema: "{}" }, /at \/input_schema: expected a JSON Schema, got a text$/],
      [[whole], /: expected an object with fqn, input_schema and output_schema, got a list$/],
    ];
    for (const [answer, problem] of answers) {
      const { of } = await doctor(await gateway(origin, meta(JSON.stringify(answer))));
      assert.match(of("metadata").detail, /^the answer is not metadata: /);
      assert.match(of("metadata").detail, problem);
    }
  });

  it("lists the tools of a server that has none at the address", async () => {
    const { failed, of } = await doctor(`${origin}/tol`);
    assert.deepEqual(failed, ["health", "metadata"]);
    assert.equal(of("health").next, `the server has the tools ${origin}/tool`);
    // The root has a health of its own.
    const root = await doctor(origin);
    assert.deepEqual(root.failed, ["metadata"]);
    assert.equal(root.of("metadata").next, `the server has the tools ${origin}/tool`);
  });

  it("reports an unhealthy tool, and one whose constructor throws", async () => {
    let status = 503;
    const ill = countingTool({ path: "ill", health: () => status });
    const { url } = await serveSigned([ill]);
    assert.match((await doctor(`${url}/ill`)).of("health").detail, /^503: the tool reports itself unhealthy, or/);
    status = 418;
    assert.match((await doctor(`${url}/ill`)).of("health").detail, /^418 without a protocol error/);
    const broken = countingTool({
      path: "broken",
      construct: () => {
        throw new Error("no pool");
      },
    });
    const other = await serveSigned([broken]);
    const { of } = await doctor(`${other.url}/broken`, ...AS_ALICE);
    assert.equal(of("health").detail, "500: the tool's health() or constructor threw");
    assert.match(of("body").next, /\(error code: tool_invocation_failed\)$/);
  });
});

it("reads at most 4 MiB of an answer", async () => {
  const server = createServer((_request, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(65_536)));
    };
    more();
    response.on("drain", more);
  });
  const url = new URL(`http://${await listen(server)}`);
  const { response } = await exchange({ method: "GET", url, timeoutMs: 60_000, acceptsPart: true });
  // With what a socket reads at once.
  const over = (response?.body.length ?? 0) - 4_194_304;
  assert.ok(over > 0 && over <= 65_536, `${over} bytes over the limit`);
});

it("neither a key in place of a URL nor the text of a wrong key file is printed", async () => {
  const run = async (...args: string[]) => (await svcGenIn(folder, ["doctor", ...args])).err;
  const key = "07".repeat(32);
  for (const text of [key, key.slice(2), `${key}00`, `"${key}"`, `KEY=${key}`]) {
    assert.match(await run(text), /, got a key \(see /, text);
  }
  assert.match(await run("http://127.0.0.1", "--leader-key", "none"), /: cannot read "none": the file does not exist/);
  writeFileSync(join(folder, "no.key"), "secret-text");
  const wrong = await run("http://127.0.0.1", "--leader-key", "no.key");
  assert.match(wrong, /^svc-gen: "no\.key" must contain a private key /);
  assert.ok(!wrong.includes("secret-text"));
});
