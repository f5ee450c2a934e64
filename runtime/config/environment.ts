/** Environment variables of a server, except that of its configuration (config.ts). */

/** Environment variable with the address: an IP literal and a port. */
export const ENV_BIND_ADDR = "BIND_ADDR";
/** Environment variable with the address of the listener for operators; without it there is no listener. */
export const ENV_ADMIN_ADDR = "SVC_ADMIN_ADDR";
/** Environment variable with the minimum log level: `trace` to `fatal`, or `silent`. */
export const ENV_LOG_LEVEL = "SVC_LOG_LEVEL";
/**
 * Environment variable with the path of the certificate chain: PEM, the server's certificate first, then its issuers.
 */
export const ENV_TLS_CERT_PATH = "SVC_TOOL_TLS_CERT_PATH";
/** Environment variable with the path of the certificate's private key: PEM, not encrypted. */
export const ENV_TLS_KEY_PATH = "SVC_TOOL_TLS_KEY_PATH";
