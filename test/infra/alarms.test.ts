import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ALARM_METRICS } from "../../lib/answers/cost/units.ts";
import { FLEET_PROBLEM_KINDS } from "../../lib/stack/report/problems.ts";
import { powertoolsReporter } from "../../lib/stack/report/reporter.ts";
import { ROOT } from "../architecture/source.ts";
import { completed, dropped } from "../report/reports.ts";
import { event } from "../store/records.ts";
import { type Json, type Resource, resourcesOf, type Stack } from "./packaged.ts";
import { sharedStack } from "./shared-stack.ts";

let stack: Stack;
let alarms: Readonly<Record<string, Resource["Properties"]>>;
beforeAll(async () => {
  stack = await sharedStack();
  const resources = Object.entries(stack.packaged.resources).filter(
    ([, { Type }]) => Type === "AWS::CloudWatch::Alarm",
  );
  alarms = Object.fromEntries(resources.map(([name, { Properties }]) => [name, Properties]));
});
afterAll(() => stack.done());

interface Watched {
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, Json>>;
  readonly statistic: string;
}
const dimensionsOf = (listed: Json | undefined): Readonly<Record<string, Json>> =>
  Object.fromEntries(
    (listed as unknown as readonly { readonly Name: string; readonly Value: Json }[]).map(
      ({ Name, Value }) => [Name, Value],
    ),
  );

/** Every metric that an alarm looks at, its own or those of its expression. */
const watchedBy = (alarm: Resource["Properties"]): readonly Watched[] => {
  const { Metrics: queries } = alarm;
  if (!Array.isArray(queries)) {
    const statistic = String(alarm["Statistic"] ?? alarm["ExtendedStatistic"]);
    return [
      {
        namespace: String(alarm["Namespace"]),
        name: String(alarm["MetricName"]),
        dimensions: dimensionsOf(alarm["Dimensions"]),
        statistic,
      },
    ];
  }
  return queries.flatMap((query) => {
    const { MetricStat } = query as {
      readonly MetricStat?: {
        readonly Stat: string;
        readonly Metric: { readonly [key: string]: Json };
      };
    };
    if (!MetricStat) return [];
    const { Namespace, MetricName, Dimensions } = MetricStat.Metric;
    return [
      {
        namespace: String(Namespace),
        name: String(MetricName),
        dimensions: dimensionsOf(Dimensions),
        statistic: MetricStat.Stat,
      },
    ];
  });
};

/**
 * What the functions of this stack send in the course of a day on which everything happens once:
 * name → the sets of dimensions it is sent with.
 */
const sentMetrics = (): ReadonlyMap<string, readonly (readonly string[])[]> => {
  const printed: string[] = [];
  const write = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((text) => printed.push(String(text)) > 0);
  const logger = new Logger({ serviceName: "tidemark-prod", logLevel: "SILENT" });
  const reporter = powertoolsReporter({
    logger,
    metrics: new Metrics({ namespace: "Tidemark", serviceName: "tidemark-prod" }),
    extent: "none",
  });
  const outcomes = (["applied", "refused", "unknown"] as const).map((outcome) =>
    event({ outcome }),
  );
  const unreadable = [{ namespace: "shop", name: "web", reason: "UnreadableWindows", message: "" }];
  const ruleFailures = [{ namespace: "shop", name: "web", error: new RangeError("no number") }];
  reporter.sync(
    completed({
      failed: 1,
      unreachable: true,
      events: outcomes,
      unreadable,
      specsOverBudget: 1,
      ruleFailures,
      projections: [{ name: "samples", behindSeconds: 4 * 86_400 }],
    }),
  );
  for (const why of ["stale", "clock", "held"] as const) reporter.sync(dropped(why));
  reporter.failed(new Error("no answer"), { body: "{}" });
  const problems = FLEET_PROBLEM_KINDS.map((kind) => ({ kind, key: "eu-1", count: 1 }));
  reporter.problems({ all: problems, risen: problems, sent: new Set(FLEET_PROBLEM_KINDS) });
  write.mockRestore();
  const sent = printed.flatMap((text) => {
    const {
      _aws,
    }: {
      readonly _aws: {
        readonly CloudWatchMetrics: readonly {
          Dimensions: string[][];
          Metrics: { Name: string }[];
        }[];
      };
    } = JSON.parse(text);
    return _aws.CloudWatchMetrics.flatMap(({ Dimensions, Metrics: named }) =>
      named.map(({ Name }) => [Name, Dimensions] as const),
    );
  });
  return new Map(sent);
};

