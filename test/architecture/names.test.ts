import { basename } from "node:path";
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

/** `dialect.ts` says what one answers and `dialects.ts` lists all; the readers of two versions of a form differ by the version. */
const EXEMPT = ["dialect dialects", "read-v1 read-v2"];
const names = [...new Set(paths.map((path) => basename(path, ".ts")))].sort();

const isOneLetterApart = (shorter: string, longer: string): boolean => {
  const at = [...shorter].findIndex((letter, index) => letter !== longer[index]);
  if (at < 0) return longer.length === shorter.length + 1;
  return shorter.slice(at) === longer.slice(at + 1) || (shorter.length === longer.length && shorter.slice(at + 1) === longer.slice(at + 1));
};

const singular = (word: string): string => word.replace(/ies$/, "y").replace(/s$/, "");
const singularName = (name: string): string => name.split("-").map(singular).join("-");

const looksLike = (first: string, second: string): boolean =>
  singularName(first) === singularName(second) || isOneLetterApart(first, second) || isOneLetterApart(second, first);

describe("the names of two files", () => {
  it("never differ by one letter or by a plural", () => {
    const pairs = names.flatMap((first, index) =>
      names.slice(index + 1).flatMap((second) => (looksLike(first, second) ? [`${first} ${second}`] : [])),
    );
    expect(pairs).toEqual(EXEMPT);
  });
});
