/** Mutated signed requests against the transport-free handler (protocol.md sections 5 and 7). */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { decodeOutput } from "#client/wire/bcs/bcs.js";
import type { Reply } from "#runtime/server/call/messages.js";
import { serveTools } from "#runtime/server/call/run/served-tool.js";
import { ReplayMemory } from "#runtime/server/replay/memory.js";
import {
  alice,
  aliceKey2,
  bareRequest,
  bob,
  bytes,
  countingTool,
  data,
  invokeService,
  keptLog,
  many,
  one,
  type SignedCall,
  signedCall,
  signedConfig,
  type Values,
} from "./tools.js";

const RUNS = process.env.SVC_TEST_FULL === "1" ? 100_000 : 2_000;

const tool = countingTool({
  input: [
    one("id", { kind: "bigint" }),
    one("label", { kind: "string" }),
    many("tags", { kind: "string" }),
    one("any", { kind: "json" }),
    one("note", { kind: "string" }, true),
  ],
  output: [{ name: "ok", ports: [one("id", { kind: "bigint" })] }],
  invoke: ({ id }) => ({ ok: { id } }),
});
const config = signedConfig([tool.fqn]);
const log = keptLog();
const store = new ReplayMemory();
const service = invokeService({ config, store, log });
const [served] = serveTools([tool.class]);

/** What a leader may send, and the input that its hash commits to. */
const POOL: readonly (readonly [values: Values, input: Record<string, unknown>])[] = [
  [
    { id: data("1"), label: data('"a"'), tags: [data('"x"'), data('"y"')], any: data("null"), note: data("null") },
    { id: 1n, label: "a", tags: ["x", "y"], any: null },
  ],
  [
    {
      id: data("18446744073709551615"),
      label: bytes(' "spaced" '),
      tags: [bytes('"\\u0078"')],
      any: data('{"b":[1.0,{"__proto__":{}}],"1":"é🦭"}'),
      note: data('"n"'),
    },
    {
      id: 2n ** 64n - 1n,
      label: "spaced",
      tags: ["x"],
      any: JSON.parse('{"b":[1.0,{"__proto__":{}}],"1":"é🦭"}'),
      note: "n",
    },
  ],
  [
    // Matches in canonical form only, and in the form of older leaders only.
    {
      id: data("-9223372036854775808"),
      label: data('"\\u0041\\/"', '"A/"'),
      tags: [data('"\\n"')],
      any: data("[ 1.50, 10e20 ]", "[1.5,1e+21]"),
      note: data(" null ", "null"),
    },
    { id: -(2n ** 63n), label: "A/", tags: ["\n"], any: [1.5, 1e21] },
  ],
  [
    { id: data("0"), label: data('""'), tags: [data('""')], any: data("[1e22]", "[1e22]"), note: data("null") },
    { id: 0n, label: "", tags: [""], any: [1e22] },
  ],
  [
    { id: data("0"), label: data('""'), tags: [data('""')], any: data("1E22", "1e22"), note: data("null") },
    { id: 0n, label: "", tags: [""], any: 1e22 },
  ],
  [
    {
      id: data("7"),
      label: data('"many"'),
      tags: Array.from({ length: 40 }, (_, i) => data(`"${i}"`)),
      any: data('{"a":{"a":{"a":[[[[]]]]}}}'),
      note: data("null"),
    },
    {
      id: 7n,
      label: "many",
      tags: Array.from({ length: 40 }, (_, i) => String(i)),
      any: { a: { a: { a: [[[[]]]] } } },
    },
  ],
];
const CALLS = POOL.map(([values], i) => signedCall(tool, values, { leader: [alice, aliceKey2, bob][i % 3] ?? alice }));
const INPUTS = new Map(CALLS.map((call, i) => [call.hash.toString("hex"), POOL[i]?.[1]]));
const SIGNATURES = new Map(CALLS.map((call) => [call.hash.toString("hex"), call.signature.toString("hex")]));

interface Draft {
  body: Buffer;
  headers: [name: string, value: string][];
}

const NASTY = [
  ...'{}[]:,"\\-+.eE01 \n\u0000'.split(""),
  ...String.raw`"" null true 1e999 -0 18446744073709551616 1.0 NaN \ud800 \u0000 [[[[`.split(" "),
  ...'"ports" "port_name" "value" "one" "many" "kind" "data" "bytes" "object" "walrus" "id"'.split(" "),
  ...'"__proto__" "constructor" "label" "tags" {"one":1} {"kind":"data","data":1} MQ== "MQ==" =='.split(" "),
  ...["\ufeff", "[".repeat(200), `"${"x".repeat(70_000)}"`, " ".repeat(1000)],
];
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

