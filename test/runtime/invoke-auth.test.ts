/** Signature headers, expectations and the header prefix (protocol.md sections 1, 5 and 7, steps 1 and 2). */

import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import type { AuthContext } from "#runtime/index.js";
import { ReplayMemory } from "#runtime/index.js";
import { proves, provesRow } from "../proves.js";
import { exchange, expectError, RawConnection, requestText } from "./raw.js";
import {
  alice,
  aliceKey2,
  bob,
  countingTool,
  echoCall,
  echoed,
  expectResult,
  plainCall,
  type SignedCall,
  serveFor,
  serveHasty,
  serveSigned,
  signedConfig,
  type TestServer,
} from "./tools.js";

let caller: AuthContext | undefined;
const tool = countingTool({
  path: "sum",
  authorize: (auth) => {
    caller = auth;
  },
});
let server: TestServer;
before(async () => {
  server = await serveSigned([tool]);
});

const HEADERS = [
  "X-Svc-Sig-V",
  "X-Svc-Leader-Id",
  "X-Svc-Leader-Key-Id",
  "X-Svc-Input-Hash",
  "X-Svc-Leader-Signature",
  "X-Svc-Nonce",
] as const;

type Headers = [name: string, value: string][];

/** The request with other headers, its body announced and never sent: only a refusal can answer it. */
const announced = (call: SignedCall, headers: Headers) =>
  requestText("POST", call.target, [...headers, ["Content-Length", `${call.body.length}`]]);

async function refused(headers: Headers, call = echoCall(tool, "1")): Promise<string> {
  const response = await exchange(server.url, announced(call, headers));
  const details = expectError(response, 401, "auth_failed") ?? assert.fail("no details");
  for (const [name, value] of headers) {
    if (name.startsWith("X-Svc-") && value.length > 3) assert.ok(!details.includes(value), `${name} leaks its value`);
  }
  return details;
}

/** The headers of a fresh call, one of them replaced; undefined leaves it out. */
function replaced(name: string, value: string | undefined, call = echoCall(tool, "1")): Headers {
  return call.headers.flatMap((header): Headers => {
    if (header[0] !== name) return [header];
    return value === undefined ? [] : [[name, value]];
  });
}

