import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importObjects } from "../../../lib/rules/manifest/import/import-objects.ts";
import { discoverSources } from "../../../lib/rules/manifest/import/keda/discover.ts";
import { kedaCron } from "../../../lib/rules/manifest/import/schedules/actions.ts";
import { cronTimes, isUnread } from "../../../lib/rules/manifest/import/schedules/timed.ts";
import type { Json } from "../../../lib/rules/model/json.ts";
import { runs } from "../../runs.ts";

const scaledObject = (name: string, triggers: readonly Json[], spec: Json = {}): Json => ({
  apiVersion: "keda.sh/v1alpha1",
  kind: "ScaledObject",
  metadata: { name, namespace: "shop" },
  spec: { scaleTargetRef: { name }, minReplicaCount: 1, triggers, ...spec },
});
const prometheus = (serverAddress: string, more: Json = {}, trigger: Json = {}): Json => ({
  type: "prometheus",
  metadata: { serverAddress, query: "sum(q)", threshold: "5", ...more },
  ...trigger,
});
const imported = (
  scaledObjects: readonly Json[],
  named: Readonly<Record<string, string>>,
  discovered = false,
) => {
  const { manifests, findings } = importObjects(
    { hpas: [], watermarks: [], scaledObjects, sources: { named, discovered } },
    "native",
  );
  return { manifests, lost: findings.filter(({ severity }) => severity === "lost") };
};

describe("the names of sources by their places", () => {
  it("differ where two long hosts begin with the same characters", () => {
    const [one, other] = ["monitoring", "moscow"].map((namespace) =>
      prometheus(`http://prometheus-kube-prometheus-prometheus.${namespace}.svc:9090`),
    );
    const { manifests, lost } = imported([scaledObject("web", [one, other] as Json[])], {}, true);
    expect(lost).toEqual([]);
    expect(manifests).toHaveLength(1);
  });

  it("are the same however a service of the cluster is written", () => {
    const redis = (address: string): Json => ({
      type: "redis",
      metadata: { address, listName: "jobs" },
    });
    const asked = ["cache.shop.svc:6379", "cache.shop.svc.cluster.local:6379"].map(redis);
    expect(discoverSources([scaledObject("web", asked)], [])).toHaveLength(1);
  });
});

describe("one source for the triggers of ScaledObjects", () => {
  it.each<readonly [string, Json, Json]>([
    ["addresses", prometheus("http://a:9090"), prometheus("http://b:9090")],
    ["paths", prometheus("http://a/x"), prometheus("http://a/y")],
    [
      "tenants in a header",
      prometheus("http://a", { customHeaders: "X-Scope-OrgID=one" }),
      prometheus("http://a", { customHeaders: "X-Scope-OrgID=two" }),
    ],
    [
      "tenants in a parameter",
      prometheus("http://a", { namespace: "one" }),
      prometheus("http://a", { namespace: "two" }),
    ],
    [
      "credentials",
      prometheus("http://a", {}, { authenticationRef: { name: "one" } }),
      prometheus("http://a", {}, { authenticationRef: { name: "two" } }),
    ],
    [
      "checks of a certificate",
      prometheus("https://a", { unsafeSsl: "true" }),
      prometheus("https://a"),
    ],
  ])("is refused for two %s, in one object and in two", (_what, one, other) => {
    for (const objects of [
      [scaledObject("web", [one, other])],
      [scaledObject("web", [one]), scaledObject("api", [other])],
    ]) {
      const { manifests, lost } = imported(objects, { prometheus: "main" });
      expect(manifests).toEqual([]);
      expect(lost).toHaveLength(2);
      for (const { message } of lost)
        expect(message).toMatch(/^one source "main" cannot stand for 2 places: /);
    }
  });

  it.each<readonly [string, Json, Json]>([
    ["a slash at the end", prometheus("http://a/"), prometheus("http://a")],
    ["a port that is the usual one", prometheus("http://a:80"), prometheus("http://a")],
    ["a host in capitals", prometheus("http://A"), prometheus("http://a")],
    [
      "a header in capitals",
      prometheus("http://a", { customHeaders: "X-Scope-OrgID=one" }),
      prometheus("http://a", { customHeaders: "x-scope-orgid = one" }),
    ],
  ])("is one where only the writing differs: %s", (_what, one, other) => {
    const { manifests, lost } = imported([scaledObject("web", [one, other])], {
      prometheus: "main",
    });
    expect([manifests.length, lost]).toEqual([1, []]);
  });

  it("is refused for two Regions of a queue, whether the Region or only the URL says it", () => {
    const queue = (region: string, more: Json): Json => ({
      type: "aws-sqs-queue",
      metadata: { queueURL: `https://sqs.${region}.amazonaws.com/123456789012/q`, ...more },
    });
    const two = [queue("eu-west-1", {}), queue("us-east-1", { awsRegion: "us-east-1" })];
    const { lost } = imported([scaledObject("web", two)], { "aws-sqs-queue": "queues" });
    expect(lost).toHaveLength(2);
  });

  it("is found by itself for each place, by the name that discover gives it", () => {
    const objects = [
      scaledObject("web", [
        prometheus("http://prometheus.monitoring.svc:9090"),
        prometheus("http://mimir.example.com", { customHeaders: "x-scope-orgid=shop" }),
      ]),
      scaledObject("api", [prometheus("http://prometheus.monitoring.svc.cluster.local:9090/")]),
    ];
    const { manifests, lost } = imported(objects, {}, true);
    expect(lost).toEqual([]);
    const named = manifests.flatMap(({ spec }) =>
      (spec as { metrics: { prometheus: { source: string } }[] }).metrics.map(
        (metric) => metric.prometheus.source,
      ),
    );
    const found = discoverSources(objects, []);
    expect(new Set(named)).toEqual(new Set(found.map(({ name }) => name)));
    for (const { name } of found) expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    expect(found.map(({ usedBy, service }) => [usedBy, service?.text])).toContainEqual([
      ["shop/api", "shop/web"],
      "monitoring/prometheus:9090",
    ]);
  });

  it("says which secrets a TriggerAuthentication of the same namespace names, and reads none", () => {
    const authentication = (namespace: string): Json => ({
      apiVersion: "keda.sh/v1alpha1",
      kind: "TriggerAuthentication",
      metadata: { name: "prom", namespace },
      spec: {
        secretTargetRef: [{ parameter: "bearerToken", name: `of-${namespace}`, key: "token" }],
      },
    });
    const object = scaledObject("web", [
      prometheus("https://a", {}, { authenticationRef: { name: "prom" } }),
    ]);
    const [found] = discoverSources([object], [authentication("other"), authentication("shop")]);
    expect(found?.secrets).toEqual(["shop/of-shop: token is bearerToken"]);
  });
});

