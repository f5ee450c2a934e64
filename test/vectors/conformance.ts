/** Runs recorded vectors against this code: one function for each file of a directory laid out like this one. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { ToolkitRuntimeConfig } from "#runtime/config/config.js";
import { parseFqn } from "#runtime/fqn.js";
import { decodeOutput, encodeMetaSchema, encodeOutputDeclared } from "#runtime/wire/bcs.js";
import type { RawOutput } from "#runtime/wire/bcs-shapes.js";
import { encodeOutput } from "#runtime/wire/bcs-writer.js";
import type { Contract, Port } from "#runtime/wire/contract.js";
import { NexusData, OffchainToolOutput } from "#runtime/wire/data.js";
import {
  type Ed25519Engine,
  loadSodiumEngine,
  nobleEngine,
  nodeEngine,
  prepareSigningKey,
  publicKeyOf,
} from "#runtime/wire/ed25519.js";
import { EnvelopeReader } from "#runtime/wire/envelope.js";
import { itemsOf, parseJson, stringOf, textOf, uniqueMembers } from "#runtime/wire/json.js";
import { OutputEncoder, resultBytes } from "#runtime/wire/output.js";
import { derivePorts } from "#runtime/wire/ports.js";
import { outputHash, toolSignatureMessage } from "#runtime/wire/signature.js";
import { runHttpCases } from "./http.js";
import { readVectors } from "./read.js";

/** How one case went: `fault` says what differed. */
export interface Outcome {
  readonly file: string;
  readonly name: string;
  readonly fault?: string;
}

type Runner = (file: string, directory: string) => AsyncGenerator<Outcome> | Generator<Outcome>;

/** The files that a directory may hold, in the order in which they run. */
export const RUNNERS: Readonly<Record<string, Runner>> = {
  "json-canonical.json": jsonCanonical,
  "signing.json": signing,
  "ed25519.json": ed25519,
  "fqn.json": fqn,
  "schema.json": schema,
  "config.json": config,
  "nexus-data.json": nexusData,
  "output.json": output,
  "http.json": (file, directory) => runHttpCases(file, directory),
};

/** Runs every vector file that the directory holds. */
export async function* runDirectory(directory: string): AsyncGenerator<Outcome> {
  for (const [file, runner] of Object.entries(RUNNERS)) {
    if (existsSync(`${directory}/${file}`)) yield* runner(file, directory);
  }
}

/** Thrown by {@link expect}. */
class Difference extends Error {}

function expect(what: string, got: unknown, wanted: unknown): void {
  if (got !== wanted) throw new Difference(`${what}: expected ${short(wanted)}, got ${short(got)}`);
}

/** A value as a message shows it. */
export function short(value: unknown): string {
  const text = typeof value === "string" ? value : String(JSON.stringify(value) ?? value);
  return text.length > 120 ? `${text.slice(0, 120)}… (${text.length})` : text;
}

function outcome(file: string, name: string, check: () => void): Outcome {
  try {
    check();
    return { file, name };
  } catch (error) {
    return {
      file,
      name,
      fault: error instanceof Difference ? error.message : String((error as Error)?.stack ?? error),
    };
  }
}

/** The value of an expression, or the error that it throws. */
function attempt<T>(make: () => T): { value: T } | { error: Error } {
  try {
    return { value: make() };
  } catch (error) {
    return { error: error as Error };
  }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const fromHex = (text: string) => Buffer.from(text, "hex");
const sha256Hex = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

interface JsonCase {
  input: string;
  accepted: boolean;
  output: string | null;
  output_before_1_0_147?: string;
  note: string;
}

function* jsonCanonical(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: JsonCase[] }>(file, directory);
  for (const [i, { input, accepted, output, output_before_1_0_147: legacy, note }] of cases.entries()) {
    yield outcome(file, `${i} ${note}`, () => {
      const parsed = attempt(() => parseJson(Buffer.from(input, "base64")));
      expect("accepted", "value" in parsed, accepted);
      if (!("value" in parsed)) return;
      expect("canonical", textOf(parsed.value, 0, "canonical").toString("base64"), output);
      expect("legacy", textOf(parsed.value, 0, "legacy").toString("base64"), legacy ?? output);
    });
  }
}

