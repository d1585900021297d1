import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findStack } from "../../lib/answers/remote/find-stack.ts";
import {
  type CloudFormation,
  errorAnswer,
  stackAnswer,
  startCloudFormation,
} from "./stand-in/cloudformation.ts";

let home = "";
let service: CloudFormation;
const SETTINGS = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_PROFILE",
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
  "AWS_ENDPOINT_URL",
];
const VIEW = "https://view1.lambda-url.eu-west-3.on.aws/";
const API = "https://api1.lambda-url.eu-west-3.on.aws/";
const OUTPUTS = {
  SyncQueueUrl: "https://queue",
  ViewLambdaFunctionUrl: VIEW,
  ApiLambdaFunctionUrl: API,
};

/** A machine without any AWS settings but those of the test. */
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "tidemark-find-"));
  for (const name of SETTINGS) vi.stubEnv(name, undefined);
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_CONFIG_FILE", join(home, "config"));
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", join(home, "credentials"));
  vi.stubEnv("AWS_ACCESS_KEY_ID", "ENV");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "of-env");
  service = await startCloudFormation();
  vi.stubEnv("AWS_ENDPOINT_URL_CLOUDFORMATION", service.url);
  service.answer = stackAnswer(OUTPUTS);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
  await service.close();
});

const STACK = { name: "tidemark-prod", region: "eu-west-3" };

