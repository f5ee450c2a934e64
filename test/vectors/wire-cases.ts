/**
 * Runs the vectors that need neither Node nor a server: JSON, hashes, signatures, values, results, and the client's
 * requests. Bundled for other platforms too (test/portable), so it imports nothing of Node.
 */

import { hexToBytes as fromHex, bytesToHex as hex } from "@noble/hashes/utils.js";
import {
  buildEnvelope,
  decodeResult,
  JsonText,
  prepareSigningKey,
  publicKeyOf,
  signRequest,
  verifyToolSignature,
} from "svc-runtime/leader";
import { parseFqn } from "#client/fqn.js";
import { decodeOutput } from "#client/wire/bcs/bcs.js";
import type { RawOutput } from "#client/wire/bcs/bcs-shapes.js";
import { encodeOutput } from "#client/wire/bcs/bcs-writer.js";
import { NexusData, OffchainToolOutput } from "#client/wire/bcs/data.js";
import { asBuffer } from "#client/wire/bytes.js";
import type { Contract, Port } from "#client/wire/codec/contract.js";
import { derivePorts } from "#client/wire/codec/ports.js";
import { committedBytes } from "#client/wire/envelope/committed-texts.js";
import { EnvelopeReader } from "#client/wire/envelope/envelope.js";
import { itemsOf } from "#client/wire/json/document.js";
import { textOf } from "#client/wire/json/print.js";
import { stringOf, uniqueMembers } from "#client/wire/json/read.js";
import { parseJson } from "#client/wire/json/scan.js";
import type { Ed25519Engine } from "#client/wire/signature/ed25519-engine.js";
import { sha256 } from "#client/wire/signature/portable-crypto.js";
import { outputHash, toolSignatureMessage } from "#client/wire/signature/signature.js";
import { OutputEncoder, resultBytes } from "#runtime/server/wire/output.js";
import { contractWith } from "../wire/codecs.js";
import { commitmentOf, encodeMetaSchema, encodeOutputDeclared, encodePortCommitment } from "../wire/declared-bcs.js";

/** How one case went: `fault` says what differed. */
export interface Outcome {
  readonly file: string;
  readonly name: string;
  readonly fault?: string;
}

/** Thrown by {@link expect}. */
class Difference extends Error {}

export function expect(what: string, got: unknown, wanted: unknown): void {
  if (got !== wanted) throw new Difference(`${what}: expected ${short(wanted)}, got ${short(got)}`);
}

/** A value as a message shows it. */
export function short(value: unknown): string {
  const text = typeof value === "string" ? value : String(JSON.stringify(value) ?? value);
  return text.length > 120 ? `${text.slice(0, 120)}… (${text.length})` : text;
}

