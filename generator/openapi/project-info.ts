/** Name and version of a project, for its OpenAPI document. */

import { join } from "node:path";
import { readRegular } from "../files/read-file.js";

/** Reads package.json; uses defaults if it lacks them. */
export function projectInfo(root: string): { readonly title: string; readonly version: string } {
  const { name, version } = manifestOf(root);
  return {
    title: typeof name === "string" && name !== "" ? name : "tools",
    version: typeof version === "string" && version !== "" ? version : "0.0.0",
  };
}

function manifestOf(root: string): { readonly name?: unknown; readonly version?: unknown } {
  try {
    return Object(JSON.parse(readRegular(join(root, "package.json")).toString()));
  } catch {
    return {};
  }
}