const place = (body: Buffer, at: number) => at % (body.length + 1);
const splice = (body: Buffer, at: number, remove: number, insert: Uint8Array) =>
  Buffer.concat([body.subarray(0, at), insert, body.subarray(at + remove)]);
/** The tokens of the body, changed. */
const tokens = (draft: Draft, change: (all: string[]) => string[]) => {
  draft.body = Buffer.from(change(draft.body.toString("latin1").match(TOKEN) ?? []).join(""), "latin1");
};

/** One change, with what it did for the report of a failure. */
interface Mutation {
  readonly what: string;
  readonly with: readonly unknown[];
  readonly mutate: (draft: Draft) => void;
}

const at = fc.nat({ max: 1 << 20 });
const few = fc.nat({ max: 8 });
const nasty = fc.constantFrom(...NASTY);
const which = fc.nat({ max: 5 });
const other = fc.nat({ max: CALLS.length - 1 });

/** A mutation with arguments of its own. */
function mutation<T extends unknown[]>(
  what: string,
  drawn: { [K in keyof T]: fc.Arbitrary<T[K]> },
  mutate: (draft: Draft, ...drawn: T) => void,
): fc.Arbitrary<Mutation> {
  return fc.tuple<T>(...drawn).map((values) => ({ what, with: values, mutate: (draft) => mutate(draft, ...values) }));
}

/** The same for one of the headers. */
function headerChange<T extends unknown[]>(
  what: string,
  drawn: { [K in keyof T]: fc.Arbitrary<T[K]> },
  mutate: (pair: [string, string], draft: Draft, ...drawn: T) => void,
): fc.Arbitrary<Mutation> {
  return mutation<[number, ...T]>(what, [which, ...drawn], (draft, n, ...values) => {
    const pair = draft.headers[n % Math.max(1, draft.headers.length)];
    if (pair !== undefined) mutate(pair, draft, ...values);
  });
}

const bodyMutation: fc.Arbitrary<Mutation> = fc.oneof(
  mutation("set a byte", [at, fc.nat({ max: 255 })], (draft, of, to) => {
    draft.body = splice(draft.body, place(draft.body, of), 1, Uint8Array.of(to));
  }),
  mutation("put text in place of bytes", [at, few, nasty], (draft, of, remove, by) => {
    draft.body = splice(draft.body, place(draft.body, of), remove, Buffer.from(by));
  }),
  mutation("cut a stretch", [at, fc.nat({ max: 64 })], (draft, of, length) => {
    draft.body = splice(draft.body, place(draft.body, of), length, Buffer.of());
  }),
  mutation("cut the end", [at], (draft, of) => {
    draft.body = draft.body.subarray(0, place(draft.body, of));
  }),
  mutation("copy a stretch", [at, at, fc.nat({ max: 64 })], (draft, from, to, length) => {
    const start = place(draft.body, from);
    const part = draft.body.subarray(start, start + length);
    draft.body = splice(draft.body, place(draft.body, to), 0, part);
  }),
  mutation("replace a token", [at, nasty], (draft, of, by) => {
    tokens(draft, (all) => all.map((token, i) => (i === of % all.length ? by : token)));
  }),
  mutation("swap two tokens", [at, at], (draft, of, by) => {
    tokens(draft, (all) => {
      const [a, b] = [of % all.length, by % all.length];
      return all.map((token, i) => (i === a ? all[b] : i === b ? all[a] : token) ?? "");
    });
  }),
  mutation("space the tokens out, which changes nothing", [], (draft) => {
    tokens(draft, (all) => all.flatMap((token) => [token, " "]));
  }),
  mutation("take the body of another request", [other], (draft, of) => {
    draft.body = CALLS[of]?.body ?? draft.body;
  }),
);

const headerMutation: fc.Arbitrary<Mutation> = fc.oneof(
  headerChange("drop a header", [], (pair, draft) => {
    draft.headers.splice(draft.headers.indexOf(pair), 1);
  }),
  headerChange("give a header twice", [], ([name, value], draft) => {
    draft.headers.push([name.toLowerCase(), value]);
  }),
  headerChange(
    "set a header",
    [fc.oneof(nasty, fc.string({ unit: "binary-ascii", maxLength: 90 }))],
    (pair, _, text) => {
      pair[1] = text;
    },
  ),
  headerChange("set a character of a header", [at, fc.string({ minLength: 1, maxLength: 1 })], (pair, _, of, by) => {
    const spot = of % (pair[1].length + 1);
    pair[1] = pair[1].slice(0, spot) + by + pair[1].slice(spot + 1);
  }),
  headerChange("take a header of another request", [other], (pair, _, of) => {
    pair[1] = CALLS[of]?.headers.find(([name]) => name === pair[0])?.[1] ?? "";
  }),
  mutation(
    "add a header",
    [
      fc.constantFrom<[string, string]>(
        ["Content-Encoding", "gzip"],
        ["Content-Encoding", "Identity"],
        ["Transfer-Encoding", "chunked"],
        ["Content-Length", "1e3"],
        ["Content-Length", "99999999999999999999999"],
        ["Content-Type", "text/plain"],
        ["Accept", "application/json"],
      ),
    ],
    (draft, pair) => {
      draft.headers.push(pair);
    },
  ),
);

