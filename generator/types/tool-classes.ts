/** Finds the tool classes of a project and reads their static metadata without running them. */

import { DEFAULT_TIMEOUT_MS, fqnProblem, MAX_TIMEOUT_MS, parseFqn } from "svc-runtime/generator";
import { type Code, type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { quoted } from "../diagnostics/quote.js";
import type { ClassImport, StaticMetadata, Tool } from "../model.js";
import { displayPath } from "../project/layout.js";
import { type Program, packageOf } from "../project/program.js";
import { ts } from "../project/typescript.js";
import type { Environment, TypeSyntax } from "./declared-order.js";
import { StaticEvaluator } from "./static-values.js";

/** A type with its syntax, if known. */
export interface TypeUse {
  readonly type: ts.Type;
  readonly syntax: TypeSyntax | undefined;
  /** The place of diagnostics about the type itself. */
  readonly node: ts.Node;
}

/** One tool class, as types and nodes of the compiler. */
export interface ToolClass {
  readonly name: string;
  readonly import: ClassImport;
  /** Undefined when a part of the metadata was refused; the input and output types are checked nevertheless. */
  readonly metadata: StaticMetadata | undefined;
  /** The name of the class. */
  readonly node: ts.Node;
  readonly input: TypeUse;
  readonly output: TypeUse;
}

type ClassNode = ts.ClassDeclaration | ts.ClassExpression;

/** The tool classes of one file, in source order. */
export function findTools(program: Program, file: ts.SourceFile): { tools: ToolClass[]; diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = [];
  const tools: ToolClass[] = [];
  for (const node of classesOf(file)) {
    const tool = readClass(program, node, (code, at, subject, detail) => {
      diagnostics.push(diagnostic(code, { place: program.at(at), subject }, detail));
    });
    if (tool !== undefined) tools.push(tool);
  }
  return { tools, diagnostics };
}

type Report = (code: Code, at: ts.Node, subject: string, detail?: string) => void;

/** All classes outside functions. Classes inside are created at run time and cannot be imported. */
function classesOf(file: ts.SourceFile): ClassNode[] {
  const found: ClassNode[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isClassDeclaration(node) || ts.isClassExpression(node)) found.push(node);
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  ts.forEachChild(file, visit);
  return found;
}

function readClass(program: Program, node: ClassNode, report: Report): ToolClass | undefined {
  const { checker } = program;
  if (node.heritageClauses === undefined || isAbstract(node)) return undefined;
  const symbol = (node as { symbol?: ts.Symbol }).symbol;
  if (symbol === undefined) return undefined;
  const instance = checker.getDeclaredTypeOfSymbol(symbol);
  const phantom = checker.getPropertyOfType(instance, "__io");
  if (phantom === undefined || !isPhantom(phantom)) return undefined;
  const carried = checker.getTypeOfSymbol(phantom);
  const types = ["input", "output"].map((name) => {
    const member = checker.getPropertyOfType(carried, name);
    return member === undefined ? undefined : checker.getTypeOfSymbol(member);
  });
  const [input, output] = types;
  if (input === undefined || output === undefined) return undefined;

  const at = node.name ?? node;
  const imported = findImport(program, node, symbol);
  const name =
    node.name?.text ??
    (imported?.exportName === "default" || imported === undefined ? fileStem(node) : imported.exportName);
  if (imported === undefined) {
    const inside = ts.isModuleBlock(node.parent) ? "what a namespace exports has no import" : undefined;
    report("SVC110", at, name, inside);
    return undefined;
  }
  if (node.typeParameters?.some((parameter) => parameter.default === undefined)) {
    report("SVC111", at, name, node.typeParameters.map((parameter) => parameter.name.text).join(", "));
    return undefined;
  }
  const metadata = readStaticMetadata(program, node, symbol, name, report);
  checkConstruction(program, node, symbol, name, report);
  const syntax = typeArguments(checker, node, new Map(defaultsOf(checker, node, new Map())));
  return {
    name,
    import: { ...imported, className: name },
    metadata,
    node: at,
    input: { type: input, syntax: syntax?.[0], node: syntax?.[0]?.node ?? at },
    output: { type: output, syntax: syntax?.[1], node: syntax?.[1]?.node ?? at },
  };
}

function isPhantom(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some((declaration) => isRuntimeClass(declaration.parent));
}

/** Whether a node is SvcTool itself: a class of that name in the package svc-runtime. */
function isRuntimeClass(node: ts.Node | undefined): boolean {
  return (
    node !== undefined &&
    ts.isClassDeclaration(node) &&
    node.name?.text === "SvcTool" &&
    packageOf(node.getSourceFile().fileName) === "svc-runtime"
  );
}

function fileStem(node: ts.Node): string {
  const stem = node
    .getSourceFile()
    .fileName.replace(/^.*\//, "")
    .replace(/\.[cm]?tsx?$/, "");
  return (
    stem
      .replace(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) => (next ?? "").toUpperCase())
      .replace(/^\d*/, "") || "Tool"
  );
}

/** The syntax of the Input and Output arguments of SvcTool, through generic bases. */
function typeArguments(
  checker: ts.TypeChecker,
  node: ClassNode,
  environment: Environment,
): readonly (TypeSyntax | undefined)[] | undefined {
  const base = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
  if (base === undefined) return undefined;
  const found = checker.getSymbolAtLocation(base.expression);
  if (found === undefined) return undefined;
  const symbol = found.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(found) : found;
  const declaration = symbol.declarations?.find(ts.isClassDeclaration);
  if (declaration === undefined) return undefined;
  const syntax = (base.typeArguments ?? []).map((argument) => ({ node: argument, environment }));
  if (isRuntimeClass(declaration)) return syntax;
  const inner = new Map<ts.Symbol, TypeSyntax>(environment);
  declaration.typeParameters?.forEach((parameter, index) => {
    const use = syntax[index] ?? (parameter.default && { node: parameter.default, environment: inner });
    const key = checker.getSymbolAtLocation(parameter.name);
    if (use !== undefined && key !== undefined) inner.set(key, use);
  });
  return typeArguments(checker, declaration, inner);
}

function defaultsOf(checker: ts.TypeChecker, node: ClassNode, environment: Environment): [ts.Symbol, TypeSyntax][] {
  return (node.typeParameters ?? []).flatMap((parameter): [ts.Symbol, TypeSyntax][] => {
    const key = checker.getSymbolAtLocation(parameter.name);
    return key === undefined || parameter.default === undefined
      ? []
      : [[key, { node: parameter.default, environment }]];
  });
}

/** The import of a class: from its own file when exported there, else from another file that exports it. */
function findImport(program: Program, node: ClassNode, symbol: ts.Symbol): Omit<ClassImport, "className"> | undefined {
  const { checker, layout } = program;
  const own = node.getSourceFile();
  for (const file of [own, ...program.sources.filter((other) => other !== own)]) {
    const module = checker.getSymbolAtLocation(file);
    if (module === undefined) continue;
    const names = checker
      .getExportsOfModule(module)
      .filter((exported) => {
        if (exported.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)) return false;
        const target = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
        const declaration = target.valueDeclaration;
        return (
          target === symbol ||
          declaration === node ||
          (declaration !== undefined && ts.isVariableDeclaration(declaration) && declaration.initializer === node)
        );
      })
      .map(({ name }) => (name === "export=" ? "default" : name))
      .sort();
    const name = names.find((each) => each === node.name?.text) ?? names.find((each) => each !== "default") ?? names[0];
    if (name !== undefined) return { file: displayPath(layout, file.fileName), exportName: name };
  }
  return undefined;
}

