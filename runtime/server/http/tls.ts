/**
 * TLS, with the certificate and key files from two environment variables (protocol.md sections 1 and 10). Both files
 * are checked before the port is bound. If a later version of the files is invalid, the server keeps using the previous
 * pair.
 */

import { constants, createPrivateKey, type KeyObject, randomBytes, X509Certificate } from "node:crypto";
import type { Server as NetServer, Socket } from "node:net";
import { resolve } from "node:path";
import { createSecureContext, type SecureContextOptions, type Server, type TLSSocket, type TlsOptions } from "node:tls";
import { ENV_TLS_CERT_PATH, ENV_TLS_KEY_PATH } from "../../config/environment.js";
import {
  digestOf,
  EXPOSED_KEY,
  hiddenPath,
  isWorldReadable,
  type OperatorFile,
  readOperatorFile,
} from "../../config/operator-file.js";
import { displayVariable, type StrayVariable, strayVariables } from "../../config/stray-variables.js";
import { StartupError } from "../errors/startup-error.js";

/** Lifetime of a session ticket key, in milliseconds. A stolen key exposes only the sessions of that period. */
const TICKET_KEY_MS = 3_600_000;

/** Cipher suites with forward secrecy and AEAD. Security level 2 rejects RSA keys below 2,048 bits, and SHA-1. */
const CIPHERS = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
  "@SECLEVEL=2",
].join(":");

/**
 * Lists of key exchange groups, tried in order. The first requires OpenSSL 3.5; its post-quantum group X25519MLKEM768
 * protects recorded traffic against future decryption.
 */
const GROUPS = ["X25519MLKEM768:X25519:P-256:P-384", "X25519:P-256:P-384"];

/** Paths of the certificate file and the key file. */
export interface TlsFiles {
  /** Both paths are absolute, because the working directory may change. */
  readonly certPath: string;
  readonly keyPath: string;
}

/** A validated certificate and its key. */
export interface TlsPair {
  readonly context: SecureContextOptions;
  /** Expiry of the server's certificate, in milliseconds since 1970. */
  readonly expiresAt: number;
  /** Sentences for the log about problems that do not prevent serving. */
  readonly warnings: readonly string[];
}

/** The files and their content at start-up. */
export interface TlsSetup {
  readonly files: TlsFiles;
  readonly pair: TlsPair;
  /** Digests of the contents of the certificate file and the key file. */
  readonly digests: readonly [cert: string, key: string];
}

/** An unusable certificate or key. The message contains no text from a file. */
export class TlsFault extends StartupError {}

/**
 * Reads the files whose paths are in the environment variables.
 *
 * @returns undefined if neither variable is set
 * @throws {@link StartupError} if only one variable is set, one is empty or misspelt, or a file is missing, unreadable, empty,
 * encrypted, world-writable or of the wrong kind
 */
export function tlsFromEnv(env: Readonly<Record<string, string | undefined>> = process.env): TlsSetup | undefined {
  const misspelt = strayVariables(env).find(isOfTls);
  if (misspelt !== undefined) {
    throw new TlsFault(
      `${displayVariable(misspelt.name)} is not a setting, and the server would not use its certificate: rename it to ${misspelt.nearest ?? `${ENV_TLS_CERT_PATH} or ${ENV_TLS_KEY_PATH}`}, or unset it`,
    );
  }
  const given = [env[ENV_TLS_CERT_PATH], env[ENV_TLS_KEY_PATH]] as const;
  const [cert, key] = given;
  if (cert === undefined && key === undefined) return undefined;
  if (!cert || !key) {
    const missing = [ENV_TLS_CERT_PATH, ENV_TLS_KEY_PATH].filter((_, at) => !given[at]);
    throw new TlsFault(
      `${ENV_TLS_CERT_PATH} and ${ENV_TLS_KEY_PATH} must both be paths, got no path in ${missing.join(" and ")}; set both, or unset both to serve without TLS`,
    );
  }
  const files = { certPath: resolve(cert), keyPath: resolve(key) };
  const read = (path: string, which: "cert" | "key"): OperatorFile => {
    const reading = readOperatorFile(path);
    if ("fault" in reading) throw new TlsFault(`${tlsFileTitle(files, which)} ${reading.fault}`);
    return reading;
  };
  const [certFile, keyFile] = [read(files.certPath, "cert"), read(files.keyPath, "key")];
  return {
    files,
    pair: readPair(files, certFile, keyFile),
    digests: [digestOf(certFile.bytes), digestOf(keyFile.bytes)],
  };
}