/** Sends a request without a socket. */
function send({ body, headers: pairs }: Draft): Promise<Reply> {
  const all: [string, string][] = [...pairs];
  if (!all.some(([name]) => name === "Content-Length")) all.push(["Content-Length", String(body.length)]);
  return service.handle(served ?? assert.fail(), bareRequest(all, body));
}

const draftOf = (call: SignedCall): Draft => ({
  body: call.body,
  headers: call.headers.map(([name, value]): [string, string] => [name, value]),
});

const REFUSALS = new Set([401, 411, 413, 415, 422]);

/** Sends a draft and checks the answer against what happened; gives whether the tool ran. */
async function check(draft: Draft): Promise<boolean> {
  const runs = tool.calls.invoked;
  const { entries } = store.stats();
  const reply = await send(draft);
  const ran = tool.calls.invoked - runs;
  const stats = store.stats();
  assert.equal(service.load.runs.inFlight, 0);
  assert.equal(stats.inFlight, 0);
  assert.equal(stats.entries - entries, ran, "an entry for each run, and none without one");
  if (reply.status === 200) {
    // A run, or the answer of an earlier one: the signature and the nonce are those of a leader.
    assert.deepEqual(reply.headers.slice(0, 2), ["content-type", "application/vnd.nexus.canonical-tool-response+bcs"]);
    const { tag } = decodeOutput(reply.body);
    assert.equal(tag, "ok");
  } else {
    assert.equal(ran, 0, "a refused request runs no tool");
    assert.ok(REFUSALS.has(reply.status), `${reply.status} ${Buffer.from(reply.body)}`);
    const { error, details, ...more } = JSON.parse(Buffer.from(reply.body).toString()) as Record<string, string>;
    assert.match(error ?? "", /^[a-z_]+$/);
    assert.ok((details ?? "").length < 300 && Object.keys(more).length === 0);
    assert.doesNotMatch(reply.headers.join(), /tool-signature/i);
  }
  if (ran === 0) return false;
  assert.equal(ran, 1);
  const value = (name: string) => draft.headers.find(([of]) => of.toLowerCase() === name)?.[1] ?? "";
  const hash = Buffer.from(value("x-svc-input-hash"), "base64url").toString("hex");
  assert.equal(Buffer.from(value("x-svc-leader-signature"), "base64url").toString("hex"), SIGNATURES.get(hash));
  assert.deepEqual(tool.calls.inputs.at(-1), INPUTS.get(hash), "the tool saw what the leader signed");
  return true;
}

describe(`${RUNS} mutated signed requests`, () => {
  it("the requests themselves run, once each", async () => {
    for (const call of CALLS) {
      assert.equal(await check(draftOf(call)), true);
      assert.equal(await check(draftOf(call)), false, "an exact retry does not run");
    }
  });

  it("run no tool unless the hash matches, never get 5xx, and do not leave resources behind", async () => {
    let ran = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: CALLS.length - 1 }),
        fc.array(fc.oneof({ weight: 3, arbitrary: bodyMutation }, { weight: 1, arbitrary: headerMutation }), {
          minLength: 1,
          maxLength: 3,
        }),
        // A nonce of its own lets every request run that may.
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        async (pick, mutations, nonce) => {
          const draft = draftOf(CALLS[pick] ?? assert.fail());
          for (const pair of draft.headers) {
            if (pair[0].endsWith("Nonce")) pair[1] = Buffer.from(nonce).toString("base64url");
          }
          for (const { mutate } of mutations) mutate(draft);
          if (await check(draft)) ran++;
          else refused++;
        },
      ),
      { numRuns: RUNS },
    );
    // Neither all one nor all the other, else the mutations would prove nothing.
    assert.ok(ran > RUNS / 100, `${ran} ran`);
    assert.ok(refused > RUNS / 2, `${refused} refused`);
    assert.deepEqual(
      log.entries.filter(({ level }) => level === "error"),
      [],
    );
  });
});
