import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inside } from "./inside.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tidemark-convert-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const hpa = (
  more = "",
  metrics = "[{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }]",
): string => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: web, namespace: shop${more} }
spec: { scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }, minReplicas: 2, maxReplicas: 20, metrics: ${metrics} }
`;

/** The entries that `convert` prints for the only autoscaler, and what it says. */
const converted = (...texts: readonly string[]) => convertedWith([], ...texts);

const convertedWith = async (options: readonly string[], ...texts: readonly string[]) => {
  const file = join(folder, "all.yaml");
  writeFileSync(file, texts.join("---\n"));
  const { out, err, code } = await inside(["convert", "-f", file, ...options, "-o", "json"]);
  return {
    entries:
      code === 0 ? (JSON.parse(out).spec.schedule as readonly unknown[] | undefined) : undefined,
    err,
    document: code === 0 ? JSON.parse(out) : undefined,
  };
};

const SCALED = (
  start: string,
  more = "- { type: cpu, metricType: Utilization, metadata: { value: '60' } }",
): string => `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { name: web }
  minReplicaCount: 2
  maxReplicaCount: 20
  triggers:
    - { type: cron, metadata: { timezone: Europe/Berlin, start: "${start}", end: 0 18 * * 1-5, desiredReplicas: "30" } }
    ${more}
`;

describe("convert with objects that set counts by time", () => {
  it("makes a floor of a cron trigger of KEDA, which ends at the most replicas as in KEDA", async () => {
    const { entries, err, document } = await converted(SCALED("0 8 * * 1-5"));
    expect(entries).toEqual([
      {
        name: "cron-0",
        timeZone: "Europe/Berlin",
        days: ["Mon-Fri"],
        from: "08:00",
        to: "18:00",
        minReplicas: 20,
      },
    ]);
    expect(err).toContain(
      'the entry "cron-0" of the schedule: a floor of 20, without KEDA; maxReplicaCount 20 counts instead of 30; it holds at once, where the HPA of KEDA goes there by its rates, windows and tolerance',
    );
    expect(document).toMatchObject({
      kind: "PodAutoscaler",
      spec: { minReplicas: 2, maxReplicas: 20 },
    });
  });

  it("refuses a cron trigger that it cannot read by its name, and says what of it", async () => {
    expect((await converted(SCALED("0 8 25 12 *"))).err).toContain(
      'spec.triggers[0] (cron): "0 8 25 12 *" ',
    );
  });

  it("makes a schedule of a cron trigger without another one, and needs no source for it", async () => {
    const { entries, document } = await converted(SCALED("0 8 * * 1-5", ""));
    expect(entries).toMatchObject([{ name: "cron-0", minReplicas: 20 }]);
    expect(document).toMatchObject({
      spec: { minReplicas: 2, metrics: [{ name: "cron", formula: { expression: "0" } }] },
    });
  });

  it("makes metrics of registered sources of the other triggers, which --source names", async () => {
    const more =
      "- { type: prometheus, metadata: { serverAddress: 'http://prometheus', query: up, threshold: '10' } }";
    const { err } = await converted(SCALED("0 8 * * 1-5", more));
    expect(err).toContain(
      "spec.triggers[1] (prometheus): its address and its credentials belong to a registered source",
    );
    expect(err).toContain("--source prometheus-1=NAME");
    const { entries, document } = await convertedWith(
      ["--source", "prometheus=main"],
      SCALED("0 8 * * 1-5", more),
    );
    expect(entries).toMatchObject([{ name: "cron-0", minReplicas: 20 }]);
    expect(document).toMatchObject({
      kind: "PodAutoscaler",
      spec: { metrics: [{ prometheus: { source: "main", query: "up" }, target: 10 }] },
    });
    expect(
      (await convertedWith(["--source", "prometheus"], SCALED("0 8 * * 1-5", more))).err,
    ).toContain("give TRIGGER=NAME, such as prometheus=main");
  });

  it("makes windows of the rules of Karmada, each to the next one that sets the same bound", async () => {
    const karmada = `apiVersion: autoscaling.karmada.io/v1alpha1
