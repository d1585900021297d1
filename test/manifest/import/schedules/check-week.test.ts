import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { specOf } from "../../../../lib/rules/manifest/admit.ts";
import { importObjects } from "../../../../lib/rules/manifest/import/import-objects.ts";
import { checkWeek } from "../../../../lib/rules/manifest/import/schedules/check-week.ts";
import {
  kedaRules,
  timedRules,
} from "../../../../lib/rules/manifest/import/schedules/source-week.ts";
import { withSchedules } from "../../../../lib/rules/manifest/import/schedules/with-schedules.ts";
import type { Json } from "../../../../lib/rules/model/json.ts";
import { runs } from "../../../runs.ts";

/** A Monday, 00:00 UTC, of a week without a change of a clock; and one in which Berlin has one. */
const MONDAY_MS = Date.UTC(2026, 10, 30);
const CHANGING_MS = Date.UTC(2026, 9, 19);
const metadata = { name: "web", namespace: "shop" };
const autoscaler: Json = {
  apiVersion: "tidemark.dev/v1",
  kind: "PodAutoscaler",
  metadata,
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    minReplicas: 2,
    maxReplicas: 20,
    metrics: [{ resource: { name: "cpu" }, measure: "Percent", target: 60 }],
  },
};

/** What differs between a timed object and the schedule that it becomes. */
const checked = (raw: Json, fromMs = MONDAY_MS) => {
  const { documents, findings } = withSchedules(
    [{ document: autoscaler, entries: [] }],
    [{ raw, words: "file" }],
  );
  expect(findings.filter(({ detail }) => detail.severity === "lost")).toEqual([]);
  const spec = specOf(JSON.stringify(documents[0]));
  return checkWeek({ rules: timedRules(raw), own: { least: 2, most: 20 }, spec }, fromMs);
};
const keda = (triggers: readonly Json[], fromMs = MONDAY_MS) => {
  const raw: Json = {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata,
    spec: {
      scaleTargetRef: { name: "web" },
      minReplicaCount: 2,
      maxReplicaCount: 20,
      triggers: triggers.map((of) => ({ type: "cron", metadata: of })),
    },
  };
  const { manifests } = importObjects(
    {
      hpas: [],
      watermarks: [],
      scaledObjects: [raw],
      sources: { named: {}, discovered: false },
    },
    "native",
  );
  const spec = specOf(JSON.stringify(manifests[0]));
  return checkWeek({ rules: kedaRules(raw), own: { least: 2, most: 20 }, spec }, fromMs);
};

const hours = fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 2 });
const days = fc.uniqueArray(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 7 });
const cron = fc.tuple(hours, days).map(([at, on]) => `30 ${at.join(",")} * * ${on.join(",")}`);
const zone = fc.constantFrom("Etc/UTC", "Asia/Tokyo", "America/New_York");