describe("every header, before a byte of the body (401)", () => {
  for (const name of HEADERS) {
    it(`${name}: missing`, async () => {
      const hint = name === "X-Svc-Sig-V" ? "; this server accepts only signed calls" : "";
      assert.equal(await refused(replaced(name, undefined)), `${name}: missing${hint}`);
      proves("7.4");
    });

    it(`${name}: repeated, in any letter case, equal or not, also if one is empty`, async () => {
      const call = echoCall(tool, "1");
      const value = call.headers.find(([header]) => header === name)?.[1] ?? "";
      for (const other of [value, "canary", ""]) {
        assert.equal(await refused([...call.headers, [name.toLowerCase(), other]]), `${name}: given twice`);
        assert.equal(await refused([[name.toUpperCase(), other], ...call.headers]), `${name}: given twice`);
      }
      proves("5.8");
    });
  }

  const bytes = (length: number) => Buffer.alloc(length, 0xfb);
  const base64url = (length: number) => {
    const text = bytes(length).toString("base64url");
    const last = text.at(-1) ?? "";
    const stray = String.fromCharCode(last.charCodeAt(0) + 1);
    return {
      "": "empty",
      [`${text}${"=".repeat((3 - (length % 3)) % 3)}`]: "padded",
      [bytes(length).toString("base64").replace(/=+$/, "")]: "the standard alphabet",
      [`${text.slice(0, -1)}${stray}`]: "stray bits",
      [bytes(length - 1).toString("base64url")]: "short",
      [bytes(length + 1).toString("base64url")]: "long",
      [bytes(length).toString("hex")]: "hex",
      [`${text.slice(0, 9)} ${text.slice(9)}`]: "a space within",
      [`${text.slice(0, 9)}, ${text.slice(9)}`]: "a list",
      [`"${text}"`]: "quoted",
      [`${text}.`]: "another character",
      [`${text}A`]: "a character more",
    };
  };
  const of = (length: number) => `expected base64url of ${length} bytes without padding`;
  const WRONG: readonly [name: (typeof HEADERS)[number], values: Record<string, string>, fault: string][] = [
    [
      "X-Svc-Sig-V",
      { "": "empty", "2": "2", "4": "4", "03": "03", "3.0": "3.0", "+3": "a sign", "3, 3": "a list", v3: "v3" },
      "expected 3",
    ],
    [
      "X-Svc-Leader-Id",
      {
        "": "empty",
        "a lice": "a space",
        "al\tice": "a tab",
        "\xe4lice": "latin",
        "alice\x80": "beyond ASCII",
        "a, b": "a list",
      },
      "expected visible ASCII characters",
    ],
    [
      "X-Svc-Leader-Key-Id",
      {
        "": "empty",
        "+0": "plus",
        "-0": "minus",
        "0x0": "hex",
        "0.0": "a point",
        "0e0": "an exponent",
        "0_0": "a separator",
        "0 0": "a space",
        "\xb2": "a superscript",
        canary: "text",
        "0n": "a suffix",
      },
      "expected decimal digits",
    ],
    [
      "X-Svc-Leader-Key-Id",
      {
        "18446744073709551616": "2^64",
        "99999999999999999999": "20 digits",
        ["9".repeat(5_000)]: "5,000 digits",
        "018446744073709551616": "2^64 after a zero",
      },
      "expected a number below 2^64",
    ],
    ["X-Svc-Input-Hash", base64url(32), of(32)],
    ["X-Svc-Leader-Signature", base64url(64), of(64)],
    ["X-Svc-Nonce", base64url(32), of(32)],
  ];
  for (const [name, values, fault] of WRONG) {
    for (const [value, what] of Object.entries(values)) {
      it(`${name}: ${what}`, async () => {
        assert.equal(await refused(replaced(name, value)), `${name}: ${fault}`);
        provesRow(name, {
          "1.2": ["X-Svc-Sig-V"],
          "5.1": ["X-Svc-Sig-V"],
          "5.2": ["X-Svc-Leader-Id"],
          "5.3": ["X-Svc-Leader-Key-Id"],
          "5.4": ["X-Svc-Input-Hash"],
          "5.5": ["X-Svc-Leader-Signature"],
          "5.6": ["X-Svc-Nonce"],
        });
        proves("5.9", "7.19");
      });
    }
  }

  for (const [what, id, kid] of [
    ["an unknown leader", "canary", "0"],
    ["a leader in another case", "Alice", "0"],
    ["the beginning of a leader", "alic", "0"],
    ["a name of Object's", "__proto__", "0"],
    ["an unknown key", "alice", "1"],
    ["the key of another leader", "bob", "18446744073709551615"],
  ] as const) {
    it(`${what} is not in the allow-list`, async () => {
      const headers = replaced("X-Svc-Leader-Id", id).map(([name, value]): Headers[number] => [
        name,
        name === "X-Svc-Leader-Key-Id" ? kid : value,
      ]);
      assert.equal(await refused(headers), "X-Svc-Leader-Key-Id: no such leader and key in the allow-list");
      provesRow(what, { "5.2": ["a leader in another case"] });
      proves("7.4");
    });
  }

  it("a signature over another hash, of another leader, of another key, of one bit more", async () => {
    const [call, other] = [echoCall(tool, "1"), echoCall(tool, "2")];
    const flipped = Buffer.from(call.signature);
    flipped[0] = (flipped[0] ?? 0) ^ 1;
    for (const signature of [
      other.signature,
      call.by(bob).signature,
      call.by(aliceKey2).signature,
      flipped,
      Buffer.alloc(64),
    ]) {
      const headers = replaced("X-Svc-Leader-Signature", signature.toString("base64url"), call);
      assert.equal(
        await refused(headers, call),
        "X-Svc-Leader-Signature: does not verify with this leader's key in the allow-list",
      );
    }
    proves("4.5", "7.4", "7.5", "7.19");
  });

  it("runs nothing and stores nothing: the same nonce runs afterwards", async () => {
    assert.equal(tool.calls.constructed, 0);
    const call = echoCall(tool, "5");
    await refused(replaced("X-Svc-Leader-Id", "mallory", call), call);
    expectResult(await call.send(server.url), echoed("5"), call);
    assert.equal(tool.calls.invoked, 1);
  });
});

