/** Answers to HTTP requests that tools make. */

import type { ExactJson } from "../exact-json.js";

/** An HTTP answer with its complete body. */
export interface HttpAnswer {
  readonly status: number;
  /** Keys are lower-case names. Values of repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Uint8Array;
  /** Number of requests sent, retries included. */
  readonly attempts: number;
  /** @throws HttpError `invalid_answer` for bytes that are not UTF-8 */
  text(): string;
  /**
   * The body, parsed with exact integers by `readJson`.
   *
   * @throws HttpError `invalid_answer` for a body that is not JSON
   */
  json(): ExactJson;
}
