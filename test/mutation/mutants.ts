/** The faults that can be planted in a source file. */

import ts from "typescript";

/** One fault: `replacement` in place of the text from `start` to `end`. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

const OPERATORS: Record<string, readonly string[]> = {
  "<": ["<="],
  "<=": ["<"],
  ">": [">="],
  ">=": [">"],
  "===": ["!=="],
  "!==": ["==="],
  "&&": ["||"],
  "||": ["&&"],
  "-": ["+"],
  "*": ["/"],
  "+=": ["-="],
  "-=": ["+="],
};

/** Calls whose text argument decides something, in contrast to those whose text a person reads. */
const DECIDING = /^(?:has|get|startsWith|endsWith|includes|Set)$/;

export function mutantsOf(file: string, text: string): Mutant[] {
  const found: Mutant[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const plant = (node: ts.Node, ...replacements: readonly string[]) => {
    for (const replacement of replacements) found.push({ start: node.getStart(), end: node.getEnd(), replacement });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) plant(node.operatorToken, ...(OPERATORS[node.operatorToken.getText()] ?? []));
    else if (ts.isIfStatement(node)) plant(node.expression, `!(${node.expression.getText()})`, "false");
    else if (ts.isConditionalExpression(node)) plant(node.condition, `!(${node.condition.getText()})`);
    else if (ts.isWhileStatement(node)) plant(node.expression, "false");
    else if (node.kind === ts.SyntaxKind.TrueKeyword) plant(node, "false");
    else if (node.kind === ts.SyntaxKind.FalseKeyword) plant(node, "true");
    else if (ts.isNumericLiteral(node)) plant(node, `(${node.text} + 1)`, `(${node.text} - 1)`);
    else if (ts.isBigIntLiteral(node)) plant(node, `(${node.text} + 1n)`, `(${node.text} - 1n)`);
    else if (ts.isStringLiteral(node) && decides(node)) plant(node, JSON.stringify(`${node.text}~`));
    else if (ts.isExpressionStatement(node) && isCall(node.expression)) plant(node, ";");
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function isCall(node: ts.Expression): boolean {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isCall(node.expression);
  return ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.SuperKeyword;
}

/** Compared, a case, or looked up. */
function decides(node: ts.StringLiteral): boolean {
  const { parent } = node;
  if (ts.isCaseClause(parent)) return true;
  if (ts.isBinaryExpression(parent)) return /^[!=]==$/.test(parent.operatorToken.getText());
  const call = ts.isArrayLiteralExpression(parent) ? parent.parent : parent;
  if (!ts.isCallExpression(call) && !ts.isNewExpression(call)) return false;
  const name = ts.isPropertyAccessExpression(call.expression) ? call.expression.name : call.expression;
  return DECIDING.test(name.getText());
}
