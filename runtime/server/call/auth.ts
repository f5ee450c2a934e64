/** Authentication: verifies the headers of a signed request and returns the caller (protocol.md section 5). */

import { decodeBase64url } from "svc-client/internal/wire/base64";
import { isLeaderId, MAX_U64, SIGNATURE_VERSION, type SignatureHeaders } from "svc-client/internal/wire/protocol";
import type { Ed25519Engine } from "svc-client/internal/wire/signature/ed25519";
import type { LeaderResolver } from "../../config/leader-resolver.js";
import type { AuthContext } from "../../tool.js";
import { RequestError } from "../errors/request-error.js";
import type { RequestHeaders } from "./messages.js";

const DIGITS = /^[0-9]+$/;

const SIGNING = ["version", "leaderId", "leaderKeyId", "inputHash", "leaderSignature", "nonce"] as const;

/** Verifies callers by headers only, so that unknown callers are rejected before any byte of the body is stored. */
export class Authenticator {
  readonly #lower: { readonly [K in keyof SignatureHeaders]: string };

  readonly #names: SignatureHeaders;
  readonly #leaders: () => LeaderResolver;
  readonly #engine: Ed25519Engine;

  constructor(names: SignatureHeaders, leaders: () => LeaderResolver, engine: Ed25519Engine) {
    this.#names = names;
    this.#leaders = leaders;
    this.#engine = engine;
    this.#lower = Object.fromEntries(
      Object.entries(names).map(([key, name]: [string, string]) => [key, name.toLowerCase()]),
    ) as { [K in keyof SignatureHeaders]: string };
  }

  /**
   * Reads the six headers, looks up the leader's key and verifies the signature over the input hash.
   *
   * @throws {@link RequestError} `auth_failed`; its details name the header and the fault, never the value
   */
  authenticate(request: RequestHeaders): AuthContext {
    if (this.#header(request, "version") !== SIGNATURE_VERSION) this.#fail("version", `expected ${SIGNATURE_VERSION}`);
    const leaderId = this.#header(request, "leaderId");
    if (!isLeaderId(leaderId)) this.#fail("leaderId", "expected visible ASCII characters");
    const keyText = this.#header(request, "leaderKeyId");
    if (!DIGITS.test(keyText)) this.#fail("leaderKeyId", "expected decimal digits");
    // At most 20 digits without leading zeros, so that no header makes BigInt parse thousands of digits.
    const digits = keyText.length > 20 ? keyText.replace(/^0+(?=\d)/, "") : keyText;
    const leaderKeyId = digits.length > 20 ? MAX_U64 + 1n : BigInt(digits);
    if (leaderKeyId > MAX_U64) this.#fail("leaderKeyId", "expected a number below 2^64");
    const inputHash = this.#bytes(request, "inputHash", 32);
    const leaderSignature = this.#bytes(request, "leaderSignature", 64);
    const nonce = this.#bytes(request, "nonce", 32);
    const key = this.#leaders().lookup(leaderId, leaderKeyId);
    if (key === undefined) this.#fail("leaderKeyId", "no such leader and key in the allow-list");
    if (!this.#engine.verify(key, inputHash, leaderSignature))
      this.#fail("leaderSignature", "does not verify with this leader's key in the allow-list");
    return { leaderId, leaderKeyId, inputHash, leaderSignature, nonce };
  }

  /**
   * Rejects an unsigned call that has any header of a signed call. Its body would be read as plain input without ports,
   * and a tool whose members are all optional would run with empty input.
   *
   * @throws {@link RequestError} `input_deserialization_error`
   */
  refuseSigned({ headers }: RequestHeaders): void {
    for (const which of SIGNING) {
      if (headers[this.#lower[which]] === undefined) continue;
      const fault = "this server accepts only unsigned calls: send plain JSON without signature headers";
      throw new RequestError("input_deserialization_error", `${this.#names[which]}: ${fault}`);
    }
  }

  #header(request: RequestHeaders, which: keyof SignatureHeaders): string {
    const value = request.headers[this.#lower[which]];
    if (value === undefined)
      this.#fail(which, which === "version" ? "missing; this server accepts only signed calls" : "missing");
    // node:http joins repeated headers with a comma and a space, which no valid value contains.
    if (typeof value !== "string" || value.includes(", ")) {
      const name = this.#lower[which];
      let times = 0;
      for (let i = 0; i < request.rawHeaders.length; i += 2) {
        if (request.rawHeaders[i]?.toLowerCase() === name) times++;
      }
      if (times > 1 || typeof value !== "string") this.#fail(which, "given twice");
    }
    return value;
  }

  #bytes(request: RequestHeaders, which: keyof SignatureHeaders, length: number): Buffer {
    const bytes = decodeBase64url(this.#header(request, which));
    if (bytes?.length !== length) this.#fail(which, `expected base64url of ${length} bytes without padding`);
    return bytes;
  }

  #fail(which: keyof SignatureHeaders, fault: string): never {
    throw new RequestError("auth_failed", `${this.#names[which]}: ${fault}`);
  }
}
