/**
 * What a run in which nothing was wrong leaves for the next: what every file came to, and which files reach which. When
 * some files have changed, only what reaches them is read again. No compiler in this file.
 */

import type { Acknowledgement } from "./acknowledge.js";
import type { Diagnostic } from "./diagnostics.js";
import type { FileNode, Graph } from "./graph.js";
import type { Outcome } from "./outcome.js";

/** The tools of one source file, the notes about them, and those that their author has acknowledged, in any file. */
export interface FileOutcome {
  readonly tools: readonly Outcome[];
  readonly notes: readonly Diagnostic[];
  readonly acknowledged: readonly Acknowledgement[];
}

/** Plain data that survives JSON. */
export interface Kept {
  readonly graph: Graph;
  /** The files that the configuration names. */
  readonly files: readonly string[];
  /** By path; files without tools have none. */
  readonly outcomes: Readonly<Record<string, FileOutcome>>;
}

/** What a change touches. */
export interface Plan {
  /** Files to check and to look for tools in. */
  readonly affected: ReadonlySet<string>;
  /** The files with which to open a program that sees all that these see. */
  readonly roots: readonly string[];
}

/**
 * What to read again when `changed` files have other texts or are gone and the configuration now names `files`; undefined
 * when that is everything.
 */
export function planFor(kept: Kept, changed: ReadonlySet<string>, files: readonly string[]): Plan | undefined {
  const { graph } = kept;
  const globals = Object.keys(graph).filter((path) => graph[path]?.global);
  const felt = reachedFrom(globals, (path) => graph[path]?.imports ?? []);
  const now = new Set(files);
  const touched = new Set([...changed, ...kept.files.filter((path) => !now.has(path))]);
  for (const path of touched) {
    const node = graph[path];
    if (node === undefined || node.library || felt.has(path)) return undefined;
  }
  const importers = importersOf(graph);
  const affected = reachedFrom([...touched], (path) => importers.get(path) ?? []);
  for (const path of files) if (graph[path] === undefined) affected.add(path);
  const needed = reachedFrom([...affected], (path) => graph[path]?.imports ?? []);
  const witnesses = witnessesOf(globals, files, graph);
  return { affected, roots: files.filter((path) => needed.has(path) || witnesses.has(path)) };
}

/** Whether a program that was opened by a plan sees what the whole project would let it see. */
export function isFaithful(kept: Kept, opened: Graph, files: readonly string[]): boolean {
  const named = new Set(files);
  const globals = (graph: Graph) => Object.keys(graph).filter((path) => graph[path]?.global);
  const known = Object.keys(opened).every((path) => path in kept.graph || named.has(path));
  return known && globals(opened).join("\n") === globals(kept.graph).join("\n");
}

/** The first file that reaches each global one: it brings them into a program in the order of the whole project. */
function witnessesOf(globals: readonly string[], files: readonly string[], graph: Graph): ReadonlySet<string> {
  const missing = new Set(globals);
  const met = new Set<string>();
  const witnesses = new Set<string>();
  for (const file of files) {
    if (missing.size === 0) break;
    for (const path of reachedFrom([file], (each) => (met.has(each) ? [] : (graph[each]?.imports ?? [])))) {
      met.add(path);
      if (missing.delete(path)) witnesses.add(file);
    }
  }
  return witnesses;
}

function importersOf(graph: Graph): ReadonlyMap<string, readonly string[]> {
  const importers = new Map<string, string[]>();
  for (const [path, { imports }] of Object.entries<FileNode>(graph)) {
    for (const target of imports) {
      const known = importers.get(target);
      if (known === undefined) importers.set(target, [path]);
      else known.push(path);
    }
  }
  return importers;
}

/** Everything that can be reached, the starts themselves included. */
function reachedFrom(starts: readonly string[], next: (path: string) => readonly string[]): Set<string> {
  const reached = new Set(starts);
  for (const path of reached) for (const each of next(path)) reached.add(each);
  return reached;
}