export function outcome(file: string, name: string, check: () => void): Outcome {
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
export function attempt<T>(make: () => T): { value: T } | { error: Error } {
  try {
    return { value: make() };
  } catch (error) {
    return { error: error as Error };
  }
}

const utf8 = (text: string) => new TextEncoder().encode(text);
const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
const fromBase64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const base64 = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
const fromBase64url = (text: string) => fromBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
const base64url = (bytes: Uint8Array) => base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

interface JsonCase {
  input: string;
  accepted: boolean;
  output: string | null;
  output_before_1_0_147?: string;
  note: string;
}

function* jsonCanonical(file: string, cases: JsonCase[]): Generator<Outcome> {
  for (const [i, { input, accepted, output, output_before_1_0_147: legacy, note }] of cases.entries()) {
    yield outcome(file, `${i} ${note}`, () => {
      const parsed = attempt(() => parseJson(fromBase64(input)));
      expect("accepted", "value" in parsed, accepted);
      if (!("value" in parsed)) return;
      expect("canonical", base64(textOf(parsed.value, 0, "canonical")), output);
      expect("legacy", base64(textOf(parsed.value, 0, "legacy")), legacy ?? output);
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

function* signing(file: string, cases: SigningCase[], engines: readonly Ed25519Engine[]): Generator<Outcome> {
  for (const [i, vector] of cases.entries()) {
    yield outcome(file, `${i}`, () => {
      const schema = derivePorts(vector.input_schema, vector.output_schema);
      const texts = new EnvelopeReader(schema.inputPorts)
        .read(utf8(vector.body))
        .match(asBuffer(fromHex(vector.input_hash)));
      if (texts === undefined) throw new Difference("no form of the body has the input hash");
      const canonicalTexts = texts.map((items) =>
        items.map((item) => {
          const [document, entry] = item.document ? [item.document, item.entry] : [parseJson(item.bytes), 0];
          return text(textOf(document, entry, "canonical"));
        }),
      );
      const members = schema.inputPorts.map(
        ({ name, many }, p) =>
          `${JSON.stringify(name)}:${many ? `[${canonicalTexts[p]?.join()}]` : canonicalTexts[p]?.[0]}`,
      );
      expect("semantic input", `{${members.join()}}`, vector.semantic_input);

      const header = (name: string) => vector.request_headers[`X-Svc-${name}`];
      const leaderSignature = fromBase64url(header("Leader-Signature") ?? "");
      const inputHash = fromHex(vector.input_hash);
      expect("Input-Hash", header("Input-Hash"), base64url(inputHash));
      expect("Nonce", header("Nonce"), base64url(fromHex(vector.nonce)));
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
      const toolSignature = fromBase64url(vector.response_headers["X-Svc-Tool-Signature"] ?? "");
      for (const engine of engines) {
        const leader = prepareSigningKey(fromHex(vector.leader_private_key));
        const tool = prepareSigningKey(fromHex(vector.tool_private_key));
        expect(`${engine.name} leader signature`, hex(engine.sign(leader, inputHash)), hex(leaderSignature));
        expect(`${engine.name} tool signature`, hex(engine.sign(tool, message)), hex(toolSignature));
        expect(`${engine.name} leader verify`, engine.verify(leader.publicKey, inputHash, leaderSignature), true);
        expect(`${engine.name} tool verify`, engine.verify(tool.publicKey, message, toolSignature), true);
      }

      // The client's side: the same request from the values, and the answer verified and decoded.
      const input = schema.inputPorts.map(({ name, many }, p) => {
        const values = (texts[p] ?? []).map(
          (item) =>
            // A root is what was sent as `bytes`.
            new JsonText(
              item.document && item.entry !== 0 ? textOf(item.document, item.entry, "canonical") : committedBytes(item),
            ),
        );
        return [name, many ? values : values[0]] as const;
      });
      const leader = {
        id: vector.leader_id,
        keyId: BigInt(vector.leader_key_id),
        key: vector.leader_private_key,
      };
      const envelope = buildEnvelope(schema.inputPorts, Object.fromEntries(input));
      const request = signRequest(envelope, leader, { nonce: fromHex(vector.nonce) });
      for (const [name, value] of Object.entries(vector.request_headers)) {
        if (name.startsWith("X-Svc-")) expect(`client's ${name}`, request.headers[name], value);
      }
      const isTools = verifyToolSignature(vector.tool_public_key, request, bcs, toolSignature);
      expect("tool signature by the client", isTools, true);
      expect("tag by the client", decodeResult(schema, bcs).tag, result.tag);
    });
  }
}

/** The result of a signing case: the texts of its members are the inline bytes of the ports. */
function rawOutput({ output: text, output_schema }: SigningCase): RawOutput {
  const document = parseJson(utf8(text));
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

interface Ed25519Case {
  public_key: string;
  message: string;
  signature: string;
  verify_strict: boolean;
  source: string;
  id: string;
}

function* ed25519(file: string, cases: Ed25519Case[], engines: readonly Ed25519Engine[]): Generator<Outcome> {
  for (const { public_key, message, signature, verify_strict, source, id } of cases) {
    yield outcome(file, `${source} ${id}`, () => {
      for (const engine of engines) {
        const verdict = engine.verify(fromHex(public_key), fromHex(message), fromHex(signature));
        expect(engine.name, verdict, verify_strict);
      }
    });
  }
}

function* fqn(file: string, cases: { fqn: string; ok: boolean }[]): Generator<Outcome> {
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

function* schema(file: string, cases: SchemaCase[]): Generator<Outcome> {
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

interface NexusDataCase {
  name: string;
  json: string;
  expect: { ok: boolean } & Record<string, unknown>;
}

function* nexusData(file: string, cases: NexusDataCase[]): Generator<Outcome> {
  for (const { name, json, expect: wanted } of cases) {
    yield outcome(file, name, () => {
      const read = attempt(() => NexusData.fromJson(json));
      expect("ok", "value" in read, wanted.ok);
      if (!("value" in read)) return;
      const data = read.value;
      const commitment = (kind: "data" | "object") =>
        data.kind === kind ? encodePortCommitment(commitmentOf(data)) : null;
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
        const bytes = typeof got === "string" ? utf8(got) : got;
        const digest = member.endsWith("_sha256") && bytes !== null ? hex(sha256(bytes)) : undefined;
        expect(member, digest ?? (got === null || typeof got === "string" ? got : hex(got)), value);
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

function* output(file: string, cases: OutputCase[]): Generator<Outcome> {
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
  return contractWith({
    outputSchema,
    output: outputVariants.map(({ name, ports }) => ({ name, ports: ports.map(port) })),
  });
}

type Runner = (file: string, cases: never, engines: readonly Ed25519Engine[]) => Generator<Outcome>;

const RUNNERS: Readonly<Record<string, Runner>> = {
  "json-canonical.json": jsonCanonical,
  "signing.json": signing,
  "ed25519.json": ed25519,
  "fqn.json": fqn,
  "schema.json": schema,
  "nexus-data.json": nexusData,
  "output.json": output,
};

/** The files that these runners know. */
export const WIRE_FILES: readonly string[] = Object.keys(RUNNERS);

/** Runs the cases of one file, signatures by each engine. */
export function runWireCases(file: string, cases: unknown, engines: readonly Ed25519Engine[]): Generator<Outcome> {
  return (RUNNERS[file] as Runner)(file, cases as never, engines);
}
