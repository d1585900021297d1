import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readSettings } from "../../lib/command/deploy/settings.ts";
import { ROOT } from "../architecture/source.ts";
import {
  type CloudFormation,
  errorAnswer,
  stackAnswer,
  startCloudFormation,
} from "../remote/stand-in/cloudformation.ts";
import { inside } from "./inside.ts";

const SETTINGS = readSettings(ROOT);
const OUTPUTS = {
  StateTableName: "state-1ABC",
  HistoryTableName: "history-2DEF",
  Version: "0.2.0",
};
const NO_STACK = errorAnswer(400, "ValidationError", "Stack with id tidemark-prod does not exist");

let home = "";
let file = "";
let service: CloudFormation;
let ran: (readonly string[])[] = [];

/** A machine without settings of AWS but those of the test. The checkout is this one. */
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "tidemark-params-"));
  file = join(home, "prod.yaml");
  ran = [];
  service = await startCloudFormation();
  vi.stubEnv("AWS_ACCESS_KEY_ID", "ENV");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "of-env");
  vi.stubEnv("AWS_PROFILE", undefined);
  vi.stubEnv("AWS_ENDPOINT_URL_CLOUDFORMATION", service.url);
  deployed({ alarmAddress: "ops@example.com" });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
  await service.close();
});

/** The stack has these values, and else the defaults of this checkout. */
const deployed = (values: Readonly<Record<string, string>>, state = "UPDATE_COMPLETE"): void => {
  service.answer = stackAnswer(
    OUTPUTS,
    state,
    Object.fromEntries(SETTINGS.map(({ name, key, fallback }) => [key, values[name] ?? fallback])),
  );
};

const write = (...parameters: readonly string[]): void =>
  writeFileSync(
    file,
    [
      "# of the platform team",
      "stage: prod",
      "region: eu-west-3",
      "parameters:",
      ...parameters.map((line) => `  ${line}`),
      "",
    ].join("\n"),
  );

const call = (
  verb: string,
  words: readonly string[] = [],
  more: Parameters<typeof inside>[1] = {},
) =>
  inside(["stack", verb, "--params", file, ...words], {
    runOsls: async (args) => {
      ran.push(args);
      return 0;
    },
    head: true,
    ...more,
  });

describe("the file of parameters", () => {
  it.each([
    [
      "alarmAdress: ops@example.com",
      "parameters.alarmAdress: this version has no such parameter; did you mean alarmAddress?",
    ],
    [
      "maximumConcurrency: 1",
      'parameters.maximumConcurrency is "1": it must be a number from 2 to 1000',
    ],
    ["dashboard: true", 'parameters.dashboard is "true": it must be one of yes, no'],
    [
      "alarmAddress: ops",
      'parameters.alarmAddress is "ops": it must be a mail address, or nothing',
    ],
    [
      "stateTable: state-1",
      "parameters.historyTable is missing beside stateTable: a stack that makes one of its tables anew would meet the numbers of old events",
    ],
    [
      "subnetIds: subnet-1",
      "parameters.securityGroupIds is missing beside subnetIds: sync runs in a VPC with both, and outside of one with neither",
    ],
    [
      "reservedConcurrency: 20",
      "parameters.reservedConcurrency is 20: below maximumConcurrency, which is 50, Lambda refuses syncs; take a tenth more than 50",
    ],
    [
      "alarmOwners: payments",
      "parameters.ownerTopics is missing beside alarmOwners: each owner has a topic, in the same order",
    ],
    [
      "alarmOwners: payments,search\n  ownerTopics: arn:aws:sns:eu-west-3:1:payments",
      "parameters.alarmOwners has 2 owners and ownerTopics 1 topics: each owner has a topic, in the same order",
    ],
    [
      "eventBus: default\n  stateTable: kept-s\n  historyTable: kept-h",
      "parameters.historyStream is missing beside eventBus and historyTable",
    ],
    [
      "takeOverAfterMinutes: 10",
      "parameters.witnessTable is missing beside takeOverAfterMinutes: without a table in a third region",
    ],
    ["takeOverAfterMinutes: 3", 'parameters.takeOverAfterMinutes is "3"'],
    [
      "witnessTable: arn:aws:dynamodb:eu-west-3:123456789012:table/w",
      "parameters.witnessTable is in eu-west-3, the region of the stack",
    ],
    ["logDays: &days 30\n  requestLogDays: *days", "Alias resolution is disabled"],
  ])("is refused before anything is sent: %s", async (line, words) => {
    write(line);
    const { code, err } = await call("deploy");
    expect({ code, err: err.trim() }).toEqual({ code: 1, err: expect.stringContaining(words) });
    expect([service.asked, ran]).toEqual([[], []]);
  });

  it("names every mistake at once, also in stage and region", async () => {
    writeFileSync(file, "stage: Prod\nregoin: eu-west-3\nparameters:\n  logDay: 30\n");
    const { err } = await call("diff");
    expect(err.trim().split("\n")).toHaveLength(4);
  });

  it("gives a name of digits to the stack as it is written", async () => {
    write("externalId: 0123456", "alarmAddress: ops@example.com");
    expect((await call("deploy")).code).toBe(0);
    expect(ran[0]).toContain("--param=externalId=0123456");
  });
});

