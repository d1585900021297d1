import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Json, type Resource, resourcesOf } from "./packaged.ts";
import { sharedStack } from "./shared-stack.ts";

let stack: Awaited<ReturnType<typeof sharedStack>>;
beforeAll(async () => {
  stack = await sharedStack();
});
afterAll(() => stack.done());

const WITNESS = "arn:aws:dynamodb:eu-north-1:123456789012:table/tidemark-prod-witness";
const given = (values: Readonly<Record<string, string>>) =>
  resourcesOf(stack.packaged.text, values);
const keeping = () => given({ WitnessTable: WITNESS, TakeOverAfterMinutes: "10" });

interface Statement {
  readonly Sid: string;
  readonly Action: readonly string[];
  readonly Resource: Json;
  readonly Condition?: Json;
}
const statementOf = (role: Resource | undefined, sid: string): Statement | undefined => {
  const { Policies = [] } = { ...role?.Properties } as unknown as {
    readonly Policies?: readonly { PolicyDocument: { Statement: readonly Statement[] } }[];
  };
  return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement).find(
    ({ Sid }) => Sid === sid,
  );
};
const LEASES_ONLY = {
  "ForAllValues:StringLike": { "dynamodb:LeadingKeys": ["lease#*"] },
  Null: { "dynamodb:LeadingKeys": "false" },
};

describe("leases of the fleet", () => {
  it("are nowhere by default: no schedule, no right", () => {
    const { resources } = stack.packaged;
    for (const name of ["LookAtLeases", "ConnectRetries"]) expect(resources[name]).toBeUndefined();
    expect(JSON.stringify(resources)).not.toContain("lease#");
    expect(statementOf(resources["TickRole"], "LookAtLeases")).toBeUndefined();
  });

  it("are renewed by schedule and claimed by connect, which have no other right on the table of the witness", () => {
    const resources = keeping();
    const renew = statementOf(resources["ScheduleRole"], "RenewLeases");
    expect(renew).toMatchObject({ Condition: LEASES_ONLY });
    expect(renew?.Action).toEqual(["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:DeleteItem"]);
    const claim = statementOf(resources["ConnectRole"], "ClaimLeases");
    expect(claim).toMatchObject({
      Action: ["dynamodb:GetItem", "dynamodb:PutItem"],
      Resource: [{ "Fn::GetAtt": ["StateTable", "Arn"] }, WITNESS],
      Condition: LEASES_ONLY,
    });
    const named = Object.entries(resources).filter(
      ([, { Type, Properties }]) =>
        Type === "AWS::IAM::Role" && JSON.stringify(Properties).includes(WITNESS),
    );
    expect(named.map(([name]) => name).toSorted()).toEqual(["ConnectRole", "ScheduleRole"]);
  });

  it("are looked at each minute, with a fixed input, by a role that no code has", () => {
    const { LookAtLeases, ConnectRetries, TickRole } = keeping();
    expect(LookAtLeases?.Properties).toMatchObject({
      ScheduleExpression: "rate(1 minute)",
      GroupName: { Ref: "TickGroup" },
      Target: { Input: '{"lookAtLeases":true}', RetryPolicy: { MaximumRetryAttempts: 0 } },
    });
    expect(ConnectRetries?.Properties).toMatchObject({ MaximumRetryAttempts: 0 });
    expect(statementOf(TickRole, "LookAtLeases")).toMatchObject({
      Action: ["lambda:InvokeFunction"],
      Resource: { "Fn::GetAtt": ["ConnectLambdaFunction", "Arn"] },
    });
    const invokers = Object.entries(keeping()).filter(
      ([, { Type, Properties }]) =>
        Type === "AWS::IAM::Role" &&
        JSON.stringify(Properties).includes('"lambda:InvokeFunction"') &&
        JSON.stringify(Properties).includes('["ConnectLambdaFunction","Arn"]'),
    );
    expect(invokers.map(([name]) => name)).toEqual(["TickRole"]);
  });

  it("are kept and taken by nobody where a person alone moves the fleet: no look, and the right to withdraw them", () => {
    const withdrawn = given({ WitnessTable: WITNESS });
    expect(withdrawn["LookAtLeases"]).toBeUndefined();
    expect(statementOf(withdrawn["ScheduleRole"], "RenewLeases")).toBeDefined();
  });
});
