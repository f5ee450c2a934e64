/** Finds the tool classes of a project. */

import { canonicalPath } from "../../tools/tool-path.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { type ClassImport, placeText, type StaticMetadata, type Tool } from "../model.js";
import { displayPath } from "../project/layout.js";
import { aliasTarget, type Program } from "../project/program.js";
import { type Symbol as MorphSymbol, Node, ts } from "../project/typescript.js";
import {
  type ClassNode,
  checkAuthorize,
  checkConstruction,
  checkKinds,
  isRuntimeClass,
  type Report,
} from "./overrides.js";
import { nameNode } from "./static-evaluator.js";
import { readStaticMetadata } from "./static-metadata.js";
import type { TypeArguments, TypeSyntax } from "./type-syntax.js";

/** A type with its syntax, if known. */
export interface TypeUse {
  readonly type: ts.Type;
  readonly syntax: TypeSyntax | undefined;
  /** Node for diagnostics about the type. */
  readonly node: ts.Node;
}

export interface ToolClass {
  readonly name: string;
  readonly import: ClassImport;
  /** Undefined if part of the metadata is invalid; the input and output types are checked anyway. */
  readonly metadata: StaticMetadata | undefined;
  readonly declaration: ClassNode;
  readonly input: TypeUse;
  readonly output: TypeUse;
}

/** Tool classes of one file, in source order. */
export function findTools(program: Program, file: ts.SourceFile) {
  const diagnostics: Diagnostic[] = [];
  const tools: ToolClass[] = [];
  for (const node of classesOf(program, file)) {
    const tool = readClass(program, node, (code, at, subject, ...texts) => {
      diagnostics.push(diagnostic(code, { place: program.at(at.compilerNode), subject }, ...texts));
    });
    if (tool !== undefined) tools.push(tool);
  }
  for (const { name, call } of returnedTools(program, file)) {
    const hint = `declare it: export class ${name} extends ${call.expression.getText()}(…) {}`;
    diagnostics.push(
      diagnostic("SVC110", { place: program.at(call), subject: name }, "a call returns the class", hint),
    );
  }
  return { tools, diagnostics };
}

/** `SignatureFlags.Abstract` of the compiler, which does not export it. */
const ABSTRACT_SIGNATURE = 4;

/** Exports whose value is a tool class that a call returns. Only declared classes can be read. */
function returnedTools({ checker }: Program, file: ts.SourceFile): { name: string; call: ts.CallExpression }[] {
  const module = checker.getSymbolAtLocation(file);
  return (module === undefined ? [] : checker.getExportsOfModule(module)).flatMap((exported) => {
    const [declaration] = aliasTarget(checker, exported).declarations ?? [];
    if (declaration?.getSourceFile() !== file) return [];
    const isDefault = ts.isExportAssignment(declaration);
    const value = isDefault ? declaration.expression : (declaration as Partial<ts.VariableDeclaration>).initializer;
    if (value === undefined || !ts.isCallExpression(value)) return [];
    const [made] = checker.getTypeAtLocation(value).getConstructSignatures() as (ts.Signature & { flags: number })[];
    const isConcrete = made !== undefined && (made.flags & ABSTRACT_SIGNATURE) === 0;
    if (!isConcrete || carriedTypes(checker, made.getReturnType()) === undefined) return [];
    return [{ name: isDefault ? "Tool" : exported.name, call: value }];
  });
}

