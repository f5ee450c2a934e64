/** Checks ports against the network's limits (protocol.md section 1). */

import {
  isPortName,
  MAX_INPUT_PORTS,
  MAX_VALUES,
  MAX_VARIANT_PORTS,
  MAX_VARIANTS,
} from "svc-runtime/internal/generator";
import { type Code, type Diagnostic, diagnostic } from "../diagnostics/diagnostics.js";
import { keywordValue, type Member, resolve, type Tool, tupleLengths } from "../model.js";
import { isMany } from "./codecs.js";

/** Reports ports that the network would reject, and notes which lists are `many` ports. */
export function checkPorts(tool: Tool): Diagnostic[] {
  const found: Diagnostic[] = [];
  const report = (code: Code, where: Pick<Member, "place" | "subject">, detail?: string) => {
    found.push(diagnostic(code, { place: where.place, subject: where.subject }, detail));
  };
  const inputs = tool.input.members;
  const extra = inputs[MAX_INPUT_PORTS];
  if (extra !== undefined) report("SVC151", extra, `this is port ${MAX_INPUT_PORTS + 1} of ${inputs.length}`);
  const variant = tool.output[MAX_VARIANTS];
  if (variant !== undefined) report("SVC166", variant, `this is variant ${MAX_VARIANTS + 1} of ${tool.output.length}`);
  for (const { name, payload, ...where } of tool.output) {
    if (!isPortName(name)) report("SVC152", where, portNameProblem(name));
    const over = payload.members[MAX_VARIANT_PORTS];
    if (over !== undefined)
      report("SVC167", over, `this is port ${MAX_VARIANT_PORTS + 1} of ${payload.members.length}`);
  }
  for (const member of [...inputs, ...tool.output.flatMap(({ payload }) => payload.members)]) {
    if (!isPortName(member.name)) report("SVC152", member, portNameProblem(member.name));
    if (isMany(member, tool.definitions)) {
      const [least, most] = lengthsOf(member, tool);
      if (least > MAX_VALUES || most < 1) report("SVC157", member);
      else if (least === 0) report("SVC155", member);
    } else if (member.byReference === undefined && mayBeList(member, tool)) report("SVC156", member);
  }
  return found;
}

function portNameProblem(name: string): string {
  const length = Buffer.byteLength(name);
  return length === name.length ? `it has ${length} characters` : "it has a character that is not ASCII";
}

/** Minimum and maximum length of the list of a `many` port, according to its type. */
function lengthsOf({ shape, doc }: Member, tool: Tool): readonly [least: number, most: number] {
  const list = resolve(shape, tool.definitions);
  const bound = (keyword: "minItems" | "maxItems", otherwise: number) =>
    Number(keywordValue({ doc }, keyword) ?? keywordValue(shape, keyword) ?? keywordValue(list, keyword) ?? otherwise);
  const [least, most] = list.kind === "tuple" ? tupleLengths(list) : [0, Number.POSITIVE_INFINITY];
  return [Math.max(least, bound("minItems", 0)), Math.min(most, bound("maxItems", most))];
}

function mayBeList({ shape }: Member, tool: Tool): boolean {
  const resolved = resolve(shape, tool.definitions);
  const isList = (kind: string) => kind === "array" || kind === "tuple";
  if (resolved.kind === "union")
    return resolved.branches.some((branch) => isList(resolve(branch, tool.definitions).kind));
  return isList(resolved.kind);
}
