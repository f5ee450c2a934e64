/** Listen addresses, set in code or by environment variables (protocol.md section 9). */

import { ENV_ADMIN_ADDR } from "../../config/environment.js";
import { type ListenAddress, parseListenAddress } from "../../config/listen-address.js";
import { textKind } from "../../described-text.js";
import { StartupError } from "../errors/startup-error.js";

/** IPv4 address and port. Port 0 selects a free port. */
export type Address = readonly [octets: readonly [number, number, number, number], port: number];

/**
 * Converts an address that is set in code.
 *
 * @param name name of the option, for the error message
 * @throws {@link StartupError} if the address is malformed
 */
export function listenAddressOf(name: string, address: Address | undefined): ListenAddress | undefined {
  if (address === undefined) return undefined;
  const [octets, port] = address;
  const valid = (value: number, max: number) => Number.isInteger(value) && value >= 0 && value <= max;
  if (octets.length !== 4 || !octets.every((octet) => valid(octet, 255)) || !valid(port, 65_535)) {
    throw new StartupError(`${name}: expected an address such as [[127, 0, 0, 1], 8080], got another value`);
  }
  return { host: octets.join("."), port };
}

/**
 * Reads an address, an IP literal and a port, from an environment variable.
 *
 * @throws {@link StartupError} if the address is malformed
 */
export function listenAddressFromEnv(variable: string): ListenAddress | undefined {
  const text = process.env[variable];
  const address = text === undefined ? undefined : parseListenAddress(text);
  if (text === undefined || address !== undefined) return address;
  const isHostName = /^[a-z][\w.-]*(?::\d+)?$/i.test(text);
  const got = isHostName ? "a host name" : textKind(text, /^:?\d+$/.test(text) ? "a port alone" : undefined);
  const at = variable === ENV_ADMIN_ADDR ? 9090 : 8080;
  const expected = `expected an IP literal and a port, such as 127.0.0.1:${at} or [::1]:${at}`;
  throw new StartupError(`${variable}: ${expected}, got ${got}`);
}
