/** Lowers object types: members, index signatures, ports. */

import { escapeRegex } from "../../../text/escape-regex.js";
import { type Doc, isNever, type Member, memberSubject, type ObjectShape, type Shape } from "../../model.js";
import { ts } from "../../project/typescript.js";
import { annotate } from "../jsdoc.js";
import { looksSecret } from "../secret-names.js";
import { ABSENT, resolveAccess, unionConstituents } from "../type-predicates.js";
import { linksOf, type TypeArguments } from "../type-syntax.js";
import {
  addComment,
  addConstraints,
  lowerSources,
  onShape,
  recordTags,
  reportIdleComments,
  reportOutOfReach,
} from "./comments.js";
import { lowerDataRef } from "./data-refs.js";
import type { Lowering, Use } from "./lowering.js";
import { lowerWithoutUndefined } from "./unions.js";

const { TypeFlags } = ts;

/** Lowers an object type. If a required member has no values, the object has none either. */
export function lowerStructure(lowering: Lowering, type: ts.Type, use: Use): Shape {
  const shape = lowerObject(lowering, type, use, lowering.order.memberOrder(type, use.written ?? use.syntax));
  return shape.members.map((member) => member.shape).find(isNever) ?? shape;
}

/** Lowers the ports of an object type; each must have values. */
export function lowerPorts(lowering: Lowering, type: ts.Type, use: Use, payload: boolean): ObjectShape {
  const shape = lowerObject(lowering, type, use, lowering.order.portOrder(type, use.syntax), payload);
  const members = shape.members.map((member) => ({ ...member, shape: lowering.refuseImpossible(member.shape, use) }));
  return { ...shape, members };
}

/** @param payload whether the members are output ports */
function lowerObject(
  lowering: Lowering,
  type: ts.Type,
  use: Use,
  properties: readonly ts.Symbol[],
  payload = false,
): ObjectShape {
  const environment = lowering.syntax.memberEnvironment(use.syntax);
  const { keys, values } = lowering.syntax.mapped(use.syntax);
  const members: Member[] = [];
  for (const property of properties) {
    const member = lowerMember(lowering, property, type, environment, use, payload);
    if (member !== undefined) members.push(member);
  }
  let closed = false;
  const indexes: { pattern?: string; shape: Shape }[] = [];
  for (const info of lowering.checker.getIndexInfosOfType(type)) {
    const inner: Use = {
      ...use,
      subject: `${use.subject}{}`,
      ...lowering.placeIn(use, info.declaration),
      syntax: info.declaration === undefined ? values : { node: info.declaration.type, environment },
    };
    const name = info.declaration?.parameters[0]?.type;
    const key = lowering.syntax.resolve(name === undefined ? keys : { node: name, environment });
    reportOutOfReach(lowering, info.keyType, { ...inner, syntax: key });
    // JSON has no symbols as names, and an index signature requires no member.
    if (info.keyType.flags & TypeFlags.ESSymbol) continue;
    if (info.type.flags & TypeFlags.Never) closed = true;
    else {
      const pattern = keyPattern(lowering, info.keyType, inner);
      const names = pattern === undefined ? {} : { pattern: excludeMembers(pattern, members) };
      const bare = lowerWithoutUndefined(lowering, info.type, inner);
      const { declaration: signature } = info;
      if (signature !== undefined) reportIdleComments(lowering, signature, inner.subject);
      const comment = signature && lowering.types.comments.ofNode(signature);
      const shape = comment === undefined ? bare : addComment(lowering, bare, comment, inner);
      if (!isNever(shape)) indexes.push({ ...names, shape });
      else if (pattern === undefined) closed = true;
      else lowering.refuseImpossible(shape, inner);
    }
  }
  return { kind: "object", members, indexes, closed };
}

function keyPattern(lowering: Lowering, key: ts.Type, use: Use): string | undefined {
  if (key.flags & TypeFlags.String) return undefined;
  if (key.flags & TypeFlags.Number) return NUMERIC_NAME;
  const shape = lowering.shape(key, { ...use, syntax: undefined });
  return shape.kind === "string" ? shape.pattern : undefined;
}

