/** Finds the tool classes of a project and reads their static metadata without running code. */

import { closest, DEFAULT_TIMEOUT_MS, fqnProblem, MAX_TIMEOUT_MS, parseFqn } from "svc-runtime/internal/generator";
import { type Acknowledgement, readAcknowledged } from "../diagnostics/acknowledge.js";
import { type Code, type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { quoted } from "../diagnostics/quote.js";
import type { ClassImport, StaticMetadata, Tool } from "../model.js";
import { displayPath } from "../project/layout.js";
import { otherRuntimeFolder, type Program, packageOf } from "../project/program.js";
import { toolOutside } from "../project/tool-outside.js";
import {
  type ClassDeclaration,
  type ClassExpression,
  type Symbol as MorphSymbol,
  Node,
  type Type,
  ts,
} from "../project/typescript.js";
import type { TypeArguments, TypeSyntax } from "./declared-order.js";
import { endOfTag, readNodeComment } from "./jsdoc.js";
import { nameNode, StaticEvaluator } from "./static-values.js";

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

type ClassNode = ClassDeclaration | ClassExpression;

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
  const unread = unreadTools(program, file);
  return {
    tools,
    diagnostics: [...diagnostics, ...unread.map(({ note }) => note)],
    acknowledged: unread.flatMap(({ acknowledged }) => acknowledged),
  };
}

interface UnreadTool {
  readonly note: Diagnostic;
  readonly acknowledged: readonly Acknowledgement[];
}

/** Notes on exports of a file that are tool classes but have no class declaration in the project. */
function unreadTools(program: Program, file: ts.SourceFile): UnreadTool[] {
  const { checker } = program;
  const module = checker.getSymbolAtLocation(file);
  return (module === undefined ? [] : checker.getExportsOfModule(module)).flatMap((exported) => {
    const isAlias = (exported.flags & ts.SymbolFlags.Alias) !== 0;
    const target = isAlias ? checker.getAliasedSymbol(exported) : exported;
    const declaration = target.valueDeclaration;
    if (declaration === undefined || ts.isFunctionLike(declaration)) return [];
    const isForeign = program.isForeign(declaration.getSourceFile());
    const isMade = ts.isVariableDeclaration(declaration) && !isClassValue(declaration.initializer);
    if (!isForeign && !(isMade && declaration.getSourceFile() === file)) return [];
    const from =
      exported.declarations?.find((each) => each.getSourceFile() === file) ??
      file.statements.find((each) => ts.isExportDeclaration(each) && each.exportClause === undefined);
    if (from === undefined || ts.isTypeOnlyImportOrExportDeclaration(from)) return [];
    const isTool = checker
      .getTypeOfSymbol(target)
      .getConstructSignatures()
      .filter((each) => (((each as { flags?: number }).flags ?? 0) & ABSTRACT_SIGNATURE) === 0)
      .map((each) => each.getReturnType())
      .some((made) => {
        const phantom = checker.getPropertyOfType(made, "__io");
        return phantom?.declarations?.some(({ parent }) => isRuntimeClass(parent)) === true;
      });
    if (!isTool) return [];
    const place = program.at(ts.getNameOfDeclaration(from as ts.Declaration) ?? from);
    const subject = exported.name;
    const acknowledged = [from, ts.findAncestor(from, ts.isStatement)]
      .flatMap((node) => (node === undefined ? [] : readNodeComment(node).acknowledged))
      .flatMap(({ tag, text }) => {
        const read = readAcknowledged(text);
        return "codes" in read ? [{ codes: read.codes, subject, place: program.at(tag, endOfTag(tag)) }] : [];
      });
    return [{ note: diagnostic("SVC127", { place, subject }), acknowledged }];
  });
}

function isClassValue(node: ts.Expression | undefined): boolean {
  return node !== undefined && (ts.isClassExpression(node) || ts.isIdentifier(node));
}

/** Internal flag of an abstract constructor (`SignatureFlags` of TypeScript 6.0). */
const ABSTRACT_SIGNATURE = 4;

type Report = (code: Code, at: Node, subject: string, detail?: string, hint?: string) => void;

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

function isClass(node: Node | undefined): node is ClassNode {
  return Node.isClassDeclaration(node) || Node.isClassExpression(node);
}

/** Tool classes of one file, including abstract classes and classes that only resemble a tool. */
export function toolDeclarations(program: Program, file: ts.SourceFile): ts.ClassLikeDeclaration[] {
  return classesOf(program, file)
    .filter((node) => typesOf(program, node) !== undefined || looksLikeTool(node))
    .map(({ compilerNode }) => compilerNode);
}

