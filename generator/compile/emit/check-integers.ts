/** Notes on each `bigint` without a format: clients do not treat its published range as a 64-bit integer. */

import { type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { type Member, partsOf, type Shape, type Tool } from "../model.js";

/** Reports each member with such a `bigint`; a member of a shared type is reported once. */
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
