import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClusterClient, ObservedCluster } from "../../lib/stack/cluster/cluster-client.ts";
import { newFlows, slowNamespaces } from "../../lib/stack/cluster/observe/flows.ts";
import {
  FLOW_SHARE_MS,
  MAX_EARLY_QUESTIONS,
  MAX_FLOW_SHARE_BYTES,
  SLOW_BEGINS_MS,
} from "../../lib/stack/cluster/request-limits.ts";
import { callBudget } from "../../lib/stack/cluster/transport/budget.ts";
import { namespace as namespaceOf } from "../../lib/rules/model/ids.ts";
import type { HpaMetric } from "../../lib/rules/model/spec-hpa.ts";
import { partsOf } from "../answers.ts";
import { fillWith, type Kubernetes, kubernetes } from "./stand-in/kubernetes.ts";
import { json } from "./stand-in/server.ts";
import { CPU, clientTo, seen, WHOLE, watch } from "./stand-in/watched.ts";

let server: Kubernetes;
let client: ClusterClient;
beforeEach(async () => {
  server = await kubernetes();
  client = clientTo(server);
  server.collections.set("/apis/autoscaling/v2/horizontalpodautoscalers", []);
});
afterEach(async () => {
  client.close();
  await server.close();
});

const queue = (name: string): HpaMetric => ({
  type: "External",
  metric: { name },
  target: { type: "AverageValue", averageValueMilli: 30_000n },
});
const VALUE = { items: [{ metricName: "m", value: "12", timestamp: "2026-05-01T12:00:00Z" }] };
const adapter = (namespace: string, delayMs: number, body: unknown = VALUE): void => {
  const answer = json(200, body);
  server.overrides.push({
    match: ({ url }) =>
      url.pathname.includes(`external.metrics.k8s.io/v1beta1/namespaces/${namespace}/`),
    answer: (...call) => setTimeout(() => answer(...call), delayMs),
  });
};
const askedOf = (namespace: string): number =>
  server.seen.filter(({ url }) => url.pathname.includes(`/namespaces/${namespace}/b`)).length;
const names = (observed: ObservedCluster): readonly string[] =>
  [...observed.observations.keys()].toSorted();

