import { expect, it } from "vitest";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { type GreetingInput, greetingLines } from "../../lib/embedded/run/greeting.ts";
import { deploymentsOf } from "../../lib/embedded/run/manifest-files.ts";
import { NOON } from "../noon.ts";

const CPU = "{ type: cpu, metricType: Utilization, metadata: { value: '60' } }";
const CRON =
  "{ type: cron, metadata: { timezone: UTC, start: 0 8 * * *, end: 0 18 * * *, desiredReplicas: '5' } }";
const scaledObject = (...triggers: readonly string[]): string => `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: { name: orders, namespace: shop }
spec:
  scaleTargetRef: { name: orders }
  triggers: [${triggers.join(", ")}]
`;

const notesOf = (text: string, beside: "keda" | "hpa"): readonly string[] => {
  const input = {
    layout: folderLayout(".tidemark"),
    setup: {
      identity: { kind: "simulated", seed: 1, startMs: NOON, beside },
      manifests: [{ file: "orders.yaml", text }],
      resumed: false,
    },
    nowMs: NOON,
    speed: 60,
    recovered: 0,
    unfinished: { reached: 0 },
    applied: [],
    cluster: "local",
    seriesUrl: "",
    pageUrl: "",
  } as unknown as GreetingInput;
  return greetingLines(input).filter((line) => /^(?:note:|of the workloads)/.test(line));
};

it("A run beside the stand-in of KEDA says which triggers it does not serve", () => {
  expect(notesOf(scaledObject(CPU, CRON), "keda")).toEqual([
    "note: the stand-in of KEDA does not serve triggers[1] (cron) of ScaledObject shop/orders: it scales by the other triggers only",
  ]);
  expect(notesOf(scaledObject(CPU), "keda")).toEqual([]);
  expect(notesOf(scaledObject(CPU, CRON), "hpa")).not.toContainEqual(
    expect.stringContaining("stand-in of KEDA"),
  );
});

it("A ScaledObject with only cron cannot be simulated, and the reason names what is served", () => {
  const file = { file: "orders.yaml", text: scaledObject(CRON) };
  expect(() => deploymentsOf([file], { beside: "keda" })).toThrow(
    'Cannot simulate the ScaledObject of "orders.yaml": spec.triggers[0] (cron): the stand-in of KEDA does not serve such a trigger; it serves cpu, memory, prometheus',
  );
});

it("A run says of which workloads it takes the count", () => {
  const text = `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec: { replicas: 7 }
`;
  expect(notesOf(text, "hpa")).toEqual([
    "of the workloads in the files the run takes spec.replicas: Deployment/shop/web 7",
  ]);
});