function lowerMember(
  lowering: Lowering,
  property: ts.Symbol,
  owner: ts.Type,
  environment: TypeArguments,
  outer: Use,
  port: boolean,
): Member | undefined {
  const subject = subjectOf(outer.subject, property);
  const place = lowering.placeIn(outer, nameOf(property));
  const [syntax, ...others] = lowering.sources.memberSyntaxes(property, owner, outer.syntax, environment);
  const use: Use = { subject, ...place, syntax, depth: outer.depth };
  if (refuseMember(lowering, property, use)) return undefined;

  const type = resolveAccess(lowering.checker, lowering.checker.getTypeOfSymbol(property));
  const { keyType, mappedType } = linksOf(property);
  if (syntax === undefined && keyType !== undefined) {
    const key = keyType.isStringLiteral() ? keyType.value : property.name;
    const template = mappedType?.declaration?.type;
    const names = template !== undefined && ts.isIndexedAccessTypeNode(template) ? [property.name, key] : undefined;
    for (const part of unionConstituents(type))
      reportOutOfReach(lowering, part, { ...use, syntax: outer.syntax }, names);
  }
  for (const base of lowering.types.comments.untagged(property)) {
    for (const part of unionConstituents(type))
      reportOutOfReach(lowering, part, { ...use, syntax: { node: base, environment } });
  }
  const parts = type.isUnion() ? type.types : [type];
  const absent = parts.some((part) => part.flags & ABSENT);
  const optional = (property.flags & ts.SymbolFlags.Optional) !== 0 || absent;
  const nothing = parts.every((part) => part.flags & (ABSENT | TypeFlags.Never));
  const data = port ? lowerDataRef(lowering, type, use) : undefined;
  const found: Shape =
    data?.shape ??
    (nothing && optional
      ? { kind: "null" }
      : optional
        ? lowerWithoutUndefined(lowering, type, use)
        : lowering.shape(type, use));
  const shaped = others.reduce(
    (made, each) => lowerSources(lowering, type, { ...use, syntax: each }, () => made),
    found,
  );
  const bare: Shape = isNever(found) && optional ? { kind: "null" } : shaped;

  const comment = lowering.types.comments.of(property);
  if (use.author === undefined)
    for (const node of property.declarations ?? []) reportIdleComments(lowering, node, subject);
  const shape = addConstraints(lowering, bare, comment, { ...use, isMapped: keyType !== undefined });
  if (comment.notSecret || lowering.notSecret.has(bare)) lowering.notSecret.add(shape);
  else if (looksSecret(property.name)) lowering.secrets.set(shape, { ...use, detail: property.name });
  const fitting = onShape(comment, shape);
  recordTags(lowering, fitting, use, shape, optional);
  const doc: Doc | undefined = annotate(fitting);
  const by = data === undefined ? {} : { byReference: data.by };
  return {
    name: property.name,
    subject: use.author ?? subject,
    place: lowering.program.at(use.node),
    optional,
    ...by,
    shape,
    ...(doc === undefined ? {} : { doc }),
  };
}

/** Reports a member without a JSON form; returns whether it did. */
function refuseMember(lowering: Lowering, property: ts.Symbol, use: Use): boolean {
  const escaped = String(property.escapedName);
  const modifiers = (property.declarations ?? []).reduce(
    (all, declaration) => all | ts.getCombinedModifierFlags(declaration),
    0,
  );
  if (escaped.startsWith("__#") || modifiers & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) {
    lowering.report("SVC133", use);
  } else if (escaped.startsWith("__@")) {
    // The name is a symbol, which JSON does not have: a result omits the member, but no input could contain it.
    if (lowering.side === "input" && !(property.flags & ts.SymbolFlags.Optional)) lowering.report("SVC141", use);
  } else if (property.flags & ts.SymbolFlags.Method) lowering.report("SVC131", use);
  else if (!property.name.isWellFormed()) lowering.report("SVC148", use);
  else return false;
  return true;
}

/** Member names that a `number` index signature covers: numbers as JavaScript prints them. */
const NUMERIC_NAME =
  "^(?:0|-?(?:[1-9][0-9]{0,20}(?:\\.[0-9]*[1-9])?|0\\.(?!0{6})[0-9]*[1-9]|[1-9](?:\\.[0-9]*[1-9])?e(?:\\+(?:2[1-9]|[3-9][0-9]|[1-3][0-9]{2})|-(?:[7-9]|[1-9][0-9]|[1-3][0-9]{2}))|Infinity)|NaN)$";

/** Name of a symbol's declaration, or the declaration if it has none. */
export function nameOf(symbol: ts.Symbol | undefined): ts.Node | undefined {
  const declaration = symbol?.valueDeclaration ?? symbol?.declarations?.[0];
  return declaration === undefined ? undefined : (ts.getNameOfDeclaration(declaration) ?? declaration);
}

/** Full name of a member as in the source; private names and symbols have internal names. */
function subjectOf(outer: string, { name, escapedName }: ts.Symbol): string {
  const internal = /^__(#|@)(?:\d+@)?(.*?)(?:@\d+)?$/.exec(String(escapedName));
  if (internal === null) return memberSubject(outer, name);
  return internal[1] === "#" ? `${outer}.${internal[2]}` : `${outer}[${internal[2]}]`;
}

/** Excludes the declared members from the pattern of an index signature, because they have their own types. */
function excludeMembers(pattern: string, members: readonly Member[]): string {
  const expression = new RegExp(pattern, "u");
  const declared = members.filter(({ name }) => expression.test(name)).map(({ name }) => escapeRegex(name));
  return declared.length === 0 ? pattern : `^(?!(?:${declared.join("|")})$)${pattern.slice(1)}`;
}
