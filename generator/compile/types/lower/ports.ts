/** Lowers `Input` and `Output` to the ports and variants of a tool. */

import { FAILURE_VARIANT } from "svc-runtime/internal/generator";
import { diagnostic } from "../../diagnostics/diagnostics.js";
import { memberSubject, type ObjectShape, type OutputVariant } from "../../model.js";
import { ts } from "../../project/typescript.js";
import { annotate } from "../jsdoc.js";
import type { TypeUse } from "../tool-classes.js";
import { type TypeArguments, typeAnnotation } from "../type-syntax.js";
import { addTypeComment, recordTags, reportSecrets } from "./comments.js";
import type { Lowering, Use } from "./lowering.js";
import { lowerPorts, nameOf } from "./objects.js";

const { TypeFlags } = ts;
const EMPTY: ObjectShape = { kind: "object", members: [], indexes: [], closed: false };

export function lowerInput(lowering: Lowering, { type, syntax, node }: TypeUse): ObjectShape {
  lowering.side = "input";
  const use: Use = { subject: `${lowering.toolName}.Input`, node, syntax, depth: 0 };
  if (!lowering.predicates.isPlainObject(type)) {
    lowering.report("SVC150", use, lowering.printType(type));
    return EMPTY;
  }
  const found = lowerPorts(lowering, type, use, false);
  if (found.indexes.length > 0)
    lowering.report(found.members.length > 0 ? "SVC200" : "SVC150", use, "it has an index signature");
  const shape = { ...found, indexes: [] };
  const documented = addTypeComment(lowering, shape, type, use);
  lowering.finish();
  reportSecrets(lowering, documented);
  return documented;
}

export function lowerOutput(lowering: Lowering, { type, syntax, node }: TypeUse): OutputVariant[] {
  lowering.side = "output";
  const use: Use = { subject: `${lowering.toolName}.Output`, node, syntax, depth: 0 };
  if (lowering.syntax.containsDataRef(type, syntax)) {
    lowering.refuseDataRef(use);
    return [];
  }
  const parts = type.isUnion() ? lowering.order.unionOrder(type.types, syntax) : [type];
  const variants: OutputVariant[] = [];
  for (const part of parts) {
    const [source] = lowering.sources.sources(part, syntax, type.isUnion());
    const variant = lowerVariant(lowering, part, { ...use, syntax: source?.syntax }, !type.isUnion());
    if (variant === undefined) continue;
    if (variants.some(({ name }) => name === variant.name)) {
      lowering.diagnostics.push(diagnostic("SVC163", variant, JSON.stringify(variant.name)));
    } else variants.push(variant);
  }
  lowering.finish();
  return variants;
}

function lowerVariant(lowering: Lowering, type: ts.Type, use: Use, isOnly: boolean): OutputVariant | undefined {
  if (type.isStringLiteral()) {
    const node = lowering.own(use.syntax?.node) ?? use.node;
    const subject = memberSubject(use.subject, type.value);
    if (isReserved(lowering, type.value, { subject, node })) return undefined;
    return { name: type.value, subject, place: lowering.program.at(node), text: true, payload: EMPTY };
  }
  if (!lowering.predicates.isPlainObject(type)) {
    lowering.report("SVC160", { ...use, node: lowering.own(use.syntax?.node) ?? use.node }, lowering.printType(type));
    return undefined;
  }
  const [tag, ...more] = lowering.order.portOrder(type, use.syntax);
  const where = {
    subject: use.subject,
    node: lowering.own(nameOf(type.getSymbol())) ?? lowering.own(use.syntax?.node) ?? use.node,
  };
  if (tag === undefined || lowering.checker.getIndexInfosOfType(type).length > 0) {
    lowering.report("SVC164", where, lowering.printType(type));
    return undefined;
  }
  if (more.length > 0) {
    const tags = [tag, ...more];
    const isOptional = tags.every(({ flags }) => flags & ts.SymbolFlags.Optional);
    const union = tags.map(({ name }) => `{ ${name}: { … } }`).join(" | ");
    const names = tags.map(({ name }) => name).join(", ");
    lowering.report(
      "SVC164",
      where,
      `it has ${tags.length}: ${names}`,
      isOptional ? `declare a union: ${union}` : undefined,
    );
    return undefined;
  }
  return lowerTaggedVariant(lowering, tag, lowering.syntax.memberEnvironment(use.syntax), use, isOnly);
}

/** @param isOnly whether the output has no other variant */
function lowerTaggedVariant(
  lowering: Lowering,
  tag: ts.Symbol,
  environment: TypeArguments,
  outer: Use,
  isOnly: boolean,
): OutputVariant | undefined {
  const node = lowering.own(nameOf(tag)) ?? outer.node;
  const subject = memberSubject(outer.subject, tag.name);
  const annotation = typeAnnotation(tag);
  const syntax = annotation === undefined ? undefined : { node: annotation, environment };
  const use: Use = { subject, node, syntax, depth: 1 };
  if (isReserved(lowering, tag.name, use)) return undefined;
  const type = lowering.checker.getTypeOfSymbol(tag);
  const optional = (tag.flags & ts.SymbolFlags.Optional) !== 0;
  if (optional || (type.isUnion() && type.types.some((part) => part.flags & TypeFlags.Undefined))) {
    lowering.report("SVC162", use);
    return undefined;
  }
  if (lowering.syntax.containsDataRef(type, syntax)) {
    lowering.refuseDataRef(use);
    return undefined;
  }
  if (!lowering.predicates.isPlainObject(type)) {
    const { predicates } = lowering;
    const isData = predicates.builtIn(type) === undefined || predicates.isSpecial(type) || predicates.isList(type);
    const payload = isData ? `{ value: ${lowering.printType(type)} }` : "{ reason: string }";
    const advice = isData ? "wrap the value in an object" : "declare the data that callers need";
    // The author probably declared the ports of a result without a variant.
    const isPort = isOnly && tag.name !== "ok" && isData && !predicates.isList(type);
    const wrapped = isPort ? `{ ok: { ${tag.name}: ${lowering.printType(type)} } }` : `{ ${tag.name}: ${payload} }`;
    const hint = `${advice}, such as ${wrapped}`;
    lowering.report("SVC161", use, lowering.printType(type), hint);
    return undefined;
  }
  const payload = lowerPorts(lowering, type, use, true);
  if (payload.indexes.length > 0)
    lowering.report("SVC161", use, "it has an index signature, so its ports are not known");
  const comment = lowering.types.comments.of(tag);
  recordTags(lowering, comment, use, payload);
  const doc = annotate(comment);
  const place = lowering.program.at(node);
  return { name: tag.name, subject, place, text: false, payload, ...(doc === undefined ? {} : { doc }) };
}

function isReserved(lowering: Lowering, name: string, where: { subject: string; node: ts.Node }): boolean {
  if (name !== FAILURE_VARIANT) return false;
  lowering.report("SVC165", where);
  return true;
}