/** One case of signing.json; texts are JSON, hashes and keys hex. */
export interface SigningCase {
  input_schema: string;
  output_schema: string;
  body: string;
  semantic_input: string;
  input_hash: string;
  nonce: string;
  leader_id: string;
  leader_key_id: string;
  leader_private_key: string;
  leader_public_key: string;
  request_headers: Record<string, string>;
  output: string;
  output_bcs: string;
  output_hash: string;
  tool_private_key: string;
  tool_public_key: string;
  tool_signature_message: string;
  response_headers: Record<string, string>;
}

function* signing(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: SigningCase[] }>(file, directory);
  for (const [i, vector] of cases.entries()) {
    yield outcome(file, `${i}`, () => {
      const schema = derivePorts(vector.input_schema, vector.output_schema);
      const texts = new EnvelopeReader(schema.inputPorts)
        .read(Buffer.from(vector.body))
        .match(fromHex(vector.input_hash));
      if (texts === undefined) throw new Difference("no form of the body has the input hash");
      const canonicalTexts = texts.map((items) =>
        items.map((text) => {
          const [document, entry] = text.document ? [text.document, text.entry] : [parseJson(text.bytes), 0];
          return textOf(document, entry, "canonical").toString();
        }),
      );
      const members = schema.inputPorts.map(
        ({ name, many }, p) =>
          `${JSON.stringify(name)}:${many ? `[${canonicalTexts[p]?.join()}]` : canonicalTexts[p]?.[0]}`,
      );
      expect("semantic input", `{${members.join()}}`, vector.semantic_input);

      const header = (name: string) => vector.request_headers[`X-Svc-${name}`];
      const leaderSignature = Buffer.from(header("Leader-Signature") ?? "", "base64url");
      const inputHash = fromHex(vector.input_hash);
      expect("Input-Hash", header("Input-Hash"), inputHash.toString("base64url"));
      expect("Nonce", header("Nonce"), fromHex(vector.nonce).toString("base64url"));
      expect("Leader-Id", header("Leader-Id"), vector.leader_id);
      expect("Leader-Key-Id", header("Leader-Key-Id"), vector.leader_key_id);
      expect("Sig-V", header("Sig-V"), "3");
      expect("leader public key", hex(publicKeyOf(fromHex(vector.leader_private_key))), vector.leader_public_key);
      expect("tool public key", hex(publicKeyOf(fromHex(vector.tool_private_key))), vector.tool_public_key);

      const result = rawOutput(vector);
      const bcs = encodeOutput(result);
      expect("output BCS", hex(bcs), vector.output_bcs);
      expect("output BCS as declared", hex(encodeOutputDeclared(result)), vector.output_bcs);
      expect("decoded output", hex(encodeOutput(decodeOutput(bcs))), vector.output_bcs);
      expect("output hash", hex(outputHash(bcs)), vector.output_hash);
      const message = toolSignatureMessage(leaderSignature, fromHex(vector.nonce), outputHash(bcs));
      expect("tool signature message", hex(message), vector.tool_signature_message);
      const toolSignature = Buffer.from(vector.response_headers["X-Svc-Tool-Signature"] ?? "", "base64url");
      for (const engine of engines()) {
        const leader = prepareSigningKey(fromHex(vector.leader_private_key));
        const tool = prepareSigningKey(fromHex(vector.tool_private_key));
        expect(`${engine.name} leader signature`, hex(engine.sign(leader, inputHash)), hex(leaderSignature));
        expect(`${engine.name} tool signature`, hex(engine.sign(tool, message)), hex(toolSignature));
        expect(`${engine.name} leader verify`, engine.verify(leader.publicKey, inputHash, leaderSignature), true);
        expect(`${engine.name} tool verify`, engine.verify(tool.publicKey, message, toolSignature), true);
      }
    });
  }
}

