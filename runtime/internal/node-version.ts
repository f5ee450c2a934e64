/**
 * Ends the process if its Node.js version is too old. Entry points import this module first, so that it runs before
 * their other imports. Its syntax must be valid for Node 12. A test compares the version with `engines`.
 */

const OLDEST = [20, 20, 2];

const version = process.versions.node;
const own = version.split(".").map(Number);
const different = OLDEST.findIndex((number, i) => own[i] !== number);
if (different >= 0 && Number(own[different]) < Number(OLDEST[different])) {
  console.error(
    `Node.js ${version} is too old: svc-gen and svc-runtime need ${OLDEST.join(".")} or later; install a newer one and run this again`,
  );
  process.exit(1);
}

export {};