/** Whether a variable probably sets the certificate or its key. */
function isOfTls({ name, nearest }: StrayVariable): boolean {
  return nearest === ENV_TLS_CERT_PATH || nearest === ENV_TLS_KEY_PATH || /^(?:SVC|NEXUS)_.*TLS/i.test(name);
}

/** Name of a file in messages: its variable, and its path if that is safe to print. */
export function tlsFileTitle({ certPath, keyPath }: TlsFiles, which: "cert" | "key"): string {
  const [name, path] = which === "cert" ? [ENV_TLS_CERT_PATH, certPath] : [ENV_TLS_KEY_PATH, keyPath];
  // The operator may have set the variable to the key itself, which must not be printed.
  return hiddenPath(path) === undefined ? `${name} ${JSON.stringify(path)}` : name;
}

/**
 * Parses and checks a certificate chain and its key.
 *
 * @throws {@link TlsFault} if the certificate or key is unusable
 */
export function readPair(files: TlsFiles, certFile: OperatorFile, keyFile: OperatorFile): TlsPair {
  const [certTitle, keyTitle] = [tlsFileTitle(files, "cert"), tlsFileTitle(files, "key")];
  const chain = readChain(certFile.bytes, certTitle);
  const key = readKey(keyFile.bytes, keyTitle);
  const [leaf] = chain;
  if (!leaf.checkPrivateKey(key)) {
    const at = chain.findIndex((certificate) => certificate.checkPrivateKey(key));
    throw new TlsFault(
      at === -1
        ? `${keyTitle} must be the key of the certificate at ${ENV_TLS_CERT_PATH}, got the key of another certificate; use a matching pair`
        : `${certTitle} must begin with the server's own certificate, got it at position ${at + 1}; move it to the beginning, followed by its issuers`,
    );
  }
  const context = contextOf(chain.map(String).join(""), key, certTitle);
  const expiresAt = Date.parse(leaf.validTo);
  const warnings: string[] = [];
  if (expiresAt <= Date.now()) {
    warnings.push(`${certTitle} expired on ${dateOf(expiresAt)}: callers will refuse it; renew it`);
  }
  if (Date.parse(leaf.validFrom) > Date.now()) {
    warnings.push(
      `${certTitle} is not valid before ${dateOf(Date.parse(leaf.validFrom))}: check the clock of this machine`,
    );
  }
  for (const [title, file] of [[keyTitle, keyFile] as const, [certTitle, certFile] as const]) {
    if (file.bytes.includes("PRIVATE KEY-----") && isWorldReadable(file.stats)) {
      warnings.push(`${title} ${EXPOSED_KEY}`);
    }
  }
  return { context, expiresAt, warnings };
}

const dateOf = (time: number) => new Date(time).toISOString();

function readChain(bytes: Buffer, title: string): [leaf: X509Certificate, ...issuers: X509Certificate[]] {
  const blocks = bytes.toString("latin1").match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const certificates = blocks.map((block, i) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new TlsFault(
        `${title} must contain PEM certificates, got a damaged one at position ${i + 1}; copy it again`,
      );
    }
  });
  const [leaf, ...issuers] = certificates;
  if (leaf !== undefined) return [leaf, ...issuers];
  throw new TlsFault(`${title} must contain a PEM certificate, got ${fileKind(bytes)}; use the server's certificate`);
}

function readKey(bytes: Buffer, title: string): KeyObject {
  if (bytes.includes("BEGIN ENCRYPTED PRIVATE KEY-----") || bytes.includes("Proc-Type: 4,ENCRYPTED")) {
    throw new TlsFault(
      `${title} must contain a private key without a passphrase, got an encrypted one; decrypt it (openssl pkey -in … -out …)`,
    );
  }
  if (!bytes.includes("PRIVATE KEY-----")) {
    throw new TlsFault(
      `${title} must contain a PEM private key, got ${fileKind(bytes)}; use the key of the certificate`,
    );
  }
  try {
    return createPrivateKey(bytes);
  } catch {
    throw new TlsFault(`${title} must contain a PEM private key, got a damaged one; copy it again`);
  }
}