/** All classes outside functions. Classes inside functions cannot be imported. */
function classesOf({ wrap }: Program, file: ts.SourceFile): ClassNode[] {
  const found: ClassNode[] = [];
  // ts-morph's search for descendants takes ten times as long.
  const visit = (node: ts.Node): void => {
    if (ts.isClassLike(node)) found.push(wrap(node));
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(file, visit);
  return found;
}

/** Tool classes of one file, including abstract classes and classes that only resemble a tool. */
export function toolDeclarations(program: Program, file: ts.SourceFile): ts.ClassLikeDeclaration[] {
  return classesOf(program, file)
    .filter((node) => inputAndOutput(program, node) !== undefined || looksLikeTool(node))
    .map(({ compilerNode }) => compilerNode);
}

function readClass(program: Program, node: ClassNode, report: Report): ToolClass | undefined {
  if (node.isAbstract()) return undefined;
  const types = node.getHeritageClauses().length === 0 ? undefined : inputAndOutput(program, node);
  const at = nameNode(node);
  if (types === undefined) {
    const base = baseClass(program, node);
    const untyped = base !== undefined && isRuntimeClass(base) ? "SvcTool has no <Input, Output>" : undefined;
    if (looksLikeTool(node)) report("SVC105", at, node.getName() ?? nameFromFile(node), untyped);
    return undefined;
  }
  const imported = findImport(program, node);
  const name =
    node.getName() ??
    (imported?.exportName === "default" || imported === undefined ? nameFromFile(node) : imported.exportName);
  if (imported === undefined) {
    const inside = Node.isModuleBlock(node.getParent()) ? "a class inside a namespace cannot be imported" : undefined;
    report("SVC110", at, name, inside);
    return undefined;
  }
  const parameters = node.getTypeParameters();
  if (parameters.length > 0) {
    report("SVC111", at, name, parameters.map((parameter) => parameter.getName()).join(", "));
    return undefined;
  }
  const statics = node.getSymbolOrThrow().getTypeAtLocation(node);
  const metadata = readStaticMetadata(program, node, statics, name, report);
  checkConstruction(program, node, statics, name, report);
  checkKinds(program, node, statics, name, report);
  checkAuthorize(program, node, name, report);
  const syntax = typeArguments(program, node, new Map());
  return {
    name,
    import: { ...imported, className: name },
    metadata,
    declaration: node,
    input: { type: types.input, syntax: syntax?.[0], node: syntax?.[0]?.node ?? at.compilerNode },
    output: { type: types.output, syntax: syntax?.[1], node: syntax?.[1]?.node ?? at.compilerNode },
  };
}

/** Whether a class resembles a tool: it has `invoke`, and an own `fqn` or a base with a name similar to SvcTool. */
function looksLikeTool(node: ClassNode): boolean {
  const { members, heritageClauses = [] } = node.compilerNode;
  const has = (name: string, isStatic: boolean) =>
    members.some(
      (each) =>
        each.name !== undefined &&
        ts.isIdentifier(each.name) &&
        each.name.text === name &&
        ((ts.getCombinedModifierFlags(each) & ts.ModifierFlags.Static) !== 0) === isStatic,
    );
  const isNamedAlike = heritageClauses.some(({ types }) =>
    types.some(({ expression }) => /svc.?tool/i.test(expression.getText())),
  );
  return has("invoke", false) && (has("fqn", true) || isNamedAlike);
}

/**
 * Input and output types that a tool class passes to SvcTool, from the resolved type of the class; undefined for other
 * classes.
 */
function inputAndOutput({ checker }: Program, node: ClassNode): { input: ts.Type; output: ts.Type } | undefined {
  const instance = node.getSymbol()?.getDeclaredType().compilerType;
  const carried = instance && carriedTypes(checker, instance);
  if (carried === undefined) return undefined;
  const [input, output] = ["input", "output"].map((name) => checker.getPropertyOfType(carried, name));
  if (input === undefined || output === undefined) return undefined;
  return { input: checker.getTypeOfSymbol(input), output: checker.getTypeOfSymbol(output) };
}

/** Type of the member in which SvcTool carries its input and output types; undefined for instances of other classes. */
function carriedTypes(checker: ts.TypeChecker, instance: ts.Type): ts.Type | undefined {
  const phantom = checker.getPropertyOfType(instance, "__io");
  if (!phantom?.declarations?.some(({ parent }) => isRuntimeClass(parent))) return undefined;
  return checker.getTypeOfSymbol(phantom);
}

function nameFromFile(node: Node): string {
  const stem = node
    .getSourceFile()
    .getBaseName()
    .replace(/\.[cm]?tsx?$/, "");
  return (
    stem
      .replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? "").toUpperCase())
      .replace(/^\d*/, "") || "Tool"
  );
}

function baseClass({ checker }: Program, node: ClassNode): ts.ClassDeclaration | undefined {
  const base = node.getExtends();
  const named = base && checker.getSymbolAtLocation(base.getExpression().compilerNode);
  return named && aliasTarget(checker, named).declarations?.find(ts.isClassDeclaration);
}

