/** The parts of a call alone, in this process: each beside what does most of the same work without the protocol. */

import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { do_not_optimize, measure } from "mitata";
import { encodeInputPreimage, encodeOutputDeclared } from "#runtime/wire/bcs.js";
import { encodeOutput } from "#runtime/wire/bcs-writer.js";
import type { Contract } from "#runtime/wire/contract.js";
import { EnvelopeReader } from "#runtime/wire/envelope.js";
import { sha256 } from "#runtime/wire/hash.js";
import { InputDecoder } from "#runtime/wire/input.js";
import { parseJson, textOf } from "#runtime/wire/json.js";
import { OutputEncoder, resultBytes } from "#runtime/wire/output.js";
import { InputHasher, inputHashOf, outputHash } from "#runtime/wire/signature.js";
import { entrypoint } from "../e2e/process.js";
import { rowsOfBytes } from "./bodies.js";
import { type Bench, type Figures, type Row, tabulate } from "./report.js";
import { signedCalls } from "./requests.js";

const FIGURE = "ns";

/** One part and what it is measured beside. */
interface Pair {
  readonly name: string;
  readonly floor: readonly [name: string, run: () => unknown];
  run(): unknown;
}

/** Nanoseconds of one run, by mitata: it runs what is short in batches and gives the middle of many. */
async function nanoseconds(run: () => unknown, milliseconds: number): Promise<number> {
  const { p50 } = await measure(() => do_not_optimize(run()), {
    min_cpu_time: milliseconds * 1e6,
    // Without --expose-gc it would make room for a gigabyte instead of a collection.
    gc: false,
  });
  return p50;
}

const INPUT = '{"a":9007199254740993,"b":-17,"label":"call \\"7\\"","tags":["x","y","z"],"note":null}';
const OUTPUT = { ok: { sum: 9007199254740976n, label: 'call "7"', tags: ["x", "y", "z"] } };
/** The same, for what has no bigints. */
const PLAIN_OUTPUT = { ok: { sum: 9007199254740976, label: 'call "7"', tags: ["x", "y", "z"] } };

/** The pairs, over a call of the sum tool and, where size matters, 64 KiB of an array of objects. */
async function pairs(): Promise<Pair[]> {
  const path = join(dirname(entrypoint("sum")), "contracts.js");
  const { contracts } = (await import(pathToFileURL(path).href)) as { contracts: readonly [Contract] };
  const [contract] = contracts;
  const ports = contract.input;
  const body = Buffer.from(INPUT);
  const rows = Buffer.from(rowsOfBytes(65_536));
  const spaced = Buffer.from(JSON.stringify(JSON.parse(rows.toString()), null, 1));
  const [call] = signedCalls(1);
  const envelope = call?.body as Buffer;
  const inputHash = Buffer.from(call?.headers["X-Svc-Input-Hash"] as string, "base64url");
  const reader = new EnvelopeReader(ports);
  const decoder = new InputDecoder(contract);
  const encoder = new OutputEncoder(contract);
  const hasher = new InputHasher(ports);
  const hash = sha256(body);
  const commitments = ports.map(({ many }) => (many ? [hash, hash, hash] : [hash]));
  const declared = ports.map(({ name, many }, i) => ({
    name,
    commitment: { many, kind: "data" as const, commitments: commitments[i] as Buffer[] },
  }));
  const encoded = encoder.encode(OUTPUT);
  const result = resultBytes(encoded);
  const ajv = new Ajv2020({ ownProperties: true, formats: { int64: true } }).compile(JSON.parse(contract.inputSchema));
  const parse = (bytes: Buffer) => JSON.parse(bytes.toString()) as unknown;
  return [
    { name: "reader, a call", floor: ["JSON.parse", () => parse(body)], run: () => parseJson(body) },
    { name: "reader, 64 KiB", floor: ["JSON.parse", () => parse(rows)], run: () => parseJson(rows) },
    {
      name: "canonical text, 64 KiB with spaces",
      floor: ["JSON.parse and JSON.stringify", () => JSON.stringify(parse(spaced))],
      run: () => textOf(parseJson(spaced), 0, "canonical"),
    },
    {
      name: "envelope and input hash, a call",
      floor: ["JSON.parse and SHA-256", () => [parse(envelope), createHash("sha256").update(envelope).digest()]],
      run: () => reader.read(envelope).match(inputHash),
    },
    {
      name: "hash of commitments",
      floor: ["by @mysten/bcs", () => inputHashOf(encodeInputPreimage(declared))],
      run: () => hasher.hash(commitments),
    },
    {
      name: "hash of a result",
      floor: ["SHA-256 of node:crypto", () => createHash("sha256").update(result).digest()],
      run: () => outputHash(result),
    },
    {
      name: "encoder, a result",
      floor: ["JSON.stringify", () => Buffer.from(JSON.stringify(PLAIN_OUTPUT))],
      run: () => encoder.encode(OUTPUT),
    },
    {
      name: "BCS, a result",
      floor: ["by @mysten/bcs", () => encodeOutputDeclared(encoded)],
      run: () => encodeOutput(encoded),
    },
    {
      name: "decoder, an input",
      floor: ["JSON.parse and ajv", () => ajv(parse(body))],
      run: () => decoder.decodeUnsigned(body),
    },
  ];
}

/** Measures every pair, its sides in turn, some milliseconds each time. */
export async function measurePairs(repeats: number, milliseconds: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, floor, run } of await pairs()) {
    const measured: [Figures[], Figures[]] = [[], []];
    for (let repeat = 0; repeat < repeats; repeat++) {
      measured[0].push({ [FIGURE]: await nanoseconds(floor[1], milliseconds) });
      measured[1].push({ [FIGURE]: await nanoseconds(run, milliseconds) });
    }
    const sides = [
      [floor[0], measured[0]],
      [name, measured[1]],
    ] as const;
    rows.push(...tabulate(sides, FIGURE));
  }
  return rows;
}

export const micro: Bench = {
  title: "the parts of a call, each beside what does most of the same work without the protocol",
  run: async ({ repeats, calls }) => ({ rows: await measurePairs(repeats, calls / 40) }),
};
