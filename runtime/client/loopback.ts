/**
 * Whether a host is reachable only from this machine: a loopback IP literal, optionally in brackets or with a zone, or
 * the name `localhost`. DNS resolves all other names, such as `127.example.org`.
 */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "").replace(/^([\da-f:.]+)%.*$/i, "$1");
  const url = `http://${address.includes(":") ? `[${address}]` : address}`;
  if (/[^\w:.-]/.test(address) || !URL.canParse(url)) return false;
  // The URL parser normalises addresses. It reads a host that ends in a number as IPv4, or rejects it.
  return /^(?:localhost|127\.[\d.]+|\[::1\]|\[::ffff:7f..:[\da-f]+\])$/.test(new URL(url).hostname);
}
