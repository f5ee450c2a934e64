/** Signs the results of calls, and checks stored results before they are sent again (protocol.md sections 4 and 8). */

import { asBuffer, base64url } from "svc-client/internal/wire/bytes";
import { RESULT_CONTENT_TYPE, SIGNATURE_VERSION, type SignatureHeaders } from "svc-client/internal/wire/protocol";
import { type Ed25519Engine, prepareVerifyKey } from "svc-client/internal/wire/signature/ed25519";
import type { SigningKey } from "svc-client/internal/wire/signature/ed25519-keys";
import { outputHash, toolSignatureMessage } from "svc-client/internal/wire/signature/signature";
import type { ToolkitRuntimeConfig } from "../../config/config.js";
import type { AuthContext } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import type { ServerLogger } from "../log/safe-logger.js";
import { readSeal, type SealedSignature, sealOf, unsealed } from "../replay/cached-signature.js";
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

/**
 * Maximum number of leaders' keys that are tried for a stored signature without a leader; a few milliseconds of work.
 */
const MAX_KEYS_TRIED = 32;

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
    const signature = unsealed(seal, key, auth.leaderSignature) ?? base64url(this.#sign(call, key, auth, body));
    const { version, toolSignature } = this.#options.headers;
    return [...RESULT_HEADERS, version, SIGNATURE_VERSION, toolSignature, signature];
  }

  /** Adds a seal to an answer, so that a result is signed once for all exact retries. */
  sealed(call: SignedFor, answer: Answer, auth: AuthContext | undefined): Answer {
    const key = auth && answer.signable ? this.#signingKey(call) : undefined;
    if (auth === undefined || key === undefined) return answer;
    try {
      const signature = this.#sign(call, key, auth, answer.body);
      const caller = this.#options.store.scope === "shared" ? auth : undefined;
      return { ...answer, seal: sealOf(key, auth.leaderSignature, signature, caller) };
    } catch (error) {
      // The replay entry is stored without a signature, and the reply is signed again.
      call.log.warn({ err: error }, "signing a result failed and is retried once");
      return answer;
    }
  }

  /**
   * Requires that this tool signed a result from a shared store, for this input. Otherwise anyone with write access to
   * the store could obtain signatures, or answer a call with the result of another input.
   *
   * @throws {@link RequestError} `replay_store_unavailable`
   */
  requireOwnResult(call: SignedFor, answer: CachedAnswer, auth: AuthContext): void {
    if (!answer.signable) return;
    const key = this.#signingKey(call);
    // Without a key, nothing is signed. If the seal matches, its stored signature is sent unchanged.
    if (key === undefined || unsealed(answer.seal, key, auth.leaderSignature) !== undefined) return;
    const seal = readSeal(answer.seal);
    const signer = [key, this.#previousKeys.get(call.tool)].find((each) => each && seal?.isBy(each.publicKey));
    if (seal !== undefined && signer !== undefined) {
      const message = toolSignatureMessage(seal.leaderSignature, auth.nonce, outputHash(answer.body));
      const verifyKey = prepareVerifyKey(signer.publicKey);
      const isOwn = this.#options.engine.verify(verifyKey, message, seal.toolSignature);
      if (isOwn && this.#isOfInput(seal, auth)) return;
    }
    call.log.error(
      {},
      "a stored result was not sent, because another key signed it or it belongs to another input: set the same response_signing_key on all replicas; if it is the same, check who can write to the replay store",
    );
    throw new RequestError("replay_store_unavailable");
  }

  /**
   * Whether the leader's signature in a seal covers the input of a request. The request may come from another leader or
   * key than the seal.
   */
  #isOfInput({ leaderSignature, caller }: SealedSignature, { inputHash, ...auth }: AuthContext): boolean {
    if (leaderSignature.equals(auth.leaderSignature)) return true;
    const { config, engine } = this.#options;
    const keys = caller ? [config.leaders.lookup(caller.leaderId, caller.leaderKeyId)] : config.leaders.keys;
    let tries = MAX_KEYS_TRIED;
    for (const key of keys) {
      if (tries-- === 0) return false;
      if (key !== undefined && engine.verify(key, inputHash, leaderSignature)) return true;
    }
    return false;
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

  #sign({ seen }: SignedFor, key: SigningKey, auth: AuthContext, body: Uint8Array): Buffer {
    const message = toolSignatureMessage(auth.leaderSignature, auth.nonce, outputHash(body));
    const signature = this.#options.engine.sign(key, message);
    seen?.done("sign");
    return signature;
  }
}
