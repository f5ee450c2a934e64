/** Thread of {@link Builder}: watches a project, generates and compiles. */

import module from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { BuilderMessage, BuilderWork } from "./builder.js";

// Caches compiled code for the next process. The setting is separate for each thread. Node 20 lacks the function.
(module as { readonly enableCompileCache?: () => void }).enableCompileCache?.();
const { project, compiledFolder } = workerData as BuilderWork;
const send = (message: BuilderMessage) => parentPort?.postMessage(message);
const { watchProject } = await import("../compile/watch.js");
const { writeChanged } = await import("../files/output-files.js");
const { metaJsonIn } = await import("../tools/meta-documents.js");
const { hasErrors } = await import("../compile/diagnostics/diagnostics.js");

await watchProject(
  project,
  {
    write: (files) => writeChanged(project.root, files),
    failed: (error) => send({ kind: "failed", reason: error instanceof Error ? error.message : String(error) }),
    tell: ({ compile, files, ...run }) => {
      const isGood = !hasErrors(run.diagnostics);
      const document = metaJsonIn(files);
      send({ kind: "run", ...run, ...(isGood && { compiled: { ...compile(compiledFolder), document } }) });
    },
  },
  // Runs until the thread is terminated.
  new Promise(() => {}),
);
