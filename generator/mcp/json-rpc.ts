import { ProtocolErrorCode } from "@modelcontextprotocol/server";

/** Maximum size of one message, in bytes: slightly more than the largest input. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Answers to messages whose request ID is unknown (JSON-RPC 2.0 section 5.1). */
export const NOT_JSON = answer(ProtocolErrorCode.ParseError, "Parse error");
export const NOT_A_MESSAGE = answer(ProtocolErrorCode.InvalidRequest, "Invalid Request");
export const TOO_LARGE = answer(
  ProtocolErrorCode.InvalidRequest,
  `the message may have at most ${MAX_MESSAGE_BYTES} bytes`,
);

function answer(code: number, message: string) {
  return { jsonrpc: "2.0", id: null, error: { code, message } };
}
