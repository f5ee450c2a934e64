/** Loopback addresses. The one place that decides which traffic stays on this machine. */

import { BlockList, isIP } from "node:net";

let loopback: BlockList | undefined;

/**
 * Whether only this machine reaches a host: an IP literal, in brackets too, or a name. Of names only `localhost` is
 * known: DNS decides where any other leads, `127.example.org` included.
 */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "");
  const version = isIP(address);
  if (version === 0) return address === "localhost";
  if (loopback === undefined) {
    loopback = new BlockList();
    loopback.addSubnet("127.0.0.0", 8);
    loopback.addAddress("::1", "ipv6");
  }
  return loopback.check(address, version === 6 ? "ipv6" : "ipv4");
}
