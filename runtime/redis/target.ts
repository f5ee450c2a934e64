/** Address of a Redis or Valkey server, in the formats of `SVC_REPLAY_REDIS_URL`. */

import { authorityOf, isLoopback } from "svc-runtime/internal/redis";

/** User and password are optional. */
export interface RedisTarget {
  readonly at:
    | { readonly host: string; readonly port: number }
    | { readonly path: string }
    | { readonly sentinels: readonly { readonly host: string; readonly port: number }[]; readonly name: string };
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly db: number;
}

const FORMS =
  "expected redis://user:password@host:port/db, rediss://… for TLS, unix:///path or redis+sentinel://h1:p,h2:p/name; in users and passwords, percent-encode / ? # @ %";
const URL_FORM = /^(?<scheme>[a-z+]+):\/\/(?:(?<login>[^@/]*)@)?(?<hosts>[^@/?#]*)(?<path>\/[^?#]*)?$/;
const HOST_FORM = /^(?<host>\[[0-9a-fA-F:.]+\]|[^:[\]]+)(?::(?<port>\d{1,5}))?$/;

/**
 * Parses the address of a server.
 *
 * @throws RangeError for any other format; the message contains no part of the text, which may contain a password
 */
export function parseTarget(text: string): RedisTarget {
  const { scheme = "", login, hosts = "", path = "" } = URL_FORM.exec(text)?.groups ?? {};
  if (!text.includes("://")) throw new RangeError(`${FORMS}; got no scheme: write redis:// before the host`);
  const credentials = loginOf(login);
  switch (scheme) {
    case "unix":
      if (hosts !== "" || path.length < 2) break;
      return { at: { path: decoded(path) }, tls: false, ...credentials, db: 0 };
    case "redis":
    case "rediss": {
      const [host, ...more] = hostsOf(hosts, 6379);
      if (host === undefined || more.length > 0) break;
      const db = /^\/?(?<db>\d{0,5})$/.exec(path)?.groups?.db;
      if (db === undefined) throw new RangeError("expected a database number after the slash");
      return { at: host, tls: scheme === "rediss", ...credentials, db: Number(db) };
    }
    case "redis+sentinel":
    case "rediss+sentinel": {
      const name = decoded(path.slice(1));
      if (name === "" || name.includes("/")) throw new RangeError(`${FORMS}: the name of the primary is missing`);
      return {
        at: { sentinels: hostsOf(hosts, 26379), name },
        tls: scheme.startsWith("rediss"),
        ...credentials,
        db: 0,
      };
    }
  }
  throw new RangeError(FORMS);
}

/** Address for messages, without user and password. */
export function addressOf({ at, tls }: RedisTarget): string {
  if ("path" in at) return `unix://${at.path}`;
  const hosts = "sentinels" in at ? at.sentinels : [at];
  const scheme = `redis${tls ? "s" : ""}${"sentinels" in at ? "+sentinel" : ""}`;
  const list = hosts.map(authorityOf).join(",");
  return `${scheme}://${list}${"sentinels" in at ? `/${at.name}` : ""}`;
}

/** Whether a password would be sent over the network unencrypted. */
export function crossesNetworkInClear({ at, tls }: RedisTarget): boolean {
  if (tls || "path" in at) return false;
  const hosts = "sentinels" in at ? at.sentinels : [at];
  return hosts.some(({ host }) => !isLoopback(host));
}

function hostsOf(text: string, defaultPort: number): { host: string; port: number }[] {
  return text.split(",").map((each) => {
    const { host, port = defaultPort } = HOST_FORM.exec(each)?.groups ?? {};
    if (host === undefined) throw new RangeError(`${FORMS}: a host is missing or malformed`);
    if (Number(port) < 1 || Number(port) > 65_535) throw new RangeError("expected a port of 1 to 65535");
    return { host: host.replace(/^\[|\]$/g, ""), port: Number(port) };
  });
}

function loginOf(login: string | undefined): { username?: string; password?: string } {
  if (login === undefined || login === "") return {};
  const colon = login.indexOf(":");
  const [username, password] = colon === -1 ? [login, ""] : [login.slice(0, colon), login.slice(colon + 1)];
  return {
    ...(username !== "" && { username: decoded(username) }),
    ...(password !== "" && { password: decoded(password) }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RangeError("expected percent-encoding in the URL: encode a % as %25");
  }
}
