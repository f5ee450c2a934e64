/** Reads the static metadata of a tool class without running code. */

import { DEFAULT_TIMEOUT_MS, fqnProblem, MAX_TIMEOUT_MS, parseFqn } from "svc-runtime/internal/generator";
import { isToolPath } from "../../tools/tool-path.js";
import type { Code } from "../diagnostics/diagnostics.js";
import { quoted } from "../diagnostics/quote.js";
import type { StaticMetadata } from "../model.js";
import type { Program } from "../project/program.js";
import { Node, type Type, ts } from "../project/typescript.js";
import { readHintTags } from "./hint-tags.js";
import { type ClassNode, isFunctionValue, methodOf, misspelt, overrideOf, type Report } from "./overrides.js";
import { nameNode, StaticEvaluator } from "./static-evaluator.js";

export function readStaticMetadata(
  program: Program,
  node: ClassNode,
  statics: Type,
  name: string,
  report: Report,
): StaticMetadata | undefined {
  const at = nameNode(node);
  const evaluator = new StaticEvaluator(statics);
  let failed = false;
  const fail = (...problem: Parameters<Report>): undefined => {
    failed = true;
    report(...problem);
  };
  const failUnread = (key: string, declaration: Node): undefined => {
    const subject = `${name}.${key}()`;
    const place = evaluator.failedAt ?? nameNode(declaration);
    const hint = `write: static override ${key}() { return …; }`;
    if (isValueProperty(declaration)) return fail("SVC113", place, subject, "it is a property, not a method", hint);
    if (key !== "variables" || !Node.isArrayLiteralExpression(place)) return fail("SVC113", place, subject);
    return fail("SVC116", place, subject, "expected an object of names and descriptions, got an array");
  };
  /** Value and place of a static method; undefined if the class does not override it. */
  const staticValue = (key: string, kind: "string" | "number", refusal: Code) => {
    const declaration = overrideOf(program, statics, key);
    if (declaration === undefined) return undefined;
    const value = evaluator.result(declaration);
    if (value === undefined) return failUnread(key, declaration);
    if (typeof value.value !== kind) return fail(refusal, value.node, `${name}.${key}()`, wrongKind(value.value));
    return { value: value.value, node: value.node };
  };

  const fqn = staticValue("fqn", "string", "SVC114");
  const description = staticValue("description", "string", "SVC115");
  const path = staticValue("path", "string", "SVC122");
  const timeout = staticValue("timeout", "number", "SVC118");
  const declared = overrideOf(program, statics, "variables");
  const variables = declared === undefined ? [] : (evaluator.texts(declared) ?? failUnread("variables", declared));
  const wrong = variables?.find(
    ([variable, about]) => !/^[A-Za-z_][A-Za-z0-9_]*\??$/.test(variable) || about.trim() === "",
  );
  if (declared !== undefined && wrong !== undefined)
    fail("SVC116", nameNode(declared), `${name}.variables()`, quoted(wrong[0]));
  const meta = overrideOf(program, statics, "meta");
  if (meta !== undefined) report("SVC121", nameNode(meta), `${name}.meta()`);

  const hints = readHintTags(program, node, name, report);
  const canonical = typeof fqn?.value === "string" ? parseFqn(fqn.value)?.text : undefined;
  if (fqn === undefined && !failed) {
    const instance = methodOf(program, node.getSymbolOrThrow().getDeclaredType(), "fqn");
    const other = misspelt(program, statics, "fqn")[0];
    const detail = instance ? "the method must be static" : other && `the class has ${other.key}()`;
    fail("SVC112", instance ?? other?.found ?? at, name, detail);
  } else if (fqn !== undefined && canonical === undefined) {
    fail("SVC114", fqn.node, `${name}.fqn()`, fqnProblem(`${fqn.value}`));
  }

  const { compilerSymbol } = node.getSymbolOrThrow();
  const jsdoc = ts.displayPartsToString(compilerSymbol.getDocumentationComment(program.checker)).trim();
  const text = typeof description?.value === "string" ? description.value : jsdoc;
  const givesDescription = description !== undefined || !failed;
  if (text.trim() === "" && givesDescription) fail("SVC115", description?.node ?? at, `${name}.description()`);
  if (!text.isWellFormed()) fail("SVC125", description?.node ?? at, `${name}.description()`);

  const urlPath = typeof path?.value === "string" ? path.value : "";
  if (!isToolPath(urlPath)) fail("SVC122", path?.node ?? at, `${name}.path()`);
  else if (/[:*]/.test(urlPath)) fail("SVC126", path?.node ?? at, `${name}.path()`, quoted(urlPath));

  const milliseconds = typeof timeout?.value === "number" ? timeout.value : DEFAULT_TIMEOUT_MS;
  if (!Number.isInteger(milliseconds) || milliseconds < 1 || milliseconds > MAX_TIMEOUT_MS) {
    fail("SVC118", timeout?.node ?? at, `${name}.timeout()`, `${milliseconds} is out of range or not an integer`);
  } else if (milliseconds < MIN_REGISTERED_MS || milliseconds > MAX_REGISTERED_MS)
    report("SVC117", timeout?.node ?? at, `${name}.timeout()`, `${milliseconds} ms`);
  if (failed || canonical === undefined) return undefined;
  return { fqn: canonical, description: text, path: urlPath, timeout: milliseconds, variables: variables ?? [], hints };
}

/** Limits of the network's registry. */
const MIN_REGISTERED_MS = 1_000;
const MAX_REGISTERED_MS = 120_000;

function isValueProperty(declaration: Node): boolean {
  const { compilerNode } = declaration;
  return (
    ts.isPropertyDeclaration(compilerNode) && !(compilerNode.initializer && isFunctionValue(compilerNode.initializer))
  );
}

/** Detail for metadata of the wrong type. A timeout must be a number; all other metadata must be text. */
function wrongKind(value: string | number): string {
  return typeof value === "number"
    ? "expected text, got a number"
    : `expected milliseconds as a number, got the text ${quoted(value)}`;
}
