/** `npm run conformance -- DIR`: every vector file of a directory; the counts last, the exit code by them. */

import { resolve } from "node:path";
import { VECTORS } from "./read.js";
import { reportOn } from "./report.js";

process.exitCode = await reportOn(resolve(process.argv[2] ?? VECTORS), console.log);
