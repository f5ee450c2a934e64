/** Fetches stored values of results for the page. The aggregator's address stays in this process. */

import { createHash } from "node:crypto";
import { exchange } from "../../../http/exchange.js";
import { isHttpUrl } from "../../../tools/tool-addresses.js";
import type { StoredContent, StoredView } from "../page-api.js";
import { PageFault } from "../page-fault.js";
import { withoutSecrets } from "./hidden-secrets.js";

const READ_TIMEOUT_MS = 20_000;
/** Maximum number of characters that are shown. */
const MAX_SHOWN = 64 * 1024;

/**
 * Fetches a stored value and compares its hash.
 *
 * @param aggregator value of `WALRUS_AGGREGATOR`
 * @throws PageFault if the value cannot be read, or is not the one that the tool stored
 */
export async function readStored(
  { blobId, sha256 }: StoredView,
  aggregator: string | undefined,
  secrets: readonly string[],
): Promise<StoredContent> {
  if (aggregator === undefined || !isHttpUrl(aggregator))
    throw new PageFault("set WALRUS_AGGREGATOR in .env to the http: or https: address of an aggregator");
  const url = new URL(`v1/blobs/${encodeURIComponent(blobId)}`, aggregator.replace(/\/*$/, "/"));
  const { response, failure } = await exchange({ method: "GET", url, timeoutMs: READ_TIMEOUT_MS });
  // The message of a system error contains the address.
  const reason = failure?.code === "unknown" ? failure.message : failure?.code;
  if (response === undefined) throw new PageFault(`the aggregator did not return the value: ${reason}`);
  if (response.status !== 200)
    throw new PageFault(`the aggregator answers ${response.status}: expected 200 and the stored value`);
  if (createHash("sha256").update(response.body).digest("hex") !== sha256)
    throw new PageFault("the aggregator returned other bytes than the tool stored: their SHA-256 differs");
  const text = withoutSecrets(response.body.toString("utf8"), secrets);
  return { text: text.slice(0, MAX_SHOWN), bytes: response.body.length };
}