function readStaticMetadata(
  program: Program,
  node: ClassNode,
  symbol: ts.Symbol,
  name: string,
  report: Report,
): StaticMetadata | undefined {
  const { checker } = program;
  const at = node.name ?? node;
  const statics = checker.getTypeOfSymbol(symbol);
  const evaluator = new StaticEvaluator(checker, statics);
  let failed = false;
  const fail = (code: Code, where: ts.Node, subject: string, detail?: string): undefined => {
    failed = true;
    report(code, where, subject, detail);
  };
  /** The value of a static method with its place; undefined when the class does not override it. */
  const staticValue = (key: string, kind: "string" | "number", refusal: Code) => {
    const member = checker.getPropertyOfType(statics, key);
    const declaration = member?.valueDeclaration;
    if (declaration === undefined || isRuntimeClass(declaration.parent)) return undefined;
    const where = ts.getNameOfDeclaration(declaration) ?? declaration;
    const value = evaluator.result(declaration);
    if (value === undefined) return fail("SVC113", evaluator.failedAt ?? where, `${name}.${key}()`);
    if (typeof value.value !== kind) return fail(refusal, value.node, `${name}.${key}()`, wrongKind(value.value));
    return { value: value.value, node: value.node };
  };

  const fqn = staticValue("fqn", "string", "SVC114");
  const description = staticValue("description", "string", "SVC115");
  const path = staticValue("path", "string", "SVC122");
  const timeout = staticValue("timeout", "number", "SVC118");
  const meta = checker.getPropertyOfType(statics, "meta")?.valueDeclaration;
  if (meta !== undefined && !isRuntimeClass(meta.parent)) {
    report("SVC121", ts.getNameOfDeclaration(meta) ?? meta, `${name}.meta()`);
  }

  const canonical = typeof fqn?.value === "string" ? parseFqn(fqn.value)?.text : undefined;
  if (fqn === undefined && !failed) fail("SVC112", at, name);
  else if (fqn !== undefined && canonical === undefined) {
    fail("SVC114", fqn.node, `${name}.fqn()`, fqnProblem(`${fqn.value}`));
  }

  const jsdoc = ts.displayPartsToString(symbol.getDocumentationComment(checker)).trim();
  const text = typeof description?.value === "string" ? description.value : jsdoc;
  const givesDescription = description !== undefined || !failed;
  if (text.trim() === "" && givesDescription) fail("SVC115", description?.node ?? at, `${name}.description()`);
  if (!text.isWellFormed()) fail("SVC125", description?.node ?? at, `${name}.description()`);

  const urlPath = typeof path?.value === "string" ? path.value : "";
  if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/.test(urlPath)) fail("SVC122", path?.node ?? at, `${name}.path()`);

  const milliseconds = typeof timeout?.value === "number" ? timeout.value : DEFAULT_TIMEOUT_MS;
  if (!Number.isInteger(milliseconds) || milliseconds < 1 || milliseconds > MAX_TIMEOUT_MS) {
    fail("SVC118", timeout?.node ?? at, `${name}.timeout()`, `${milliseconds} is out of range or no integer`);
  }
  if (failed || canonical === undefined) return undefined;
  return { fqn: canonical, description: text, path: urlPath, timeout: milliseconds };
}

