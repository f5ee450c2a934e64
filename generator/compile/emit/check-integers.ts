/** A note for each `bigint` without a format, whose published range no client takes for one of 64 bits. */

import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { type Member, partsOf, type Shape, type Tool } from "../model.js";

/** Reports the members that hold such integers, those of shared types once. */
export function checkIntegers(tool: Tool): Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = (member: Member) => {
    let isWithoutFormat = false;
    const visit = (shape: Shape): void => {
      if (shape.kind === "bigint") isWithoutFormat ||= shape.format === undefined;
      const isObject = shape.kind === "object";
      for (const part of isObject ? shape.indexes.map((index) => index.shape) : partsOf(shape)) visit(part);
      if (isObject) for (const each of shape.members) report(each);
    };
    visit(member.shape);
    if (isWithoutFormat) found.push(diagnostic("SVC158", { place: member.place, subject: member.subject }));
  };
  const shared = tool.definitions.map(({ shape }) => shape);
  for (const each of [tool.input, ...tool.output.map(({ payload }) => payload), ...shared]) {
    if (each.kind === "object") for (const member of each.members) report(member);
  }
  return found;
}
