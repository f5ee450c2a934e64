/** Loopback addresses. The one place that decides which traffic stays on this machine, on every platform of the client. */

/**
 * Whether only this machine reaches a host: an IP literal, in brackets and with a zone too, or a name. Of names only
 * `localhost` is known: DNS decides where any other leads, `127.example.org` included.
 */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, "").replace(/^([\da-f:.]+)%.*$/i, "$1");
  const url = `http://${address.includes(":") ? `[${address}]` : address}`;
  if (/[^\w:.-]/.test(address) || !URL.canParse(url)) return false;
  // The parser writes each address in one form. A host that ends in a number is IPv4 there, or invalid.
  return /^(?:localhost|127\.[\d.]+|\[::1\]|\[::ffff:7f..:[\da-f]+\])$/.test(new URL(url).hostname);
}
