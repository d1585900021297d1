import { describe, expect, it } from "vitest";
import { isSecretOf, secretWords } from "../../lib/rules/model/aws-names.ts";

const ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:tidemark-prod/eu-1";

describe("the secret of a cluster", () => {
  it.each([
    "tidemark-prod/eu-1",
    "f/eu-1",
    "a.b+c=d@e_f-g/eu-1",
    ARN,
    `${ARN}-AbC123`,
    ARN.replace("arn:aws:", "arn:aws-cn:").replace("eu-west-1", "cn-north-1"),
  ])("may be %s for eu-1", (secretId) => expect(isSecretOf(secretId, "eu-1")).toBe(true));

  it("may have every character that Secrets Manager allows in a name", () =>
    expect(isSecretOf("f/a.b+c=d@e_f-g", "a.b+c=d@e_f-g")).toBe(true));

  it.each([
    ["another cluster's name", "tidemark-prod/eu-2"],
    ["a longer name", "tidemark-prod/eu-10"],
    ["a shorter name", "tidemark-prod/eu-"],
    ["no folder", "eu-1"],
    ["an empty folder", "/eu-1"],
    ["two folders", "tidemark-prod/other/eu-1"],
    ["a folder with a space", "tidemark prod/eu-1"],
    ["a line break before", "\ntidemark-prod/eu-1"],
    ["a line break after", "tidemark-prod/eu-1\n"],
    ["nothing", ""],
    ["another service", ARN.replace("secretsmanager", "ssm")],
    ["an account of 11 digits", ARN.replace("123456789012", "12345678901")],
    ["an account with a letter", ARN.replace("123456789012", "12345678901x")],
    ["a host in place of the region", ARN.replace("eu-west-1", "evil-net-1")],
    ["an upper-case region", ARN.replace("eu-west-1", "EU-WEST-1")],
    ["text before the ARN", ` ${ARN}`],
    ["text after the ARN", `${ARN} `],
    ["another partition of ARNs", ARN.replace("arn:aws:", "arn:xws:")],
    ["five appended characters", `${ARN}-AbC12`],
    ["seven appended characters", `${ARN}-AbC1234`],
    ["appended signs", `${ARN}-AbC12_`],
    ["another cluster's ARN", ARN.replace("eu-1", "eu-2")],
    ["an ARN without a name", "arn:aws:secretsmanager:eu-west-1:123456789012:secret:"],
    ["an ARN alone", "arn:"],
  ])("is not one with %s", (_, secretId) => expect(isSecretOf(secretId, "eu-1")).toBe(false));

  it("is named in the refusal as it must be", () =>
    expect(secretWords("eu-1")).toBe(
      'the secret of this cluster must be named FOLDER/eu-1, such as "tidemark-prod/eu-1"',
    ));
});
