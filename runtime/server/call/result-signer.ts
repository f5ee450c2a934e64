/** Signs the results of calls, and checks stored results before they are sent again (protocol.md sections 4 and 8). */

import { asBuffer, base64url } from "svc-client/internal/wire/bytes";
import { RESULT_CONTENT_TYPE, SIGNATURE_VERSION, type SignatureHeaders } from "svc-client/internal/wire/protocol";
import { type Commitments, createReceipt } from "svc-client/internal/wire/receipt";
import type { Ed25519Engine } from "svc-client/internal/wire/signature/ed25519";
import type { SigningKey } from "svc-client/internal/wire/signature/ed25519-keys";
import { outputHash, toolSignatureMessage } from "svc-client/internal/wire/signature/signature";
import type { ToolkitRuntimeConfig } from "../../config/config.js";
import type { AuthContext } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { isProven, proofOf, sealOf, unsealed } from "../replay/cached-signature.js";
import type { CachedAnswer, ReplayStore } from "../replay/store.js";
import type { Answer } from "./messages.js";
import type { Observation } from "./observers.js";
import type { ServedTool } from "./run/served-tool.js";

/** The call whose result is signed. */
export interface SignedFor {
  readonly tool: ServedTool;
  readonly log: ServerLogger;
  /** Observation of the call; undefined if no observer is active. */
  readonly seen: Observation | undefined;
}

interface SignerOptions {
  readonly config: ToolkitRuntimeConfig;
  readonly headers: SignatureHeaders;
  readonly engine: Ed25519Engine;
  readonly store: ReplayStore;
}

const RESULT_HEADERS: readonly string[] = ["content-type", RESULT_CONTENT_TYPE];

/** Details of a 409 for a call that has run, and whose answer is stored. */
export const UNSENDABLE = "the call has run, but its answer cannot be sent now";

export class ResultSigner {
  readonly #options: SignerOptions;
  /** Last signing key of each tool, to detect a change by a reload. */
  readonly #lastKeys = new Map<ServedTool, SigningKey>();
  readonly #previousKeys = new Map<ServedTool, SigningKey>();

  constructor(options: SignerOptions) {
    this.#options = options;
  }

  /** Headers of a result, as names and values in turn. The result is signed if the call was and the tool has a key. */
  headersOf(call: SignedFor, { seal, body }: Answer | CachedAnswer, auth: AuthContext | undefined): readonly string[] {
    const key = auth && this.#signingKey(call);
    if (auth === undefined || key === undefined) return RESULT_HEADERS;
    const signature =
      unsealed(seal, key, auth.leaderSignature) ?? base64url(this.#sign(call, key, auth, outputHash(body)));
    const { version, toolSignature } = this.#options.headers;
    return [...RESULT_HEADERS, version, SIGNATURE_VERSION, toolSignature, signature];
  }

  /**
   * Receipt of a signed result; undefined if the result is unsigned, or if the leader's key has left the allow-list.
   *
   * @param headers headers of the answer, from {@link headersOf}
   */
  receiptOf({ tool }: SignedFor, auth: AuthContext, commitments: Commitments, headers: readonly string[], bcs: Buffer) {
    const { config, headers: names } = this.#options;
    const leaderKey = config.leaders?.lookup(auth.leaderId, auth.leaderKeyId);
    const toolKey = config.toolConfig(tool.fqn)?.signingKey;
    const at = headers.indexOf(names.toolSignature);
    if (leaderKey === undefined || toolKey === undefined || at === -1) return undefined;
    return createReceipt({
      ...auth,
      fqn: tool.fqn,
      time: new Date(),
      headerPrefix: names.version.slice(0, -"Sig-V".length),
      leaderPublicKey: leaderKey.bytes,
      ports: tool.contract.input,
      commitments,
      bcs,
      toolSignature: Buffer.from(headers[at + 1] as string, "base64url"),
      toolPublicKey: toolKey.publicKey,
    });
  }

  /** Adds a seal to an answer, so that a result is signed once for all exact retries. */
  sealed(call: SignedFor, answer: Answer, auth: AuthContext | undefined): Answer {
    const key = auth && answer.signable ? this.#signingKey(call) : undefined;
    if (auth === undefined || key === undefined) return answer;
    try {
      const output = outputHash(answer.body);
      const signature = this.#sign(call, key, auth, output);
      const isShared = this.#options.store.scope === "shared";
      const proof = isShared ? proofOf(key, call.tool.fqn, auth, output) : undefined;
      return { ...answer, seal: sealOf(key, auth.leaderSignature, signature, proof) };
    } catch (error) {
      // The replay entry is stored without a signature, and the reply is signed again.
      call.log.warn({ err: error }, "signing a result failed and is retried once");
      return answer;
    }
  }

  /**
   * Requires that this tool stored a result of a shared store, for this input. Otherwise anyone with write access to the
   * store could obtain signatures, or answer a call with the result of another input.
   *
   * @throws {@link RequestError} `request_in_flight`, which does not say that nothing ran
   */
  requireOwnResult(call: SignedFor, { signable, seal, body }: CachedAnswer, auth: AuthContext): void {
    if (!signable) return;
    const key = this.#signingKey(call);
    // Without a key, nothing is signed. If the seal matches, its stored signature is sent unchanged.
    if (key === undefined || unsealed(seal, key, auth.leaderSignature) !== undefined) return;
    const { fqn } = call.tool;
    const output = outputHash(body);
    for (const each of [key, this.#previousKeys.get(call.tool)]) {
      if (each !== undefined && isProven(seal, each, proofOf(each, fqn, auth, output))) return;
    }
    call.log.error(
      {},
      "a stored result was not sent, because another key signed it or it belongs to another input: set the same response_signing_key on all replicas; if it is the same, check who can write to the replay store",
    );
    throw new RequestError("request_in_flight", UNSENDABLE);
  }

  #signingKey({ tool }: SignedFor): SigningKey | undefined {
    const key = this.#options.config.toolConfig(tool.fqn)?.signingKey;
    if (this.#options.store.scope !== "shared") return key;
    const last = this.#lastKeys.get(tool);
    if (key !== last && key !== undefined) {
      // A reload creates a new object even for an unchanged key.
      const isOther = last !== undefined && !asBuffer(last.publicKey).equals(key.publicKey);
      if (isOther) this.#previousKeys.set(tool, last);
      this.#lastKeys.set(tool, key);
    }
    return key;
  }

  #sign({ seen }: SignedFor, key: SigningKey, auth: AuthContext, output: Uint8Array): Buffer {
    const message = toolSignatureMessage(auth.leaderSignature, auth.nonce, output);
    const signature = this.#options.engine.sign(key, message);
    seen?.done("sign");
    return signature;
  }
}