function readClass(program: Program, node: ClassNode, report: Report): ToolClass | undefined {
  if (node.isAbstract()) return undefined;
  const types = node.getHeritageClauses().length === 0 ? undefined : typesOf(program, node);
  const at = nameNode(node);
  if (types === undefined) {
    const base = baseClass(program, node);
    const untyped = base !== undefined && isRuntimeClass(base) ? "SvcTool has no <Input, Output>" : undefined;
    if (looksLikeTool(node)) report("SVC105", at, node.getName() ?? fileStem(node), untyped);
    return undefined;
  }
  const other = otherRuntime(program, node);
  if (other !== undefined) {
    const detail = `its base class extends SvcTool of another copy of svc-runtime, ${displayPath(program.layout, other)}`;
    report("SVC105", at, node.getName() ?? fileStem(node), detail, ONE_RUNTIME);
  }
  const imported = findImport(program, node);
  const name =
    node.getName() ??
    (imported?.exportName === "default" || imported === undefined ? fileStem(node) : imported.exportName);
  if (imported === undefined) {
    const inside = Node.isModuleBlock(node.getParent()) ? "a class inside a namespace cannot be imported" : undefined;
    report("SVC110", at, name, inside);
    return undefined;
  }
  const parameters = node.getTypeParameters();
  if (parameters.some((parameter) => parameter.getDefault() === undefined)) {
    report("SVC111", at, name, parameters.map((parameter) => parameter.getName()).join(", "));
    return undefined;
  }
  const statics = node.getSymbolOrThrow().getTypeAtLocation(node);
  const metadata = readStaticMetadata(program, node, statics, name, report);
  checkConstruction(program, node, statics, name, report);
  checkKinds(program, node, statics, name, report);
  const syntax = typeArguments(program, node, bindTypeParameters(node, [], new Map()));
  return {
    name,
    import: { ...imported, className: name },
    metadata,
    declaration: node,
    input: { type: types.input, syntax: syntax?.[0], node: syntax?.[0]?.node ?? at.compilerNode },
    output: { type: types.output, syntax: syntax?.[1], node: syntax?.[1]?.node ?? at.compilerNode },
  };
}

const ONE_RUNTIME =
  "install one copy: declare svc-runtime as a peer dependency of the package of the base class; npm ls svc-runtime lists the copies";