/** Describes the content of a wrong file, for error messages. */
function fileKind(bytes: Buffer): string {
  if (bytes.toString("latin1").trim() === "") return "an empty file";
  if (bytes.includes("PRIVATE KEY-----")) return "a private key";
  if (bytes.includes("BEGIN CERTIFICATE-----"))
    return bytes.includes("END CERTIFICATE-----") ? "a certificate" : "a truncated certificate";
  return "another kind of file";
}

/**
 * Builds the server's TLS settings with the first list of groups that OpenSSL knows, and tests them, so that a
 * certificate that OpenSSL rejects is a start-up error.
 */
function contextOf(cert: string, key: KeyObject, title: string): SecureContextOptions {
  let refusal: unknown;
  for (const ecdhCurve of GROUPS) {
    const context: SecureContextOptions = {
      cert,
      key: key.export({ format: "pem", type: "pkcs8" }),
      minVersion: "TLSv1.2",
      maxVersion: "TLSv1.3",
      ciphers: CIPHERS,
      ecdhCurve,
      honorCipherOrder: true,
      // Renegotiation costs the server more than the client, and no client needs it.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      sessionTimeout: TICKET_KEY_MS / 1000,
    };
    try {
      createSecureContext(context);
      return context;
    } catch (error) {
      refusal = error;
    }
  }
  // The reason is a constant text of OpenSSL, such as `ee key too small`.
  const { reason } = Object(refusal) as { reason?: unknown };
  const got = typeof reason === "string" ? `: ${reason}` : "";
  throw new TlsFault(
    `${title} must be a certificate that OpenSSL accepts at security level 2, got one that it refuses${got}; issue a stronger certificate`,
  );
}

export function tlsOptions({ pair }: TlsSetup, handshakeMs: number): TlsOptions {
  return { ...pair.context, handshakeTimeout: handshakeMs, ALPNProtocols: ["http/1.1"] };
}

/** Members of an HTTPS server that this module uses. */
export type TlsServer = Server & { closeIdleConnections(): void };

export function isTlsServer(server: NetServer): server is TlsServer {
  return "setSecureContext" in server;
}

/**
 * Adds features that Node's HTTPS server lacks: cleanup of failed handshakes, rotation of ticket keys, and closing
 * connections during their handshake.
 *
 * @param onPlainHttp called if a client sends HTTP without TLS
 */
export function prepareTlsServer(server: TlsServer, onPlainHttp: (peer: string | undefined) => void): void {
  // Otherwise Node treats a failed handshake as an HTTP client error, although the client cannot read an answer without
  // a session.
  server.removeAllListeners("tlsClientError");
  server.on("tlsClientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ERR_SSL_HTTP_REQUEST") onPlainHttp(socket.remoteAddress);
    socket.destroy();
  });
  const rotation = setInterval(() => server.setTicketKeys(randomBytes(48)), TICKET_KEY_MS).unref();
  server.once("close", () => clearInterval(rotation));
  closeHandshakes(server);
}

/**
 * Makes `closeIdleConnections` also close connections during their handshake, which Node's HTTP server does not track.
 * Closing the server would wait for them.
 */
function closeHandshakes(server: TlsServer): void {
  const unfinished = new Map<string, Socket>();
  const peerOf = ({ remoteAddress, remotePort }: Socket) => `${remoteAddress} ${remotePort}`;
  server.on("connection", (socket: Socket) => {
    const peer = peerOf(socket);
    unfinished.set(peer, socket);
    socket.once("close", () => {
      if (unfinished.get(peer) === socket) unfinished.delete(peer);
    });
  });
  server.on("secureConnection", (socket: TLSSocket) => unfinished.delete(peerOf(socket)));
  const closeIdleConnections = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    closeIdleConnections();
    for (const socket of unfinished.values()) socket.destroy();
  };
}
