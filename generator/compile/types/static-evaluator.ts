/** Evaluates constant expressions without running code. */

import {
  type BinaryExpression,
  type Expression,
  Node,
  SyntaxKind,
  type TemplateExpression,
  type Type,
  VariableDeclarationKind,
} from "../project/typescript.js";

export type StaticValue = { readonly value: string | number; readonly node: Node };

export class StaticEvaluator {
  /** First expression that could not be evaluated. */
  failedAt: Node | undefined;

  readonly #statics: Type;

  /** @param statics type of the class itself, with its static members */
  constructor(statics: Type) {
    this.#statics = statics;
  }

  /** Value that a method, getter or arrow-function member returns, and the returned expression (`node`). */
  result(declaration: Node, depth = 0): StaticValue | undefined {
    const expression = returnedExpression(declaration);
    if (expression === undefined) {
      this.failedAt ??= nameNode(declaration);
      return undefined;
    }
    const value = this.#value(expression, depth);
    return value === undefined ? undefined : { value, node: expression };
  }

  /** Members of the object of texts that a method, getter or arrow-function member returns. */
  texts(declaration: Node): readonly (readonly [name: string, text: string])[] | undefined {
    const expression = returnedExpression(declaration);
    const literal =
      Node.isAsExpression(expression) || Node.isSatisfiesExpression(expression)
        ? expression.getExpression()
        : expression;
    if (!Node.isObjectLiteralExpression(literal)) {
      this.failedAt ??= literal ?? nameNode(declaration);
      return undefined;
    }
    const members: [string, string][] = [];
    for (const property of literal.getProperties()) {
      const name = Node.isPropertyAssignment(property) ? property.getNameNode() : undefined;
      const isNamed = Node.isIdentifier(name) || Node.isStringLiteral(name);
      const text =
        Node.isPropertyAssignment(property) && isNamed ? this.#value(property.getInitializerOrThrow(), 0) : undefined;
      if (typeof text !== "string" || !isNamed) {
        this.failedAt ??= property;
        return undefined;
      }
      members.push([Node.isStringLiteral(name) ? name.getLiteralText() : name.getText(), text]);
    }
    return members;
  }

  #value(node: Expression, depth: number): string | number | undefined {
    const value = depth > 50 ? undefined : this.#expression(node, depth + 1);
    if (value === undefined) this.failedAt ??= node;
    return value;
  }

  #expression(node: Expression, depth: number): string | number | undefined {
    if (Node.isStringLiteral(node) || Node.isNoSubstitutionTemplateLiteral(node)) return node.getLiteralText();
    if (Node.isNumericLiteral(node)) return Number(node.getLiteralText());
    if (Node.isParenthesizedExpression(node) || Node.isAsExpression(node) || Node.isSatisfiesExpression(node)) {
      return this.#value(node.getExpression(), depth);
    }
    if (Node.isTemplateExpression(node)) return this.#template(node, depth);
    if (Node.isPrefixUnaryExpression(node) && node.getOperatorToken() === SyntaxKind.MinusToken) {
      const operand = this.#value(node.getOperand(), depth);
      return typeof operand === "number" ? -operand : undefined;
    }
    if (Node.isBinaryExpression(node)) return this.#binary(node, depth);
    if (Node.isCallExpression(node) && node.getArguments().length === 0) {
      const declaration = this.#declarationOf(node.getExpression());
      return declaration && this.result(declaration, depth)?.value;
    }
    if (Node.isIdentifier(node) || Node.isPropertyAccessExpression(node) || Node.isElementAccessExpression(node)) {
      const declaration = this.#declarationOf(node);
      return declaration && this.#constant(declaration, depth);
    }
    return undefined;
  }

  #template(node: TemplateExpression, depth: number): string | undefined {
    let text = node.getHead().getLiteralText();
    for (const span of node.getTemplateSpans()) {
      const value = this.#value(span.getExpression(), depth);
      if (value === undefined) return undefined;
      text += `${value}${span.getLiteral().getLiteralText()}`;
    }
    return text;
  }

  #binary(node: BinaryExpression, depth: number): string | number | undefined {
    const left = this.#value(node.getLeft(), depth);
    const right = this.#value(node.getRight(), depth);
    if (left === undefined || right === undefined) return undefined;
    const operator = node.getOperatorToken().getKind();
    if (typeof left !== "number" || typeof right !== "number") {
      return operator === SyntaxKind.PlusToken ? `${left}${right}` : undefined;
    }
    switch (operator) {
      case SyntaxKind.PlusToken:
        return left + right;
      case SyntaxKind.MinusToken:
        return left - right;
      case SyntaxKind.AsteriskToken:
        return left * right;
      case SyntaxKind.SlashToken:
        return left / right;
      case SyntaxKind.AsteriskAsteriskToken:
        return left ** right;
      default:
        return undefined;
    }
  }

  /** Declaration that a name refers to. `this.x` is looked up on the tool class, so that overrides apply. */
  #declarationOf(node: Expression): Node | undefined {
    if (Node.isPropertyAccessExpression(node) && Node.isThisExpression(node.getExpression())) {
      return this.#statics.getProperty(node.getName())?.getValueDeclaration();
    }
    const name = Node.isElementAccessExpression(node) ? node.getArgumentExpression() : node;
    const symbol = name?.getSymbol();
    return (symbol?.getAliasedSymbol() ?? symbol)?.getValueDeclaration();
  }

  #constant(declaration: Node, depth: number): string | number | undefined {
    if (Node.isEnumMember(declaration)) return declaration.getValue();
    if (Node.isGetAccessorDeclaration(declaration)) return this.result(declaration, depth)?.value;
    const isFixed =
      (Node.isVariableDeclaration(declaration) &&
        declaration.getVariableStatement()?.getDeclarationKind() === VariableDeclarationKind.Const) ||
      (Node.isPropertyDeclaration(declaration) && declaration.isReadonly()) ||
      Node.isPropertyAssignment(declaration);
    if (!isFixed) return undefined;
    const initializer = declaration.getInitializer();
    if (initializer !== undefined) return this.#value(initializer, depth);
    if (!declaration.getSourceFile().isDeclarationFile()) return undefined;
    const type = declaration.getType();
    return type.isStringLiteral() || type.isNumberLiteral() ? type.compilerType.value : undefined;
  }
}

/** Name of a declaration, or the declaration itself if it has none. */
export function nameNode(declaration: Node): Node {
  return (Node.hasName(declaration) ? declaration.getNameNode() : undefined) ?? declaration;
}

/** Returned expression of a function that has only variable declarations before a single return. */
function returnedExpression(declaration: Node): Expression | undefined {
  const holdsFunction = Node.isPropertyDeclaration(declaration) || Node.isVariableDeclaration(declaration);
  const called = holdsFunction ? declaration.getInitializer() : declaration;
  const isFunction =
    Node.isArrowFunction(called) ||
    Node.isFunctionExpression(called) ||
    Node.isMethodDeclaration(called) ||
    Node.isGetAccessorDeclaration(called) ||
    Node.isFunctionDeclaration(called);
  if (!isFunction || (Node.isAsyncable(called) && called.isAsync())) return undefined;
  const body = called.getBody();
  if (!Node.isBlock(body)) return Node.isExpression(body) ? body : undefined;
  const statements = body.getStatements();
  const last = statements.pop();
  return Node.isReturnStatement(last) && statements.every(Node.isVariableStatement) ? last.getExpression() : undefined;
}
