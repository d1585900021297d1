import { gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { answerRequest } from "../../lib/answers/api/answer-request.ts";
import { METRICS_PATH } from "../../lib/answers/api/paths.ts";
import {
  type MetricFamily,
  openMetricsText,
  type MetricSample,
} from "../../lib/stack/report/open-metrics.ts";
import { openQueries } from "../../lib/answers/service/open.ts";
import { ADA, openTo } from "../api/world.ts";
import { type ParsedFamily, parseOpenMetrics } from "../report/open-metrics-parser.ts";
import { PERIOD_MS, type SeriesWorld, seriesWorld, valueIn } from "./series-world.ts";

const wpa = (name: string, more = ""): string => `apiVersion: datadoghq.com/v1alpha1
kind: WatermarkPodAutoscaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  minReplicas: 2
  maxReplicas: 20
  scaleUpLimitFactor: 50
  scaleDownLimitFactor: 50
  upscaleForbiddenWindowSeconds: 60
  downscaleForbiddenWindowSeconds: 60
  metrics: [{ type: External, external: { metricName: lag, metricSelector: {}, highWatermark: "400", lowWatermark: "150" } }]
${more}`;

const hpa = (name: string): string => `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: { name: ${name}, namespace: shop }
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: ${name} }
  minReplicas: 1
  maxReplicas: 20
  metrics: [{ type: External, external: { metric: { name: lag }, target: { type: AverageValue, averageValue: "200" } } }]
`;

let world: SeriesWorld;
afterEach(() => world.close());

const begin = async (
  workloads: Readonly<Record<string, number>>,
  ...manifests: readonly string[]
): Promise<void> => {
  world = await seriesWorld(workloads, manifests.join("---\n"));
};

const wpaValue = (
  families: readonly ParsedFamily[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined => valueIn(families, `wpa_controller_${name}`, labels);

const UP = { transition: "upscale" };
const DOWN = { transition: "downscale" };

const sumsOfEvents = async (): Promise<{ readonly up: number; readonly down: number }> => {
  const made = (await Array.fromAsync(world.service.events({}))).filter(
    ({ outcome }) => outcome !== "refused",
  );
  const sum = (changes: readonly number[]): number =>
    changes.reduce((all, change) => all + Math.max(0, change), 0);
  return {
    up: sum(made.map(({ from, to }) => to - from)),
    down: sum(made.map(({ from, to }) => from - to)),
  };
};

const DECIDED = "tidemark_due_syncs_decided_ratio";

describe("series()", () => {
  it("tells the watermark controller's names, with its labels and the cluster", async () => {
    await begin({ web: 4 }, wpa("web"));
    world.milli = 2_000_000n;
    await world.play(2);
    const families = await world.scrape();
    expect(
      families
        .filter(({ name }) => name.startsWith("wpa_controller_"))
        .map(({ name, type }) => `${name} ${type}`),
    ).toEqual([
      "wpa_controller_conditions gauge",
      "wpa_controller_downscale_replicas counter",
      "wpa_controller_dry_run gauge",
      "wpa_controller_high_watermak gauge",
      "wpa_controller_high_watermark gauge",
      "wpa_controller_labels_info gauge",
      "wpa_controller_low_watermak gauge",
      "wpa_controller_low_watermark gauge",
      "wpa_controller_max_replicas gauge",
      "wpa_controller_min_replicas gauge",
      "wpa_controller_replicas_scaling_effective gauge",
      "wpa_controller_replicas_scaling_proposal gauge",
      "wpa_controller_restricted_scaling gauge",
      "wpa_controller_scaling_active gauge",
      "wpa_controller_transition_countdown gauge",
      "wpa_controller_upscale_replicas counter",
      "wpa_controller_value gauge",
    ]);
    expect(families.find(({ name }) => name === "wpa_controller_value")?.samples).toEqual([
      {
        name: "wpa_controller_value",
        labels: {
          cluster: "eu-1",
          wpa_name: "web",
          wpa_namespace: "shop",
          resource_namespace: "shop",
          resource_name: "web",
          resource_kind: "Deployment",
          target_name: "web",
          namespace: "shop",
          metric_name: "lag",
        },
        value: 2_000_000,
      },
    ]);
    for (const name of ["high_watermark", "high_watermak"])
      expect(wpaValue(families, name, { metric_name: "lag" })).toBe(400_000);
    for (const name of ["low_watermark", "low_watermak"])
      expect(wpaValue(families, name, { metric_name: "lag" })).toBe(150_000);
    expect(families.every(({ help }) => help.length > 10)).toBe(true);
  });

  it("tells the chosen labels to join on: empty where they are not carried, left out where no series can have them", async () => {
    await begin(
      { web: 4 },
      wpa("web").replace(
        "namespace: shop",
        'namespace: shop, labels: { team: checkout, "app.kubernetes.io/name": web }',
      ),
    );
    world.milli = 2_000_000n;
    await world.play(1);
    const infoOf = (families: readonly ParsedFamily[]) =>
      families.find(({ name }) => name === "wpa_controller_labels_info")?.samples;
    const base = {
      cluster: "eu-1",
      wpa_name: "web",
      wpa_namespace: "shop",
      resource_namespace: "shop",
      namespace: "shop",
    };
    const sample = (labels: object) => [
      { name: "wpa_controller_labels_info", labels: { ...base, ...labels }, value: 1 },
    ];
    expect(infoOf(await world.scrape())).toEqual(sample({}));
    const chosen = ["team", "tier", "app.kubernetes.io/name", "namespace"];
    expect(
      infoOf(parseOpenMetrics(openMetricsText(await world.service.series({ labels: chosen })))),
    ).toEqual(sample({ team: "checkout", tier: "" }));
  });

  it("tells what the newest sync found, and counts what was scaled", async () => {
    await begin({ web: 4 }, wpa("web"));
    world.milli = 2_000_000n;
    await world.play(1);
    const first = await world.scrape();
    expect(wpaValue(first, "replicas_scaling_proposal", { metric_name: "lag" })).toBe(20);
    expect(wpaValue(first, "replicas_scaling_effective")).toBe(6);
    expect(wpaValue(first, "restricted_scaling", { reason: "upscale_capping" })).toBe(1);
    expect(wpaValue(first, "restricted_scaling", { reason: "within_bounds" })).toBe(0);
    expect(wpaValue(first, "scaling_active")).toBe(1);
    expect(wpaValue(first, "conditions", { condition: "able_to_scale" })).toBe(1);
    expect(wpaValue(first, "conditions", { condition: "scaling_limited" })).toBe(1);
    expect([
      wpaValue(first, "min_replicas"),
      wpaValue(first, "max_replicas"),
      wpaValue(first, "dry_run"),
    ]).toEqual([2, 20, 0]);
    expect([wpaValue(first, "upscale_replicas"), wpaValue(first, "downscale_replicas")]).toEqual([
      2, 0,
    ]);

    await world.play(4);
    const second = await world.scrape();
    expect(wpaValue(second, "replicas_scaling_effective")).toBe(9);
    expect([wpaValue(second, "upscale_replicas"), wpaValue(second, "downscale_replicas")]).toEqual([
      5, 0,
    ]);

    world.milli = 60_000n;
    await world.play(4);
    const third = await world.scrape();
    expect(wpaValue(third, "value", { metric_name: "lag" })).toBe(60_000);
    expect([wpaValue(third, "upscale_replicas"), wpaValue(third, "downscale_replicas")]).toEqual([
      5, 4,
    ]);
    // Minutes without a scale open with a page in the journal, which tells how long each window
    // still lasts.
    await world.play(3);
    const fourth = await world.scrape();
    for (const labels of [UP, DOWN])
      expect([15, 30, 45]).toContain(wpaValue(fourth, "transition_countdown", labels));
    expect(wpaValue(fourth, "replicas_scaling_effective")).toBe(5);
  });

  it.each([
    ["inside the marks", 300_000n, 1],
    ["on the widened high mark", 440_000n, 1],
    ["just above it", 440_001n, 0],
    ["on the widened low mark", 135_000n, 1],
    ["just below it", 134_999n, 0],
    ["a zero that is not tolerated, which says nothing", 0n, 0],
  ])(
    "tells by within_bounds whether the value is between the marks: %s",
    async (_, milli, within) => {
      await begin({ web: 4 }, wpa("web"));
      world.milli = milli;
      await world.play(1);
      expect(
        wpaValue(await world.scrape(), "restricted_scaling", { reason: "within_bounds" }),
      ).toBe(within);
    },
  );

  it("tells the band of marks beside behavior in an HPA, until its metric cannot be read", async () => {
    const marks =
      '[{ type: External, external: { metricName: lag, highWatermark: "400", lowWatermark: "150" } }]';
    await begin(
      { web: 4 },
      `${hpa("web").replace(/metrics: .*/, `metrics: ${marks}`)}  behavior: {}\n  scaleUpLimitFactor: 25\n`,
    );
    world.milli = 440_000n;
    await world.play(1);
    const inside = await world.scrape();
    expect(
      ["value", "high_watermark", "low_watermak", "replicas_scaling_proposal"].map((name) =>
        wpaValue(inside, name, { metric_name: "lag" }),
      ),
    ).toEqual([440_000, 400_000, 150_000, 4]);
    expect(wpaValue(inside, "restricted_scaling", { reason: "within_bounds" })).toBe(1);
    world.milli = 2_000_000n;
    await world.play(1);
    const above = await world.scrape();
    expect(
      ["within_bounds", "upscale_capping", "downscale_capping"].map((reason) =>
        wpaValue(above, "restricted_scaling", { reason }),
      ),
    ).toEqual([0, 1, 0]);
    expect(wpaValue(above, "upscale_replicas")).toBe(1);
    await world.play(1);
    expect(wpaValue(await world.scrape(), "transition_countdown", UP)).toBe(45);
    world.milli = undefined;
    await world.play(4);
    const blind = await world.scrape();
    expect([
      wpaValue(blind, "value"),
      wpaValue(blind, "restricted_scaling", { reason: "within_bounds" }),
    ]).toEqual([undefined, undefined]);
    expect(wpaValue(blind, "high_watermark", { metric_name: "lag" })).toBe(400_000);
  });

  it("leaves out what a failing metric took away, and says that the rules do not decide", async () => {
    await begin({ web: 4 }, wpa("web"));
    world.milli = 200_000n;
    await world.play(1);
    expect(wpaValue(await world.scrape(), "value", { metric_name: "lag" })).toBe(200_000);
    world.milli = undefined;
    await world.play(4);
    const families = await world.scrape();
    for (const name of ["value", "replicas_scaling_proposal", "restricted_scaling"])
      expect(wpaValue(families, name)).toBeUndefined();
    expect(wpaValue(families, "scaling_active")).toBe(0);
    expect(wpaValue(families, "high_watermark")).toBe(400_000);
    expect(valueIn(families, "tidemark_scaling_active", { name: "web" })).toBe(0);
  });

  it("counts no dry run and no refusal, and one attempt without an answer", async () => {
    await begin(
      { web: 4, dry: 4, touched: 4 },
      wpa("web"),
      wpa("dry", "  dryRun: true\n"),
      wpa("touched"),
    );
    world.milli = 2_000_000n;
    world.cluster.beforePut = (name) => {
      const touched = world.cluster.workloads.get("touched");
      if (name === "touched" && touched) touched.resourceVersion++;
    };
    world.cluster.faults.push("lost answer");
    // The attempt without an answer is settled minutes later, under the time of its decision:
    // scrapes in between must not have passed that by.
    for (let at = 0; at < 3; at++) {
      await world.play(1);
      await world.scrape();
      await world.scrape();
    }
    world.wait(120_000);
    await world.play(1);
    const families = await world.scrape();
    const total = (name: string): number | undefined =>
      wpaValue(families, "upscale_replicas", { wpa_name: name });
    expect(wpaValue(families, "dry_run", { wpa_name: "dry" })).toBe(1);
    expect(total("dry")).toBe(0);
    const events = new Map<string, number>();
    for await (const { name, from, to, outcome } of world.service.events({})) {
      events.set(name, (events.get(name) ?? 0) + (outcome === "refused" ? 0 : to - from));
    }
    expect(events.get("web")).toBeGreaterThan(0);
    expect(events.get("touched")).toBe(0);
    expect([total("web"), total("touched")]).toEqual([events.get("web"), 0]);
  });

  it("tells the sums of all scales, whatever reads them and whoever did the syncs, and no scrape reads the history of scales", async () => {
    await begin({ web: 4 }, wpa("web"));
    let sums = { up: 0, down: 0 };
    for (let round = 0; round < 12; round++) {
      world.milli = round % 4 < 2 ? 2_000_000n : 10_000n;
      await world.play(5);
      sums = await sumsOfEvents();
      const families = await world.scrape();
      expect([
        wpaValue(families, "upscale_replicas"),
        wpaValue(families, "downscale_replicas"),
      ]).toEqual([sums.up, sums.down]);
    }
    expect(Math.min(sums.up, sums.down)).toBeGreaterThan(5);
    // The journal has the values of watermark rules, the partition its head and index; the
    // autoscalers themselves are not read.
    expect([...world.queried].toSorted()).toEqual(["fleet", "journal", "partition"]);
  });

  it.each([
    [3 * PERIOD_MS, true],
    [3 * PERIOD_MS + 1, false],
  ])("%d ms after the last sync: told is %s", async (ms, told) => {
    await begin({ web: 4, api: 3 }, wpa("web"), hpa("api"));
    world.milli = 200_000n;
    await world.play(2);
    world.wait(ms);
    const families = await world.scrape();
    const ofAutoscalers = families.filter(({ name }) => name !== DECIDED);
    expect(ofAutoscalers.length > 0).toBe(told);
    // What the cluster was owed goes on, so that an alert on it does not end by itself.
    expect(families.length - ofAutoscalers.length).toBe(1);
    expect(wpaValue(families, "value") !== undefined).toBe(told);
  });

  it("says what each cluster was owed and got, also while nobody syncs it", async () => {
    await begin({ web: 4, api: 3 }, wpa("web"), hpa("api"));
    await world.play(2);
    const ratio = async (window: string): Promise<number | undefined> =>
      valueIn(await world.scrape(), DECIDED, { window });
    expect([await ratio("15m"), await ratio("24h")]).toEqual([1, 1]);
    world.wait(30 * 60_000);
    expect(await ratio("15m")).toBe(0);
    expect(await ratio("1h")).toBeGreaterThan(0);
    world.wait(3 * 3_600_000);
    expect([await ratio("15m"), await ratio("1h")]).toEqual([0, 0]);
  });

  it("goes on telling between two pages of the journal, and forgets an autoscaler that was deleted", async () => {
    await begin({ web: 4, api: 3 }, wpa("web"), hpa("api"));
    world.milli = 200_000n;
    for (let at = 0; at < 9; at++) {
      await world.play(1);
      expect(wpaValue(await world.scrape(), "value")).toBe(200_000);
    }
    await world.service.delete({ name: "web" });
    const families = await world.scrape();
    expect(families.some(({ name }) => name.startsWith("wpa_controller_"))).toBe(false);
    expect(valueIn(families, "tidemark_current_replicas", { name: "api" })).toBe(3);
  });

  it("names the monitor of a life cycle, and no workload", async () => {
    const monitored = wpa("web").replace(
      "name: web, namespace: shop",
      'name: web, namespace: shop, annotations: { wpa.datadoghq.com/lifecycle-control.enabled: "true" }',
    );
    await begin({ web: 4 }, monitored);
    await world.play(1);
    expect(
      (await world.scrape()).find(({ name }) => name === "wpa_controller_lifecycle_control_status")
        ?.samples,
    ).toEqual([
      {
        name: "wpa_controller_lifecycle_control_status",
        labels: {
          cluster: "eu-1",
          wpa_name: "web",
          wpa_namespace: "shop",
          lifecycle_status: "blocked",
          monitor_name: "web",
          monitor_namespace: "shop",
        },
        value: 1,
      },
    ]);
  });

  it("is not hidden by an autoscaler or a cluster that cannot be read", async () => {
    await begin({ web: 4 }, wpa("web"));
    world.milli = 200_000n;
    await world.play(1);
    const before = await world.scrape();
    await world.damage({ pk: "autoscalers#eu-1", sk: "shop#broken" });
    await world.damage({ pk: "fleet", sk: "cluster#broken" });
    expect(await world.scrape()).toEqual(before);
    expect(wpaValue(before, "value")).toBe(200_000);
  });

  it("tells while the fleet is frozen that no rules decide, what they measure, and the count that they would write", async () => {
    await begin({ web: 4 }, wpa("web"));
    world.milli = 2_000_000n;
    await world.play(1);
    await world.service.freeze("incident");
    expect(valueIn(await world.scrape(), "tidemark_scaling_active", { name: "web" })).toBe(0);
    world.milli = 3_000_000n;
    await world.play(5);
    const families = await world.scrape();
    expect(valueIn(families, "tidemark_scaling_active", { name: "web" })).toBe(0);
    expect(wpaValue(families, "value")).toBe(3_000_000);
    expect(valueIn(families, "tidemark_current_replicas", { name: "web" })).toBe(6);
    expect(valueIn(families, "tidemark_desired_replicas", { name: "web" })).toBe(9);
    expect(wpaValue(families, "upscale_replicas")).toBe(2);
  });

  it("has no desired count where nothing was ever decided: the stored 0 is no wish", async () => {
    await begin({ web: 4 }, hpa("web"));
    world.milli = undefined;
    await world.play(1);
    const blind = await world.scrape();
    const web = { name: "web" };
    expect([
      valueIn(blind, "tidemark_current_replicas", web),
      valueIn(blind, "tidemark_scaling_active", web),
    ]).toEqual([4, 0]);
    expect(valueIn(blind, "tidemark_desired_replicas", web)).toBeUndefined();
    world.milli = 1_200_000n;
    await world.play(1);
    expect(valueIn(await world.scrape(), "tidemark_desired_replicas", web)).toBe(6);
  });

  it("tells counts and whether rules decide for every dialect", async () => {
    await begin({ web: 4, api: 3 }, wpa("web"), hpa("api"));
    world.milli = 1_200_000n;
    await world.play(1);
    const families = await world.scrape();
    const api = {
      cluster: "eu-1",
      namespace: "shop",
      name: "api",
      resource_kind: "Deployment",
      resource_name: "api",
    };
    const generic = (name: string): number | undefined =>
      valueIn(families, `tidemark_${name}`, api);
    expect([
      generic("current_replicas"),
      generic("desired_replicas"),
      generic("scaling_active"),
    ]).toEqual([3, 6, 1]);
    await world.play(1);
    expect(valueIn(await world.scrape(), "tidemark_current_replicas", api)).toBe(6);
    expect(valueIn(families, "tidemark_desired_replicas", { name: "web" })).toBe(6);
    await world.service.pause({ name: "api" });
    expect(valueIn(await world.scrape(), "tidemark_scaling_active", { name: "api" })).toBe(0);
  });
});

describe("a scrape over HTTP", () => {
  /**
   * The series of a real sync of both kinds, of so many autoscalers with names, clusters and values
   * of their own.
   */
  const fleetOf = async (autoscalers: number): Promise<readonly MetricFamily[]> => {
    const families = await world.service.series();
    const copies = Array.from({ length: autoscalers / 2 }, (_, at) => at);
    const renamed = (labels: MetricSample["labels"], at: number): MetricSample["labels"] =>
      Object.fromEntries(
        Object.entries(labels).map(([label, text]) => [
          label,
          label === "cluster" ? `eu-${at % 100}` : text.replace(/^(web|api)$/, `checkout-$1-${at}`),
        ]),
      );
    return families.map((family) => ({
      ...family,
      // There are 100 clusters.
      samples: (family.name === DECIDED ? copies.slice(0, 100) : copies).flatMap((at) =>
        family.samples.map(({ labels, value }) => ({
          labels: renamed(labels, at),
          value: value + ((at * 7_919) % 10_007) / 8,
        })),
      ),
    }));
  };
  const scraped = async (families: readonly MetricFamily[], accepted?: string) => {
    const reading = { ...openQueries(world.context), series: async () => families };
    const headers = accepted === undefined ? {} : { "accept-encoding": accepted };
    const request = {
      method: "GET",
      path: METRICS_PATH,
      query: "",
      headers,
      body: new Uint8Array(),
      by: ADA,
      id: "r",
    };
    return answerRequest({ ...openTo(reading), clock: () => world.nowMs, log: () => {} }, request);
  };

  it.each([10_000])(
    "of %i autoscalers, half of them with watermark rules, is answered compressed, whole, and in less than half of what an answer holds",
    async (autoscalers) => {
      await begin({ web: 4, api: 4 }, wpa("web"), hpa("api"));
      world.milli = 2_000_000n;
      await world.play(4);
      const families = await fleetOf(autoscalers);
      const { status, headers, body } = await scraped(families, "gzip");
      expect([status, headers["content-encoding"]]).toEqual([200, "gzip"]);
      expect(body.length).toBeLessThan(2_000_000);
      const text = gunzipSync(body as Uint8Array).toString();
      const samplesOf = (family: string): number =>
        text.split("\n").filter((line) => line.startsWith(`${family}{`)).length;
      expect([
        samplesOf("tidemark_current_replicas"),
        samplesOf("wpa_controller_value"),
        text.endsWith("# EOF\n"),
      ]).toEqual([autoscalers, autoscalers / 2, true]);
      // What the page on monitoring says of a scraper that takes no gzip.
      const plain = await scraped(families);
      expect([plain.status, JSON.parse(String(plain.body)).detail]).toEqual([
        406,
        expect.stringContaining('send the header "accept-encoding: gzip"'),
      ]);
    },
  );
});
