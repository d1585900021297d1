import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type Resource, resourcesOf } from "./packaged.ts";
import { sharedStack } from "./shared-stack.ts";

let stack: Awaited<ReturnType<typeof sharedStack>>;
beforeAll(async () => {
  stack = await sharedStack();
});
afterAll(() => stack.done());

const AUDITORS = "arn:aws:iam::210987654321:root";
const given = (values: Readonly<Record<string, string>>) =>
  resourcesOf(stack.packaged.text, values);
const kept = () => given({ AuditDays: "400", Auditors: AUDITORS });

interface Statement {
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: Json;
}
/** Every statement below a value, however deep. */
const statementsIn = (value: Json | undefined): readonly Statement[] => {
  if (Array.isArray(value)) return value.flatMap((each: Json) => statementsIn(each));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value as { readonly [key: string]: Json }).flatMap(([key, each]) =>
    key === "Statement" ? (each as unknown as readonly Statement[]) : statementsIn(each),
  );
};
const allowedBy = (role: Resource | undefined): readonly Statement[] =>
  statementsIn(role?.Properties["Policies"]);

describe("audits in a bucket", () => {
  it("are nowhere by default: no bucket, no rule, no right", () => {
    const { resources } = stack.packaged;
    for (const name of ["AuditBucket", "AuditBucketPolicy", "KeepAuditsDaily", "AuditsMayStart"])
      expect(resources).not.toHaveProperty(name);
    expect(JSON.stringify(resources["AuditRole"])).not.toContain("s3:");
    expect(resources).not.toHaveProperty("AuditorRole");
  });

  it("are locked for the days of the parameter, in a bucket that outlives the stack and that nobody else reaches", () => {
    expect(kept()["AuditBucket"]).toMatchObject({
      DeletionPolicy: "Retain",
      Properties: {
        ObjectLockEnabled: true,
        ObjectLockConfiguration: {
          Rule: { DefaultRetention: { Mode: "GOVERNANCE", Days: "400" } },
        },
        VersioningConfiguration: { Status: "Enabled" },
        PublicAccessBlockConfiguration: { BlockPublicPolicy: true, RestrictPublicBuckets: true },
      },
    });
    const strict = given({ AuditDays: "400", AuditLock: "COMPLIANCE" })["AuditBucket"];
    expect(JSON.stringify(strict)).toContain('"Mode":"COMPLIANCE"');
  });

  it("are put by a function that can neither read, change nor delete what is in the bucket", () => {
    const actions = allowedBy(kept()["AuditRole"]).flatMap(({ Action }) => Action);
    expect(actions.filter((action) => action.startsWith("s3:"))).toEqual(["s3:PutObject"]);
  });
});

describe("the role of auditors", () => {
  const READS_OF_THE_BUCKET = [
    ...["s3:GetBucketObjectLockConfiguration", "s3:GetObject", "s3:GetObjectRetention"],
    ...["s3:GetObjectVersion", "s3:ListBucket", "s3:ListBucketVersions"],
  ];
  const all = () => {
    const { AuditorRole, ViewPolicy } = kept();
    return [...allowedBy(AuditorRole), ...statementsIn(ViewPolicy?.Properties["PolicyDocument"])];
  };

  it("is taken by the principals of the parameter alone", () => {
    const { AuditorRole } = kept();
    expect(AuditorRole?.Properties["AssumeRolePolicyDocument"]).toMatchObject({
      Statement: [{ Effect: "Allow", Principal: { AWS: [AUDITORS] }, Action: "sts:AssumeRole" }],
    });
    expect(AuditorRole?.Properties["ManagedPolicyArns"]).toEqual([{ Ref: "ViewPolicy" }]);
  });

  it("may call the URL that edits nothing, find it, and read the kept audits", () => {
    const actions = all().flatMap(({ Action }) => Action);
    expect(actions.toSorted()).toEqual(
      [
        ...["lambda:InvokeFunctionUrl", "lambda:InvokeFunction", "cloudformation:DescribeStacks"],
        ...READS_OF_THE_BUCKET,
      ].toSorted(),
    );
  });

  it("may call no function that edits, read no table, secret or log, and change nothing in the bucket", () => {
    const text = JSON.stringify(all());
    expect(text).not.toMatch(/(?:Api|Connect|Sync|Wake|Events|Audit)LambdaFunction/);
    expect(text).not.toMatch(/dynamodb:|secretsmanager:|logs:|s3:(?:Put|Delete|Bypass)|iam:|\*"]/);
    for (const { Resource: of } of all()) expect(of).not.toBe("*");
  });

  it("may read no bucket where none is kept", () => {
    const { AuditorRole } = given({ Auditors: AUDITORS });
    expect(JSON.stringify(AuditorRole)).not.toContain("s3:");
  });
});
