/** Prints types as formatted TypeScript: 80 columns, two spaces, a leading `|` in a union over several lines. */

import { literal, propertyName } from "../compile/emit/print-literal.js";

/** A type of TypeScript. */
export type TypeNode =
  /** A keyword, a literal or a name. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "list"; readonly item: TypeNode }
  | { readonly kind: "tuple"; readonly items: readonly TupleItem[] }
  | ObjectNode
  | { readonly kind: "generic"; readonly name: string; readonly argument: TypeNode }
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

/** Maximum length of a line. */
export const WIDTH = 80;
const STEP = "  ";

/** Prints an exported declaration: an enum, an interface for an object other than `Output`, otherwise a type alias. */
export function printDeclaration({ comment, name, type }: Declaration): string {
  if (type.kind === "enum") {
    const members = type.members.map(
      (member) => `${indented(member.comment, STEP)}${STEP}${member.name} = ${literal(member.value)},\n`,
    );
    return `${comment}export enum ${name} {\n${members.join("")}}\n`;
  }
  if (type.kind !== "object" || name === "Output")
    return `${comment}export type ${name} =${assigned(type, "", `export type ${name} =`.length)};\n`;
  const empty = type.members.length === 0 && type.rest === undefined;
  return `${comment}export interface ${name} ${empty ? "{}" : broken(type, "")}\n`;
}

/** A type after `=` or `:`, with the preceding space or line break. */
function assigned(type: TypeNode, indent: string, column: number): string {
  const text = print(type, indent, column + 1);
  if (!text.startsWith("\n")) return ` ${text}`;
  const line = flat(type);
  const isShort = line !== undefined && indent.length + STEP.length + line.length < WIDTH;
  return isShort ? `\n${indent}${STEP}${line}` : text;
}

function print(type: TypeNode, indent: string, column: number): string {
  const line = flat(type);
  return line !== undefined && column + line.length < WIDTH ? line : broken(type, indent);
}

function broken(type: TypeNode, indent: string): string {
  const inner = indent + STEP;
  switch (type.kind) {
    case "text":
      return type.text;
    case "list":
      return `${member(type.item, indent)}[]`;
    case "generic":
      return `${type.name}<${broken(type.argument, indent)}>`;
    case "tuple": {
      const items = type.items.map((item) => `${inner}${place(item, inner)},\n`);
      return `[\n${items.join("")}${indent}]`;
    }
    case "union":
      return type.parts
        .map((part) => `\n${inner}| ${parenthesized(part, print(part, inner + STEP, inner.length + 2))}`)
        .join("");
    case "intersection":
      return type.parts.map((part) => member(part, indent)).join(" & ");
    case "object":
      return `{\n${lines(type, inner)}${indent}}`;
  }
}

/** Part of a list or intersection. A union that is too long is printed in parentheses, on its own lines. */
function member(type: TypeNode, indent: string): string {
  const line = flat(type);
  if (line !== undefined && indent.length + line.length < WIDTH) return parenthesized(type, line);
  return type.kind === "union" ? `(${broken(type, indent)}\n${indent})` : parenthesized(type, broken(type, indent));
}

function place(item: TupleItem, indent: string): string {
  const line = flat(item.type);
  if (line !== undefined && indent.length + line.length < WIDTH) return marked(item, line);
  const text = member(item.type, indent);
  return item.mark === "rest" ? `...${text}[]` : item.mark === "optional" ? `${text}?` : text;
}

function lines({ members, rest }: ObjectNode, indent: string): string {
  const printed = members.map((member) => {
    const head = `${indent}${nameOf(member)}:`;
    return `${indented(member.comment, indent)}${head}${assigned(member.type, indent, head.length)};\n`;
  });
  if (rest !== undefined) {
    const head = `${indent}${REST}:`;
    printed.push(`${head}${assigned(rest, indent, head.length)};\n`);
  }
  return printed.join("");
}

const REST = "[name: string]";

function indented(comment: string, indent: string): string {
  return comment.replace(/^(?=.)/gm, indent);
}

function nameOf({ name, optional }: MemberNode): string {
  return `${propertyName(name)}${optional ? "?" : ""}`;
}

const flats = new WeakMap<TypeNode, string>();

/** The type on one line; undefined if it has comments or is longer than any line. */
function flat(type: TypeNode): string | undefined {
  let text = flats.get(type);
  if (text === undefined) {
    text = flatText(type) ?? "";
    if (text.length > WIDTH && type.kind !== "text") text = "";
    flats.set(type, text);
  }
  return text === "" ? undefined : text;
}

function flatText(type: TypeNode): string | undefined {
  switch (type.kind) {
    case "text":
      return type.text;
    case "list": {
      const item = flat(type.item);
      return item && `${parenthesized(type.item, item)}[]`;
    }
    case "generic": {
      const argument = flat(type.argument);
      return argument && `${type.name}<${argument}>`;
    }
    case "tuple": {
      const items = all(type.items, (item) => {
        const text = flat(item.type);
        return text && marked(item, text);
      });
      return items && `[${items.join(", ")}]`;
    }
    case "union":
    case "intersection":
      return all(type.parts, (part) => {
        const text = flat(part);
        return text && parenthesized(part, text);
      })?.join(type.kind === "union" ? " | " : " & ");
    case "object": {
      const members = all(type.members, (member) => {
        const text = member.comment === "" ? flat(member.type) : undefined;
        return text && `${nameOf(member)}: ${text}`;
      });
      const rest = type.rest && flat(type.rest);
      if (members === undefined || (type.rest !== undefined && rest === undefined)) return undefined;
      if (rest !== undefined) members.push(`${REST}: ${rest}`);
      return members.length === 0 ? "{}" : `{ ${members.join("; ")} }`;
    }
  }
}

function all<T>(items: readonly T[], text: (item: T) => string | undefined): string[] | undefined {
  const texts: string[] = [];
  for (const item of items) {
    const found = text(item);
    if (found === undefined) return undefined;
    texts.push(found);
  }
  return texts;
}

function marked({ type, mark }: TupleItem, text: string): string {
  if (mark === "rest") return `...${parenthesized(type, text)}[]`;
  return mark === "optional" ? `${parenthesized(type, text)}?` : text;
}

/** Adds parentheses to a union or an intersection before `[]` or `?`, or inside another one. */
function parenthesized({ kind }: TypeNode, text: string): string {
  return kind === "union" || kind === "intersection" ? `(${text})` : text;
}
