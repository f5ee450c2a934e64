/** The strict reader of receipts (docs/receipts.md): exact members, lengths and encodings. */

import { Buffer } from "#platform/bytes";
import { parseFqn } from "../../fqn.js";
import { decodeBase64 } from "../../wire/base64.js";
import type { PortShape } from "../../wire/bcs/bcs-shapes.js";
import { asBuffer } from "../../wire/bytes.js";
import { DOUBLE, kindAt } from "../../wire/json/document.js";
import { JsonError } from "../../wire/json/error.js";
import { foldTape, scalarOf } from "../../wire/json/read.js";
import { parseJson } from "../../wire/json/scan.js";
import {
  isHeaderPrefix,
  isLeaderId,
  MAX_INPUT_PORTS,
  MAX_NAME_BYTES,
  MAX_RESULT_BYTES,
  MAX_U64,
  MAX_VALUES,
} from "../../wire/protocol.js";
import { RECEIPT_VERSION } from "../../wire/receipt.js";

/** Maximum size of a receipt in bytes. It holds all committed texts of a call (8 MiB) even where each needs escapes. */
export const MAX_RECEIPT_BYTES = 12 * 1024 * 1024;

/** One input value: its commitment (32 bytes) and, if it is enclosed, its text. */
export interface CommittedValue {
  readonly commitment: Uint8Array;
  readonly text?: string;
}

export interface ReceiptInput extends PortShape {
  readonly values: readonly CommittedValue[];
}

/** Members of a receipt, decoded but not verified. */
export interface ReceiptParts {
  readonly tool: string;
  readonly time: Date;
  readonly headerPrefix: string;
  readonly leader: { readonly id: string; readonly keyId: bigint; readonly publicKey: Uint8Array };
  readonly nonce: Uint8Array;
  readonly inputHash: Uint8Array;
  readonly leaderSignature: Uint8Array;
  readonly inputs: readonly ReceiptInput[];
  readonly bcs: Uint8Array;
  readonly toolSignature: Uint8Array;
  readonly toolPublicKey: Uint8Array;
}

/** The document is not a receipt. `message` begins with the JSON pointer of the fault. */
export class ReceiptSyntaxError extends Error {
  override readonly name = "ReceiptSyntaxError";
}

type Node = null | boolean | string | number | bigint | Node[] | Members;
/** Names in textual order, with the repeated ones. */
interface Members {
  readonly names: readonly string[];
  readonly values: readonly Node[];
}

function refuse(pointer: string, expected: string): never {
  throw new ReceiptSyntaxError(`${pointer === "" ? "document" : pointer}: expected ${expected}`);
}

/** @throws {@link ReceiptSyntaxError} */
export function parseReceipt(input: string | Uint8Array): ReceiptParts {
  const bytes = typeof input === "string" ? Buffer.from(input) : asBuffer(input);
  if (bytes.length > MAX_RECEIPT_BYTES) refuse("", `at most ${MAX_RECEIPT_BYTES} bytes`);
  const root = membersOf(rootOf(bytes), "", "receipt tool time header_prefix leader request result");
  if (root("receipt") !== RECEIPT_VERSION) refuse("/receipt", `the version ${RECEIPT_VERSION}`);
  const leader = membersOf(root("leader"), "/leader", "id key_id public_key");
  const request = membersOf(root("request"), "/request", "nonce input_hash signature ports");
  const result = membersOf(root("result"), "/result", "bcs signature public_key");
  const ports = listOf(request("ports"), "/request/ports", 0, MAX_INPUT_PORTS);
  return {
    tool: textOf(root("tool"), "/tool", "an FQN in its shortest form", (text) => parseFqn(text)?.text === text),
    time: new Date(textOf(root("time"), "/time", "a time such as 2026-01-31T12:00:00.000Z", isTime)),
    headerPrefix: textOf(root("header_prefix"), "/header_prefix", "a header prefix", isHeaderPrefix),
    leader: {
      id: textOf(leader("id"), "/leader/id", "visible ASCII characters", isLeaderId),
      keyId: BigInt(textOf(leader("key_id"), "/leader/key_id", "the digits of a u64", isU64)),
      publicKey: keyOf(leader("public_key"), "/leader/public_key"),
    },
    nonce: bytesOf(request("nonce"), "/request/nonce", 32),
    inputHash: bytesOf(request("input_hash"), "/request/input_hash", 32),
    leaderSignature: bytesOf(request("signature"), "/request/signature", 64),
    inputs: ports.map((port, i) => inputOf(port, `/request/ports/${i}`)),
    bcs: bytesOf(result("bcs"), "/result/bcs"),
    toolSignature: bytesOf(result("signature"), "/result/signature", 64),
    toolPublicKey: keyOf(result("public_key"), "/result/public_key"),
  };
}

