import type { ToolHints } from "svc-runtime/internal/generator";
import { contradicts, HINT_NAMES, hintValue } from "../../tools/hints.js";
import type { Program } from "../project/program.js";
import { ts } from "../project/typescript.js";
import { similarTag } from "./jsdoc.js";
import type { ClassNode, Report } from "./overrides.js";

/** Reads the hints of a class from its own JSDoc tags. A hint that the class does not give is absent. */
export function readHintTags({ wrap }: Program, node: ClassNode, name: string, report: Report): ToolHints {
  const hints: { -readonly [Name in keyof ToolHints]: boolean } = {};
  for (const tag of ts.getJSDocTags(node.compilerNode)) {
    const written = tag.tagName.text;
    const hint = HINT_NAMES.find((known) => known === written);
    const text = ts.getTextOfJSDocComment(tag.comment)?.trim() ?? "";
    const value = hintValue(text);
    const meant = hint ?? similarTag(written, HINT_NAMES);
    if (hint === undefined && meant !== undefined)
      report("SVC174", wrap(tag), name, `@${written}; did you mean @${meant}?`);
    else if (hint !== undefined && value === undefined)
      report("SVC202", wrap(tag), name, `@${written}: expected nothing or false after it`);
    else if (hint !== undefined && value !== undefined) hints[hint] = value;
    if (hint !== undefined && contradicts(hints))
      report("SVC202", wrap(tag), name, "a tool that only reads destroys nothing");
  }
  for (const tag of node.compilerNode.members.flatMap((member) => ts.getJSDocTags(member))) {
    if (HINT_NAMES.some((hint) => hint === tag.tagName.text))
      report("SVC202", wrap(tag), name, `@${tag.tagName.text} is a tag of the class, not of a member`);
  }
  return hints;
}
