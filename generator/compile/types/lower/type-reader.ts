/** Everything that is shared by the lowering of all tools of a program. */

import type { Program } from "../../project/program.js";
import { DeclaredOrder } from "../declared-order.js";
import { Comments } from "../jsdoc.js";
import { SyntaxReader } from "../type-syntax.js";

/** A program, with caches that all tools share. */
export interface TypeReader {
  readonly program: Program;
  readonly syntax: SyntaxReader;
  readonly order: DeclaredOrder;
  readonly comments: Comments;
}

export function readTypes(program: Program): TypeReader {
  const { checker } = program;
  const syntax = new SyntaxReader(checker);
  return { program, syntax, order: new DeclaredOrder(program, syntax), comments: new Comments(program) };
}
