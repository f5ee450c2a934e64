/** Header names and content types of the protocol (protocol.md sections 5 and 6). */

/** Header names of the protocol under one prefix. */
export class SignatureHeaders {
  readonly version: string;
  readonly leaderId: string;
  readonly leaderKeyId: string;
  readonly inputHash: string;
  readonly leaderSignature: string;
  readonly nonce: string;
  readonly toolSignature: string;
  /** The name of the server's replay memory in an answer, and what a repeat knows of it (repeat.ts). */
  readonly replayMemory: string;

  /**
   * @param prefix `X-Svc-`, or `X-Nexus-` for older leaders
   * @throws RangeError when the prefix cannot begin a header name (RFC 9110 section 5.1)
   */
  constructor(prefix: string) {
    if (!/^[A-Za-z][A-Za-z0-9-]*-$/.test(prefix)) {
      throw new RangeError("headerPrefix: expected letters, digits and hyphens that end in a hyphen, such as X-Svc-");
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

export const RESULT_CONTENT_TYPE = "application/vnd.nexus.canonical-tool-response+bcs";
