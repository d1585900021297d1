import {
  isBinaryExpression,
  isBindingElement,
  isElementAccessExpression,
  isIdentifier,
  isPropertyAccessExpression,
  isStringLiteral,
  isSwitchStatement,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import { parsedFile, parsedFiles } from "./source.ts";

/**
 * `fork`: a comparison, a switch or a table by what tells dialects apart. `read`: the name is read,
 * and could be compared later.
 */
export interface Found {
  readonly path: string;
  readonly line: number;
  readonly kind: "fork" | "read";
  readonly text: string;
}

/**
 * Fields that the specs of some dialects have and those of others lack: looking whether one is
 * there is a fork as well.
 */
const TELLING: ReadonlySet<string> = new Set([
  "dialect",
  "rules",
  "thresholds",
  "behavior",
  "recommender",
  "lifecycleControl",
  "flapBudget",
  "idle",
  "counts",
]);
const COMPARING: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
]);

const isDialect = (node: Node): boolean =>
  (isPropertyAccessExpression(node) && node.name.text === "dialect") ||
  (isIdentifier(node) && node.text === "dialect") ||
  (isElementAccessExpression(node) &&
    isStringLiteral(node.argumentExpression) &&
    node.argumentExpression.text === "dialect");

const isComparison = (node: Node): boolean => {
  if (!isBinaryExpression(node)) return false;
  const { left, right, operatorToken } = node;
  if (operatorToken.kind === SyntaxKind.InKeyword)
    return isStringLiteral(left) && TELLING.has(left.text);
  return COMPARING.has(operatorToken.kind) && (isDialect(left) || isDialect(right));
};

const isChoice = (node: Node): boolean =>
  (isSwitchStatement(node) && isDialect(node.expression)) ||
  (isElementAccessExpression(node) && isDialect(node.argumentExpression));

const isRead = (node: Node): boolean => {
  if (!isBindingElement(node)) return isPropertyAccessExpression(node) && isDialect(node);
  const name = node.propertyName ?? node.name;
  return name !== undefined && isDialect(name);
};

const kindOf = (node: Node): Found["kind"] | undefined => {
  if (isComparison(node) || isChoice(node)) return "fork";
  return isRead(node) ? "read" : undefined;
};

const textOf = (node: Node, text: string): string =>
  (text.slice(node.pos, node.end).trim().split("\n")[0] ?? "").slice(0, 100);

/**
 * Every place below the folders where the compiler's own parser finds that dialects are told apart,
 * or their name is read.
 */
export const forksIn = (folders: readonly string[]): readonly Found[] =>
  parsedFiles(folders)
    .filter(({ text }) => /dialect|\bin\b/.test(text))
    .flatMap(({ path }) => {
      const file = parsedFile(path);
      const all: Found[] = [];
      const visit = (node: Node): void => {
        const kind = kindOf(node);
        if (kind)
          all.push({
            path,
            kind,
            line: file.text.slice(0, node.pos).split("\n").length,
            text: textOf(node, file.text),
          });
        node.forEachChild(visit);
      };
      visit(file);
      return all;
    });
