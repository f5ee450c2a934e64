/** Loopback addresses. The single check, on every platform, of whether traffic stays on this machine. */

/**
 * Whether a host is reachable only from this machine. Accepts an IP literal, optionally in brackets or with a zone, or
 * a name. The only loopback name is `localhost`: DNS resolves any other name, `127.example.org` included.
 */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "").replace(/^([\da-f:.]+)%.*$/i, "$1");
  const url = `http://${address.includes(":") ? `[${address}]` : address}`;
  if (/[^\w:.-]/.test(address) || !URL.canParse(url)) return false;
  // The URL parser normalises addresses. It reads a host that ends in a number as IPv4 or rejects it.
  return /^(?:localhost|127\.[\d.]+|\[::1\]|\[::ffff:7f..:[\da-f]+\])$/.test(new URL(url).hostname);
}
