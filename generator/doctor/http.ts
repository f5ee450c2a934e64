/** HTTP requests on connections of their own, with TLS facts, and explanations of failures. */

import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import type { PeerCertificate, TLSSocket } from "node:tls";

export interface Probe {
  readonly method: "GET" | "HEAD" | "POST";
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Sends this Content-Length and no body. */
  readonly announced?: number;
  readonly timeoutMs: number;
}

export interface TlsTrust {
  /** Trusted certificates in PEM form, instead of Node's. */
  readonly ca: Buffer | undefined;
  /** Goes on with a certificate that has been refused, to see what else is wrong. */
  readonly anyCertificate: boolean;
}

export interface ProbeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly tls: { readonly protocol: string; readonly certificate: PeerCertificate } | undefined;
}

/** No answer. The code is Node's or OpenSSL's, or `timeout`. */
export interface NoAnswer {
  readonly failure: string;
}

const MAX_BODY = 4 * 1024 * 1024;

/** Sends one request on a connection of its own. Never rejects. */
export function send(probe: Probe, { ca, anyCertificate }: TlsTrust): Promise<ProbeAnswer | NoAnswer> {
  const { method, url, headers = {}, body, announced, timeoutMs } = probe;
  return new Promise((resolve) => {
    const isSecure = url.protocol === "https:";
    const length = announced ?? body?.length;
    const request = (isSecure ? httpsRequest : httpRequest)(url, {
      method,
      agent: false,
      headers: { ...headers, ...(length !== undefined && { "Content-Length": String(length) }) },
      ...(isSecure && { rejectUnauthorized: !anyCertificate, minVersion: "TLSv1.2", ...(ca !== undefined && { ca }) }),
    });
    const end = (result: ProbeAnswer | NoAnswer) => {
      clearTimeout(timer);
      resolve(result);
      request.destroy();
    };
    const timer = setTimeout(() => end({ failure: "timeout" }), timeoutMs);
    request.on("error", (error: NodeJS.ErrnoException) => end({ failure: error.code ?? "unknown" }));
    request.once("response", (response) => {
      const socket = response.socket as TLSSocket;
      const tls = isSecure
        ? { protocol: socket.getProtocol?.() ?? "unknown", certificate: socket.getPeerCertificate() }
        : undefined;
      const chunks: Buffer[] = [];
      let size = 0;
      const answer = () =>
        end({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks), tls });
      response.on("data", (chunk: Buffer) => {
        size += chunk.length;
        chunks.push(chunk);
        if (size > MAX_BODY) answer();
      });
      // A connection that ends early has given what there is to judge.
      for (const event of ["end", "error", "close"]) response.once(event, answer);
    });
    if (announced === undefined) request.end(body);
    else request.flushHeaders();
  });
}

/** The code and details of an error of the protocol; undefined for any other answer. */
export function errorOf({
  headers,
  body,
}: ProbeAnswer): { readonly code: string; readonly details: string } | undefined {
  if (headers["content-type"] !== "application/json") return undefined;
  try {
    const value = JSON.parse(body.toString()) as { error?: unknown; details?: unknown } | null;
    const { error: code, details } = value ?? {};
    if (typeof code !== "string" || !/^[a-z_]{1,64}$/.test(code)) return undefined;
    return { code, details: typeof details === "string" ? printable(details) : "" };
  } catch {
    return undefined;
  }
}

/** A remote text for a terminal: cut, without control characters and those that turn the direction of writing. */
export function printable(text: string): string {
  return text.slice(0, 300).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

/** What a failure means and what to do, in plain words. */
export function explainFailure(failure: string, { protocol, host, hostname }: URL): { detail: string; next: string } {
  const [detail, next] = FAILURES[failure] ?? [];
  if (detail !== undefined && next !== undefined) {
    return { detail: `${detail.replace("HOST", host).replace("NAME", hostname)} (${failure})`, next };
  }
  if (failure === "EPROTO" || failure.startsWith("ERR_SSL")) {
    return {
      detail: `no TLS handshake with ${host} (${failure})`,
      next: "the port may speak plain HTTP, or only a TLS below 1.2: use http://, or give the server SVC_TOOL_TLS_CERT_PATH and SVC_TOOL_TLS_KEY_PATH",
    };
  }
  if (failure === "ECONNRESET" || failure === "EPIPE" || failure.startsWith("HPE_")) {
    return {
      detail: `${host} ended the connection without an answer (${failure})`,
      next:
        protocol === "http:"
          ? "the port may speak TLS: try https://"
          : "look at the log of the server and of the gateway in front of it",
    };
  }
  return { detail: `no answer of ${host} (${failure})`, next: "look at the network between here and the server" };
}

const FAILURES: Readonly<Record<string, readonly [detail: string, next: string]>> = {
  ENOTFOUND: ["the name NAME is not known to DNS", "correct the name, or add its record"],
  EAI_AGAIN: ["DNS did not answer for NAME", "look at the resolver of this machine"],
  ECONNREFUSED: [
    "nothing listens at HOST",
    "start the server, or correct the port; BIND_ADDR decides where it listens, 127.0.0.1:8080 by default",
  ],
  EHOSTUNREACH: ["no way leads to HOST", "look at routes and firewalls"],
  ENETUNREACH: ["no way leads to HOST", "look at routes and firewalls"],
  ETIMEDOUT: ["HOST does not take the connection", "look at firewalls; the server may listen on 127.0.0.1 only"],
  timeout: [
    "HOST gave no answer in time",
    "look at firewalls, and at whether the server is busy: one slow call makes all slow",
  ],
};

/** Faults of a certificate, which end the handshake. Undefined for other failures. */
export function certificateFault(failure: string): { detail: string; next: string } | undefined {
  const [detail, next] = CERTIFICATES[failure] ?? [];
  return detail === undefined || next === undefined ? undefined : { detail: `${detail} (${failure})`, next };
}

const INCOMPLETE =
  "put the issuers into the file of SVC_TOOL_TLS_CERT_PATH, after the server's own; or name yours with --ca FILE";

const CERTIFICATES: Readonly<Record<string, readonly [detail: string, next: string]>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    "the certificate is signed by itself",
    "get one of an authority that leaders trust; to test with this one: --ca FILE",
  ],
  SELF_SIGNED_CERT_IN_CHAIN: ["the chain ends in an unknown authority", "name the authority with --ca FILE"],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["the chain of the certificate is not complete", INCOMPLETE],
  UNABLE_TO_GET_ISSUER_CERT: ["the chain of the certificate is not complete", INCOMPLETE],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["the issuer of the certificate is not known", INCOMPLETE],
  CERT_HAS_EXPIRED: ["the certificate has expired", "renew it; a running server takes the new files by itself"],
  CERT_NOT_YET_VALID: ["the certificate is not valid yet", "correct the clock of this machine, or wait"],
  ERR_TLS_CERT_ALTNAME_INVALID: ["the certificate is for another name", "get one for the name in the URL"],
  CERT_UNTRUSTED: ["the certificate is not trusted", "get one of an authority that leaders trust"],
  CERT_REVOKED: ["the certificate is revoked", "renew it"],
};