/** Folder of the svc-runtime that a base class uses, if it is not the one that the class uses. */
function otherRuntime(program: Program, node: ClassNode): string | undefined {
  const base = baseClass(program, node);
  if (base === undefined || isRuntimeClass(base)) return undefined;
  const other = otherRuntimeFolder(node.getSourceFile().getFilePath(), base.getSourceFile().fileName);
  return other ?? otherRuntime(program, program.wrap(base));
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
function typesOf({ checker }: Program, node: ClassNode): { input: ts.Type; output: ts.Type } | undefined {
  const memberOf = (type: ts.Type, name: string) => checker.getPropertyOfType(type, name);
  const instance = node.getSymbol()?.getDeclaredType().compilerType;
  const phantom = instance && memberOf(instance, "__io");
  if (!phantom?.declarations?.some(({ parent }) => isRuntimeClass(parent))) return undefined;
  const carried = checker.getTypeOfSymbol(phantom);
  const [input, output] = [memberOf(carried, "input"), memberOf(carried, "output")];
  if (input === undefined || output === undefined) return undefined;
  return { input: checker.getTypeOfSymbol(input), output: checker.getTypeOfSymbol(output) };
}

/** Whether a node is the class SvcTool of the package svc-runtime. */
function isRuntimeClass(node: ts.Node): boolean {
  return (
    ts.isClassDeclaration(node) &&
    node.name?.text === "SvcTool" &&
    packageOf(node.getSourceFile().fileName) === "svc-runtime"
  );
}

function fileStem(node: Node): string {
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
  const symbol = named && named.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(named) : named;
  return symbol?.declarations?.find(ts.isClassDeclaration);
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
    if (isAssignedExport(program, source, node)) {
      return { file: displayPath(layout, source.fileName), exportName: "default" };
    }
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

/** Whether a file exports a class by `export =`. The exports of such a file are the class's static members. */
function isAssignedExport({ checker }: Program, source: ts.SourceFile, { compilerNode }: ClassNode): boolean {
  const assigned = checker.getSymbolAtLocation(source)?.exports?.get(ts.InternalSymbolName.ExportEquals);
  const [declaration] = assigned?.declarations ?? [];
  if (declaration === undefined || !ts.isExportAssignment(declaration)) return false;
  const named = checker.getSymbolAtLocation(declaration.expression)?.valueDeclaration;
  const value = named !== undefined && ts.isVariableDeclaration(named) ? named.initializer : named;
  return declaration.expression === compilerNode || value === compilerNode;
}

/** Whether an export is this class, directly or through a variable. Compares compiler nodes, which are unique. */
function isExportOf(exported: MorphSymbol, node: ClassNode): boolean {
  if (exported.compilerSymbol.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration)) return false;
  const declaration = (exported.getAliasedSymbol() ?? exported).getValueDeclaration();
  const value = Node.isVariableDeclaration(declaration) ? declaration.getInitializer() : declaration;
  return value?.compilerNode === node.compilerNode;
}

function readStaticMetadata(
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

  const canonical = typeof fqn?.value === "string" ? parseFqn(fqn.value)?.text : undefined;
  if (fqn === undefined && !failed) {
    const instance = methodOf(program, node.getSymbolOrThrow().getDeclaredType(), "fqn");
    const other = misspelt(program, statics, ["fqn"])[0];
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
  if (!/^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/.test(urlPath)) fail("SVC122", path?.node ?? at, `${name}.path()`);
  else if (/[:*]/.test(urlPath)) fail("SVC126", path?.node ?? at, `${name}.path()`, quoted(urlPath));
  else if (/(?:^|\/)invoke\/*$/.test(urlPath))
    report("SVC193", path?.node ?? at, `${name}.path()`, `calls go to /${canonicalPath(urlPath)}/invoke`);

  const milliseconds = typeof timeout?.value === "number" ? timeout.value : DEFAULT_TIMEOUT_MS;
  if (!Number.isInteger(milliseconds) || milliseconds < 1 || milliseconds > MAX_TIMEOUT_MS) {
    fail("SVC118", timeout?.node ?? at, `${name}.timeout()`, `${milliseconds} is out of range or not an integer`);
  } else if (milliseconds < SHORT_TIMEOUT_MS)
    report("SVC129", timeout?.node ?? at, `${name}.timeout()`, `${milliseconds} ms`);
  else if (milliseconds < MIN_REGISTERED_MS || milliseconds > MAX_REGISTERED_MS)
    report("SVC117", timeout?.node ?? at, `${name}.timeout()`, `${milliseconds} ms`);
  if (failed || canonical === undefined) return undefined;
  return { fqn: canonical, description: text, path: urlPath, timeout: milliseconds, variables: variables ?? [] };
}

/** Timeouts below this number were probably meant as seconds. */
const SHORT_TIMEOUT_MS = 100;
/** Limits of the network's registry. */
const MIN_REGISTERED_MS = 1_000;
const MAX_REGISTERED_MS = 120_000;

function isValueProperty(declaration: Node): boolean {
  const { compilerNode } = declaration;
  return (
    ts.isPropertyDeclaration(compilerNode) && !(compilerNode.initializer && isFunctionValue(compilerNode.initializer))
  );
}

/** Static member of a class or its bases that overrides SvcTool's. */
function overrideOf({ checker, wrap }: Program, statics: Type, name: string): Node | undefined {
  const declaration = checker.getPropertyOfType(statics.compilerType, name)?.valueDeclaration;
  return declaration === undefined || isRuntimeClass(declaration.parent) ? undefined : wrap(declaration);
}

/** Detail for metadata of the wrong type. A timeout must be a number; all other metadata must be text. */
function wrongKind(value: string | number): string {
  if (typeof value === "number") return "expected text, got a number";
  const [, number = "", unit = ""] = /^(\d+(?:\.\d+)?) ?(ms|s|m|min|h)?$/.exec(value) ?? [];
  const factor = { "": 1, ms: 1, s: 1000, m: 60_000, min: 60_000, h: 3_600_000 }[unit] ?? 1;
  const meant = number === "" ? "" : `; write ${Math.round(Number(number) * factor)}`;
  return `expected milliseconds as a number, got the text ${quoted(value)}${meant}`;
}

/** Reports a constructor that requires arguments if no `static new()` passes them. */
function checkConstruction(program: Program, node: ClassNode, statics: Type, name: string, report: Report): void {
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

const STATIC_METHODS = ["path", "timeout", "isolate", "new", "create", "close", "meta", "description", "variables"];
const INSTANCE_METHODS = ["invoke", "authorize", "health", "encodeOutput"];

/** Reports methods that override none of SvcTool's: static instead of instance methods, the reverse, misspelt names. */
function checkKinds(program: Program, node: ClassNode, statics: Type, name: string, report: Report): void {
  const instance = node.getSymbolOrThrow().getDeclaredType();
  const never = [
    ...STATIC_METHODS.filter((key) => overrideOf(program, statics, key) === undefined).map((key) => {
      return { key, found: methodOf(program, instance, key), detail: "it is not static" };
    }),
    ...INSTANCE_METHODS.map((key) => ({ key, found: methodOf(program, statics, key), detail: "it is static" })),
    ...[statics, instance].flatMap((type) => misspelt(program, type, [...STATIC_METHODS, ...INSTANCE_METHODS])),
  ];
  for (const { key, found, detail } of never) {
    if (found !== undefined) report("SVC128", nameNode(found), `${name}.${key}()`, detail);
  }
}

/**
 * Public methods whose names are similar to those of SvcTool, but which no source uses: the author's own methods have
 * callers.
 */
function misspelt(program: Program, type: Type, names: readonly string[]) {
  return program.checker.getPropertiesOfType(type.compilerType).flatMap(({ name: key }) => {
    const [meant = key] = closest(key, names, key.length < MIN_MISSPELT_LENGTH ? 0 : 1);
    const found = meant === key ? undefined : methodOf(program, type, key);
    const use = new RegExp(`\\.${key.replace(/\W/g, "\\$&")}(?![\\w$])`);
    if (found === undefined || program.sources.some(({ text }) => use.test(text))) return [];
    return [{ key, found, detail: `SvcTool has ${meant}()` }];
  });
}

/** Shorter names, such as `now`, resemble `new` only by chance. */
const MIN_MISSPELT_LENGTH = 4;

/** Public method, or function in a property, that the author declares. */
function methodOf({ checker, isForeign, wrap }: Program, { compilerType }: Type, name: string): Node | undefined {
  const declaration = checker.getPropertyOfType(compilerType, name)?.valueDeclaration;
  if (declaration === undefined || isForeign(declaration.getSourceFile())) return;
  const called = ts.isPropertyDeclaration(declaration) ? declaration.initializer : declaration;
  if (called === undefined || !(ts.isMethodDeclaration(called) || isFunctionValue(called))) return;
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  return (ts.getCombinedModifierFlags(declaration) & hidden) === 0 ? wrap(declaration) : undefined;
}

function isFunctionValue(node: ts.Node): boolean {
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

/** Path without empty segments. Tools with equal canonical paths collide. */
function canonicalPath(path: string): string {
  return path.split("/").filter(Boolean).join("/");
}

/** Whether a tool is imported from its own file. Otherwise its import depends on other files. */
export function importedFromOwnFile(tool: Pick<Tool, "import" | "place">): boolean {
  return tool.import.file === tool.place.file;
}

/** Diagnostic of a project without tools. Lists abstract tool classes, because one may be the missing tool. */
export function noTools(program: Program): Diagnostic {
  const { layout, sources, at } = program;
  const where = `in the ${sources.length === 1 ? "only file" : `${sources.length} files`} of ${displayPath(layout, layout.tsconfig)}`;
  const abstract = sources
    .flatMap((file) => classesOf(program, file))
    .filter((node) => node.isAbstract() && typesOf(program, node) !== undefined);
  const [first] = abstract;
  if (first === undefined) {
    const other = toolOutside(program);
    if (other === undefined) return diagnostic("SVC100", {}, where);
    return diagnostic(
      "SVC100",
      {},
      `${where}; ${quoted(other.path)} has a tool class, but is not included`,
      other.hint,
    );
  }
  const names = abstract.slice(0, MAX_NAMED_CLASSES).map((node) => node.getName() ?? "a class without a name");
  const more = abstract.length > names.length ? ` and ${abstract.length - names.length} more` : "";
  const are = abstract.length === 1 ? "is abstract: remove `abstract`, or" : "are abstract:";
  const detail = `${where}; ${names.join(", ")}${more} ${are} export a class that extends ${names[0]} and is not abstract`;
  return diagnostic("SVC100", { place: at(nameNode(first).compilerNode) }, detail);
}

const MAX_NAMED_CLASSES = 3;

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
        const { file, line, column } = first.place;
        const detail = `${JSON.stringify(text)}, also of ${first.import.className} at ${file}:${line}:${column}`;
        const where = { place: tool.place, subject: tool.import.className };
        diagnostics.push(diagnostic(code, where, detail, text === "" ? ROOT_TAKEN : undefined));
      }
    }
  };
  check("SVC119", ({ fqn }) => fqn);
  check("SVC120", ({ path }) => canonicalPath(path));
  return diagnostics;
}