describe("the alarms", () => {
  it("look at metrics that the functions send, with the dimensions they send them with", () => {
    const sent = sentMetrics();
    const own = Object.values(alarms)
      .flatMap(watchedBy)
      .filter(({ namespace }) => namespace === "Tidemark");
    expect(own.length).toBeGreaterThan(6);
    for (const { name, dimensions } of own) {
      expect(sent.get(name), name).toContainEqual(Object.keys(dimensions));
      expect(dimensions).toEqual({ service: "tidemark-prod" });
    }
  });

  it("look at resources of this stack and at nothing else of AWS", () => {
    const resources = Object.keys(stack.packaged.resources);
    const others = Object.values(alarms)
      .flatMap(watchedBy)
      .filter(({ namespace }) => namespace !== "Tidemark");
    const key = {
      "AWS/SQS": "QueueName",
      "AWS/Lambda": "FunctionName",
      "AWS/DynamoDB": "TableName",
    } as const;
    expect(new Set(others.map(({ namespace }) => namespace))).toEqual(new Set(Object.keys(key)));
    for (const { namespace, dimensions } of others) {
      const [[dimension = "", value] = []] = Object.entries(dimensions);
      expect(dimension).toBe(key[namespace as keyof typeof key]);
      const { Ref, "Fn::GetAtt": [name] = [] } = value as {
        readonly Ref?: string;
        readonly "Fn::GetAtt"?: readonly string[];
      };
      expect(resources).toContain(Ref ?? name);
    }
  });

  it("fire when nothing reports at all, by the one that takes missing data as a breach", () => {
    const breaching = Object.entries(alarms).filter(
      ([, { TreatMissingData }]) => TreatMissingData === "breaching",
    );
    expect(breaching.map(([name]) => name)).toEqual(["PlanningStopped"]);
    expect(alarms["PlanningStopped"]).toMatchObject({
      EvaluationPeriods: 2,
      ComparisonOperator: "LessThanThreshold",
      Threshold: 1,
    });
    expect(alarms["PlanningStopped"] && watchedBy(alarms["PlanningStopped"])).toMatchObject([
      {
        namespace: "AWS/Lambda",
        name: "Invocations",
        dimensions: { FunctionName: { Ref: "ScheduleLambdaFunction" } },
      },
      {
        namespace: "AWS/Lambda",
        name: "Errors",
        dimensions: { FunctionName: { Ref: "ScheduleLambdaFunction" } },
      },
    ]);
  });

  it("look at as many metrics as the bill counts, because each costs", () => {
    expect(Object.values(alarms).flatMap(watchedBy)).toHaveLength(ALARM_METRICS);
  });

  it("sum what is counted, take the highest depth of a queue and the 99th percentile of the lag", () => {
    const statistics = Object.values(alarms)
      .flatMap(watchedBy)
      .map(({ name, statistic }) => `${name} ${statistic}`);
    expect(statistics.filter((words) => !words.endsWith(" Sum")).toSorted()).toEqual([
      "ApproximateNumberOfMessagesVisible Maximum",
      "ApproximateNumberOfMessagesVisible Maximum",
      "SyncLag p99",
    ]);
  });

  it("each say what they mean and where it is written what to do", () => {
    const page = readFileSync(join(ROOT, "docs/operations.md"), "utf8");
    const section = /## Alarms\n(.*?)\n## /s.exec(page)?.[1] ?? "";
    const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    // More are there where a parameter names a bus of events, or has audits kept.
    const ofParameters = ["EventsBehind", "EventsDeadLettersFilled", "AuditsNotKept"];
    const given = resourcesOf(stack.packaged.text, { EventBus: "default", AuditDays: "400" });
    expect(ofParameters.map((name) => given[name]?.Type)).toEqual(
      ofParameters.map(() => "AWS::CloudWatch::Alarm"),
    );
    expect(listed.toSorted()).toEqual([...Object.keys(alarms), ...ofParameters].toSorted());
    for (const [name, { AlarmDescription, AlarmName }] of Object.entries(alarms)) {
      expect(AlarmDescription).toMatch(
        new RegExp(`^[A-Z].{20,}\\. docs/operations\\.md, Alarms, ${name}$`),
      );
      expect(AlarmName).toBe(`tidemark-prod-${name}`);
    }
  });
});

describe("the dashboard", () => {
  it("is JSON that shows metrics which are sent, of this stack", () => {
    const { DashboardBody } = stack.packaged.resources["Dashboard"]?.Properties ?? {};
    const { "Fn::Sub": sub } = DashboardBody as unknown as {
      readonly "Fn::Sub": readonly [string, Readonly<Record<string, Json>>];
    };
    const [body, values] = sub;
    const {
      widgets,
    }: {
      readonly widgets: readonly { readonly properties: { readonly metrics: readonly Json[][] } }[];
    } = JSON.parse(body);
    expect(widgets.length).toBe(7);
    const placeholders = [...body.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name);
    expect(new Set(placeholders)).toEqual(new Set(Object.keys(values)));
    const sent = sentMetrics();
    // A row names its namespace, or "." for that of the row before it.
    const own = widgets
      .map(({ properties }) => properties.metrics)
      .filter(([first]) => first?.[0] === "Tidemark");
    const names = own
      .flatMap((rows) => rows.map(([, name]) => String(name)))
      .filter((name) => /^[A-Z]/.test(name));
    expect(names.length).toBeGreaterThan(7);
    for (const name of names) expect([...sent.keys()]).toContain(name);
  });
});