describe("tidemark stack deploy", () => {
  it("runs osls with stage, region and every value of the file, after it has shown what changes", async () => {
    write("alarmAddress: ops@example.com", "logDays: 90");
    const { code, out } = await call("deploy");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^In stack tidemark-prod in eu-west-3:\nPARAMETER +STACK +FILE\nlogDays +30 +90 +changes\n$/,
    );
    expect(ran).toEqual([
      [
        "deploy",
        "--stage",
        "prod",
        "--region",
        "eu-west-3",
        "--param=alarmAddress=ops@example.com",
        "--param=logDays=90",
      ],
    ]);
  });

  it("sends nothing where the stack would lose a value, and names it", async () => {
    deployed({ alarmAddress: "ops@example.com", stateTable: "state-1", historyTable: "history-1" });
    write("logDays: 90");
    const { code, err } = await call("deploy");
    expect(code).toBe(1);
    expect(err).toContain(
      "it would lose stateTable (state-1), historyTable (history-1), alarmAddress (ops@example.com)",
    );
    expect(err).toContain("--drop stateTable --drop historyTable --drop alarmAddress");
    expect(ran).toEqual([]);
  });

  it("asks on a terminal, and deploys after yes only", async () => {
    write();
    const asked: string[] = [];
    const answering = (answer: string) => ({
      ask: async (question: string) => {
        asked.push(question);
        return answer;
      },
    });
    expect((await call("deploy", [], answering("y"))).code).toBe(1);
    expect(ran).toEqual([]);
    expect((await call("deploy", [], answering("yes"))).code).toBe(0);
    expect(asked[0]).toContain("alarmAddress (ops@example.com)");
    expect(ran).toHaveLength(1);
  });

  it("drops what --drop names, and refuses a name that drops nothing", async () => {
    write();
    expect((await call("deploy", ["--drop", "logDays"])).err).toContain('Cannot drop "logDays"');
    expect((await call("deploy", ["--drop", "alarmAddress"])).code).toBe(0);
    expect(ran).toHaveLength(1);
  });

  it("writes --set into the file, whose comments stay, so that the next deployment has it too", async () => {
    write("alarmAddress: ops@example.com");
    expect(
      (await call("deploy", ["--set", "stateTable=state-2", "--set", "historyTable=history-2"]))
        .code,
    ).toBe(0);
    const text = readFileSync(file, "utf8");
    expect(text).toContain("# of the platform team");
    expect(text).toContain("  stateTable: state-2\n  historyTable: history-2\n");
    deployed({ alarmAddress: "ops@example.com", stateTable: "state-2", historyTable: "history-2" });
    expect((await call("diff")).code).toBe(0);
  });

  it("writes nothing where a value of --set is refused", async () => {
    write("alarmAddress: ops@example.com");
    const before = readFileSync(file, "utf8");
    expect((await call("deploy", ["--set", "logDays=31"])).code).toBe(1);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  it("leaves the file as it was where the deployment fails, and says what to give again", async () => {
    write("alarmAddress: ops@example.com");
    const before = readFileSync(file, "utf8");
    const { code, err } = await call("deploy", ["--set", "logDays=90"], { runOsls: async () => 1 });
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(`"${file}" is as it was: give --set logDays=90 again`),
    ]);
    expect(readFileSync(file, "utf8")).toBe(before);
  });

  it("deploys a stack that is not there yet", async () => {
    service.answer = NO_STACK;
    write("alarmAddress: ops@example.com");
    const { code, out } = await call("deploy");
    expect([code, out.split("\n")]).toEqual([
      0,
      [
        "In stack tidemark-prod in eu-west-3, which does not exist yet:",
        "PARAMETER      FILE",
        "alarmAddress   ops@example.com",
        `The other ${SETTINGS.length - 1} parameters have their defaults`,
        "",
      ],
    ]);
    expect(ran).toHaveLength(1);
  });

  it.each([
    ["UPDATE_IN_PROGRESS", "wait until it ends"],
    ["ROLLBACK_COMPLETE", "its first deployment failed: remove the stack, then deploy"],
  ])("waits for no packaging where the state of the stack is %s", async (state, words) => {
    deployed({}, state);
    write();
    expect((await call("deploy")).err).toContain(`its state is ${state}; ${words}`);
    expect(ran).toEqual([]);
  });

  it("refuses a file of another stack than TIDEMARK_STACK names, and a target before the command", async () => {
    write();
    expect((await call("deploy", [], { stackName: "tidemark-dev" })).err).toContain(
      "is for tidemark-prod, and TIDEMARK_STACK names tidemark-dev",
    );
    const { err } = await inside(["--region", "eu-west-1", "stack", "status", "--params", file]);
    expect(err).toContain("Cannot use --region with stack commands");
    expect(service.asked).toEqual([]);
  });

  it("says that osls failed", async () => {
    write("alarmAddress: ops@example.com");
    const { code, err } = await call("deploy", [], { runOsls: async () => 1 });
    expect([code, err]).toEqual([
      1,
      "error: Cannot deploy the stack: osls ended with 1; its message is above\n",
    ]);
  });
});

