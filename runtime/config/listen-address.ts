import { isIP } from "node:net";

/** Host and port, as arguments of Node's `listen`. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Host and port as in a URL: an IPv6 address is in brackets. */
export function authorityOf({ host, port }: ListenAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Parses an IP literal and a port, such as `127.0.0.1:8080` or `[::1]:8080`; undefined for any other text. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[(?<six>[^\]]*)\]|(?<four>[\d.]+)):(?<port>\d{1,5})$/.exec(text);
  const { six = "", four = "", port = "" } = match?.groups ?? {};
  const host = six || four;
  // Called only once, because Node compiles a costly regular expression for text that is not IPv4.
  const isAddress = isIP(host) === (six === "" ? 4 : 6) && Number(port) <= 65_535;
  return isAddress ? { host, port: Number(port) } : undefined;
}
