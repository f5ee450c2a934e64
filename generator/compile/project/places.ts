/** Places of TypeScript's diagnostics and nodes in the files of a project. */

import type { Place } from "../model.js";
import { displayPath, type Layout } from "./layout.js";
import { ts } from "./typescript.js";

export function messageAndPlace(layout: Layout, { file, start, length, messageText }: ts.DiagnosticRelatedInformation) {
  const message = ts.flattenDiagnosticMessageText(messageText, "\n");
  if (file === undefined || start === undefined) return { message };
  return { message, place: placeOf(layout, file, start, length ?? 1) };
}

export function placeOf(layout: Layout, file: ts.SourceFile, start: number, length: number): Place {
  const { line, character } = file.getLineAndCharacterOfPosition(start);
  const source = file.text.slice(file.getPositionOfLineAndCharacter(line, 0)).split(/\r?\n/, 1)[0] ?? "";
  return { file: displayPath(layout, file.fileName), line: line + 1, column: character + 1, length, source };
}
