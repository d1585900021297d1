import Table from "cli-table3";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import { encodePage } from "../../lib/stack/store/pages/codec.ts";
import { PAGE_ENTRIES } from "../../lib/stack/store/pages/plan.ts";
import { NOON } from "../noon.ts";
import type { StoredWindows } from "../../lib/rules/model/scale-records.ts";

const PERIOD_MS = 15_000;

/** A repeatable stream of numbers in [0, 1). */
const stream = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

const hex = (next: () => number, digits: number): string =>
  Array.from({ length: digits }, () => Math.floor(next() * 16).toString(16)).join("");

const entry = (next: () => number, runs: number, scales: number): StoredWindows => {
  const uid = `${hex(next, 8)}-${hex(next, 4)}-4${hex(next, 3)}-8${hex(next, 3)}-${hex(next, 12)}`;
  let atMs = NOON + Math.floor(next() * PERIOD_MS);
  const recommendations = Array.from({ length: runs }, () => {
    const firstMs = atMs;
    atMs += PERIOD_MS * Math.ceil(next() * 8);
    return {
      replicas: 1 + Math.floor(next() * 30),
      firstMs,
      lastMs: atMs - PERIOD_MS,
      stepMs: PERIOD_MS,
    };
  });
  const changes = Array.from({ length: scales }, (_, at) => ({
    change: 1 + Math.floor(next() * 9),
    atMs: atMs + at * 60_000,
    eventId: `${uid}:${1_000 + at}`,
  }));
  const transitionMs = NOON + Math.floor(next() * 1_000_000);
  const condition = (type: string, reason: string, message: string) => ({
    type,
    status: "True" as const,
    reason,
    message,
    transitionMs,
  });
  return {
    uid: autoscalerUid(uid),
    open: true,
    windows: {
      memory: {
        recommendations,
        scaleUps: changes,
        scaleDowns: [],
        selector: `app=app-${hex(next, 4)}`,
      },
      status: {
        conditions: [
          condition("AbleToScale", "ReadyForNewScale", "recommended size matches current size"),
          condition(
            "ScalingActive",
            "ValidMetricFound",
            "the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)",
          ),
          condition(
            "ScalingLimited",
            "DesiredWithinRange",
            "the desired count is within the acceptable range",
          ),
        ],
        currentReplicas: 3,
        desiredReplicas: 3,
        lastScaleMs: atMs,
        currentMetrics: [
          {
            type: "Resource",
            resource: {
              name: "cpu",
              current: {
                averageUtilization: Math.floor(next() * 100),
                averageValue: `${Math.floor(next() * 900)}m`,
              },
            },
          },
        ],
      },
    },
  };
};

/**
 * Bytes of a windows page of 100 autoscalers, by how much each remembers. The write units of a page
 * are its kilobytes, rounded up.
 */
export const run = async (): Promise<void> => {
  const table = new Table({
    head: [
      "each remembers",
      "page bytes",
      "bytes per autoscaler",
      "WRU per page write",
      "encode ms",
    ],
    style: { head: [], border: [] },
    colAligns: ["left", "right", "right", "right", "right"],
  });
  for (const [runs, scales] of [
    [1, 0],
    [4, 2],
    [20, 6],
    [120, 30],
  ] as const) {
    const next = stream(7);
    const entries = Array.from({ length: PAGE_ENTRIES }, () => entry(next, runs, scales));
    const started = performance.now();
    const { length } = encodePage(entries);
    const tookMs = performance.now() - started;
    table.push([
      `${runs} runs, ${scales} scales`,
      String(length),
      (length / PAGE_ENTRIES).toFixed(0),
      String(Math.ceil(length / 1024)),
      tookMs.toFixed(1),
    ]);
  }
  process.stdout.write(
    `${table.toString()}\n${PAGE_ENTRIES} autoscalers with random uids, values and times; conditions and one metric each\n`,
  );
};
