import { decodeBase64url } from "../wire/base64.js";
import { RESULT_CONTENT_TYPE, SIGNATURE_VERSION } from "../wire/protocol.js";
import type { VerifyKey } from "../wire/signature/ed25519-keys.js";
import { outputHash } from "../wire/signature/signature.js";
import { type Address, noteMemory } from "./addresses.js";
import { beforeAttempt, type CallState, exchange, getMeta, inTime, MAX_ANSWER_BYTES, resultBody } from "./call.js";
import { LeaderError } from "./error.js";
import type { KnownContract } from "./known-contract.js";
import type { LeaderOptions, Trust } from "./options.js";
import { receiptMaker } from "./receipt/result-receipt.js";
import type { SignedRequest } from "./request/signed-request.js";
import type { CallFacts, CallResult } from "./result/call-result.js";
import type { OutputReader } from "./result/output-reader.js";
import { decodeResult, verifyToolSignature } from "./result/result.js";
import type { HttpResponse, Transport } from "./transport/transport.js";

/** The parts of a client that its attempts use. */
export interface Caller extends Trust {
  readonly http: Transport;
  readonly outputReader: OutputReader | undefined;
  readonly receipts: LeaderOptions["receipts"];
}

/** Signature of a result, and the key that verified it. */
interface Proof {
  readonly toolSignature: Uint8Array | undefined;
  readonly verifiedBy: VerifyKey | undefined;
}

/** One attempt of a call, at one address. */
export class Attempt {
  readonly #caller: Caller;
  readonly #known: KnownContract;
  readonly #address: Address;
  readonly #call: CallState;

  constructor(caller: Caller, known: KnownContract, address: Address, call: CallState) {
    this.#caller = caller;
    this.#known = known;
    this.#address = address;
    this.#call = call;
  }