/** The detail of a refused value of the wrong type: `value` is text for a timeout, a number for any other metadata. */
function wrongKind(value: string | number): string {
  if (typeof value === "number") return "expected text, got a number";
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?) ?(ms|s|m|min|h)?$/.exec(value) ?? [];
  const factor = { "": 1, ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }[unit] ?? 1;
  const meant = number === "" ? "" : `; write ${Math.round(Number(number) * factor)}`;
  return `expected milliseconds as a number, got the text ${quoted(value)}${meant}`;
}

/** Reports a constructor that needs arguments when no `static new()` passes them. */
function checkConstruction(
  { checker }: Program,
  node: ClassNode,
  symbol: ts.Symbol,
  name: string,
  report: Report,
): void {
  const statics = checker.getTypeOfSymbol(symbol);
  const factory = checker.getPropertyOfType(statics, "new")?.valueDeclaration;
  if (factory === undefined || !isRuntimeClass(factory.parent)) return;
  const signatures = checker.getSignaturesOfType(statics, ts.SignatureKind.Construct);
  const needed = signatures.map((signature) => signature.parameters.find((each) => needsArgument(checker, each)));
  const [first] = needed;
  if (first === undefined || needed.includes(undefined)) return;
  const { valueDeclaration } = first;
  const isOwn = valueDeclaration?.parent.parent === node;
  const base = valueDeclaration?.parent.parent;
  const where = !isOwn && base && ts.isClassLike(base) && base.name ? ` of ${base.name.text}` : "";
  const detail = `the constructor${where} needs ${parameterText(checker, first)}, and new() passes nothing`;
  report("SVC123", isOwn && valueDeclaration ? valueDeclaration : (node.name ?? node), name, detail);
}

