/** Verifies receipts without a server (protocol.md sections 3 and 4, docs/receipts.md). */

import { Buffer } from "#platform/bytes";
import { sha256 } from "#platform/hash";
import { type Checks, checkOptions } from "../../check-options.js";
import { decodeOutput } from "../../wire/bcs/bcs.js";
import type { MetaSchema } from "../../wire/bcs/bcs-shapes.js";
import { asBuffer } from "../../wire/bytes.js";
import type { Contract } from "../../wire/codec/contract.js";
import { truncated } from "../../wire/printable.js";
import { hex } from "../../wire/receipt.js";
import { InputHasher } from "../../wire/signature/input-hash.js";
import { outputHash, toolSignatureMessage } from "../../wire/signature/signature.js";
import { engine } from "../engine.js";
import { LeaderError } from "../error.js";
import { readKnownContract } from "../known-contract.js";
import { contractIn } from "../options.js";
import { OutputReader } from "../result/output-reader.js";
import { decodeResult, type PublicKey, publicKey } from "../result/result.js";
import type { ByVariant, OutputOf, ToolType, UntypedTool } from "../tool-types.js";
import { parseReceipt, type ReceiptParts, ReceiptSyntaxError } from "./parse-receipt.js";

export interface ReadReceiptOptions {
  /** Public key of the leader that you expect. Without it, the key in the receipt is only claimed to be a leader's. */
  readonly leaderKey?: PublicKey;
  /** Public key of the tool that you expect. Without it, the key in the receipt is only claimed to be the tool's. */
  readonly toolKey?: PublicKey;
  /** Generated contracts that include the tool's. The receipt must fit the contract, and its result has a `value`. */
  readonly contracts?: readonly Contract[];
  /** Metadata of the tool: an answer of `/meta`, or the list in `meta.json`. The receipt must fit its ports. */
  readonly metadata?: string | Uint8Array;
}

/** Maximum number of characters of a name that a claim quotes. */
const MAX_SHOWN = 256;

const OPTIONS = {
  leaderKey: true,
  toolKey: true,
  contracts: true,
  metadata: true,
} as const satisfies Checks<ReadReceiptOptions>;

/** One statement of a receipt. `claimed`: nothing in the receipt, and no option, proves or disproves it. */
export interface ReceiptClaim {
  readonly name:
    | "format"
    | "input_hash"
    | "inputs"
    | "leader_signature"
    | "leader_key"
    | "result"
    | "tool_signature"
    | "tool_key"
    | "contract"
    | "tool"
    | "leader"
    | "time";
  readonly verdict: "true" | "false" | "claimed";
  /** The statement, without inputs and results. */
  readonly text: string;
}

/** A receipt of which no claim is false. */
export interface VerifiedReceipt<Tool extends ToolType = UntypedTool>
  extends Omit<ReceiptParts, "leaderSignature" | "toolSignature"> {
  readonly claims: readonly ReceiptClaim[];
  /** The result in wire order. Values are JSON texts, or references that were not fetched. */
  readonly result: ReceiptResult<Tool>;
}

interface ReceiptPorts {
  /** `many` is undefined without a contract: a list with one value has the same bytes as the value. */
  readonly ports: readonly (ReturnType<typeof decodeOutput>["ports"][number] & { readonly many?: boolean })[];
}

/** `value` has the types of the tool's class, and is undefined without `contracts`. */
type ReceiptResult<Tool extends ToolType> =
  unknown extends OutputOf<Tool>
    ? ReceiptPorts & { readonly tag: string; readonly value?: Readonly<Record<string, unknown>> }
    : ByVariant<OutputOf<Tool>, ReceiptPorts>;

/** A receipt with a false claim. Messages contain no inputs and results. */
export class ReceiptError extends Error {
  override readonly name = "ReceiptError";
  /** All claims; only `format` if the document is not a receipt. */
  readonly claims: readonly ReceiptClaim[];

  constructor(claims: readonly ReceiptClaim[]) {
    super(`receipt: false: ${claims.find(({ verdict }) => verdict === "false")?.text}`);
    this.claims = claims;
  }
}

/**
 * Verifies a receipt: recomputes the input hash and the output hash, and verifies both signatures. Reads nothing but
 * its arguments.
 *
 * Without `leaderKey` and `toolKey`, anyone can create a receipt with keys of their own. Then the claims `leader_key`
 * and `tool_key` are only `claimed`: compare `leader.publicKey` and `toolPublicKey` with the keys that you know.
 *
 * @param bytes the file, at most 12 MiB
 * @throws {@link ReceiptError} if a claim is false; TypeError, RangeError, LeaderError `invalid_metadata` for invalid
 * options
 */
