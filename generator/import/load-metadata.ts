/** Reads the bytes of metadata from a file or over HTTP. */

import { CommandError } from "../cli/command-errors.js";
import { quoted, quotedUrl } from "../compile/diagnostics/quote.js";
import { readNamed, TooLargeFile, UnreadableFile } from "../files/read-file.js";
import { boundedBody } from "../http/bounded-body.js";
import { MAX_METADATA_BYTES } from "./metadata.js";

/** Time limit for an answer, in milliseconds. */
const TIMEOUT_MS = 10_000;
const LESS = "import fewer tools at a time";
const EXAMPLE = "such as https://tools.example.org/sum/meta";

/**
 * Reads metadata from an http or https URL, or from a file, which may be a shell's pipe.
 *
 * @throws CommandError
 */
export async function loadMetadata(name: string, cwd: string, timeoutMs = TIMEOUT_MS): Promise<Uint8Array> {
  return /^https?:\/\//i.test(name) ? fetchMetadata(name, timeoutMs) : readMetadataFile(name, cwd);
}

function readMetadataFile(name: string, cwd: string): Uint8Array {
  try {
    return readNamed(cwd, name, true, MAX_METADATA_BYTES);
  } catch (error) {
    if (error instanceof TooLargeFile) throw tooLarge(quoted(name));
    if (!(error instanceof UnreadableFile)) throw error;
    throw new CommandError(error.message, "expected a metadata file or a URL");
  }
}

async function fetchMetadata(name: string, timeoutMs: number): Promise<Uint8Array> {
  if (!URL.canParse(name)) throw new CommandError(`${quotedUrl(name)} is not a URL`, EXAMPLE);
  const url = new URL(name);
  if (url.username !== "" || url.password !== "") {
    throw new CommandError("the URL has a user or a password", "metadata is public: remove them");
  }
  const shown = quoted(`${url.origin}${url.pathname}`);
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetch(url, { redirect: "manual", signal, headers: { Accept: "application/json" } });
    if (response.status !== 200) {
      await response.body?.cancel();
      const isRedirect = response.status >= 300 && response.status < 400;
      const hint = isRedirect ? "use the URL that it redirects to" : `use the URL of metadata, ${EXAMPLE}`;
      throw new CommandError(`${shown} answered with status ${response.status}`, hint);
    }
    const body = await boundedBody(response.body ?? [], MAX_METADATA_BYTES);
    if (body === undefined) throw tooLarge(shown);
    return body;
  } catch (error) {
    if (error instanceof CommandError) throw error;
    const { name: kind, cause } = error as Error;
    if (kind === "TimeoutError") {
      throw new CommandError(
        `${shown} sent no complete answer within ${timeoutMs} ms`,
        "check that the server is running",
      );
    }
    const { code = "the connection failed" } = (cause ?? {}) as NodeJS.ErrnoException;
    throw new CommandError(`${shown} did not answer: ${code}`, hintFor(code, url));
  }
}

function hintFor(code: string, { protocol }: URL): string {
  if (protocol === "http:" && ["ECONNRESET", "UND_ERR_SOCKET"].includes(code)) {
    return "the server may use TLS: try https://";
  }
  if (code.startsWith("ERR_SSL")) return "the server may use plain HTTP: try http://";
  if (/SELF_SIGNED|UNABLE_TO|UNTRUSTED/.test(code)) {
    return "its certificate is not trusted: set NODE_EXTRA_CA_CERTS to the file of the authority's certificate";
  }
  return CERTIFICATE_HINTS[code] ?? "check that the server is running and the URL is correct";
}

const CERTIFICATE_HINTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: "its certificate has expired: renew it on the server",
  CERT_NOT_YET_VALID: "its certificate is not valid yet: check the clock of this machine",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another host name: use that name in the URL",
};

function tooLarge(shown: string): CommandError {
  return new CommandError(`${shown} has more than ${MAX_METADATA_BYTES} bytes`, LESS);
}