/** The result of a signing case: the texts of its members are the inline bytes of the ports. */
function rawOutput({ output: text, output_schema }: SigningCase): RawOutput {
  const document = parseJson(Buffer.from(text));
  const [[tagKey, payload] = [0, 0]] = uniqueMembers(document, 0);
  const tag = stringOf(document, tagKey);
  const variant = derivePorts('{"properties":{}}', output_schema).outputVariants.find(({ name }) => name === tag);
  const members = new Map(uniqueMembers(document, payload).map(([key, value]) => [stringOf(document, key), value]));
  return {
    tag,
    ports: (variant?.ports ?? []).map(({ name, many }) => {
      const entry = members.get(name) ?? 0;
      const entries = many ? itemsOf(document, entry) : [entry];
      return { name, values: entries.map((at) => ({ kind: "inline", bytes: textOf(document, at, "sent") })) };
    }),
  };
}

let loaded: readonly Ed25519Engine[] | undefined;

/** Every engine that works here; libsodium is an optional dependency. */
export function engines(): readonly Ed25519Engine[] {
  const sodium = loadSodiumEngine();
  loaded ??= [...(sodium === undefined ? [] : [sodium]), nodeEngine, nobleEngine];
  return loaded;
}

interface Ed25519Case {
  public_key: string;
  message: string;
  signature: string;
  verify_strict: boolean;
  source: string;
  id: string;
}

function* ed25519(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: Ed25519Case[] }>(file, directory);
  for (const { public_key, message, signature, verify_strict, source, id } of cases) {
    yield outcome(file, `${source} ${id}`, () => {
      for (const engine of engines()) {
        const verdict = engine.verify(fromHex(public_key), fromHex(message), fromHex(signature));
        expect(engine.name, verdict, verify_strict);
      }
    });
  }
}

function* fqn(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: { fqn: string; ok: boolean }[] }>(file, directory);
  for (const { fqn, ok } of cases) {
    yield outcome(file, JSON.stringify(fqn), () => expect("ok", parseFqn(fqn) !== undefined, ok));
  }
}

interface SchemaCase {
  name: string;
  input_schema: string;
  output_schema: string;
  expect: { ok: boolean; bcs?: string; meta_schema?: unknown };
}

function* schema(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: SchemaCase[] }>(file, directory);
  for (const { name, input_schema, output_schema, expect: wanted } of cases) {
    yield outcome(file, name, () => {
      const derived = attempt(() => derivePorts(input_schema, output_schema));
      expect("ok", "value" in derived, wanted.ok);
      if (!("value" in derived)) return;
      expect("bcs", hex(encodeMetaSchema(derived.value)), wanted.bcs);
      const shape = ({ name, many }: { name: string; many: boolean }) => ({
        port_name: name,
        cardinality: many ? "many" : "one",
        value_kind: "data",
      });
      const metaSchema = {
        input_ports: derived.value.inputPorts.map(shape),
        output_variants: derived.value.outputVariants.map(({ name, ports }) => ({
          variant_name: name,
          ports: ports.map(shape),
        })),
      };
      expect("meta schema", JSON.stringify(metaSchema), JSON.stringify(wanted.meta_schema));
    });
  }
}

interface ConfigCase {
  name: string;
  config: string;
  expect: { ok: boolean; signed_http_is_required?: boolean; has_tool?: boolean };
}