/** Whether a parameter has no default and its type does not take `undefined`. */
function needsArgument(checker: ts.TypeChecker, parameter: ts.Symbol): boolean {
  const declaration = parameter.valueDeclaration;
  const type = checker.getTypeOfSymbol(parameter);
  if (declaration !== undefined && ts.isParameter(declaration)) {
    if (declaration.questionToken !== undefined || declaration.initializer !== undefined) return false;
    if (declaration.dotDotDotToken !== undefined) {
      return checker.isTupleType(type) && (type as ts.TupleTypeReference).target.minLength > 0;
    }
  }
  const takesUndefined = ts.TypeFlags.Undefined | ts.TypeFlags.Void;
  return !(type.isUnion() ? type.types : [type]).some(({ flags }) => flags & takesUndefined);
}

function parameterText(checker: ts.TypeChecker, parameter: ts.Symbol): string {
  const name = parameter.valueDeclaration && ts.getNameOfDeclaration(parameter.valueDeclaration)?.getText();
  return `${name ?? parameter.name}: ${checker.typeToString(checker.getTypeOfSymbol(parameter))}`;
}

/** A path without empty segments. Tools with equal canonical paths collide. */
function canonicalPath(path: string): string {
  return path.split("/").filter(Boolean).join("/");
}

/** Whether a tool is imported from its own file. Otherwise its import depends on files outside its own imports. */
export function importedFromOwnFile(tool: Pick<Tool, "import" | "place">): boolean {
  return tool.import.file === tool.place.file;
}

/** The diagnostic of a project without tools. It names the abstract tool classes, which may be the missing ones. */
export function noTools(program: Program): Diagnostic {
  const { layout, sources, checker, at } = program;
  const where = `in the ${sources.length === 1 ? "only file" : `${sources.length} files`} of ${displayPath(layout, layout.tsconfig)}`;
  const abstract = sources.flatMap(classesOf).filter((node) => isAbstract(node) && isToolClass(checker, node));
  const [first] = abstract;
  if (first === undefined) return diagnostic("SVC100", {}, where);
  const names = abstract.slice(0, MAX_NAMED_CLASSES).map(({ name }) => name?.text ?? "a class without a name");
  const more = abstract.length > names.length ? ` and ${abstract.length - names.length} more` : "";
  const are = abstract.length === 1 ? "is abstract: remove `abstract`, or" : "are abstract:";
  const detail = `${where}; ${names.join(", ")}${more} ${are} export a class that extends ${names[0]} and is not abstract`;
  return diagnostic("SVC100", { place: at(first.name ?? first) }, detail);
}

const MAX_NAMED_CLASSES = 3;

function isAbstract(node: ClassNode): boolean {
  return (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Abstract) !== 0;
}

function isToolClass(checker: ts.TypeChecker, node: ClassNode): boolean {
  const { symbol } = node as { symbol?: ts.Symbol };
  const phantom = symbol && checker.getPropertyOfType(checker.getDeclaredTypeOfSymbol(symbol), "__io");
  return phantom !== undefined && isPhantom(phantom);
}

/**
 * Diagnostics for tools with the same FQN or path, which one process cannot serve together. Tools without an FQN, whose
 * metadata was refused, are skipped.
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
        const { file, line, column } = first.place;
        const detail = `${JSON.stringify(text)}, as ${first.import.className} at ${file}:${line}:${column}`;
        diagnostics.push(diagnostic(code, { place: tool.place, subject: tool.import.className }, detail));
      }
    }
  };
  check("SVC119", ({ fqn }) => fqn);
  check("SVC120", ({ path }) => canonicalPath(path));
  return diagnostics;
}
