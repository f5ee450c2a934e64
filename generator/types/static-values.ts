/** Evaluation of constant expressions, without running code. */

import { ts } from "../project/typescript.js";

export type StaticValue = { readonly value: string | number; readonly node: ts.Node };

/** Evaluates literals, constants, templates, arithmetic, static members and calls without arguments. */
export class StaticEvaluator {
  /** The first expression that could not be evaluated. */
  failedAt: ts.Node | undefined;

  constructor(
    private readonly checker: ts.TypeChecker,
    private readonly statics: ts.Type,
  ) {}

  /** The value that a method, getter or arrow-function member returns. `node` is the returned expression. */
  result(declaration: ts.Declaration, depth = 0): StaticValue | undefined {
    const expression = this.returned(declaration);
    if (expression === undefined) {
      this.failedAt ??= ts.getNameOfDeclaration(declaration) ?? declaration;
      return undefined;
    }
    const value = this.value(expression, depth);
    return value === undefined ? undefined : { value, node: expression };
  }

  private returned(declaration: ts.Declaration): ts.Expression | undefined {
    if (ts.isPropertyDeclaration(declaration) || ts.isVariableDeclaration(declaration)) {
      const { initializer } = declaration;
      if (initializer === undefined || !(ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))) {
        return undefined;
      }
      return ts.isBlock(initializer.body) ? lastReturn(initializer.body) : initializer.body;
    }
    if (
      ts.isMethodDeclaration(declaration) ||
      ts.isGetAccessorDeclaration(declaration) ||
      ts.isFunctionDeclaration(declaration)
    ) {
      const asynchronous = ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Async;
      return declaration.body === undefined || asynchronous ? undefined : lastReturn(declaration.body);
    }
    return undefined;
  }

  private value(node: ts.Expression, depth: number): string | number | undefined {
    const value = depth > 50 ? undefined : this.expression(node, depth + 1);
    if (value === undefined) this.failedAt ??= node;
    return value;
  }

  private expression(node: ts.Expression, depth: number): string | number | undefined {
    if (ts.isStringLiteralLike(node)) return node.text;
    if (ts.isNumericLiteral(node)) return Number(node.text);
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) {
      return this.value(node.expression, depth);
    }
    if (ts.isTemplateExpression(node)) return this.template(node, depth);
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) {
      const operand = this.value(node.operand, depth);
      return typeof operand === "number" ? -operand : undefined;
    }
    if (ts.isBinaryExpression(node)) return this.binary(node, depth);
    if (ts.isCallExpression(node) && node.arguments.length === 0) {
      const declaration = this.declarationOf(node.expression);
      return declaration === undefined ? undefined : this.result(declaration, depth)?.value;
    }
    if (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) {
      const declaration = this.declarationOf(node);
      return declaration === undefined ? undefined : this.constant(declaration, depth);
    }
    return undefined;
  }

  private template(node: ts.TemplateExpression, depth: number): string | undefined {
    let text = node.head.text;
    for (const span of node.templateSpans) {
      const value = this.value(span.expression, depth);
      if (value === undefined) return undefined;
      text += `${value}${span.literal.text}`;
    }
    return text;
  }

  private binary(node: ts.BinaryExpression, depth: number): string | number | undefined {
    const left = this.value(node.left, depth);
    const right = this.value(node.right, depth);
    if (left === undefined || right === undefined) return undefined;
    if (node.operatorToken.kind === ts.SyntaxKind.PlusToken) {
      return typeof left === "number" && typeof right === "number" ? left + right : `${left}${right}`;
    }
    if (typeof left !== "number" || typeof right !== "number") return undefined;
    switch (node.operatorToken.kind) {
      case ts.SyntaxKind.MinusToken:
        return left - right;
      case ts.SyntaxKind.AsteriskToken:
        return left * right;
      case ts.SyntaxKind.SlashToken:
        return left / right;
      case ts.SyntaxKind.AsteriskAsteriskToken:
        return left ** right;
      default:
        return undefined;
    }
  }

  /** The declaration behind a name. `this.x` is looked up on the tool class, so that overrides apply. */
  private declarationOf(node: ts.Expression): ts.Declaration | undefined {
    if (ts.isPropertyAccessExpression(node) && node.expression.kind === ts.SyntaxKind.ThisKeyword) {
      return this.checker.getPropertyOfType(this.statics, node.name.text)?.valueDeclaration;
    }
    const name = ts.isElementAccessExpression(node) ? node.argumentExpression : node;
    const found = this.checker.getSymbolAtLocation(name);
    if (found === undefined) return undefined;
    const symbol = found.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(found) : found;
    return symbol.valueDeclaration;
  }

  private constant(declaration: ts.Declaration, depth: number): string | number | undefined {
    if (ts.isEnumMember(declaration)) return this.checker.getConstantValue(declaration);
    if (ts.isGetAccessorDeclaration(declaration)) return this.result(declaration, depth)?.value;
    const flags = ts.getCombinedNodeFlags(declaration);
    const modifiers = ts.getCombinedModifierFlags(declaration);
    const fixed =
      (ts.isVariableDeclaration(declaration) && (flags & ts.NodeFlags.Const) !== 0) ||
      (ts.isPropertyDeclaration(declaration) && (modifiers & ts.ModifierFlags.Readonly) !== 0) ||
      ts.isPropertyAssignment(declaration);
    if (!fixed) return undefined;
    if (declaration.initializer !== undefined) return this.value(declaration.initializer, depth);
    if (!declaration.getSourceFile().isDeclarationFile) return undefined;
    const type = this.checker.getTypeAtLocation(declaration);
    return type.isStringLiteral() || type.isNumberLiteral() ? type.value : undefined;
  }
}

/** The returned expression of a body that has only variable declarations before its one return. */
function lastReturn(body: ts.Block): ts.Expression | undefined {
  const last = body.statements.at(-1);
  const before = body.statements.slice(0, -1);
  return last !== undefined && ts.isReturnStatement(last) && before.every(ts.isVariableStatement)
    ? last.expression
    : undefined;
}
