/**
 * Ends the process if its Node.js version is too old. Entry points import this module first, so that it runs before
 * their other imports. Its syntax must be valid for Node 12. A test compares the version with `engines`.
 */

const OLDEST = "20.19.0";

/** Versions that fix the vulnerabilities known for their line, ascending. An older version still runs. */
const FIXED = ["20.20.2", "22.22.2", "24.14.1", "25.8.2"];

const version = process.versions.node;

function isOlder(than: string): boolean {
  const [own, other] = [version, than].map((text) => text.split(".").map(Number)) as [number[], number[]];
  const different = other.findIndex((number, i) => own[i] !== number);
  return different >= 0 && Number(own[different]) < Number(other[different]);
}

if (isOlder(OLDEST)) {
  console.error(
    `Node.js ${version} is too old: svc-gen and svc-runtime need ${OLDEST} or later; install a newer one and run this again`,
  );
  process.exit(1);
}

const fixed = FIXED.find((each) => Number.parseInt(each, 10) >= Number.parseInt(version, 10));

/** What the vulnerabilities of this version of Node.js allow; undefined if none are known. */
export const vulnerableNode =
  fixed !== undefined && isOlder(fixed)
    ? `Node.js ${version} has known vulnerabilities: crafted requests can block or crash a server, or pass the checks of a gateway; install ${fixed} or a later version that still gets fixes`
    : undefined;
