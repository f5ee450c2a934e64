/** Prints types as TypeScript, with a leading `|` in a union over several lines. */

import { literal, propertyName } from "../compile/emit/print-literal.js";

/** A type of TypeScript. */
export type TypeNode =
  /** A keyword, a literal or a name. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly item: TypeNode }
  | { readonly kind: "tuple"; readonly items: readonly TupleItem[] }
  | ObjectNode
  | { readonly kind: "union" | "intersection"; readonly parts: readonly TypeNode[] };

export interface TupleItem {
  readonly type: TypeNode;
  readonly mark: "required" | "optional" | "rest";
}

export interface ObjectNode {
  readonly kind: "object";
  readonly members: readonly MemberNode[];
  /** Type of all undeclared members. */
  readonly rest?: TypeNode;
}

export interface MemberNode {
  /** Comment with a final line break; empty if there is none. */
  readonly comment: string;
  readonly name: string;
  readonly optional: boolean;
  readonly type: TypeNode;
}

export interface Declaration {
  readonly comment: string;
  readonly name: string;
  readonly type: TypeNode | EnumNode;
}

/** String constants, each with its own comment. */
export interface EnumNode {
  readonly kind: "enum";
  readonly members: readonly { readonly comment: string; readonly name: string; readonly value: string }[];
}

/** Maximum length of a line, apart from its indentation. */
export const WIDTH = 80;

/** Prints an exported declaration: an enum, an interface for an object other than `Output`, otherwise a type alias. */
export function printDeclaration({ comment, name, type }: Declaration): string {
  if (type.kind === "enum") {
    const members = type.members.map((member) => `${member.comment}${member.name} = ${literal(member.value)},`);
    return `${comment}export enum ${name} ${block(members)}\n`;
  }
  if (type.kind !== "object" || name === "Output") return `${comment}export type ${name} =${afterSign(type)};\n`;
  return `${comment}export interface ${name} ${block(memberLines(type))}\n`;
}

/** A type after `=` or `:`, with a space unless it begins on a new line. */
function afterSign(type: TypeNode): string {
  const text = printType(type);
  return text.startsWith("\n") ? text : ` ${text}`;
}

/** Text of a type. A long union begins with a line break; the lines of a long type are indented relative to the first. */
function printType(type: TypeNode): string {
  switch (type.kind) {
    case "text":
      return type.text;
    case "list":
      return `${printPart(type.item)}[]`;
    case "tuple": {
      const items = type.items.map(printItem);
      return shortLine(`[${items.join(", ")}]`) ?? `[\n${items.map((item) => `${indented(item)},\n`).join("")}]`;
    }
    case "union": {
      const parts = type.parts.map(printPart);
      const lines = parts.map((part) => `\n${STEP}| ${indented(indented(part)).trimStart()}`);
      return shortLine(parts.join(" | ")) ?? lines.join("");
    }
    case "intersection":
      return type.parts.map(printPart).join(" & ");
    case "object": {
      const members = memberLines(type);
      const line = `{ ${members.join(" ").replace(/;$/, "")} }`;
      return (members.length === 0 ? undefined : shortLine(line)) ?? block(members);
    }
  }
}

/** A line, unless it is too long, has a line break or a comment. */
function shortLine(line: string): string | undefined {
  return line.length > WIDTH - 2 * STEP.length || /\n|\/\*/.test(line) ? undefined : line;
}

/** Part of another type, with parentheses around a union or an intersection. */
function printPart(type: TypeNode): string {
  const text = printType(type);
  if (type.kind !== "union" && type.kind !== "intersection") return text;
  return text.startsWith("\n") ? `(${text}\n)` : `(${text})`;
}

function printItem({ type, mark }: TupleItem): string {
  if (mark === "rest") return `...${printPart(type)}[]`;
  return mark === "optional" ? `${printPart(type)}?` : printType(type).trimStart();
}

/** Members of an object, each with its comment and a semicolon. */
function memberLines({ members, rest }: ObjectNode): string[] {
  const lines = members.map(({ comment, name, optional, type }) => {
    return `${comment}${propertyName(name)}${optional ? "?" : ""}:${afterSign(type)};`;
  });
  return rest === undefined ? lines : [...lines, `[name: string]:${afterSign(rest)};`];
}

function block(lines: readonly string[]): string {
  return lines.length === 0 ? "{}" : `{\n${lines.map((line) => `${indented(line)}\n`).join("")}}`;
}

const STEP = "  ";

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, STEP);
}
