/** What is wrong with the requirements manifest: the gate over docs/protocol.md. */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { CAPABILITIES, type Requirement } from "./requirements.js";
import type { Sentence } from "./sentences.js";

const SEPARATOR = " › ";

/** Sentences without an entry, entries without their sentence, and what is listed twice. */
export function listingFaults(sentences: readonly Sentence[], requirements: readonly Requirement[]): string[] {
  const texts = new Set(sentences.map(({ text }) => text));
  const [ids, listed] = [new Set<string>(), new Set<string>()];
  const faults: string[] = [];
  for (const { id, text } of requirements) {
    if (ids.has(id)) faults.push(`${id}: this id is given twice`);
    if (listed.has(text)) faults.push(`${id}: this sentence is listed twice: ${text}`);
    if (!texts.has(text)) faults.push(`${id}: the protocol has no such sentence: ${text}`);
    ids.add(id);
    listed.add(text);
  }
  const unlisted = sentences.filter(({ text }) => !listed.has(text));
  return [...faults, ...unlisted.map(({ section, text }) => `section ${section}: a sentence is not listed: ${text}`)];
}

/** What is wrong with one entry; its proofs are looked up below `root`. */
export function entryFaults({ proofs, owner, reason }: Requirement, root: string): string[] {
  if ((reason === undefined) === (proofs === undefined && owner === undefined)) {
    return ["expected proofs, an owner or both, or else a reason"];
  }
  const faults: string[] = [];
  if (owner !== undefined && !Object.hasOwn(CAPABILITIES, owner)) faults.push(`no capability is called ${owner}`);
  if (reason?.trim() === "" || reason === "TODO") faults.push("expected a reason");
  if (proofs?.length === 0) faults.push("expected at least one proof");
  return [...faults, ...(proofs ?? []).flatMap((proof) => proofFault(proof, root) ?? [])];
}

function proofFault(proof: string, root: string): string | undefined {
  const at = proof.indexOf(SEPARATOR);
  const file = proof.slice(0, at);
  const text = proof.slice(at + SEPARATOR.length);
  if (at === -1 || text.trim() === "") return `expected \`file${SEPARATOR}text\`: ${proof}`;
  if (!/^test\/[\w/.-]+\.test\.ts$/.test(file)) return `expected a test file: ${file}`;
  if (!existsSync(join(root, file))) return `there is no ${file}`;
  const times = codeOf(join(root, file)).split(text).length - 1;
  return times === 1 ? undefined : `${file} has this text ${times} times, expected once: ${text}`;
}

const codes = new Map<string, string>();

/** The text of a TypeScript file without its comments: a comment proves nothing. */
function codeOf(path: string): string {
  const known = codes.get(path);
  if (known !== undefined) return known;
  const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest);
  let code = "";
  const visit = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    if (children.length > 0) children.forEach(visit);
    else {
      const start = node.getStart(source);
      // What is between two tokens: a space, a line break and indentation, or a comment.
      const between = source.text.slice(node.getFullStart(), start);
      code += /^\s*$/.test(between) ? between : "\n";
      code += source.text.slice(start, node.getEnd());
    }
  };
  visit(source);
  codes.set(path, code);
  return code;
}