describe("tidemark stack diff, status and remove", () => {
  it("diff says by its exit code whether something differs, and gives each parameter to programs", async () => {
    write("alarmAddress: ops@example.com");
    expect(await call("diff")).toEqual({
      code: 0,
      out: "In stack tidemark-prod in eu-west-3:\nNo parameter changes\n",
      err: "",
    });
    write("logDays: 90");
    const { code, out } = await call("diff", ["-o", "json"]);
    expect(code).toBe(1);
    const { parameters } = JSON.parse(out);
    expect(parameters).toHaveLength(SETTINGS.length);
    expect(parameters).toContainEqual({
      name: "alarmAddress",
      deployed: "ops@example.com",
      wanted: "",
      effect: "drops",
    });
  });

  it("says which values the stack does not show", async () => {
    service.answer = stackAnswer(OUTPUTS, "UPDATE_COMPLETE", {});
    write("alarmAddress: ops@example.com");
    const { out } = await call("diff");
    expect(out).toMatch(/logDays +\? +30 +the stack does not say its value/);
  });

  it("status shows state, version and every parameter, and is 1 after a failed deployment", async () => {
    write("alarmAddress: ops@example.com");
    const { code, out } = await call("status");
    expect(code).toBe(0);
    expect(out).toContain("Version: 0.2.0\n");
    for (const { name } of SETTINGS) expect(out).toContain(`\n${name} `);
    deployed({}, "UPDATE_ROLLBACK_COMPLETE");
    expect((await call("status")).code).toBe(1);
    service.answer = NO_STACK;
    expect((await call("status", ["-o", "json"])).code).toBe(1);
  });

  it("remove names the tables that stay, and needs the name of the stack or --yes", async () => {
    write();
    const refused = await call("remove");
    expect(refused.out).toContain("state-1ABC, history-2DEF");
    expect(refused.err).toContain("it was not confirmed");
    expect((await call("remove", [], { ask: async () => "prod" })).code).toBe(1);
    expect(ran).toEqual([]);
    expect((await call("remove", [], { ask: async () => "tidemark-prod" })).code).toBe(0);
    expect((await call("remove", ["--yes"])).code).toBe(0);
    expect(ran).toEqual([0, 1].map(() => ["remove", "--stage", "prod", "--region", "eu-west-3"]));
  });

  it("version --stack prints the version of the command and the one that was packaged for the stack", async () => {
    const { out } = await inside(["version", "--stack", "tidemark-prod", "--region", "eu-west-3"]);
    expect(out).toMatch(/^\d+\.\d+\.\d+\nstack tidemark-prod in eu-west-3: 0\.2\.0\n$/);
    service.answer = stackAnswer({});
    expect(
      (await inside(["version", "--stack", "tidemark-prod", "--region", "eu-west-3"])).out,
    ).toContain("in eu-west-3: unknown");
  });

  it("every parameter of serverless.yml is one of the template, with its bounds", () => {
    expect(SETTINGS.length).toBeGreaterThan(19);
    for (const { name, key, fallback, accepts } of SETTINGS)
      expect([name, key === name, accepts(fallback)]).toEqual([name, false, true]);
  });
});
