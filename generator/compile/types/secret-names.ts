/**
 * Input names that look like secrets. Leaders and the network can read inputs, so svc-gen reports such names (SVC154).
 */

const SECRETS = [
  ["api", "key"],
  ["apikey"],
  ["access", "key"],
  ["private", "key"],
  ["privatekey"],
  ["secret", "key"],
  ["signing", "key"],
  ["token"],
  ["password"],
  ["passwd"],
  ["passphrase"],
  ["secret"],
  ["mnemonic"],
  ["seed", "phrase"],
  ["credential"],
  ["credentials"],
];

/** Whether a name ends in words for a secret: `apiKey`, `GITHUB_TOKEN`; not `tokenId` or `maxTokens`. */
export function looksSecret(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return SECRETS.some(
    (secret) =>
      secret.length <= words.length &&
      secret.every((word, index) => words[words.length - secret.length + index] === word),
  );
}