const WEEK = 7 * 1_440;

/**
 * The rule of KEDA's scaler at each minute of a week: it is active where the next instant of `end`
 * is not after the next one of `start`.
 */
const activeInKeda = (starts: readonly number[], ends: readonly number[], at: number): boolean => {
  const next = (instants: readonly number[]): number =>
    Math.min(...instants.map((instant) => (instant - at + WEEK - 1) % WEEK));
  return next(ends) <= next(starts);
};

describe("a trigger cron of KEDA", () => {
  const line = fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 3 }),
      fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 }),
    )
    .map(([hours, days]) => `0 ${hours.join(",")} * * ${days.join(",")}`);

  it("is a floor in exactly the minutes in which KEDA is active", () => {
    fc.assert(
      fc.property(line, line, (start, end) => {
        const [starts, ends] = [cronTimes(start), cronTimes(end)];
        if (isUnread(starts) || isUnread(ends)) throw new Error("the lines can be read");
        const { entries } = kedaCron(
          { metadata: { timezone: "UTC", start, end, desiredReplicas: "3" } },
          { index: 0, least: 1, most: 10 },
        );
        for (let at = 30; at < WEEK; at += 60)
          expect(entries.some((entry) => covers(entry, at))).toBe(activeInKeda(starts, ends, at));
      }),
      runs(200),
    );
  });

  it.each([
    ["UTC", "Etc/UTC"],
    ["GMT", "Etc/UTC"],
    ["EST", "America/Panama"],
    ["Europe/Berlin", "Europe/Berlin"],
  ])("follows the clock of %s by the area %s", (timezone, timeZone) => {
    const { manifests, lost } = imported(
      [
        scaledObject("web", [
          {
            type: "cron",
            metadata: { timezone, start: "0 8 * * *", end: "0 18 * * *", desiredReplicas: "4" },
          },
        ]),
      ],
      {},
    );
    expect(lost).toEqual([]);
    expect(manifests[0]?.["spec"]).toMatchObject({ schedule: [{ timeZone }] });
  });
});

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const minutes = (clock: unknown): number => {
  const [hours = "0", past = "0"] = String(clock).split(":");
  return Number(hours) * 60 + Number(past);
};

/** True where a window of the entry has the minute of the week. */
const covers = (entry: Json, at: number): boolean => {
  const days = (entry["days"] as readonly string[]).flatMap((text) => {
    const [first = "", last = first] = text.split("-");
    return DAYS.slice(DAYS.indexOf(first), DAYS.indexOf(last) + 1).map((day) => DAYS.indexOf(day));
  });
  const [from, to] = [minutes(entry["from"]), minutes(entry["to"])];
  return days.some((day) => {
    const start = day * 1_440 + from;
    const ahead =
      entry["toDay"] === undefined
        ? to > from
          ? 0
          : 1
        : (DAYS.indexOf(String(entry["toDay"])) - day + 7) % 7 || (to > from ? 0 : 7);
    const length = ahead * 1_440 + to - from;
    return (at - start + WEEK) % WEEK < length;
  });
};