function* config(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: ConfigCase[] }>(file, directory);
  // The limit is a u64: read from the text, since JSON.parse would round it.
  for (const { name, config, expect: wanted } of cases) {
    yield outcome(file, name, () => {
      const loaded = attempt(() => ToolkitRuntimeConfig.fromJsonStr(config));
      expect("ok", "value" in loaded, wanted.ok);
      if (!("value" in loaded)) return;
      const limit = /^\{\s*"invoke_max_body_bytes":\s*(\d+)/.exec(config)?.[1] ?? "12582912";
      expect("invoke_max_body_bytes", loaded.value.invokeMaxBodyBytes(), BigInt(limit));
      expect("signed_http_is_required", loaded.value.signedHttpIsRequired(), wanted.signed_http_is_required);
      expect("has_tool", loaded.value.hasTool("xyz.demo.sum@1"), wanted.has_tool);
    });
  }
}

interface NexusDataCase {
  name: string;
  json: string;
  expect: { ok: boolean } & Record<string, unknown>;
}

function* nexusData(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: NexusDataCase[] }>(file, directory);
  for (const { name, json, expect: wanted } of cases) {
    yield outcome(file, name, () => {
      const read = attempt(() => NexusData.fromJson(json));
      expect("ok", "value" in read, wanted.ok);
      if (!("value" in read)) return;
      const data = read.value;
      const commitment = (kind: "data" | "object") => {
        const made = attempt(() => data.commitmentBcs(kind));
        return "value" in made ? made.value : null;
      };
      const actual: Record<string, Uint8Array | string | null> = {
        bcs: data.toBcs(),
        json: data.toJson(),
        commitment_bcs_as_data: commitment("data"),
        commitment_bcs_as_object: commitment("object"),
      };
      for (const [member, value] of Object.entries(wanted)) {
        // Of a large result the file has the hash only, and null in the place of the result.
        if (member === "ok" || member === "error" || `${member}_sha256` in wanted) continue;
        const got = actual[member.replace(/_sha256$/, "")];
        if (got === undefined) throw new Difference(`unknown expectation ${member}`);
        const text = got === null || typeof got === "string" ? got : hex(got);
        expect(member, member.endsWith("_sha256") && got !== null ? sha256Hex(got) : text, value);
      }
    });
  }
}

interface OutputCase {
  name: string;
  output_schema: string;
  tag: string;
  ports: [name: string, json: string][];
  expect: { conforms: boolean; bcs?: string; output_hash?: string };
}

function* output(file: string, directory: string): Generator<Outcome> {
  const { cases } = readVectors<{ cases: OutputCase[] }>(file, directory);
  for (const { name, output_schema, tag, ports, expect: wanted } of cases) {
    yield outcome(file, name, () => {
      const explicit = ports.map(([port, json]) => [port, NexusData.fromJson(json)] as const);
      const bcs = encodeOutput({ tag, ports: explicit.map(([name, { values }]) => ({ name, values })) });
      if (wanted.bcs !== undefined) expect("bcs", hex(bcs), wanted.bcs);
      if (wanted.output_hash !== undefined) expect("output hash", hex(outputHash(bcs)), wanted.output_hash);
      const encoder = new OutputEncoder(contractOfSchema(output_schema));
      const encoded = attempt(() => resultBytes(encoder.encode(OffchainToolOutput.fromPorts(tag, explicit))));
      expect("conforms", "value" in encoded, wanted.conforms);
      if ("value" in encoded) expect("result", hex(encoded.value), hex(bcs));
    });
  }
}

/** A contract whose results have the ports of a schema, each of any type. */
function contractOfSchema(outputSchema: string): Contract {
  const { outputVariants } = derivePorts('{"properties":{}}', outputSchema);
  const port = ({ name, many }: { name: string; many: boolean }): Port => ({ name, many, codec: { kind: "json" } });
  return {
    fqn: "xyz.demo.vectors@1",
    description: "Vectors.",
    path: "",
    timeout: 1000,
    inputSchema: '{"properties":{}}',
    outputSchema,
    input: [],
    output: outputVariants.map(({ name, ports }) => ({ name, ports: ports.map(port) })),
  };
}
