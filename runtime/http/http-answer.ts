import type { ExactJson } from "../exact-json.js";

/** Answer to an HTTP request of a tool, with its complete body. */
export interface HttpAnswer {
  readonly status: number;
  /** Keys are lower-case names. Values of repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Uint8Array;
  /** Number of requests that were sent, including retries. */
  readonly attempts: number;
  /** @throws HttpError `invalid_answer` if the bytes are not UTF-8 */
  text(): string;
  /**
   * The body, parsed with exact integers by `readJson`.
   *
   * @throws HttpError `invalid_answer` if the body is not JSON
   */
  json(): ExactJson;
}