describe("findStack()", () => {
  it("reads the URLs of view and api from the outputs, with one signed request in the stack's region", async () => {
    expect(await findStack(STACK)).toMatchObject({
      view: { origin: VIEW.slice(0, -1), region: "eu-west-3" },
      api: { origin: API.slice(0, -1) },
    });
    expect(service.asked).toEqual([
      expect.stringMatching(/^eu-west-3 ENV .*Action=DescribeStacks.*StackName=tidemark-prod/),
    ]);
  });

  it("reads the functions of a stack that is invoked, and refuses another way than its own", async () => {
    const arn = (name: string, region = "eu-west-3") =>
      `arn:aws:lambda:${region}:123456789012:function:tidemark-prod-${name}`;
    service.answer = stackAnswer({ ViewFunctionArn: arn("view"), ApiFunctionArn: arn("api") });
    const { view, api } = await findStack({ ...STACK, via: "invoke" });
    expect([view, api]).toMatchObject([
      { host: "lambda.eu-west-3.amazonaws.com", invokes: { name: "tidemark-prod-view" } },
      { origin: "https://lambda.eu-west-3.amazonaws.com", invokes: { arn: arn("api") } },
    ]);
    await expect(findStack({ ...STACK, via: "url" })).rejects.toMatchObject({
      code: "remote.stack.outputs",
      message: expect.stringContaining("it is called by lambda:Invoke; leave --via out"),
    });
    service.answer = stackAnswer({
      ViewFunctionArn: arn("view"),
      ApiFunctionArn: arn("api", "us-east-1"),
    });
    await expect(findStack(STACK)).rejects.toMatchObject({
      message: expect.stringContaining("which is no function of region"),
    });
    service.answer = stackAnswer(OUTPUTS);
    await expect(findStack({ ...STACK, via: "invoke" })).rejects.toMatchObject({
      message: expect.stringContaining("it is called by its URLs"),
    });
  });

  it("takes region and credentials of a named profile, before those of the environment", async () => {
    writeFileSync(join(home, "config"), "[profile ops]\nregion = us-east-2\n");
    writeFileSync(
      join(home, "credentials"),
      "[ops]\naws_access_key_id = OPS\naws_secret_access_key = of-ops\n",
    );
    await findStack({ name: "tidemark-prod", profile: "ops" });
    vi.stubEnv("AWS_REGION", "ap-south-1");
    await findStack({ name: "tidemark-prod" });
    expect(service.asked.map((line) => line.split(" ").slice(0, 2))).toEqual([
      ["us-east-2", "OPS"],
      ["ap-south-1", "ENV"],
    ]);
  });

  it("says that no region is set", async () => {
    await expect(findStack({ name: "tidemark-prod" })).rejects.toMatchObject({
      code: "remote.stack.region",
      message:
        'Cannot find the URL of stack "tidemark-prod": no AWS region is set; give --region, or set AWS_REGION or the region of the profile',
    });
    expect(service.asked).toEqual([]);
  });

  it("says that no credentials were found", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", undefined);
    await expect(findStack(STACK)).rejects.toMatchObject({
      code: "remote.credentials",
      message: expect.stringMatching(
        /^Cannot find the URL of stack "tidemark-prod": no AWS credentials were found; give --profile, set AWS_PROFILE or sign in \(.+\)$/,
      ),
    });
    await expect(findStack({ ...STACK, profile: "none" })).rejects.toMatchObject({
      code: "remote.credentials",
    });
  });

  it.each([
    [
      errorAnswer(400, "ValidationError", "Stack with id tidemark-prod does not exist"),
      "remote.stack.unknown",
      'there is no such stack in region "eu-west-3" of this account; check --stack, --stage, --region and --profile',
    ],
    [
      errorAnswer(
        403,
        "AccessDenied",
        "User: ada is not authorized to perform: cloudformation:DescribeStacks",
      ),
      "remote.stack.forbidden",
      "AWS refuses cloudformation:DescribeStacks (User: ada is not authorized to perform: cloudformation:DescribeStacks); get that right, or give its URL with --stack",
    ],
    [
      errorAnswer(403, "ExpiredToken", "The security token included in the request is expired"),
      "remote.stack.forbidden",
      "the AWS credentials have expired; sign in again",
    ],
    [
      errorAnswer(
        403,
        "InvalidClientTokenId",
        "The security token included in the request is invalid.",
      ),
      "remote.stack.forbidden",
      "AWS does not accept these credentials (The security token included in the request is invalid); check the profile and sign in again",
    ],
    [
      stackAnswer({ ApiLambdaFunctionUrl: API }, "ROLLBACK_COMPLETE"),
      "remote.stack.outputs",
      'it has no output "ViewLambdaFunctionUrl" (its state is ROLLBACK_COMPLETE); it is no stack of Tidemark, or its deployment did not end: deploy it again, or give its URL with --stack',
    ],
    [
      stackAnswer({ ...OUTPUTS, ViewLambdaFunctionUrl: "https://example.com/" }),
      "remote.stack.outputs",
      'its output "ViewLambdaFunctionUrl" is "https://example.com/", which is no function URL; check that it is the stack of Tidemark in region "eu-west-3"',
    ],
  ])("says what to do about %j", async (answer, code, words) => {
    service.answer = answer;
    await expect(findStack(STACK)).rejects.toMatchObject({
      code,
      message: `Cannot find the URL of stack "tidemark-prod": ${words}`,
    });
  });

  it("says what to do where CloudFormation cannot be reached", async () => {
    await service.close();
    await expect(findStack(STACK)).rejects.toMatchObject({
      code: "remote.stack.unclear",
      message: expect.stringMatching(
        /^Cannot find the URL of stack "tidemark-prod": CloudFormation in region "eu-west-3" gave no clear answer \(.*\); check --region and the network$/,
      ),
    });
    service = await startCloudFormation();
  });

  it("asks once where a person waits at the keyboard, and again where none does", async () => {
    service.answer = errorAnswer(500, "InternalFailure", "try again");
    const named = { name: "tidemark-prod", region: "eu-west-3" };
    await expect(findStack({ ...named, withinMs: 2_000 })).rejects.toMatchObject({
      code: "remote.stack.unclear",
    });
    expect(service.asked).toHaveLength(1);
    await expect(findStack(named)).rejects.toMatchObject({ code: "remote.stack.unclear" });
    expect(service.asked).toHaveLength(4);
  });
});