/** Syntax of the Input and Output arguments of SvcTool, through generic bases. */
function typeArguments(
  program: Program,
  node: ClassNode,
  environment: TypeArguments,
): readonly TypeSyntax[] | undefined {
  const base = node.getExtends();
  const declaration = baseClass(program, node);
  if (base === undefined || declaration === undefined) return undefined;
  const syntax = base.getTypeArguments().map(({ compilerNode }) => ({ node: compilerNode, environment }));
  if (isRuntimeClass(declaration)) return syntax;
  const inherited = program.wrap(declaration);
  return typeArguments(program, inherited, bindTypeParameters(inherited, syntax, environment));
}

function bindTypeParameters(node: ClassNode, args: readonly TypeSyntax[], environment: TypeArguments): TypeArguments {
  const inner = new Map(environment);
  node.getTypeParameters().forEach((parameter, index) => {
    const standard = parameter.getDefault();
    const use = args[index] ?? (standard && { node: standard.compilerNode, environment: inner });
    if (use !== undefined) inner.set(parameter.getSymbolOrThrow().compilerSymbol, use);
  });
  return inner;
}

/** Import of a class: from its own file if exported there, otherwise from another file that exports it. */
function findImport(program: Program, node: ClassNode): Omit<ClassImport, "className"> | undefined {
  const { layout, sources, wrap } = program;
  const own = node.getSourceFile().compilerNode;
  for (const source of [own, ...sources.filter((other) => other !== own)]) {
    const names = wrap(source)
      .getExportSymbols()
      .filter((exported) => isExportOf(exported, node))
      .map((exported) => exported.getName())
      .sort();
    const name = names.find((each) => each === node.getName()) ?? names.find((each) => each !== "default") ?? names[0];
    if (name !== undefined) return { file: displayPath(layout, source.fileName), exportName: name };
  }
  return undefined;
}

/** Whether an export is this class, directly or through a variable. Compares compiler nodes, which are unique. */
function isExportOf(exported: MorphSymbol, node: ClassNode): boolean {
  if (exported.compilerSymbol.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)) return false;
  const declaration = (exported.getAliasedSymbol() ?? exported).getValueDeclaration();
  const value = Node.isVariableDeclaration(declaration) ? declaration.getInitializer() : declaration;
  return value?.compilerNode === node.compilerNode;
}

/** Diagnostic of a project without tools. Names an abstract tool class, because it may be the missing tool. */
export function noTools(program: Program): Diagnostic {
  const { layout, sources, at } = program;
  const where = `in the ${sources.length === 1 ? "only file" : `${sources.length} files`} of ${displayPath(layout, layout.tsconfig)}`;
  const abstract = sources
    .flatMap((file) => classesOf(program, file))
    .find((node) => node.isAbstract() && inputAndOutput(program, node) !== undefined);
  if (abstract === undefined) return diagnostic("SVC100", {}, where);
  const name = abstract.getName() ?? "a class without a name";
  const detail = `${where}; ${name} is abstract: remove \`abstract\`, or export a class that extends ${name}`;
  return diagnostic("SVC100", { place: at(nameNode(abstract).compilerNode) }, detail);
}

const ROOT_TAKEN =
  'a tool without path() is served at the root: add static override path() { return "name"; } to all tools but one';

/**
 * Diagnostics for tools with the same FQN or path, which one process cannot serve. Skips tools with invalid metadata.
 */
export function duplicateTools(tools: readonly Pick<Tool, "fqn" | "path" | "import" | "place">[]): Diagnostic[] {
  const diagnostics: Diagnostic[] = [];
  const check = (code: "SVC119" | "SVC120", key: (tool: Pick<Tool, "fqn" | "path">) => string) => {
    const seen = new Map<string, (typeof tools)[number]>();
    for (const tool of tools) {
      if (tool.fqn === "") continue;
      const text = key(tool);
      const first = seen.get(text);
      if (first === undefined) seen.set(text, tool);
      else {
        const detail = `${JSON.stringify(text)}, also of ${first.import.className} at ${placeText(first.place)}`;
        const where = { place: tool.place, subject: tool.import.className };
        diagnostics.push(diagnostic(code, where, detail, text === "" ? ROOT_TAKEN : undefined));
      }
    }
  };
  check("SVC119", ({ fqn }) => fqn);
  check("SVC120", ({ path }) => canonicalPath(path));
  return diagnostics;
}
