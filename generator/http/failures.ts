/** Protocol errors in answers, and explanations of failed connections. */

import { withoutControls } from "svc-runtime/internal/generator";
import { readErrorAnswer } from "../text/error-answers.js";
import { type ExchangeResponse, headerOf } from "./exchange.js";

/** The code and details of a protocol error; undefined for any other answer. */
export function errorOf(answer: ExchangeResponse): { readonly code: string; readonly details: string } | undefined {
  const isJson = headerOf(answer, "content-type") === "application/json";
  const error = isJson ? readErrorAnswer(answer.body) : undefined;
  return error && { code: error.code, details: printable(error.details ?? "") };
}

/** Remote text for a terminal, without characters that control it or change the writing direction. */
export function printable(text: string): string {
  return withoutControls(text, 300).replace(/[\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

/** Explanation of a failed connection, and what to do next. */
export function explainFailure(failure: string, { protocol, host, hostname }: URL): { detail: string; next: string } {
  const [detail, next] = FAILURES[failure] ?? [];
  if (detail !== undefined && next !== undefined) {
    return { detail: `${detail.replace("HOST", host).replace("NAME", hostname)} (${failure})`, next };
  }
  if (failure === "EPROTO" || failure.startsWith("ERR_SSL")) {
    return {
      detail: `the TLS handshake with ${host} failed (${failure})`,
      next: "the server may use plain HTTP or a TLS version below 1.2: use http://, or set SVC_TOOL_TLS_CERT_PATH and SVC_TOOL_TLS_KEY_PATH on the server",
    };
  }
  if (failure === "ECONNRESET" || failure === "EPIPE" || failure.startsWith("HPE_")) {
    return {
      detail: `${host} closed the connection without an answer (${failure})`,
      next: `${protocol === "http:" ? "the server may use TLS: try https://; otherwise " : ""}check the logs of the server and of the gateway in front of it: its process may have ended, or all connections may be in use`,
    };
  }
  return { detail: `no answer from ${host} (${failure})`, next: "check the network between here and the server" };
}

const FAILURES: Readonly<Record<string, readonly [detail: string, next: string]>> = {
  ENOTFOUND: ["DNS has no record for NAME", "correct the name, or add a record for it"],
  EAI_AGAIN: ["DNS did not answer for NAME", "check the DNS resolver of this machine"],
  ECONNREFUSED: [
    "nothing is listening at HOST",
    "start the server, or correct the port; the server listens at BIND_ADDR, 127.0.0.1:8080 by default",
  ],
  EHOSTUNREACH: ["there is no route to HOST", "check routes and firewalls"],
  ENETUNREACH: ["there is no route to HOST", "check routes and firewalls"],
  ETIMEDOUT: ["HOST did not accept the connection", "check firewalls; the server may listen on 127.0.0.1 only"],
  timeout: [
    "HOST did not answer in time",
    "check firewalls, and whether the server is busy: a call that blocks the event loop delays all others",
  ],
};

/** Certificate error behind a failed handshake; undefined for other failures. */
export function certificateFault(failure: string): { detail: string; next: string } | undefined {
  const [detail, next] = CERTIFICATES[failure] ?? [];
  return detail === undefined || next === undefined ? undefined : { detail: `${detail} (${failure})`, next };
}

const INCOMPLETE =
  "append the certificates of the issuers to the file in SVC_TOOL_TLS_CERT_PATH, after the server's own; for a private authority use --ca FILE";

const CERTIFICATES: Readonly<Record<string, readonly [detail: string, next: string]>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    "the certificate is self-signed",
    "get a certificate from an authority that leaders trust; to test with this certificate, use --ca FILE",
  ],
  SELF_SIGNED_CERT_IN_CHAIN: [
    "the certificate chain ends in an unknown authority",
    "pass the certificate of the authority: --ca FILE",
  ],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["the certificate chain is incomplete", INCOMPLETE],
  UNABLE_TO_GET_ISSUER_CERT: ["the certificate chain is incomplete", INCOMPLETE],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["the issuer of the certificate is unknown", INCOMPLETE],
  CERT_HAS_EXPIRED: ["the certificate has expired", "renew the certificate; a running server reloads the file"],
  CERT_NOT_YET_VALID: ["the certificate is not valid yet", "correct the clock of this machine, or wait"],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "the certificate is for another host name",
    "get a certificate for the host name in the URL",
  ],
  CERT_UNTRUSTED: ["the certificate is not trusted", "get a certificate from an authority that leaders trust"],
  CERT_REVOKED: ["the certificate is revoked", "renew it"],
};