describe("observe() in rounds", () => {
  const [cpu, quick, slow] = [
    watch("bank", "web", { metrics: [CPU] }),
    watch("mill", "web", { metrics: [queue("a")] }),
    watch("shop", "web", { metrics: [queue("b")] }),
  ];

  it("gives those whose answers have come, and the slow ones of another namespace later", async () => {
    fillWith(server, [
      ["bank", "web"],
      ["mill", "web"],
      ["shop", "web"],
    ]);
    adapter("mill", 0);
    adapter("shop", 2_000);
    const rounds = [await client.observe([cpu, quick, slow], { ...WHOLE, inRounds: true })];
    for (let { later } = rounds[0] ?? {}; later; { later } = rounds.at(-1) ?? {})
      rounds.push(await later());
    // How many rounds there are until the slow one has come depends on the machine.
    const last = rounds.pop();
    expect(rounds.flatMap(names).toSorted()).toEqual(["bank/web", "mill/web"]);
    expect(last && names(last)).toEqual(["shop/web"]);
    expect(
      last && partsOf(seen(last, slow).observation.answers).external.values().next().value,
    ).toMatchObject({ kind: "answered" });
  });

  it("asks a namespace that was slow after the others were decided, in every sync but the first of a client", async () => {
    fillWith(server, [
      ["bank", "web"],
      ["mill", "web"],
      ["shop", "web"],
    ]);
    adapter("mill", 0);
    adapter("shop", 1.5 * FLOW_SHARE_MS);
    await client.observe([cpu, quick, slow], WHOLE);
    // Also after it was fast once.
    server.overrides.splice(-1);
    adapter("shop", 0);
    for (const _sync of ["second", "third"]) {
      server.seen.splice(0);
      const first = await client.observe([cpu, quick, slow], { ...WHOLE, inRounds: true });
      expect(names(first)).toEqual(["bank/web", "mill/web"]);
      expect(askedOf("shop")).toBe(0);
      const later = await first.later?.();
      expect(askedOf("shop")).toBe(1);
      expect(later && names(later)).toEqual(["shop/web"]);
      expect(
        later && partsOf(seen(later, slow).observation.answers).external.values().next().value,
      ).toMatchObject({ kind: "answered" });
      expect(later?.later).toBeUndefined();
    }
  });

  it("asks a namespace that was slow within a second, where the writes of the others take longer", async () => {
    fillWith(server, [
      ["bank", "web"],
      ["shop", "web"],
    ]);
    adapter("shop", 1.5 * FLOW_SHARE_MS);
    await client.observe([cpu, slow], WHOLE);
    server.seen.splice(0);
    const first = await client.observe([cpu, slow], { ...WHOLE, inRounds: true });
    expect([names(first), askedOf("shop")]).toEqual([["bank/web"], 0]);
    await vi.waitFor(() => expect(askedOf("shop")).toBe(1), { timeout: 10 * SLOW_BEGINS_MS });
    const later = await first.later?.();
    expect(later && names(later)).toEqual(["shop/web"]);
    expect(askedOf("shop")).toBe(1);
  });

  it("begins a hundred questions of one namespace before the others are decided, and the rest after them", async () => {
    const many = Array.from({ length: MAX_EARLY_QUESTIONS + 20 }, (_, index) => index);
    const begun: number[] = [];
    const none = (): void => undefined;
    const budget = callBudget({
      budgetMs: 60_000,
      maxCalls: 1_000,
      maxBytes: 1e9,
      elapsed: Date.now,
    });
    const flows = newFlows({
      budget,
      slow: slowNamespaces(Date.now),
      elapsed: Date.now,
      after: () => none,
    });
    for (const index of many) flows.start(namespaceOf("shop"), async () => void begun.push(index));
    flows.start(namespaceOf("bank"), async () => void begun.push(-1));
    expect(begun).toEqual([...many.slice(0, MAX_EARLY_QUESTIONS), -1]);
    expect(flows.areDone()).toBe(false);
    flows.beginLate();
    await flows.within(FLOW_SHARE_MS, FLOW_SHARE_MS);
    expect(begun).toEqual([
      ...many.slice(0, MAX_EARLY_QUESTIONS),
      -1,
      ...many.slice(MAX_EARLY_QUESTIONS),
    ]);
    expect(flows.areDone()).toBe(true);
  });

  it("answers all questions of a namespace that has more than a hundred, where the caller decides once", async () => {
    fillWith(server, [["shop", "web"]]);
    adapter("shop", 0);
    const many = watch("shop", "web", {
      metrics: Array.from({ length: MAX_EARLY_QUESTIONS + 20 }, (_, index) => queue(`b${index}`)),
    });
    const answers = [
      ...partsOf(
        seen(await client.observe([many], WHOLE), many).observation.answers,
      ).external.values(),
    ];
    expect(answers.map(({ kind }) => kind)).toEqual(
      Array.from({ length: MAX_EARLY_QUESTIONS + 20 }, () => "answered"),
    );
  });

  it("waits for all where the caller decides once", async () => {
    fillWith(server, [["shop", "web"]]);
    adapter("shop", 400);
    expect(names(await client.observe([slow], WHOLE))).toEqual(["shop/web"]);
  });

  it("asks no more for a namespace whose answers are larger than its share, names it, and asks others first in each sync, also in a cold environment", async () => {
    const metrics = Array.from({ length: 40 }, (_, index) => queue(`m-${index}`));
    const large = watch("shop", "web", { metrics });
    fillWith(server, [["shop", "web"]]);
    const items = Array.from({ length: 500 }, (_, index) => ({
      ...VALUE.items[0],
      metricLabels: { label: `${index}${"x".repeat(2_000)}` },
    }));
    adapter("shop", 0, { items });
    const answered = async (round: number): Promise<readonly boolean[]> => {
      const limits = { ...WHOLE, budgetMs: 60_000, round };
      client.close();
      client = clientTo(server);
      const observed = seen(await client.observe([large], limits), large);
      expect(observed.overShare).toContain(`bytes of ${MAX_FLOW_SHARE_BYTES} for one namespace`);
      return [...partsOf(observed.observation.answers).external.values()].map(
        ({ kind }) => kind === "answered",
      );
    };
    const rounds: (readonly boolean[])[] = [];
    for (let round = 0; round < 12; round++) rounds.push(await answered(round));
    expect(rounds[0]).not.toEqual(rounds[1]);
    expect(rounds.every((one) => one.includes(false))).toBe(true);
    expect(metrics.filter((_, at) => rounds.every((one) => one[at] !== true))).toEqual([]);
  });
});
