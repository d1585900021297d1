import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { CommandTarget } from "../../lib/command/select/command-target.ts";
import type { Io } from "../../lib/command/io.ts";
import { openTarget } from "../../lib/command/session.ts";
import { openNamedStack } from "../../lib/command/stack-session.ts";
import { NOON } from "../noon.ts";
import {
  type CloudFormation,
  errorAnswer,
  stackAnswer,
  startCloudFormation,
} from "../remote/stand-in/cloudformation.ts";
import { callerOf, type RemoteWorld, remoteWorld } from "../remote/world.ts";
import { inside } from "./inside.ts";

let world: RemoteWorld;
let service: CloudFormation;
beforeAll(async () => {
  [world, service] = await Promise.all([remoteWorld(), startCloudFormation()]);
});
afterAll(async () => {
  await world.close();
  await service.close();
});
beforeEach(() => {
  vi.stubEnv("AWS_ENDPOINT_URL_CLOUDFORMATION", service.url);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "ENV");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "of-env");
  service.answer = stackAnswer({
    ViewLambdaFunctionUrl: `${world.viewUrl.url}/`,
    ApiLambdaFunctionUrl: `${world.url.url}/`,
  });
});
afterEach(() => void vi.unstubAllEnvs());

const open: Io["open"] = async (place, by) =>
  place.kind === "named stack"
    ? openNamedStack(
        place,
        () => callerOf("ADA"),
        () => NOON,
      )
    : openTarget(place, by);

const NAMED = ["--stack", "tidemark", "--stage", "prod", "--region", "eu-central-1"];

describe("tidemark --stack NAME", () => {
  it("asks the URL of view, which every policy for people allows, and edits at the URL of api", async () => {
    const [queries, edits] = [world.viewUrl.events.length, world.url.events.length];
    expect((await inside(["fleet", "describe", ...NAMED], { open })).out).toBe(
      "Fleet not frozen\n",
    );
    expect([world.viewUrl.events.length - queries, world.url.events.length - edits]).toEqual([
      1, 0,
    ]);
    expect((await inside([...NAMED, "fleet", "thaw"], { open })).out).toBe("Fleet thawed\n");
    expect([world.viewUrl.events.length - queries, world.url.events.length - edits]).toEqual([
      1, 1,
    ]);
    expect(service.asked.at(-1)).toMatch(/^eu-central-1 ENV .*StackName=tidemark-prod/);
  });

  it("names the stack below its errors, and no stack where none was found", async () => {
    const unknown = await inside(["get", "no/such", ...NAMED], { open });
    expect([unknown.code, unknown.err]).toEqual([
      1,
      expect.stringContaining('\nnote: the stack "tidemark-prod" answered (from --stack)\n'),
    ]);
    service.answer = errorAnswer(
      400,
      "ValidationError",
      "Stack with id tidemark-prod does not exist",
    );
    expect(await inside(["get", ...NAMED], { open })).toEqual({
      code: 1,
      out: "",
      err: 'error: Cannot find the URL of stack "tidemark-prod": there is no such stack in region "eu-central-1" of this account; check --stack, --stage, --region and --profile\n',
    });
  });

  it("is told from a URL by its characters, and joins name and stage", async () => {
    const targets: CommandTarget[] = [];
    const remember: Io["open"] = async (place) => {
      targets.push(place);
      throw new Error("opened");
    };
    await inside(["get", "--stack", "tidemark-dev"], { open: remember });
    await inside(["--stage", "dev", "get", "--stack", "tidemark", "--profile", "ops"], {
      open: remember,
    });
    await inside(
      ["get", "--stack", "https://abc.lambda-url.eu-central-1.on.aws", "--profile", "ops"],
      { open: remember },
    );
    expect(targets).toEqual([
      { kind: "named stack", name: "tidemark-dev", from: "--stack" },
      { kind: "named stack", name: "tidemark-dev", profile: "ops", from: "--stack" },
      {
        kind: "stack",
        url: "https://abc.lambda-url.eu-central-1.on.aws",
        profile: "ops",
        from: "--stack",
      },
    ]);
  });

  it.each([
    [
      ["--stage", "dev"],
      "Cannot use --stage alone: it needs --stack with the name of a stack, such as --stack tidemark-prod",
    ],
    [
      ["--region", "eu-west-1", "--data", "x"],
      "Cannot use --region alone: it needs --stack with the name of a stack, such as --stack tidemark-prod",
    ],
    [
      ["--profile", "ops"],
      "Cannot use --profile with a data folder: it chooses the AWS credentials for a deployed stack",
    ],
    [
      ["--stack", "http://127.0.0.1:1", "--region", "eu-west-1"],
      'Cannot use --region with --stack "http://127.0.0.1:1": a URL names its stack and region',
    ],
    [
      ["--stack", "tidemark", "--stage", "a b"],
      'Cannot use --stage "a b": a stack\'s name has letters, digits and -, at most 128',
    ],
    [
      ["--stack", "tidemark", "--region", ""],
      "Cannot use an empty --region: give a value, or leave it out",
    ],
    [
      ["--stack", "example.com"],
      'Cannot use --stack "example.com": wanted the function URL of a stack, such as "https://abc123.lambda-url.eu-central-1.on.aws", or its name',
    ],
  ])("refuses %j, and asks nothing", async (args, words) => {
    expect(await inside(["get", ...args])).toEqual({ code: 1, out: "", err: `error: ${words}\n` });
  });
});