describe("accepted requests", () => {
  for (const [what, change] of [
    [
      "leading zeros of the key id",
      ([name, value]: string[]) => [name, name === HEADERS[2] ? `${"0".repeat(500)}${value}` : value],
    ],
    ["header names in any case", ([name = "", value]: string[]) => [name.toUpperCase(), value]],
    ["white space around values", ([name, value]: string[]) => [name, ` \t${value}\t `]],
  ] as const) {
    it(what, async () => {
      const call = echoCall(tool, "6");
      const headers = call.headers.map((header) => change(header) as Headers[number]);
      expectResult(await exchange(server.url, plainCall(call.target, call.body, ...headers)), echoed("6"), call);
      provesRow(what, { "5.2": ["white space around values"], "5.3": ["leading zeros of the key id"] });
    });
  }

  it("any number of zeros before a key id of 20 digits", async () => {
    for (const zeros of [0, 1, 2]) {
      const call = echoCall(tool, "6", { leader: aliceKey2 });
      const headers = replaced("X-Svc-Leader-Key-Id", `${"0".repeat(zeros)}${aliceKey2.kid}`, call);
      expectResult(await exchange(server.url, plainCall(call.target, call.body, ...headers)), echoed("6"), call);
    }
  });

  it("the nonce is not signed: any 32 bytes", async () => {
    for (const fill of [0, 255]) {
      const call = echoCall(tool, "7", { nonce: Buffer.alloc(32, fill) });
      expectResult(await call.send(server.url), echoed("7"), call);
    }
  });

  it("authorize gets the caller: id, key id, hash, signature, nonce", async () => {
    for (const leader of [alice, aliceKey2, bob]) {
      const call = echoCall(tool, `"for ${leader.id}"`, { leader });
      expectResult(await call.send(server.url), echoed(`"for ${leader.id}"`), call);
      assert.ok(caller !== undefined);
      const { leaderId, leaderKeyId, ...parts } = caller;
      assert.deepEqual([leaderId, leaderKeyId], [leader.id, leader.kid]);
      const hex = Object.fromEntries(
        Object.entries(parts).map(([name, part]) => [name, Buffer.from(part).toString("hex")]),
      );
      assert.deepEqual(hex, {
        inputHash: call.hash.toString("hex"),
        leaderSignature: call.signature.toString("hex"),
        nonce: call.nonce.toString("hex"),
      });
    }
    proves("7.9", "7.10", "7.12", "7.15");
  });
});

