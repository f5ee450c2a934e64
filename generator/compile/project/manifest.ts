import { join } from "node:path";
import { VERSION } from "../../process/version.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { foldersUp } from "./folders-up.js";
import type { InputRecorder } from "./input-recorder.js";
import type { Layout } from "./layout.js";
import { ts } from "./typescript.js";

export const RUNTIME = "svc-runtime";

/** Reports an invalid package.json, and a svc-runtime of another version. */
export function checkManifest(layout: Layout, recorder: InputRecorder): readonly Diagnostic[] {
  const path = join(layout.root, "package.json");
  const text = ts.sys.readFile(path);
  recorder.file(path, text);
  try {
    if (text !== undefined) JSON.parse(text);
  } catch {
    const hint = "correct the file; npm and Node.js cannot read it either";
    return [diagnostic("SVC101", {}, "package.json is not valid JSON", hint)];
  }
  const runtime = installedManifest(layout.root, RUNTIME, recorder);
  const version = runtime && packageVersion(runtime.text);
  if (version === undefined || version === VERSION) return [];
  const hint = `npm install ${RUNTIME}@${VERSION}, or npm install --save-dev svc-gen@${version}; then run svc-gen again`;
  return [diagnostic("SVC108", {}, `svc-gen is ${VERSION}, svc-runtime is ${version}`, hint)];
}

/** package.json of a package in the nearest `node_modules` above a folder. */
export function installedManifest(
  folder: string,
  name: string,
  recorder: InputRecorder,
): { readonly path: string; readonly text: string } | undefined {
  for (const each of foldersUp(folder)) {
    const path = join(each, "node_modules", name, "package.json");
    const text = ts.sys.readFile(path);
    recorder.file(path, text);
    if (text !== undefined) return { path, text };
  }
  return undefined;
}

/**
 * Version in a package's manifest. Undefined without a version or for invalid JSON, such as a manifest that a package
 * manager is still writing.
 */
export function packageVersion(manifest: string): string | undefined {
  try {
    const version = String(JSON.parse(manifest).version);
    return /^\d/.test(version) ? version : undefined;
  } catch {
    return undefined;
  }
}
