/** The metadata documents of a project: the content of its `meta.json`. */

import type { GeneratedFile } from "../compile/model.js";
import { JsonObject, readJson } from "../text/json.js";
import { canonicalPath } from "./tool-path.js";

/** Text of `meta.json` among generated files. */
export function metaJsonIn(files: readonly GeneratedFile[]): string {
  return files.find(({ path }) => path === "meta.json")?.text ?? "[]";
}

/** @throws JsonError */
export function metaDocuments(metaJson: string): JsonObject[] {
  const list = readJson(metaJson);
  return (Array.isArray(list) ? list : []).filter((each) => each instanceof JsonObject);
}

export function fqnOf(document: JsonObject): string {
  return String(document.get("fqn"));
}

/** Canonical path of a tool. */
export function pathOf(document: JsonObject): string {
  return canonicalPath(new URL(String(document.get("url"))).pathname);
}
