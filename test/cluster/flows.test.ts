import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClusterClient, ObservedCluster } from "../../lib/stack/cluster/cluster-client.ts";
import {
  FLOW_SHARE_MS,
  MAX_EARLY_QUESTIONS,
  MAX_FLOW_SHARE_BYTES,
  SLOW_BEGINS_MS,
} from "../../lib/stack/cluster/request-limits.ts";
import type { HpaMetric } from "../../lib/rules/model/spec-hpa.ts";
import { partsOf } from "../answers.ts";
import { fillWith, type Kubernetes, kubernetes } from "./stand-in/kubernetes.ts";
import { json } from "./stand-in/server.ts";
import { heldTime } from "../turns/held-time.ts";
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
/** An adapter whose answer the test gives. */
const heldAdapter = (namespace: string) => {
  const answers: (() => void)[] = [];
  const answer = json(200, VALUE);
  server.overrides.push({
    match: ({ url }) =>
      url.pathname.includes(`external.metrics.k8s.io/v1beta1/namespaces/${namespace}/`),
    answer: (...call) => void answers.push(() => answer(...call)),
  });
  return {
    isAsked: () => vi.waitFor(() => expect(answers.length).toBe(1), WAIT),
    answer: () => {
      for (const give of answers.splice(0)) give();
    },
  };
};
/** How long the test waits for a request on a busy machine. */
const WAIT = { timeout: 20_000, interval: 5 };
/** Makes the client one whose time passes where the test says so. */
const clientInTime = () => {
  client.close();
  const time = heldTime();
  client = clientTo(server, { elapsed: time.elapsed, surroundings: { after: time.after } });
  return time;
};
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
    const time = clientInTime();
    adapter("mill", 0);
    const held = heldAdapter("shop");
    const observed = client.observe([slow], WHOLE);
    await held.isAsked();
    time.pass(1.5 * FLOW_SHARE_MS);
    held.answer();
    await observed;
    // Also after it was fast once.
    server.overrides.splice(-1);
    adapter("shop", 0);
    for (const _sync of ["second", "third"]) {
      server.seen.splice(0);
      // No time passes, so that each answer comes within the share of its namespace.
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
    const time = clientInTime();
    const held = heldAdapter("shop");
    const observed = client.observe([slow], WHOLE);
    await held.isAsked();
    time.pass(1.5 * FLOW_SHARE_MS);
    held.answer();
    await observed;
    server.overrides.splice(-1);
    adapter("shop", 0);
    server.seen.splice(0);
    const first = await client.observe([cpu, slow], { ...WHOLE, inRounds: true });
    time.pass(SLOW_BEGINS_MS - 1);
    expect([names(first), askedOf("shop")]).toEqual([["bank/web"], 0]);
    time.pass(1);
    await vi.waitFor(() => expect(askedOf("shop")).toBe(1), WAIT);
    const later = await first.later?.();
    expect(later && names(later)).toEqual(["shop/web"]);
    expect(askedOf("shop")).toBe(1);
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
