/**
 * Checks `@default` of input members: it must equal the literal default in `invoke`, and the member must be optional.
 */

import { truncated } from "svc-runtime/internal/generator";
import { type Json, printJson } from "../../text/json.js";
import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { keywordValue, type Member, type ObjectShape } from "../model.js";
import type { Program } from "../project/program.js";
import { ts } from "../project/typescript.js";
import { isFunctionValue } from "./overrides.js";
import type { ToolClass } from "./tool-classes.js";

/** Diagnostics for published defaults that differ from those of `invoke`, or that can never apply. */
export function checkDefaults(program: Program, tool: ToolClass, input: ObjectShape): Diagnostic[] {
  // A default in the type of a member is ignored, because it may be meant for other uses.
  const unused = input.members.filter((member) => !member.optional && keywordValue(member, "default") !== undefined);
  const notes = unused.map(({ place, subject }) => diagnostic("SVC159", { place, subject }));
  return [...notes, ...checkInvokeDefaults(program, tool, input)];
}

function checkInvokeDefaults(program: Program, { declaration }: ToolClass, input: ObjectShape): Diagnostic[] {
  const invoke = invokeOf(declaration.compilerNode as ts.ClassLikeDeclaration);
  const [parameter] = invoke?.parameters ?? [];
  if (invoke === undefined || parameter === undefined) return [];
  return patternsOf(parameter, invoke.body).flatMap(({ elements }) =>
    elements.flatMap(({ name, propertyName = name, initializer }) => {
      const own = initializer === undefined ? undefined : literalValue(initializer);
      const isNamed = ts.isIdentifier(propertyName) || ts.isStringLiteral(propertyName);
      const member = isNamed ? input.members.find((each) => each.name === propertyName.text) : undefined;
      const published = member && defaultOf(member);
      if (member === undefined || own === undefined || published === undefined || isSameDefault(own, published))
        return [];
      const detail = `@default is ${shown(published)}, the default in invoke is ${shown(own)}`;
      return [diagnostic("SVC179", { place: program.at(initializer as ts.Node), subject: member.subject }, detail)];
    }),
  );
}

function invokeOf(declaration: ts.ClassLikeDeclaration): ts.FunctionLikeDeclaration | undefined {
  const member = declaration.members.find(
    ({ name }) => name !== undefined && ts.isIdentifier(name) && name.text === "invoke",
  );
  if (member === undefined) return undefined;
  if (ts.isMethodDeclaration(member)) return member;
  const value = ts.isPropertyDeclaration(member) ? member.initializer : undefined;
  return value !== undefined && isFunctionValue(value) ? value : undefined;
}

/** Patterns that destructure the input: the parameter itself, or declarations at the start of the body. */
function patternsOf({ name }: ts.ParameterDeclaration, body: ts.Node | undefined): ts.ObjectBindingPattern[] {
  if (ts.isObjectBindingPattern(name)) return [name];
  if (!ts.isIdentifier(name) || body === undefined || !ts.isBlock(body)) return [];
  const declared = body.statements.filter(ts.isVariableStatement).flatMap((each) => each.declarationList.declarations);
  return declared.flatMap(({ name: pattern, initializer: from }) =>
    ts.isObjectBindingPattern(pattern) && from !== undefined && ts.isIdentifier(from) && from.text === name.text
      ? [pattern]
      : [],
  );
}

function literalValue(node: ts.Expression): Json | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isBigIntLiteral(node)) return BigInt(node.text.slice(0, -1));
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (!ts.isPrefixUnaryExpression(node) || node.operator !== ts.SyntaxKind.MinusToken) return undefined;
  const value = literalValue(node.operand);
  return typeof value === "number" || typeof value === "bigint" ? -value : undefined;
}

/** Default of a member, unless it is a list or object, which is not compared. */
function defaultOf(member: Member): Json | undefined {
  const own = keywordValue(member, "default");
  const value = own === undefined ? keywordValue(member.shape, "default") : own;
  return typeof value === "object" && value !== null ? undefined : value;
}

function isSameDefault(one: Json, other: Json): boolean {
  const isNumber = (value: Json) => typeof value === "number" || typeof value === "bigint";
  // biome-ignore lint/suspicious/noDoubleEquals: a bigint and a number of one value are one default
  return isNumber(one) && isNumber(other) ? one == other : one === other;
}

function shown(value: Json): string {
  return truncated(printJson(value), 40);
}
