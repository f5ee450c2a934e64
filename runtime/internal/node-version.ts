/**
 * Ends a process whose Node.js cannot load the packages. The entry points import it first: modules that are imported later
 * in the same graph are read, and not run. Node 12 reads its syntax; the tests compare the version with `engines`.
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
