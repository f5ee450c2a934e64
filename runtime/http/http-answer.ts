/** Answers of the HTTP requests of tools. */

import type { ExactJson } from "../exact-json.js";

/** An answer with its complete body. */
export interface HttpAnswer {
  readonly status: number;
  /** By names in lower case; repeated ones joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Uint8Array;
  /** Requests that were sent for it. */
  readonly attempts: number;
  /** @throws HttpError `invalid_answer` for bytes that are not UTF-8 */
  text(): string;
  /**
   * The body with exact integers, as `readJson` gives it.
   *
   * @throws HttpError `invalid_answer` for a body that is not JSON
   */
  json(): ExactJson;
}
