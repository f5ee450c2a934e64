/** The environment variables that a server reads, beside the one of its configuration. */

/** The environment variable that holds the address: an IP literal and a port. */
export const ENV_BIND_ADDR = "BIND_ADDR";
/** The environment variable that holds the address of the listener for operators; absent, there is none. */
export const ENV_ADMIN_ADDR = "SVC_ADMIN_ADDR";
/** The environment variable that sets the least level that is written: `trace` to `fatal`, or `silent`. */
export const ENV_LOG_LEVEL = "SVC_LOG_LEVEL";
/** The environment variable that names the certificate: PEM, the server's own first, then its issuers. */
export const ENV_TLS_CERT_PATH = "SVC_TOOL_TLS_CERT_PATH";
/** The environment variable that names the certificate's private key: PEM, not encrypted. */
export const ENV_TLS_KEY_PATH = "SVC_TOOL_TLS_KEY_PATH";