describe("the order of steps 1 and 2", () => {
  it("length, limit and coding are checked before the signature", async () => {
    const unsigned = (headers: Headers) => exchange(server.url, requestText("POST", tool.target, headers));
    expectError(await unsigned([]), 411, "length_required");
    expectError(await unsigned([["Transfer-Encoding", "chunked"]]), 411, "length_required");
    expectError(await unsigned([["Content-Length", "12582913"]]), 413, "payload_too_large");
    const coded: Headers = [
      ["Content-Length", "1"],
      ["Content-Encoding", "gzip"],
    ];
    expectError(await unsigned(coded), 415, "unsupported_content_encoding");
    proves("7.1");
  });

  it("the signature is checked before `Expect`, and `Expect` before the body", async () => {
    const call = echoCall(tool, "8");
    const expecting: Headers = [...call.headers, ["Expect", "canary"]];
    const response = await exchange(server.url, announced(call, expecting));
    assert.equal(expectError(response, 417, "expectation_failed"), "Expect: only 100-continue");
    const stranger = await exchange(server.url, announced(call, [["Expect", "canary"]]));
    expectError(stranger, 401, "auth_failed");
    proves("7.1");
  });

  it("an unknown caller never gets 100 Continue, and its connection is closed: its body could be read as a request", async () => {
    const call = echoCall(tool, "9");
    // The connection ends at once where the rest of a request is not waited for.
    const { url } = await serveHasty([tool], { lingerMs: 50 }, signedConfig([tool.fqn]));
    for (const headers of [[], replaced("X-Svc-Nonce", "canary", call)]) {
      const connection = await RawConnection.open(url);
      connection.send(announced(call, [...headers, ["Expect", "100-continue"]]));
      const response = await connection.response();
      expectError(response, 401, "auth_failed");
      assert.equal(response.headers.get("connection"), "close");
      assert.equal((await connection.closed()).length, 0);
    }
    proves("7.5");
  });

  for (const [what, extra, status] of [
    ["too long", [["Content-Length", "12582913"]], 413],
    [
      "coded",
      [
        ["Content-Encoding", "gzip"],
        ["Content-Length", "1"],
      ],
      415,
    ],
  ] as const) {
    it(`no 100 Continue for a body that is ${what}`, async () => {
      const headers = [...echoCall(tool, "9").headers, ...extra, ["Expect", "100-continue"]] as Headers;
      assert.equal((await exchange(server.url, requestText("POST", tool.target, headers))).status, status);
      proves("7.5");
    });
  }

  it("a leader gets 100 Continue, then sends its body and gets its answer", async () => {
    for (const expect of ["100-continue", "100-Continue"]) {
      const call = echoCall(tool, "10");
      const connection = await RawConnection.open(server.url);
      connection.send(announced(call, [...call.headers, ["Expect", expect]]));
      assert.equal((await connection.response()).status, 100);
      expectResult(await connection.send(call.body).response(), echoed("10"), call);
      const next = echoCall(tool, "11");
      expectResult(await connection.send(next.text()).response(), echoed("11"), next);
      connection.close();
    }
    proves("7.5");
  });

  for (const expectation of ["100-continue, canary", "canary", "200-ok", "x100-continue", "100-continue=1"]) {
    it(`417 for Expect: ${expectation}`, async () => {
      const call = echoCall(tool, "12");
      const response = await exchange(server.url, announced(call, [...call.headers, ["Expect", expectation]]));
      expectError(response, 417, "expectation_failed");
      const get = requestText("GET", "/tools", [["Expect", expectation]]);
      expectError(await exchange(server.url, get), 417, "expectation_failed");
      proves("7.5", "7.22");
    });
  }
});

describe("headerPrefix", () => {
  it("exactly one prefix is read and written", async () => {
    const older = await serveSigned([tool], { headerPrefix: "X-Nexus-", replayStore: new ReplayMemory() });
    const call = echoCall(tool, "20", { prefix: "X-Nexus-" });
    const response = await call.send(older.url);
    assert.equal(response.status, 200, response.body.toString());
    const names = [...response.headers.keys()].filter((name) => name.startsWith("x-")).sort();
    assert.deepEqual(names, ["x-nexus-replay-memory", "x-nexus-sig-v", "x-nexus-tool-signature", "x-request-id"]);
    const other = echoCall(tool, "20");
    assert.equal(
      expectError(await other.send(older.url), 401, "auth_failed"),
      "X-Nexus-Sig-V: missing; this server accepts only signed calls",
      "the other prefix is nothing here",
    );
    assert.equal(await refused(call.headers, call), "X-Svc-Sig-V: missing; this server accepts only signed calls");
    const both = [...other.headers.slice(0, 1), ...call.headers] as Headers;
    const answer = await exchange(older.url, plainCall(call.target, call.body, ...both));
    assert.equal(answer.status, 200, "of another prefix nothing is looked at");
    proves("1.1");
  });

  it("a prefix that cannot begin a header name is a start-up error", async () => {
    for (const headerPrefix of ["", "X-Svc", "X Svc-", "X-Svc:-", "-", "\u00c4-", "X-\r\n-"]) {
      await assert.rejects(serveFor([tool], { headerPrefix }), /^RangeError: headerPrefix: expected/);
    }
  });
});

describe("without a response_signing_key", () => {
  it("a result has no signature headers, and a warning at start names the tool", async () => {
    const quiet = countingTool();
    const config = signedConfig([quiet.fqn], { key: false });
    const { url, log } = await serveFor([quiet], { config });
    const named = log.filter(({ fields }) => fields.tool === quiet.fqn && fields.err === undefined);
    assert.deepEqual(
      named.map(({ level, message }) => [level, message]),
      [["warn", "results of the tool are not signed: add response_signing_key to its entry in the configuration"]],
    );
    expectResult(await echoCall(quiet, "1").send(url), echoed("1"));
    proves("7.15", "11.5");
  });
});
