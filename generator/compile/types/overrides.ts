/** The methods of a tool class that override those of SvcTool, and methods that were meant to. */

import { closest } from "svc-runtime/internal/generator";
import type { Code } from "../diagnostics/diagnostics.js";
import { type Program, packageOf } from "../project/program.js";
import {
  type ClassDeclaration,
  type ClassExpression,
  type Symbol as MorphSymbol,
  Node,
  type Type,
  ts,
} from "../project/typescript.js";
import { nameNode } from "./static-evaluator.js";

export type ClassNode = ClassDeclaration | ClassExpression;

export type Report = (code: Code, at: Node, subject: string, detail?: string, hint?: string) => void;

function isClass(node: Node | undefined): node is ClassNode {
  return Node.isClassDeclaration(node) || Node.isClassExpression(node);
}

/** Whether a node is the class SvcTool of the package svc-runtime. */
export function isRuntimeClass(node: ts.Node): boolean {
  return (
    ts.isClassDeclaration(node) &&
    node.name?.text === "SvcTool" &&
    packageOf(node.getSourceFile().fileName) === "svc-runtime"
  );
}

/** Static member of a class or its bases that overrides SvcTool's. */
export function overrideOf({ checker, wrap }: Program, statics: Type, name: string): Node | undefined {
  const declaration = checker.getPropertyOfType(statics.compilerType, name)?.valueDeclaration;
  return declaration === undefined || isRuntimeClass(declaration.parent) ? undefined : wrap(declaration);
}

/** Reports a constructor that requires arguments if no `static new()` passes them. */
export function checkConstruction(
  program: Program,
  node: ClassNode,
  statics: Type,
  name: string,
  report: Report,
): void {
  if (overrideOf(program, statics, "new") !== undefined) return;
  const needed = statics.getConstructSignatures().map((signature) => {
    return signature.getParameters().find((parameter) => needsArgument(parameter, node));
  });
  const [first] = needed;
  if (first === undefined || needed.includes(undefined)) return;
  const declaration = first.getValueDeclaration();
  const base = declaration?.getParent()?.getParent();
  const isOwn = base === node;
  const where = !isOwn && isClass(base) && base.getName() ? ` of ${base.getName()}` : "";
  const parameter = declaration ? nameNode(declaration).getText() : first.getName();
  const type = program.checker.typeToString(first.getTypeAtLocation(node).compilerType);
  const detail = `the constructor${where} needs ${parameter}: ${type}, but new() passes no arguments`;
  report("SVC123", isOwn && declaration ? declaration : nameNode(node), name, detail);
}

/** Reports parameters by which `authorize` would miss the input. */
export function checkAuthorize(program: Program, node: ClassNode, name: string, report: Report): void {
  const declaration = methodOf(program, node.getSymbolOrThrow().getDeclaredType(), "authorize")?.compilerNode;
  if (declaration === undefined) return;
  const method = ts.isPropertyDeclaration(declaration) ? declaration.initializer : declaration;
  if (method === undefined || !(ts.isMethodDeclaration(method) || isFunctionValue(method))) return;
  // The server reads `Function.length`, which does not count these parameters and those after them.
  const uncounted = method.parameters.slice(0, 2).find((each) => each.initializer ?? each.dotDotDotToken);
  if (uncounted !== undefined && (method.parameters.length > 1 || uncounted.dotDotDotToken !== undefined)) {
    report("SVC201", program.wrap(uncounted), `${name}.authorize()`);
  }
}

const STATIC_METHODS = ["path", "timeout", "new", "create", "close", "meta", "description", "variables"];
const INSTANCE_METHODS = ["invoke", "authorize", "health", "encodeOutput"];

/** Reports methods that override none of SvcTool's: static instead of instance methods, the reverse, a misspelt `authorize`. */
export function checkKinds(program: Program, node: ClassNode, statics: Type, name: string, report: Report): void {
  const instance = node.getSymbolOrThrow().getDeclaredType();
  const never = [
    ...STATIC_METHODS.filter((key) => overrideOf(program, statics, key) === undefined).map((key) => {
      return { key, found: methodOf(program, instance, key), detail: "it is not static", hint: "declare it as static" };
    }),
    ...INSTANCE_METHODS.map((key) => {
      return { key, found: methodOf(program, statics, key), detail: "it is static", hint: "remove the word static" };
    }),
    ...[statics, instance].flatMap((type) => misspelt(program, type, "authorize")),
  ];
  for (const { key, found, detail, hint } of never) {
    if (found !== undefined) report("SVC128", nameNode(found), `${name}.${key}()`, detail, `${hint}; ${OWN_METHOD}`);
  }
}

/** Public methods whose names are similar to that of a method of SvcTool, and which no source of the project calls. */
export function misspelt(program: Program, type: Type, meant: string) {
  const sources = program.program.getSourceFiles().filter((file) => !program.isForeign(file));
  return program.checker.getPropertiesOfType(type.compilerType).flatMap(({ name: key }) => {
    const found = key === meant || closest(key, [meant], 1).length === 0 ? undefined : methodOf(program, type, key);
    if (found === undefined || sources.some(({ text }) => text.includes(`.${key}(`))) return [];
    return [{ key, found, detail: `SvcTool has ${meant}()`, hint: `rename it to ${meant}` }];
  });
}

const OWN_METHOD = "if the method is your own, rename it or make it private";

/** Public method, or function in a property, that the author declares. */
export function methodOf(
  { checker, isForeign, wrap }: Program,
  { compilerType }: Type,
  name: string,
): Node | undefined {
  const declaration = checker.getPropertyOfType(compilerType, name)?.valueDeclaration;
  if (declaration === undefined || isForeign(declaration.getSourceFile())) return;
  const called = ts.isPropertyDeclaration(declaration) ? declaration.initializer : declaration;
  if (called === undefined || !(ts.isMethodDeclaration(called) || isFunctionValue(called))) return;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return (ts.getCombinedModifierFlags(declaration) & hidden) === 0 ? wrap(declaration) : undefined;
}

export function isFunctionValue(node: ts.Node): node is ts.ArrowFunction | ts.FunctionExpression {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

/** Whether a parameter has no default and its type excludes `undefined`. */
function needsArgument(parameter: MorphSymbol, location: Node): boolean {
  const declaration = parameter.getValueDeclaration();
  const type = parameter.getTypeAtLocation(location);
  if (Node.isParameterDeclaration(declaration)) {
    if (declaration.hasQuestionToken() || declaration.hasInitializer()) return false;
    if (declaration.isRestParameter()) {
      return type.isTuple() && (type.compilerType as ts.Type as ts.TupleTypeReference).target.minLength > 0;
    }
  }
  return !(type.isUnion() ? type.getUnionTypes() : [type]).some((part) => part.isUndefined() || part.isVoid());
}
