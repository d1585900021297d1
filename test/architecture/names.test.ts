import { isArrowFunction, isFunctionDeclaration, isFunctionExpression, isMethodDeclaration, type Node } from "typescript/unstable/ast";
import { describe, expect, it } from "vitest";
import { filesBelow, readProject } from "./source.ts";

const paths = ["lib", "functions"].flatMap((folder) => filesBelow(folder));

const MOST_PARAMETERS = 4;

/** Functions with more parameters than a caller can keep apart. */
const wideFunctions = readProject((parsedFile) =>
  paths.flatMap((path) => {
    const file = parsedFile(path);
    const wide: string[] = [];
    const visit = (node: Node): void => {
      const isFunction = isArrowFunction(node) || isFunctionDeclaration(node) || isFunctionExpression(node) || isMethodDeclaration(node);
      if (isFunction && node.parameters.length > MOST_PARAMETERS)
        wide.push(`${path}:${file.text.slice(0, node.pos).split("\n").length}: ${node.parameters.length} parameters`);
      node.forEachChild(visit);
    };
    visit(file);
    return wide;
  }),
);

describe("a function", () => {
  it("has four parameters at most: one with more takes an object of options", () => {
    expect(paths.length).toBeGreaterThan(100);
    expect(wideFunctions).toEqual([]);
  });
});