export function readReceipt<Tool extends ToolType = UntypedTool>(
  bytes: string | Uint8Array,
  options: ReadReceiptOptions & { readonly contracts: readonly Contract[] },
): VerifiedReceipt<Tool>;
export function readReceipt(bytes: string | Uint8Array, options?: ReadReceiptOptions): VerifiedReceipt;
export function readReceipt(bytes: string | Uint8Array, options: ReadReceiptOptions = {}): VerifiedReceipt {
  checkOptions("readReceipt", options, OPTIONS);
  const [leaderKey, toolKey] = (["leader", "tool"] as const).map((whose) => {
    const key = options[`${whose}Key`];
    return key === undefined ? undefined : publicKey(key, `${whose} key`).bytes;
  });
  const parts = partsOf(bytes);
  const result = resultOf(parts.bcs);
  const fit = fitOf(parts, options);
  const claims = [
    ...inputClaims(parts),
    keyClaim("leader", parts.leader.publicKey, leaderKey),
    ...resultClaims(parts, result !== undefined),
    keyClaim("tool", parts.toolPublicKey, toolKey),
    ...fit.claims,
    claim("tool", "claimed", `the tool is ${truncated(parts.tool, MAX_SHOWN)}`),
    claim("leader", "claimed", `the leader is ${truncated(parts.leader.id, MAX_SHOWN)}, key ID ${parts.leader.keyId}`),
    claim("time", "claimed", `the result arrived at ${parts.time.toISOString()}`),
  ];
  if (result === undefined || claims.some(({ verdict }) => verdict === "false")) throw new ReceiptError(claims);
  return { ...parts, claims, result: fit.result ?? result };
}

function partsOf(bytes: string | Uint8Array): ReceiptParts {
  try {
    return parseReceipt(bytes);
  } catch (error) {
    if (!(error instanceof ReceiptSyntaxError)) throw error;
    throw new ReceiptError([claim("format", false, error.message)]);
  }
}

function claim(name: ReceiptClaim["name"], verdict: boolean | "claimed", text: string): ReceiptClaim {
  return { name, verdict: typeof verdict === "string" ? verdict : verdict ? "true" : "false", text };
}

function inputClaims({ inputs, inputHash, leader, leaderSignature }: ReceiptParts): ReceiptClaim[] {
  const values = inputs.flatMap((port) => port.values);
  const enclosed = values.filter(({ text }) => text !== undefined);
  const matching = enclosed.filter(({ text, commitment }) => sha256(Buffer.from(text as string)).equals(commitment));
  const hash = new InputHasher(inputs).hash(inputs.map((port) => port.values.map(({ commitment }) => commitment)));
  return [
    claim(
      "input_hash",
      asBuffer(hash).equals(inputHash),
      `the input hash covers the commitments to ${values.length} values`,
    ),
    claim(
      "inputs",
      matching.length === enclosed.length,
      `${enclosed.length} of ${values.length} input values are enclosed and match their commitments`,
    ),
    claim(
      "leader_signature",
      engine().verify(leader.publicKey, inputHash, leaderSignature),
      `the key ${hex(leader.publicKey)} signed this input`,
    ),
  ];
}

function resultClaims(parts: ReceiptParts, isCanonical: boolean): ReceiptClaim[] {
  const { bcs, leaderSignature, nonce, toolPublicKey, toolSignature } = parts;
  const message = toolSignatureMessage(leaderSignature, nonce, outputHash(bcs));
  return [
    claim("result", isCanonical, "the result is canonical BCS"),
    claim(
      "tool_signature",
      engine().verify(toolPublicKey, message, toolSignature),
      `the key ${hex(toolPublicKey)} answered this result to this request`,
    ),
  ];
}

function keyClaim(whose: "leader" | "tool", key: Uint8Array, expected: Uint8Array | undefined): ReceiptClaim {
  return expected === undefined
    ? claim(`${whose}_key`, "claimed", `this key is the ${whose}'s`)
    : claim(`${whose}_key`, asBuffer(key).equals(expected), `this key is the expected key of the ${whose}`);
}

/** Decodes a result; undefined unless it is canonical. */
function resultOf(bcs: Uint8Array): ReturnType<typeof decodeOutput> | undefined {
  try {
    return decodeOutput(bcs);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/**
 * Compares the ports of the input and the result with each given contract, and decodes the result with its types.
 *
 * @throws {@link LeaderError} `invalid_metadata`; TypeError if the contracts do not include the tool's
 */
function fitOf(parts: ReceiptParts, { contracts, metadata }: ReadReceiptOptions) {
  const contract = contracts && contractIn(contracts, parts.tool);
  const schemas = [
    contract && { inputPorts: contract.input, outputVariants: contract.output },
    metadata === undefined ? undefined : readKnownContract(metadata, parts.tool).ports,
  ];
  const claims: ReceiptClaim[] = [];
  let result: VerifiedReceipt["result"] | undefined;
  for (const ports of schemas.filter((schema) => schema !== undefined)) {
    const text = `the input and the result fit the contract of ${truncated(parts.tool, MAX_SHOWN)}`;
    try {
      const decoded = decodeResult(ports, parts.bcs);
      result = {
        tag: decoded.tag,
        ports: decoded.ports.map(({ values, ...port }) => ({ ...port, values: [...values] })),
        ...(contract && { value: new OutputReader(contract).read(decoded) }),
      };
      claims.push(claim("contract", hasPorts(parts, ports), text));
    } catch (error) {
      if (!(error instanceof LeaderError)) throw error;
      claims.push(claim("contract", false, `${text}: ${error.message}`));
    }
  }
  return { claims, result };
}

function hasPorts({ inputs }: ReceiptParts, { inputPorts }: MetaSchema): boolean {
  const isSame = inputs.every(({ name, many }, i) => name === inputPorts[i]?.name && many === inputPorts[i]?.many);
  return isSame && inputs.length === inputPorts.length;
}