kind: CronFederatedHPA
metadata: { name: web, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  rules:
    - { name: up, schedule: 0 8 * * 1-5, targetReplicas: 10, timeZone: Asia/Tokyo }
    - { name: down, schedule: 0 20 * * 1-5, targetReplicas: 3, timeZone: Asia/Tokyo }
    - { name: never, schedule: 0 21 * * *, targetReplicas: 1, suspend: true }
`;
    const { entries, err } = await converted(hpa(), karmada);
    expect(entries).toEqual([
      {
        name: "up-floor",
        timeZone: "Asia/Tokyo",
        days: ["Mon-Fri"],
        from: "08:00",
        to: "20:00",
        minReplicas: 10,
      },
      {
        name: "down-floor",
        timeZone: "Asia/Tokyo",
        days: ["Mon-Thu"],
        from: "20:00",
        to: "08:00",
        minReplicas: 3,
      },
      {
        name: "down-floor-2",
        timeZone: "Asia/Tokyo",
        days: ["Fri"],
        from: "20:00",
        to: "08:00",
        toDay: "Mon",
        minReplicas: 3,
      },
    ]);
    expect(err).toContain("spec.rules[2]: it is suspended");
    expect((await converted(hpa(), karmada.replace(", timeZone: Asia/Tokyo", ""))).err).toContain(
      "spec.rules[0]: it has no timeZone",
    );
    expect(
      (await converted(hpa(), karmada.replace("name: web }\n  rules", "name: api }\n  rules"))).err,
    ).toContain('no autoscaler of Deployment "shop/api" is among the files');
  });

  it("makes windows of scheduled actions of AWS, which name no workload of a cluster", async () => {
    const aws = JSON.stringify({
      ScheduledActions: [
        {
          ScheduledActionName: "Morning",
          Schedule: "cron(0 7 ? * MON-FRI *)",
          Timezone: "Europe/Paris",
          ResourceId: "service/c/web",
          ScalableTargetAction: { MinCapacity: 8 },
        },
        {
          ScheduledActionName: "Evening",
          Schedule: "cron(0 19 ? * MON-FRI *)",
          Timezone: "Europe/Paris",
          ResourceId: "service/c/web",
          ScalableTargetAction: { MinCapacity: 2 },
        },
      ],
    });
    expect((await converted(hpa(), `${aws}\n`)).entries).toEqual([
      {
        name: "morning-min",
        timeZone: "Europe/Paris",
        days: ["Mon-Fri"],
        from: "07:00",
        to: "19:00",
        minReplicas: 8,
      },
      {
        name: "evening-min",
        timeZone: "Europe/Paris",
        days: ["Mon-Thu"],
        from: "19:00",
        to: "07:00",
        minReplicas: 2,
      },
      {
        name: "evening-min-2",
        timeZone: "Europe/Paris",
        days: ["Fri"],
        from: "19:00",
        to: "07:00",
        toDay: "Mon",
        minReplicas: 2,
      },
    ]);
    expect(
      (
        await converted(
          hpa(),
          `${aws.replace("cron(0 7 ? * MON-FRI *)", "at(2026-11-27T08:00:00)")}\n`,
        )
      ).err,
    ).toContain('"at(2026-11-27T08:00:00)" is not read, only cron(…)');
  });

  it("takes the metric of a ScalingSchedule out of an HPA, and writes its values as floors with ramps", async () => {
    const schedule = `apiVersion: zalando.org/v1
kind: ScalingSchedule
metadata: { name: busy, namespace: shop }
spec:
  schedules:
    - { type: Repeating, durationMinutes: 240, value: 95, period: { startTime: "18:00", days: [Fri, Sat], timezone: Europe/Berlin } }
`;
    const metric =
      "{ type: Object, object: { describedObject: { apiVersion: zalando.org/v1, kind: ScalingSchedule, name: busy }, metric: { name: busy }, target: { type: AverageValue, averageValue: '10' } } }";
    const cpu =
      "{ type: Resource, resource: { name: cpu, target: { type: Utilization, averageUtilization: 60 } } }";
    const { entries, document } = await converted(hpa("", `[${cpu}, ${metric}]`), schedule);
    expect(entries).toEqual([
      {
        name: "busy-0",
        timeZone: "Europe/Berlin",
        days: ["Fri", "Sat"],
        from: "18:00",
        to: "22:00",
        minReplicas: 10,
        rampMinutes: { in: 10, out: 10 },
      },
    ]);
    expect(JSON.stringify(document)).not.toContain("ScalingSchedule");
    expect((await converted(hpa("", `[${metric}]`), schedule)).err).toContain(
      "its only metric is a schedule",
    );
    const once = schedule.replace(
      /- \{ type.*\n/,
      '- { type: OneTime, date: "2026-11-27T08:00:00Z", durationMinutes: 60, value: 50 }\n',
    );
    expect((await converted(hpa("", `[${cpu}, ${metric}]`), once)).err).toContain(
      "spec.schedules[0]: it is once, at 2026-11-27T08:00:00Z",
    );
  });

  it("holds one pod while kube-downscaler and kube-green sleep, and says that it is not zero", async () => {
    const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop, annotations: { downscaler/uptime: Mon-Fri 07:30-18:00 Europe/Berlin, downscaler/exclude-until: "2026-12-01", downscaler/original-replicas: "4" } }
`;
    const night = {
      name: "downtime",
      timeZone: "Europe/Berlin",
      from: "18:00",
      to: "07:30",
      minReplicas: 1,
      maxReplicas: 1,
    };
    const asleep = [
      { ...night, days: ["Mon-Thu"] },
      { ...night, name: "downtime-2", days: ["Fri"], toDay: "Mon" },
    ];
    const { entries, err } = await converted(hpa(), deployment);
    expect(entries).toEqual(asleep);
    expect(err).toContain("it keeps 1 pod, and not 0");
    expect(err).toContain(
      'metadata.annotations["downscaler/exclude-until"]: it is not carried over',
    );
    expect(
      (
        await converted(
          hpa(", annotations: { downscaler/uptime: Mon-Fri 07:30-18:00 Europe/Berlin }"),
        )
      ).entries,
    ).toEqual(asleep);

    const green = `apiVersion: kube-green.com/v1alpha1
kind: SleepInfo
metadata: { name: nights, namespace: shop }
spec: { weekdays: "1-5", sleepAt: "20:00", wakeUpAt: "08:00", timeZone: Europe/Rome }
`;
    expect((await converted(hpa(), green)).entries).toEqual([
      {
        name: "nights",
        timeZone: "Europe/Rome",
        days: ["Mon-Thu"],
        from: "20:00",
        to: "08:00",
        minReplicas: 1,
        maxReplicas: 1,
      },
      {
        name: "nights-2",
        timeZone: "Europe/Rome",
        days: ["Fri"],
        from: "20:00",
        to: "08:00",
        toDay: "Mon",
        minReplicas: 1,
        maxReplicas: 1,
      },
    ]);
    expect((await converted(hpa(), green.replace(', wakeUpAt: "08:00"', ""))).err).toContain(
      "it never wakes",
    );
  });
});
