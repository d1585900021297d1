import { basename } from "node:path";
import {
  isArrowFunction,
  isBindingElement,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isMethodDeclaration,
  isParameterDeclaration,
  isVariableDeclaration,
  type Node,
} from "typescript/unstable/ast";
import { describe, expect, it } from "vitest";
import { filesBelow, readProject } from "./source.ts";

const paths = ["lib", "functions"].flatMap((folder) => filesBelow(folder));

const MOST_PARAMETERS = 4;

/** Names that say nothing of the value; a term of Kubernetes, AWS or the domain says more. */
const VAGUE: ReadonlySet<string> = new Set(["told", "asked", "given", "found", "carry", "place", "said", "mine", "anew", "it", "who"]);

interface Findings {
  /** Functions with more parameters than a caller can keep apart. */
  readonly wide: readonly string[];
  readonly vague: readonly string[];
}

const findings: readonly Findings[] = readProject((parsedFile) =>
  paths.map((path) => {
    const file = parsedFile(path);
    const at = (node: Node): string => `${path}:${file.text.slice(0, node.end).split("\n").length}`;
    const wide: string[] = [];
    const vague: string[] = [];
    const visit = (node: Node): void => {
      const isFunction = isArrowFunction(node) || isFunctionDeclaration(node) || isFunctionExpression(node) || isMethodDeclaration(node);
      if (isFunction && node.parameters.length > MOST_PARAMETERS) wide.push(`${at(node)}: ${node.parameters.length} parameters`);
      const isNamed = isVariableDeclaration(node) || isParameterDeclaration(node) || isBindingElement(node);
      if (isNamed && node.name !== undefined && isIdentifier(node.name) && VAGUE.has(node.name.text)) vague.push(`${at(node)}: ${node.name.text}`);
      node.forEachChild(visit);
    };
    visit(file);
    return { wide, vague };
  }),
);

describe("a function", () => {
  it("has four parameters at most: one with more takes an object of options", () => {
    expect(paths.length).toBeGreaterThan(100);
    expect(findings.flatMap(({ wide }) => wide)).toEqual([]);
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

describe("a variable or parameter", () => {
  it("has a name that says what its value is", () => {
    expect(findings.flatMap(({ vague }) => vague)).toEqual([]);
  });
});

describe("the names of two files", () => {
  it("never differ by one letter or by a plural", () => {
    const pairs = names.flatMap((first, index) =>
      names.slice(index + 1).flatMap((second) => (looksLike(first, second) ? [`${first} ${second}`] : [])),
    );
    expect(pairs).toEqual(EXEMPT);
  });
});
