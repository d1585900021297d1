import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FUNCTIONS } from "../../build/build.ts";
import { buildTemplate, codePlaceOf } from "../../build/template.ts";
import { URL_OUTPUTS } from "../../lib/answers/remote/find-stack.ts";
import type { Json, Resource, Stack } from "./packaged.ts";
import { sharedStack } from "./shared-stack.ts";

interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, { readonly Value: Json; readonly Export?: Json }>>;
  readonly Parameters: Readonly<
    Record<string, { readonly Default?: Json; readonly AllowedValues?: Json }>
  >;
  readonly Conditions: Readonly<Record<string, Json>>;
  readonly Rules: Readonly<Record<string, Json>>;
}

let stack: Stack;
beforeAll(async () => {
  stack = await sharedStack();
});
afterAll(() => stack.done());

const made = (
  uri?: string,
): { readonly template: Template; readonly files: readonly string[]; readonly text: string } => {
  const files = buildTemplate(stack.folder, uri === undefined ? undefined : codePlaceOf(uri));
  const text = readFileSync(join(stack.folder, "dist/stack/template.json"), "utf8");
  return { template: JSON.parse(text), files, text };
};

/** Every name that a template refers to, by Ref, Fn::GetAtt, Fn::If and Fn::Sub. */
const referredIn = (value: Json): readonly string[] => {
  if (Array.isArray(value)) return value.flatMap((each: Json) => referredIn(each));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as { readonly [key: string]: Json }).flatMap(([key, each]) => {
    if (key === "Ref") return [String(each)];
    if (key === "Fn::GetAtt") return [String((each as readonly Json[])[0])];
    if (key === "Fn::If") return [String((each as readonly Json[])[0]), ...referredIn(each)];
    if (key !== "Fn::Sub") return referredIn(each);
    const [text, values = {}] = (Array.isArray(each) ? each : [each]) as [
      string,
      { readonly [key: string]: Json }?,
    ];
    const named = [...text.matchAll(/\$\{([\w:]+)[.\w]*\}/g)].map(([, name = ""]) => name);
    return [...named.filter((name) => !Object.hasOwn(values, name)), ...referredIn(values)];
  });
};

describe("the template for other tools", () => {
  it("has no name of a stage but the default of its prefix, and nothing of osls", () => {
    const { template, text } = made();
    expect(text.match(/tidemark-prod/g)).toHaveLength(1);
    expect(text).not.toMatch(/serverless/i);
    expect(Object.values(template.Outputs).filter(({ Export }) => Export !== undefined)).toEqual(
      [],
    );
    expect(Object.keys(template.Outputs)).toEqual(
      expect.arrayContaining([
        ...Object.values(URL_OUTPUTS),
        "Version",
        "SyncRoleArn",
        "StateTableName",
      ]),
    );
  });

  it("has every resource of the stack, with the alarms, and refers to nothing that it lacks", () => {
    const { template } = made();
    const own = Object.keys(stack.packaged.resources).filter(
      (name) => !name.startsWith("Serverless"),
    );
    expect(Object.keys(template.Resources)).toEqual(expect.arrayContaining(own));
    const known = new Set([
      ...Object.keys(template.Resources),
      ...Object.keys(template.Parameters),
      ...Object.keys(template.Conditions),
    ]);
    const referred = new Set(
      referredIn(template as unknown as Json).filter((name) => !name.startsWith("AWS::")),
    );
    expect(referred.size).toBeGreaterThan(40);
    expect([...referred].filter((name) => !known.has(name))).toEqual([]);
    expect(Object.keys(template.Parameters).filter((name) => !referred.has(name))).toEqual([]);
  });

  it("names each package by what it holds, so that a new one is a change", () => {
    const { template, files } = made("s3://artifacts/tidemark/0.2.0/");
    for (const name of FUNCTIONS) {
      const { Code } =
        template.Resources[`${name[0]?.toUpperCase()}${name.slice(1)}LambdaFunction`]?.Properties ??
        {};
      const { S3Bucket, S3Key } = Code as {
        readonly S3Bucket: Json;
        readonly S3Key: { readonly "Fn::Sub": string };
      };
      expect(S3Bucket).toEqual({ Ref: "CodeBucket" });
      const file = S3Key["Fn::Sub"].replace(`\${CodeFolder}`, "");
      expect(file).toMatch(new RegExp(`^${name}-[0-9a-f]{16}\\.zip$`));
      expect([files.includes(file), existsSync(join(stack.folder, "dist/stack", file))]).toEqual([
        true,
        true,
      ]);
    }
    const { CodeBucket, CodeFolder } = template.Parameters;
    expect([CodeBucket?.Default, CodeFolder?.Default]).toEqual(["artifacts", "tidemark/0.2.0/"]);
  });

  it("takes the packages from a bucket of each region where the place says so, for a set of stacks", () => {
    const { template } = made("s3://artifacts-{region}/tidemark");
    expect(template.Resources["SyncLambdaFunction"]?.Properties["Code"]).toMatchObject({
      S3Bucket: { "Fn::Sub": `artifacts-\${AWS::Region}` },
    });
    expect(template.Parameters["CodeBucket"]).toBeUndefined();
  });

  it.each(["artifacts", "https://artifacts/tidemark", "s3://", "s3://A/b"])(
    "refuses the place %s",
    (uri) => {
      expect(() => codePlaceOf(uri)).toThrow("write s3://BUCKET/FOLDER");
    },
  );

  it("gives each role the boundary and the path, and each policy for people the path", () => {
    const { template } = made();
    const ofType = (type: string): readonly Resource[] =>
      Object.values(template.Resources).filter(({ Type }) => Type === type);
    expect([ofType("AWS::IAM::Role").length, ofType("AWS::IAM::ManagedPolicy").length]).toEqual([
      10, 3,
    ]);
    for (const { Properties } of ofType("AWS::IAM::Role"))
      expect(Properties).toMatchObject({
        Path: { Ref: "RolePath" },
        PermissionsBoundary: {
          "Fn::If": ["UseBoundary", { Ref: "PermissionsBoundary" }, { Ref: "AWS::NoValue" }],
        },
      });
    for (const { Properties } of ofType("AWS::IAM::ManagedPolicy"))
      expect(Properties["Path"]).toEqual({ Ref: "RolePath" });
  });

  it("refuses one table without the other, as tidemark stack deploy does", () => {
    expect(JSON.stringify(made().template.Rules)).toContain(
      "Name both of ExistingStateTable and ExistingHistoryTable, or neither",
    );
  });
});
