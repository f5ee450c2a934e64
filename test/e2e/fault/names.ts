/** What the server of the fault suite and its tests have in common. */

export const ECHO = "xyz.fault.echo@1";
export const FAULTY = "xyz.fault.faulty@1";
/** Milliseconds that both tools have. */
export const TIMEOUT_MS = 2_000;

/** Strings that are planted where a leak would begin. */
export const MARKS = {
  /** 32 bytes: the private key of the tools. */
  key: "ca9a817f".repeat(8),
  environment: "CANARY-ENVIRONMENT-5d1c",
  input: "CANARY-INPUT-77ab",
  /** In errors that tools throw: for the log only (protocol.md section 7). */
  error: "CANARY-ERROR-e0f3",
  stack: "CANARY-STACK-91d2",
};