describe("a week of the source beside a week of the result", () => {
  it("is the same for any two triggers cron of KEDA, also with counts beyond the bounds", () => {
    const trigger = fc.record({
      timezone: zone,
      start: cron,
      end: cron,
      desiredReplicas: fc.constantFrom("1", "7", "50"),
    });
    fc.assert(
      fc.property(fc.array(trigger, { minLength: 1, maxLength: 2 }), (triggers) => {
        expect(keda(triggers)).toEqual({ minutes: 0, differences: [], counts: [] });
      }),
      runs(8),
    );
  });

  it("is the same for the bounds that Karmada and AWS set", () => {
    const rule = fc.record({ at: cron, min: fc.integer({ min: 1, max: 9 }) });
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 3 }), zone, (rules, timeZone) => {
        const karmada = rules.map(({ at, min }, index) => ({
          name: `r${index}`,
          schedule: at,
          targetMinReplicas: min,
          targetMaxReplicas: min + 8,
          timeZone,
        }));
        // Two rules at one instant have no order, in Karmada neither.
        const times = rules.map(({ at }) => at);
        fc.pre(new Set(times.map((at) => at.split(" ")[1])).size === times.length);
        fc.pre(rules.length === 1 || !overlap(times));
        expect(
          checked({
            apiVersion: "autoscaling.karmada.io/v1alpha1",
            kind: "CronFederatedHPA",
            metadata,
            spec: { scaleTargetRef: { kind: "FederatedHPA", name: "web" }, rules: karmada },
          }),
        ).toEqual({ minutes: 0, differences: [], counts: [] });
      }),
      runs(8),
    );
    expect(
      checked({
        ScheduledActions: [
          {
            ScheduledActionName: "up",
            Schedule: "cron(0 7 ? * MON-FRI *)",
            Timezone: "Europe/Paris",
            ScalableTargetAction: { MinCapacity: 8 },
          },
          {
            ScheduledActionName: "down",
            Schedule: "cron(0 19 ? * * *)",
            Timezone: "Europe/Paris",
            ScalableTargetAction: { MinCapacity: 3, MaxCapacity: 9 },
          },
        ],
      }).minutes,
    ).toBe(0);
  });

  it("is the same over a change of the clock", () => {
    const night = { timezone: "Europe/Berlin", start: "0 2 * * *", end: "0 4 * * *" };
    expect(keda([{ ...night, desiredReplicas: "9" }], CHANGING_MS).minutes).toBe(0);
  });

  it("has one pod in place of none while kube-green and kube-downscaler sleep", () => {
    const green = checked({
      apiVersion: "kube-green.com/v1alpha1",
      kind: "SleepInfo",
      metadata,
      spec: { weekdays: "1-5", sleepAt: "20:00", wakeUpAt: "08:00", timeZone: "Europe/Rome" },
    });
    expect(green.minutes).toBe((4 * 12 + 60) * 60);
    expect(green.differences[0]).toMatchObject({
      source: { least: 0, most: 0 },
      here: { least: 1, most: 1 },
    });
    const down = (replicas: string) =>
      checked({
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: {
          ...metadata,
          annotations: {
            "downscaler/uptime": "Mon-Fri 07:30-18:00 Europe/Berlin",
            "downscaler/downtime-replicas": replicas,
          },
        },
      }).minutes;
    expect(down("0")).toBe(10_080 - 5 * 630);
    expect(down("3")).toBe(0);
  });

  it("names the stretch in which a result is another one", () => {
    const raw = {
      kind: "ScaledObject",
      spec: {
        triggers: [
          {
            type: "cron",
            metadata: {
              timezone: "UTC",
              start: "0 8 * * *",
              end: "0 18 * * 1",
              desiredReplicas: "9",
            },
          },
        ],
      },
    };
    const spec = specOf(JSON.stringify(autoscaler));
    expect(
      checkWeek({ rules: kedaRules(raw), own: { least: 2, most: 20 }, spec }, MONDAY_MS),
    ).toEqual({
      counts: [],
      minutes: 600,
      differences: [
        {
          from: "2026-11-30 08:00",
          to: "2026-11-30 18:00",
          timeZone: "Etc/UTC",
          minutes: 600,
          source: { least: 9, most: 20 },
          here: { least: 2, most: 20 },
        },
      ],
    });
  });

  it("names the minutes in which a count is set that the bounds of the result do not allow", () => {
    const rule = (name: string, hour: number, targetReplicas: number) => ({
      name,
      schedule: `30 ${hour} * * 1`,
      targetReplicas,
      timeZone: "Asia/Tokyo",
    });
    const { counts } = checked({
      apiVersion: "autoscaling.karmada.io/v1alpha1",
      kind: "CronFederatedHPA",
      metadata,
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        rules: [rule("up", 9, 1_000), rule("as-is", 10, 12), rule("down", 11, 1)],
      },
    });
    expect(counts).toEqual([
      { at: "2026-11-30 09:30", timeZone: "Asia/Tokyo", source: 1_000, here: 20 },
      { at: "2026-11-30 11:30", timeZone: "Asia/Tokyo", source: 1, here: 2 },
    ]);
  });
});

/** True where two lines may fire at the same minute. */
const overlap = (lines: readonly string[]): boolean => {
  const fires = lines.flatMap((line) => {
    const [, at = "", , , on = ""] = line.split(" ");
    return at.split(",").flatMap((hour) => on.split(",").map((day) => `${day} ${hour}`));
  });
  return new Set(fires).size < fires.length;
};