  /** Reads the metadata, and the name of the replay memory. */
  async readMeta(): Promise<HttpResponse> {
    const answer = await getMeta(this.#caller.http, this.#address.url, this.#call);
    noteMemory(this.#address, answer, this.#caller.headers);
    return answer;
  }

  /** Sends plain JSON; the result is never signed. */
  async sendUnsigned(body: Uint8Array): Promise<CallResult> {
    const answer = await this.#post({ "Content-Type": "application/json" }, body);
    return this.#result(resultBody(this.#address.url, answer), { signature: "unsigned", receipt: noReceipt });
  }

  /**
   * Sends a signed request and verifies the result.
   *
   * @param named whether the request names the replay memory of the address
   */
  async send(request: SignedRequest, named = true): Promise<CallResult> {
    const { attempts } = request;
    const { headers, toolKeys } = this.#caller;
    const keys = toolKeys && (await beforeAttempt(attempts, inTime(toolKeys(), this.#call)));
    const memory = attempts.begin(named ? this.#address.memory : undefined, this.#address.known);
    const repeated = memory === undefined ? request.headers : { ...request.headers, [headers.replayMemory]: memory };
    let answeredBy: string | undefined;
    try {
      const answer = await this.#post(repeated, request.body);
      answeredBy = noteMemory(this.#address, answer, headers);
      const bcs = resultBody(this.#address.url, answer);
      const proof = await this.#verify(request, bcs, this.#signatureOf(answer), keys);
      const result = this.#signedResult(request, bcs, proof);
      await this.#keepReceipt(result);
      attempts.end("yes");
      return result;
    } catch (error) {
      if (!(error instanceof LeaderError)) {
        attempts.end("maybe");
        throw error;
      }
      // If a memory other than the named one rejected this attempt, the attempt ran nothing; `attempts` covers the
      // earlier attempts. The named memory itself rejects a first attempt only if a gateway had already sent the
      // request to a process that has since shut down.
      const isOther = error.code === "replay_memory_lost" && answeredBy !== attempts.memory;
      const ran = attempts.end(isOther ? "no" : error.ran);
      throw error.with({ ran, request });
    }
  }

  #post(headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<HttpResponse> {
    return exchange(this.#caller.http, this.#call, {
      method: "POST",
      url: new URL(`${this.#address.url}/invoke`),
      headers: { ...headers, Accept: `${RESULT_CONTENT_TYPE}, application/json;q=0.5` },
      body,
      maxBytes: MAX_ANSWER_BYTES,
    });
  }

  #signatureOf({ headers }: HttpResponse): Uint8Array | undefined {
    const names = this.#caller.headers;
    const text = headers[names.toolSignature.toLowerCase()];
    if (text === undefined) return undefined;
    const signature = typeof text === "string" ? decodeBase64url(text) : undefined;
    if (headers[names.version.toLowerCase()] !== SIGNATURE_VERSION || signature?.length !== 64) {
      throw new LeaderError("wrong_signature", "expected a signature of version 3: base64url of 64 bytes");
    }
    return signature;
  }

  /** @param keys keys of the tool before the request was sent; undefined if the client has none */
  async #verify(
    request: SignedRequest,
    bcs: Uint8Array,
    toolSignature: Uint8Array | undefined,
    keys: readonly VerifyKey[] | undefined,
  ): Promise<Proof> {
    if (keys === undefined) return { toolSignature, verifiedBy: undefined };
    if (toolSignature === undefined) {
      throw new LeaderError(
        "unsigned_result",
        "expected a result signed by the tool, because toolKey is set, got an unsigned one",
      );
    }
    const signer = (list = keys) => list.find((key) => verifyToolSignature(key, request, bcs, toolSignature));
    // The key may have been replaced while the tool ran.
    const { toolKeys } = this.#caller;
    const verifiedBy = signer() ?? signer(toolKeys && (await inTime(toolKeys(), this.#call)));
    if (verifiedBy === undefined) {
      throw new LeaderError(
        "wrong_signature",
        "no key in toolKey signed this result: compare toolKey with the public key of the tool's response_signing_key",
      );
    }
    return { toolSignature, verifiedBy };
  }

  #signedResult(request: SignedRequest, bcs: Uint8Array, { toolSignature, verifiedBy }: Proof): CallResult {
    if (toolSignature === undefined) return this.#result(bcs, { signature: "unsigned", receipt: noReceipt });
    if (verifiedBy === undefined) {
      return this.#result(bcs, { signature: "unverified", toolSignature, receipt: noReceipt });
    }
    const { leader, headerPrefix } = this.#caller;
    const { fqn } = this.#known.metadata;
    const { inputPorts: ports } = this.#known.ports;
    const facts = { fqn, headerPrefix, ports, request, leader, bcs, toolSignature, toolKey: verifiedBy };
    return this.#result(bcs, { signature: "verified", toolSignature, receipt: receiptMaker(facts) });
  }

  #result(bcs: Uint8Array, facts: Pick<CallFacts, "signature" | "toolSignature" | "receipt">): CallResult {
    const { receipt, ...signature } = facts;
    try {
      const decoded = decodeResult(this.#known.ports, bcs);
      const value = this.#caller.outputReader?.read(decoded) ?? decoded.value;
      const result = { ...decoded, value, ...signature, bcs, outputHash: outputHash(bcs) };
      // Not enumerable, because the result is data and its receipt is created on demand.
      return Object.defineProperty(result, "receipt", { value: receipt }) as typeof result & typeof facts;
    } catch (error) {
      // Only a verified signature proves that the result comes from the tool.
      throw error instanceof LeaderError && signature.signature === "verified" ? error.with({ ran: "yes" }) : error;
    }
  }

  /** Passes the receipt of a result to the application. */
  async #keepReceipt({ receipt }: CallFacts): Promise<void> {
    const { receipts } = this.#caller;
    if (receipts === undefined) return;
    try {
      await inTime(Promise.resolve(receipts(receipt())), this.#call);
    } catch (cause) {
      throw new LeaderError("receipt_not_kept", "the function `receipts` failed or took too long", { cause });
    }
  }
}

/** Receipt of a result that no signature proves. */
function noReceipt(): never {
  throw new TypeError(
    "receipt: expected a signed call and a client with `toolKey`: no verified signature proves this result",
  );
}
