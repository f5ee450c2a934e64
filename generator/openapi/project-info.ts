/** Name and version of a project, for its OpenAPI document. */

import { join } from "node:path";
import { readJsonFile } from "../files/read-file.js";

/** Reads package.json; uses defaults if it lacks them. */
export function projectInfo(root: string): { readonly title: string; readonly version: string } {
  const { name, version } = Object(readJsonFile(join(root, "package.json"))) as Readonly<Record<string, unknown>>;
  return {
    title: typeof name === "string" && name !== "" ? name : "tools",
    version: typeof version === "string" && version !== "" ? version : "0.0.0",
  };
}
