/**
 * Input names that look like secrets. Leaders and the network can read inputs, so svc-gen reports such names (SVC154).
 */

/** Words at the end of a name. */
const SECRET =
  /(?:^| )(?:api ?key|access key|private ?key|secret key|signing key|token|password|passwd|passphrase|secret|mnemonic|seed phrase|credentials?)$/;

/** Whether a name ends in words for a secret: `apiKey`, `GITHUB_TOKEN`; not `tokenId` or `maxTokens`. */
export function looksSecret(name: string): boolean {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1 $2").split(/[^A-Za-z0-9]+/);
  return SECRET.test(words.filter(Boolean).join(" ").toLowerCase());
}