function rootOf(bytes: Buffer): Node {
  try {
    return foldTape<Node>(parseJson(bytes), 0, {
      // No member of a receipt is a double; 1.0 is not the version 1.
      scalar: (document, entry) => (kindAt(document, entry) === DOUBLE ? null : scalarOf(document, entry)),
      array: (items) => items,
      object: (members) => ({ names: members.map(([name]) => name), values: members.map(([, value]) => value) }),
    });
  } catch (error) {
    if (error instanceof JsonError) throw new ReceiptSyntaxError(`not JSON: ${error.message}`);
    throw error;
  }
}

/** Reader of the members of an object that has exactly the required ones, and possibly the optional one. */
function membersOf(node: Node | undefined, pointer: string, required: string, optional?: string) {
  const names = required.split(" ");
  const given = typeof node === "object" && node !== null && "names" in node ? node : undefined;
  const isKnown = given?.names.every((name) => names.includes(name) || name === optional);
  const isWhole = names.every((name) => given?.names.includes(name));
  if (given === undefined || !isKnown || !isWhole || new Set(given.names).size < given.names.length) {
    const also = optional === undefined ? "" : ` and, optionally, ${optional}`;
    const what = pointer === "" ? "a receipt (svc-gen invoke --receipt writes one): an object" : "an object";
    refuse(pointer, `${what} with each of the members ${names.join(", ")}${also} once`);
  }
  return (name: string): Node | undefined => given.values[given.names.indexOf(name)];
}

function listOf(node: Node | undefined, pointer: string, least: number, most: number): Node[] {
  if (Array.isArray(node) && node.length >= least && node.length <= most) return node;
  return refuse(pointer, `an array of ${least} to ${most} items`);
}

function textOf(node: Node | undefined, pointer: string, expected: string, isValid: (text: string) => boolean): string {
  return typeof node === "string" && isValid(node) ? node : refuse(pointer, expected);
}

function bytesOf(node: Node | undefined, pointer: string, length?: number): Uint8Array {
  const bytes = typeof node === "string" ? decodeBase64(node) : undefined;
  if (bytes !== undefined && (length === undefined ? bytes.length <= MAX_RESULT_BYTES : bytes.length === length)) {
    return bytes;
  }
  return refuse(pointer, `base64 with padding of ${length ?? `at most ${MAX_RESULT_BYTES}`} bytes`);
}

function keyOf(node: Node | undefined, pointer: string): Uint8Array {
  return Buffer.from(
    textOf(node, pointer, "64 lower-case hex digits", (text) => /^[0-9a-f]{64}$/.test(text)),
    "hex",
  );
}

function inputOf(node: Node, pointer: string): ReceiptInput {
  const many = typeof node === "object" && node !== null && "names" in node && node.names.includes("many");
  const port = membersOf(node, pointer, many ? "name many" : "name one");
  const name = textOf(port("name"), `${pointer}/name`, `1 to ${MAX_NAME_BYTES} ASCII characters`, isPortName);
  if (!many) return { name, many, values: [committedValueOf(port("one"), `${pointer}/one`)] };
  const list = listOf(port("many"), `${pointer}/many`, 1, MAX_VALUES);
  return { name, many, values: list.map((value, i) => committedValueOf(value, `${pointer}/many/${i}`)) };
}

function committedValueOf(node: Node | undefined, pointer: string): CommittedValue {
  const value = membersOf(node, pointer, "commitment", "text");
  const commitment = bytesOf(value("commitment"), `${pointer}/commitment`, 32);
  const text = value("text");
  return text === undefined
    ? { commitment }
    : { commitment, text: textOf(text, `${pointer}/text`, "a string", () => true) };
}

function isTime(text: string): boolean {
  const time = new Date(text);
  return /^2\d{3}-/.test(text) && !Number.isNaN(time.getTime()) && time.toISOString() === text;
}

const isU64 = (text: string) => /^(?:0|[1-9]\d{0,19})$/.test(text) && BigInt(text) <= MAX_U64;
const isPortName = (text: string) => text.length > 0 && text.length <= MAX_NAME_BYTES && /^[\0-\x7f]*$/.test(text);
