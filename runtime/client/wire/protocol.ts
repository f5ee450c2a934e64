/** Names and limits of the protocol (protocol.md section 1), each defined only here. */

/** Default prefix of the header names. */
export const DEFAULT_HEADER_PREFIX = "X-Svc-";
export const SIGNATURE_VERSION = "3";
/** Domain separation strings: prefixes of hashed and signed bytes. */
export const DOMAINS = {
  resolvedInput: "nexus.direct.v3.resolved-input",
  rawOutput: "nexus.direct.v3.raw-output",
  toolResponse: "nexus.direct.v3.tool-response",
  invocationNonce: "nexus.direct.v3.invocation-nonce",
} as const;
export const RESULT_CONTENT_TYPE = "application/vnd.nexus.canonical-tool-response+bcs";

export const MAX_INPUT_PORTS = 32;
export const MAX_VARIANTS = 8;
/** Maximum number of ports of one variant. */
export const MAX_VARIANT_PORTS = 16;
/** Maximum length of a port's or variant's name. */
export const MAX_NAME_BYTES = 128;
/** Maximum number of values of a `many` port. */
export const MAX_VALUES = 256;
/** Maximum nesting of arrays and objects. */
export const MAX_DEPTH = 127;
/** Maximum size of one inline value. */
export const MAX_INLINE_BYTES = 61_440;
/** Maximum size of BCS(NexusData) of one port, including the variant byte. */
export const MAX_PORT_BYTES = 65_536;
/** Maximum size of the BCS of a result. */
export const MAX_RESULT_BYTES = 262_144;
/** Maximum size of all values of a signed call, in bytes. */
export const INPUT_BUDGET = 8 * 1024 * 1024;
/**
 * Maximum size of one result, in bytes, over all ports: inline values, 32 for each object id, and stored blobs whose
 * size is known.
 */
export const OUTPUT_BUDGET = 8 * 1024 * 1024;
/** Default limit of an `/invoke` body: 12 MiB. */
export const DEFAULT_INVOKE_MAX_BODY_BYTES = 12_582_912n;

/** Default of `timeout()`: 10 s for construction, `authorize`, decoding, `invoke` and encoding together. */
export const DEFAULT_TIMEOUT_MS = 10_000;
/** Maximum deadline of a call, and maximum delay of a timer. */
export const MAX_TIMEOUT_MS = 2_147_483_647;
/** Default lifetime of a completed replay entry, in milliseconds. */
export const DEFAULT_REPLAY_CACHE_TTL_MS = 300_000;

/** Bounds of 64-bit integers. */
export const MAX_U64 = 2n ** 64n - 1n;
export const MIN_I64 = -(2n ** 63n);
export const MAX_I64 = 2n ** 63n - 1n;

/** Whether a text can be a prefix of header names (RFC 9110 section 5.1). */
export function isHeaderPrefix(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9-]*-$/.test(text);
}

/** Whether a text can be a leader id: visible ASCII, so that it fits in a header. */
export function isLeaderId(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Header names of the protocol, with one prefix. */
export class SignatureHeaders {
  readonly version: string;
  readonly leaderId: string;
  readonly leaderKeyId: string;
  readonly inputHash: string;
  readonly leaderSignature: string;
  readonly nonce: string;
  readonly toolSignature: string;
  /**
   * In an answer: name of the server's replay memory. In a repeated request: name of the replay memory that may
   * hold the first attempt, and the age of that attempt (see replay-memory-header.ts).
   */
  readonly replayMemory: string;

  /** @throws RangeError if the prefix cannot begin a header name */
  constructor(prefix = DEFAULT_HEADER_PREFIX) {
    if (!isHeaderPrefix(prefix)) {
      throw new RangeError(
        `headerPrefix: expected letters, digits and hyphens that end in a hyphen, such as ${DEFAULT_HEADER_PREFIX}`,
      );
    }
    this.version = `${prefix}Sig-V`;
    this.leaderId = `${prefix}Leader-Id`;
    this.leaderKeyId = `${prefix}Leader-Key-Id`;
    this.inputHash = `${prefix}Input-Hash`;
    this.leaderSignature = `${prefix}Leader-Signature`;
    this.nonce = `${prefix}Nonce`;
    this.toolSignature = `${prefix}Tool-Signature`;
    this.replayMemory = `${prefix}Replay-Memory`;
  }
}
