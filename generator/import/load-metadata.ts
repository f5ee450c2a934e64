/** Reads the bytes of metadata from a file or over HTTP. */

import { CommandError } from "../cli/command-errors.js";
import { quoted, quotedUrl } from "../compile/diagnostics/quote.js";
import { readNamed } from "../files/read-file.js";
import { exchange } from "../http/exchange.js";
import { certificateFault, explainFailure } from "../http/failures.js";
import { MAX_METADATA_BYTES } from "./metadata.js";

/** Time limit for an answer, in milliseconds. */
const TIMEOUT_MS = 10_000;
const UNTRUSTED = "its certificate is not trusted: set NODE_EXTRA_CA_CERTS to the file of the authority's certificate";
const EXAMPLE = "such as https://tools.example.org/sum/meta";

/**
 * Reads metadata from an http or https URL, or from a file, which may be a shell's pipe.
 *
 * @throws CommandError; UnreadableFile
 */
export async function loadMetadata(name: string, cwd: string, timeoutMs = TIMEOUT_MS): Promise<Uint8Array> {
  return /^https?:\/\//i.test(name) ? fetchMetadata(name, timeoutMs) : readNamed(cwd, name, true, MAX_METADATA_BYTES);
}

async function fetchMetadata(name: string, timeoutMs: number): Promise<Uint8Array> {
  if (!URL.canParse(name)) throw new CommandError(`${quotedUrl(name)} is not a URL`, EXAMPLE);
  const url = new URL(name);
  if (url.username !== "" || url.password !== "") {
    throw new CommandError("the URL has a user or a password", "metadata is public: remove them");
  }
  const shown = quoted(`${url.origin}${url.pathname}`);
  const headers = [["Accept", "application/json"]] as const;
  const { response, failure } = await exchange({ method: "GET", url, headers, timeoutMs });
  if (response === undefined) {
    const { code = "", message = "" } = failure ?? {};
    const { next } = certificateFault(code) ?? explainFailure(code, url);
    const isUntrusted = /SELF_SIGNED|UNABLE_TO|UNTRUSTED/.test(code);
    throw new CommandError(`cannot read ${shown}: ${message}`, isUntrusted ? UNTRUSTED : next);
  }
  if (response.status !== 200) {
    const isRedirect = response.status >= 300 && response.status < 400;
    const hint = isRedirect ? "use the URL that it redirects to" : `use the URL of metadata, ${EXAMPLE}`;
    throw new CommandError(`${shown} answered with status ${response.status}`, hint);
  }
  return response.body;
}
