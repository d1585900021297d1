import { describe, expect, it } from "vitest";
import { autoscalerName } from "../../../lib/rules/model/ids.ts";
import type { Neighbour } from "../../../lib/rules/model/observation.ts";
import { rivalOf } from "../../../lib/rules/policy/shared/rivals.ts";
import { readyPod } from "../../observation.ts";

/** Autoscalers whose selectors are counted as they are read. */
const neighbours = (selectors: readonly string[]) => {
  let reads = 0;
  const others: readonly Neighbour[] = selectors.map((selector, at) => ({
    name: autoscalerName(`other-${at}`),
    get selector() {
      reads++;
      return selector;
    },
  }));
  return { others, reads: () => reads };
};

/** A pod that counts how often one of its labels is looked up by name. */
const watchedPod = (labels: Readonly<Record<string, string>>) => {
  let lookups = 0;
  const watched = new Proxy(labels, {
    get: (all, key) => {
      lookups++;
      return Reflect.get(all, key) as unknown;
    },
  });
  return { pod: readyPod("web-0", 1n, { labels: watched }), lookups: () => lookups };
};

/** Lookups of a pod labelled app=web, tier=front beside a thousand others of this selector. */
const lookupsBeside = (selectorOf: (at: number) => string): number => {
  const { pod, lookups } = watchedPod({ app: "web", tier: "front" });
  const { others } = neighbours(Array.from({ length: 1000 }, (_, at) => selectorOf(at)));
  expect(rivalOf([pod], others, "web")).toBeUndefined();
  return lookups();
};

describe("rivalOf() a namespace of many autoscalers", () => {
  it.each<[string, (at: number) => string]>([
    ["one value of a label", (at) => `app=api-${at}`],
    ["one value of a label, as a set", (at) => `app in (api-${at})`],
    ["one value beside a label that must be there", (at) => `tier,app=api-${at}`],
    ["one value after a set of them", (at) => `tier in (front,back),app=api-${at}`],
  ])("compares a pod with none of those that ask for another: %s", (_, selectorOf) => {
    expect(lookupsBeside(selectorOf)).toBeLessThan(10);
  });

  it("compares it with those that could match", () => {
    expect(lookupsBeside((at) => `app in (api-${at},shop)`)).toBeGreaterThanOrEqual(1000);
    expect(lookupsBeside((at) => `app=web,tier=back-${at}`)).toBeGreaterThanOrEqual(1000);
    expect(lookupsBeside((at) => `app!=web,tier notin (front),x-${at}`)).toBeGreaterThanOrEqual(
      1000,
    );
  });

  it("reads the selectors of a list once, however many autoscalers share it", () => {
    const { others, reads } = neighbours(["app=api", "app in (web,api)"]);
    const pods = [readyPod("web-0", 1n)];
    expect([
      rivalOf(pods, others, "web"),
      rivalOf(pods, others, "other-1"),
      rivalOf([], others, "web"),
    ]).toEqual(["other-1", undefined, undefined]);
    expect(reads()).toBe(2);
  });
});
