/** Reads tsconfig.json, or the first configuration with files that it references. */

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Place } from "../model.js";
import type { InputRecorder } from "./input-recorder.js";
import { displayPath, type Layout } from "./layout.js";
import { messageAndPlace } from "./places.js";
import { type InstalledTypeScript, installedTypeScript, registerLibNames, withDefaults } from "./project-typescript.js";
import { ts } from "./typescript.js";

interface Config {
  readonly source: ts.TsConfigSourceFile;
  readonly options: ts.CompilerOptions;
  readonly installed: InstalledTypeScript | undefined;
  readonly files: readonly string[];
  readonly references: readonly ts.ProjectReference[] | undefined;
}

interface ConfigProblem {
  readonly problem: string;
  readonly place?: Place;
}

/** @param above the configurations whose references lead to this one */
export function readConfig(
  layout: Layout,
  recorder: InputRecorder,
  above: readonly string[] = [],
): Config | ConfigProblem {
  const path = layout.tsconfig;
  if (!existsSync(path)) {
    recorder.file(path, undefined);
    return { problem: `${displayPath(layout, path)} does not exist` };
  }
  const host = recorder.wrap(ts.sys);
  const installed = installedTypeScript(dirname(path), recorder);
  if (installed !== undefined) registerLibNames(installed);
  const source = ts.readJsonConfigFile(path, host.readFile);
  const [unread] = source.statements === undefined ? (source as InnerJsonFile).parseDiagnostics : [];
  if (unread !== undefined) return { problem: messageAndPlace(layout, unread).message };
  const parsed = ts.parseJsonSourceFileConfigFileContent(source, host, dirname(path), undefined, path);
  // Unknown options and values may be valid in a newer TypeScript.
  const [fault] = [...(source as InnerJsonFile).parseDiagnostics, ...parsed.errors].filter(isConfigFault);
  if (fault !== undefined) {
    const { message, place } = messageAndPlace(layout, fault);
    return { problem: message, ...(place === undefined ? {} : { place }) };
  }
  const { projectReferences: references } = parsed;
  if (parsed.fileNames.length === 0 && references !== undefined) {
    return firstReferenced(layout, references, recorder, [...above, path]);
  }
  const options = withDefaults(parsed.options, installed);
  return {
    source,
    options,
    installed,
    files: parsed.fileNames,
    references,
  };
}

/** Internal list of syntax errors (TypeScript 6.0). */
interface InnerJsonFile extends ts.TsConfigSourceFile {
  readonly parseDiagnostics: readonly ts.Diagnostic[];
}

/**
 * Whether a configuration's diagnostic is an error in every TypeScript version: a syntax error, a value of the wrong
 * type, or a base file that is missing or unreadable.
 */
function isConfigFault({ code }: ts.Diagnostic): boolean {
  return (code >= 1000 && code < 2000) || [5012, 5024, 5083, 6053].includes(code);
}

/** For a tsconfig that only has references: the first referenced configuration with files. */
function firstReferenced(
  layout: Layout,
  references: readonly ts.ProjectReference[],
  recorder: InputRecorder,
  above: readonly string[],
): Config | ConfigProblem {
  for (const reference of references) {
    const tsconfig = resolve(ts.resolveProjectReferencePath(reference));
    if (above.includes(tsconfig)) continue;
    const config = readConfig({ ...layout, tsconfig }, recorder, above);
    if ("problem" in config || config.files.length > 0) return config;
  }
  return { problem: `${displayPath(layout, layout.tsconfig)} includes no files` };
}
