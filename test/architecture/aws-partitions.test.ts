import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, ROOT } from "./source.ts";

const textOf = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const below = (folder: string, ends: RegExp): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => ends.test(path))
    .map((path) => join(folder, path));

/** The account of an example. A person who reads it knows that it is none of theirs. */
const EXAMPLE = /arn:aws:(?:iam|sts|cloudwatch|sns|dynamodb):[a-z0-9-]*:123456789012:/g;
/** The name of a service as a principal of IAM. It is the same in each partition that has the service. */
const PRINCIPAL = /(?:Principal:|Service:|service `)[^\n]*?[a-zA-Z.]+\.amazonaws\.com(?:\.cn)?/g;
/** The names of shapes in errors of AWS, and of its packages. */
const SHAPE = /com\.amazonaws[.:]/g;
const FIXED = /(?<![a-z])amazonaws\.com|amazonaws\.eu|on\.aws\b|api\.aws\b|arn:aws:/g;

const fixedIn = (path: string): readonly string[] =>
  [
    ...textOf(path)
      .replaceAll(EXAMPLE, "")
      .replaceAll(PRINCIPAL, "")
      .replaceAll(SHAPE, "")
      .matchAll(FIXED),
  ].map(([word]) => `${path}: ${word}`);

/** An address that a person replaces as a whole. */
const SHOWN = [
  // The example in the message that refuses another text.
  "lib/answers/remote/find-stack.ts: on.aws",
  // The forms in the message that refuses another pattern.
  ...Array.from({ length: 3 }, () => "lib/rules/model/access.ts: arn:aws:"),
];

describe("a domain or an ARN of AWS", () => {
  it("is made of the region by rules/model/aws-partitions.ts, and fixed nowhere in the code", () => {
    const files = [...filesBelow("lib"), ...filesBelow("functions"), ...filesBelow("build")];
    expect(files.length).toBeGreaterThan(500);
    expect(
      files.filter((path) => path !== "lib/rules/model/aws-partitions.ts").flatMap(fixedIn),
    ).toEqual(SHOWN);
  });

  it("follows the partition in the template and in the examples", () => {
    const files = [
      "serverless.yml",
      ...below("infra", /\.(?:yml|yaml|mjs)$/),
      ...below("examples", /\.(?:ya?ml|tf|sh|json)$/),
    ];
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(fixedIn)).toEqual([]);
  });

  it("is fixed in no command of a page, but as an example of an ARN or a URL", () => {
    const pages = below("docs", /\.md$/);
    expect(pages.length).toBeGreaterThan(50);
    const commands = pages.flatMap((path) =>
      [...textOf(path).matchAll(/^```(?:bash|sh)\n(.*?)^```/gms)].map(([, block = ""]) => ({
        path,
        block: block
          .replaceAll(EXAMPLE, "")
          .replaceAll(/(?:abc123\.lambda-url|a1b2c3\.execute-api)\.\S+/g, ""),
      })),
    );
    expect(
      commands.flatMap(({ path, block }) =>
        [...block.matchAll(FIXED)].map(([word]) => `${path}: ${word}`),
      ),
    ).toEqual([]);
  });
});
