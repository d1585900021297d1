import {
  type CallExpression,
  isCallExpression,
  isIdentifier,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isStringLiteral,
  isTemplateExpression,
  type Node,
  type SourceFile,
} from "typescript/unstable/ast";
import { filesBelow, parsedFile } from "./source.ts";

export interface TestName {
  readonly path: string;
  readonly line: number;
  /**
   * The titles of its blocks and its own, as the report joins them. Placeholders of a table stand
   * as they are written.
   */
  readonly text: string;
}

/** The name that a call begins with: `it` of `it.skipIf(…).each(…)("…")`. */
const rootOf = (node: Node): string => {
  if (isCallExpression(node) || isPropertyAccessExpression(node)) return rootOf(node.expression);
  return isIdentifier(node) ? node.text : "";
};

/**
 * The title of a block or test; undefined for other calls, `it.each(…)` before its title among
 * them.
 */
const titleOf = (call: CallExpression): string | undefined => {
  const [title] = call.arguments;
  if (title === undefined || call.arguments.length < 2) return undefined;
  if (isStringLiteral(title) || isNoSubstitutionTemplateLiteral(title)) return title.text;
  return isTemplateExpression(title)
    ? [title.head.text, ...title.templateSpans.map(({ literal }) => `%s${literal.text}`)].join("")
    : undefined;
};

/** The name of every test below the folder, as the compiler's own parser finds it. */
export const testNames = (folder: string): readonly TestName[] =>
  filesBelow(folder)
    .filter((path) => /\.(test|contract)\.ts$/.test(path))
    .flatMap((path) => namesIn(path, parsedFile(path)));

const namesIn = (path: string, file: SourceFile): readonly TestName[] => {
  const all: TestName[] = [];
  const visit = (node: Node, blocks: readonly string[]): void => {
    const root = isCallExpression(node) ? rootOf(node) : "";
    const title =
      isCallExpression(node) && ["describe", "it", "test"].includes(root)
        ? titleOf(node)
        : undefined;
    const titles = title === undefined ? blocks : [...blocks, title];
    if (title !== undefined && root !== "describe") {
      all.push({
        path,
        line: file.text.slice(0, node.pos).split("\n").length + 1,
        text: titles.join(" "),
      });
    }
    node.forEachChild((child) => visit(child, titles));
  };
  visit(file, []);
  return all;
};
