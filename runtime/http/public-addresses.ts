/** Restricts connections to the public network, whatever a host name resolves to. */

import type { LookupAddress } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import type { Dispatcher } from "svc-client/internal/leader/transport/dispatcher";
import { CONNECT_LIMITS } from "svc-client/internal/leader/transport/http-client";
import type { Agent } from "undici";
import { boundedLookup } from "./lookup.js";

/** Addresses outside the public network: IANA's special-purpose registries (RFC 6890). */
const SPECIAL_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
];
/**
 * Public ranges that clouds route to their own hosts and services.
 *
 * - Azure's host agent (WireServer): learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
 * - IBM Cloud's services and service endpoints, reserved in its VPCs: `client_ip_pool` in cloud.ibm.com/apidocs/vpc
 *
 * The agents of other clouds have addresses in the special-purpose ranges.
 */
const CLOUD_IPV4 = ["168.63.129.16/32", "161.26.0.0/16", "166.8.0.0/14"];

/** IPv6 range of public addresses, and the ranges in it that are not public. */
const GLOBAL_UNICAST = "2000::/3";
const NOT_PUBLIC_IN_IT = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const special = listOf([...SPECIAL_IPV4, ...CLOUD_IPV4], "ipv4");
const unicast = listOf([GLOBAL_UNICAST], "ipv6");
const excluded = listOf(NOT_PUBLIC_IN_IT, "ipv6");

function listOf(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address, bits] = range.split("/") as [string, string];
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/**
 * Whether an IP address is on the public network. False for IPv6 addresses that embed an IPv4 address (mapped, NAT64,
 * 6to4, Teredo), because a translator may forward them anywhere.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, "ipv4");
  // An address with a zone is link-local.
  return family === 6 && !address.includes("%") && unicast.check(address, "ipv6") && !excluded.check(address, "ipv6");
}

export class ForbiddenAddress extends Error {
  readonly code = "ERR_FORBIDDEN_ADDRESS";
}

/** Rejects a URL whose host is an IP address outside the public network. Names are checked when they are resolved. */
export function checkHost({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw new ForbiddenAddress("the address is not public");
}

/**
 * Resolves a host name to its public addresses. The connection uses these addresses and does not resolve the name
 * again.
 */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  boundedLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, "", 0);
    const found = (addresses as LookupAddress[]).filter(({ address }) => isPublicAddress(address));
    const [first] = found as [LookupAddress?];
    if (first === undefined) return callback(new ForbiddenAddress("the name has no public address"), "", 0);
    if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  });
};

let agent: Promise<Agent> | undefined;

/**
 * Agent for requests that are restricted to the public network. Uses no proxy, because a proxy resolves names itself.
 */
export function publicAgent(): Promise<Dispatcher> {
  agent ??= import("undici").then(
    ({ Agent }) => new Agent({ connect: { lookup: publicLookup, ...CONNECT_LIMITS }, allowH2: false }),
  );
  return agent;
}
