import fc from "fast-check";
import type { MetricOutcome } from "../../lib/rules/model/decision.ts";
import type { Pod, PodMetrics } from "../../lib/rules/model/observation.ts";
import { milliOfText } from "../../lib/rules/model/quantity.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { labelIndex } from "../../lib/rules/model/selector.ts";
import type { AutoscalerSpec, DialectName } from "../../lib/rules/model/spec.ts";
import {
  type ControllerSettings,
  DEFAULT_SETTINGS,
  HPA_VERSIONS,
  type HpaVersion,
} from "../../lib/rules/model/spec-common.ts";
import type { HpaMetric, Marks, MetricTarget } from "../../lib/rules/model/spec-hpa.ts";
import type { NativeMetric, NativeSpec } from "../../lib/rules/model/spec-native.ts";
import type { WatermarkSpec } from "../../lib/rules/model/spec-watermark.ts";
import type { DecideInput } from "../../lib/rules/policy/decide.ts";
import { countingPods } from "../../lib/rules/policy/native/metrics/counting-pods.ts";
import { groupPods } from "../../lib/rules/policy/shared/metrics/measurement.ts";
import { readyPods } from "../../lib/rules/policy/watermark/metrics/measure.ts";
import { countedPods as watermarkPods } from "../../lib/rules/policy/watermark/metrics/pods.ts";
import { podsQuery } from "../../lib/rules/sources/pods.ts";
import type { PodSample } from "../../lib/rules/sources/source.ts";
import { NOON } from "../noon.ts";
import { observationOf, podUsage, readyPod, scaleRead } from "../observation.ts";
import { decideInput } from "./applied-sync.ts";
import { native } from "./native/world.ts";
import { wpa } from "./watermark/world.ts";

/** How a metric is read: what is given to the sources in place of a value. */
type Form = "external" | "resource" | "pods";

interface Drawn {
  readonly dialect: DialectName;
  readonly hpaVersion: HpaVersion;
  readonly form: Form;
  readonly measure: "Percent" | "Average" | "Total";
  readonly marks: boolean;
  readonly targetMilli: bigint;
  readonly widthMilli: bigint;
  readonly tolerance: { readonly up: number; readonly down: number };
  readonly scaleUpOnly: boolean;
  readonly rule: NativeSpec["pods"];
  readonly converge: WatermarkSpec["converge"];
  readonly modulo: number;
  readonly average: boolean;
  readonly current: number;
  readonly status: number;
  readonly pods: readonly DrawnPod[];
  /** Thousandths of the target that the value is about. */
  readonly load: number;
}

interface DrawnPod {
  readonly requestMilli: bigint;
  readonly state:
    | "ready"
    | "unready"
    | "silent"
    | "deleting"
    | "Pending"
    | "Failed"
    | "Succeeded"
    | "gone"
    | "foreign"
    | "canary";
}

/** The whole use ÷ the requests is read in thousandths of a percent: each is a use of its own. */
const FINE = 100_000n;

const drawnPod: fc.Arbitrary<DrawnPod> = fc.record({
  requestMilli: fc.bigInt({ min: 1n, max: 2_000n }).map((milli) => milli * FINE),
  state: fc.oneof(
    { weight: 8, arbitrary: fc.constant("ready" as const) },
    { weight: 2, arbitrary: fc.constantFrom("unready" as const, "silent" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "deleting" as const,
        "Pending" as const,
        "Failed" as const,
        "Succeeded" as const,
        "gone" as const,
        "foreign" as const,
        "canary" as const,
      ),
    },
  ),
});

const share = fc.constantFrom(0, 0.01, 0.1, 0.2, 0.5, 1, 3);

export const drawnOf = (dialect: DialectName): fc.Arbitrary<Drawn> =>
  fc
    .record({
      dialect: fc.constant(dialect),
      hpaVersion: fc.constantFrom(...HPA_VERSIONS),
      form:
        dialect === "original"
          ? fc.constant<Form>("resource")
          : fc.constantFrom<Form>("external", "resource", "pods"),
      measure: fc.constantFrom("Percent" as const, "Average" as const, "Total" as const),
      marks: fc.boolean(),
      targetMilli: fc.oneof(
        fc.bigInt({ min: 1n, max: 200n }).map((whole) => whole * 1000n),
        fc.bigInt({ min: 1n, max: 300_000n }),
      ),
      widthMilli: fc.bigInt({ min: 0n, max: 100n }).map((whole) => whole * 1000n),
      tolerance: fc.record({ up: share, down: share }),
      scaleUpOnly: fc.boolean(),
      rule: fc.constantFrom("owned" as const, "stable" as const, "asHpa" as const),
      converge: fc.constantFrom("off" as const, "highwatermark" as const, "lowwatermark" as const),
      modulo: fc.constantFrom(1, 2, 3),
      average: fc.boolean(),
      extra: fc.integer({ min: -5, max: 30 }),
      lag: fc.integer({ min: -2, max: 2 }),
      coarse: fc.boolean(),
      pods: fc.array(drawnPod, { minLength: 1, maxLength: 12 }),
      load: fc.oneof(
        fc.integer({ min: 0, max: 4_000 }),
        fc.integer({ min: 850, max: 1_150 }),
        fc.integer({ min: 0, max: 40_000 }),
      ),
    })
    .map(({ extra, lag, coarse, ...drawn }) => {
      const surplus = extra > 3 ? 0 : extra;
      const current = Math.max(1, drawn.pods.length + surplus);
      // The first design adds up fractions, which no use between two thousandths is.
      const pods = drawn.pods.map((pod) =>
        coarse && dialect !== "original" ? { ...pod, requestMilli: pod.requestMilli / FINE } : pod,
      );
      return { ...drawn, pods, current, status: Math.max(1, current + lag) };
    });

const OWNER: Readonly<Partial<Record<DrawnPod["state"], string>>> = {
  foreign: "api-1",
  canary: "web-2",
};

const podOf = ({ requestMilli, state }: DrawnPod, at: number): Pod =>
  readyPod(`web-${at}`, requestMilli, {
    owners: [{ kind: "ReplicaSet", name: OWNER[state] ?? "web-1" }],
    labels: { app: "web", "pod-template-hash": state === "canary" ? "2" : "1" },
    deleting: state === "deleting",
    phase: state === "Pending" || state === "Failed" || state === "Succeeded" ? state : "Running",
    ready: { status: state === "unready" ? "False" : "True", transitionMs: 0 },
  });

/** Pods that are listed, and those that gave a sample. */
const isListed = ({ state }: DrawnPod): boolean => state !== "gone";
const hasSample = ({ state }: DrawnPod): boolean => state !== "silent";

const podsOf = ({ pods }: Drawn): readonly Pod[] =>
  pods.flatMap((pod, at) => (isListed(pod) ? [podOf(pod, at)] : []));

const settingsOf = ({ hpaVersion, tolerance }: Drawn): ControllerSettings => ({
  ...DEFAULT_SETTINGS,
  tolerance: tolerance.up,
  hpaVersion,
});

/**
 * The input of a sync whose metric has a value: `steps` thousandths of a percent, or of the amount.
 * `undefined` where nothing can be measured.
 */
export const inputAt = (drawn: Drawn, steps: bigint): DecideInput | undefined => {
  const milli = sumAt(drawn, steps);
  if (milli === undefined) return undefined;
  const { form, pods } = drawn;
  const spec = specOf(drawn);
  const holder = holderOf(drawn);
  const used = pods.flatMap((pod, at) =>
    hasSample(pod) ? [{ name: `web-${at}`, milli: at === holder ? milli : 0n }] : [],
  );
  const external = queryKey({ for: "external", metric: "load", metricSelector: "" });
  const jobs = podsQuery({ name: "jobs" }, "app=web");
  return decideInput({
    spec,
    settings: settingsOf(drawn),
    observation: observationOf({
      scale: scaleRead(drawn.current, { statusReplicas: drawn.status }),
      pods: podsOf(drawn),
      answers: {
        resource: {
          kind: "answered",
          items: labelIndex(
            used.map(
              ({ name, milli: cpu }): PodMetrics => podUsage(name, { cpu }, { timestampMs: NOON }),
            ),
          ),
        },
        external: new Map([
          [external, { kind: "answered", items: [{ milli, timestampMs: NOON }] } as const],
        ]),
        custom: new Map(
          jobs && form === "pods"
            ? [
                [
                  queryKey(jobs),
                  {
                    kind: "answered",
                    items: used.map(({ name, milli: value }) => ({
                      describes: name,
                      milli: value,
                      timestampMs: NOON,
                      windowMs: 0,
                    })),
                  } as const,
                ],
              ]
            : [],
        ),
      },
    }),
  });
};

/** The pods that the rules measure. */
const measuredIn = (drawn: Drawn): readonly Pod[] => {
  const pods = podsOf(drawn);
  const { dialect, rule, current } = drawn;
  if (dialect !== "native") return pods;
  return countingPods({ ...NATIVE, pods: rule }, pods, current).own?.measured ?? pods;
};

/** The pod that is given the whole value: one whose sample counts in every form. */
const holderOf = (drawn: Drawn): number => {
  const measured = new Set(measuredIn(drawn).map(({ name }) => name));
  return drawn.pods.findIndex(({ state }, at) => state === "ready" && measured.has(`web-${at}`));
};

/** The whole amount that makes a value. */
const sumAt = (drawn: Drawn, steps: bigint): bigint | undefined => {
  if (drawn.form !== "external" && holderOf(drawn) < 0) return undefined;
  const { over, under } = basisOf(drawn);
  return over > 0n ? (steps * over + under - 1n) / under : undefined;
};

interface Basis {
  readonly over: bigint;
  readonly under: bigint;
}

/** What the rules divide the amount by. */
const basisOf = (drawn: Drawn): Basis => {
  const { dialect, form, average } = drawn;
  if (dialect === "watermark" || isMarkedHpa(drawn))
    return { over: average ? BigInt(readyIn(drawn)) : 1n, under: 1n };
  if (form === "external") return { over: sharedBy(drawn), under: 1n };
  return dialect === "original" ? originalBasis(drawn) : podBasis(drawn);
};

const sharedBy = ({ dialect, measure, current, status }: Drawn): bigint =>
  measure === "Total" ? 1n : BigInt(dialect === "native" ? current : status);

const podBasis = (drawn: Drawn): Basis => {
  const { counted, samples } = countedIn(drawn);
  const requested = counted.reduce((sum, { requestMilli }) => sum + requestMilli, 0n);
  return drawn.form === "resource" && drawn.measure === "Percent"
    ? { over: requested, under: 100_000n }
    : { over: BigInt(samples), under: 1n };
};

const isMarkedHpa = ({ dialect, marks }: Drawn): boolean => dialect === "multi-threshold" && marks;

/** The mean of the use ÷ the request of each running pod; the holder has all of it. */
const originalBasis = (drawn: Drawn): Basis => {
  const running = drawn.pods.filter(
    (pod) => isListed(pod) && !["deleting", "Pending", "Failed", "Succeeded"].includes(pod.state),
  );
  const request = drawn.pods[holderOf(drawn)]?.requestMilli ?? 0n;
  return { over: BigInt(running.length) * request, under: 100_000n };
};

const countedIn = (drawn: Drawn) => {
  const measured = measuredIn(drawn);
  const names = new Set(measured.map(({ name }) => name));
  const isOwn = drawn.dialect === "native" && drawn.rule !== "asHpa";
  const samples = new Map<string, PodSample>(
    drawn.pods.flatMap((pod, at) =>
      hasSample(pod) && (!isOwn || names.has(`web-${at}`))
        ? [[`web-${at}`, { milli: 0n, timestampMs: NOON, windowMs: 0 }] as const]
        : [],
    ),
  );
  const groups = groupPods(measured, samples, drawn.form === "resource" ? "cpu" : "", {
    nowMs: NOON,
    ...settingsOf(drawn),
  });
  for (const name of [...groups.ignored, ...groups.unready]) samples.delete(name);
  const counted = drawn.pods.filter((pod, at) => isListed(pod) && samples.has(`web-${at}`));
  return { counted, samples: samples.size };
};

const readyIn = (drawn: Drawn): number => {
  if (drawn.dialect !== "watermark") return drawn.current;
  const spec = specOf(drawn) as WatermarkSpec;
  const scale = scaleRead(drawn.current, { statusReplicas: drawn.status });
  const pods = podsOf(drawn);
  if (drawn.form === "resource")
    return watermarkPods(
      pods,
      (name) => drawn.pods[Number(name.slice("web-".length))]?.state !== "silent",
      "cpu",
      spec,
    ).ready;
  const ready = readyPods({
    spec,
    namespace: "shop",
    scale,
    observation: observationOf({ scale, pods }),
    nowMs: NOON,
  });
  return ready.kind === "counted" ? ready.value : 0;
};

const BOUNDS = {
  target: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  minReplicas: 1,
  maxReplicas: 1_000,
};

const NATIVE = native({
  metrics: [{ name: "a", external: { metric: "load" }, target: 1 }],
}) as NativeSpec;
const WPA = wpa();

const specOf = (drawn: Drawn): AutoscalerSpec => {
  const { dialect } = drawn;
  switch (dialect) {
    case "hpa":
      return { ...BOUNDS, dialect, metrics: [hpaMetric(drawn)] };
    case "original":
      return { ...BOUNDS, dialect, metrics: [hpaMetric({ ...drawn, measure: "Percent" })] };
    case "multi-threshold":
      return {
        ...BOUNDS,
        dialect,
        metrics: [{ ...hpaMetric(drawn), ...(drawn.marks && { marks: hpaMarks(drawn) }) }],
        thresholds: { ...THRESHOLDS, average: drawn.average, tolerance: drawn.tolerance.up },
      };
    case "watermark":
      return watermarkSpec(drawn);
    case "native":
      return { ...NATIVE, ...BOUNDS, pods: drawn.rule, metrics: [nativeMetric(drawn)] };
  }
};

const watermarkSpec = (drawn: Drawn): WatermarkSpec => ({
  ...WPA,
  ...BOUNDS,
  metrics: [
    {
      source: drawn.form === "resource" ? "Resource" : "External",
      name: drawn.form === "resource" ? "cpu" : "load",
      selector: drawn.form === "resource" ? { matchLabels: { app: "web" } } : {},
      ...marksOf(drawn),
    },
  ],
  average: drawn.average,
  toleranceMilli: BigInt(Math.round(Math.min(drawn.tolerance.up, 1) * 1000)),
  converge: drawn.converge,
  replicaScalingAbsoluteModulo: drawn.modulo,
  readinessDelaySeconds: 0,
  tolerateZero: drawn.scaleUpOnly,
  minAvailableReplicaPercentage: 0,
});

const THRESHOLDS = {
  upscaleForbiddenWindowSeconds: 0,
  downscaleForbiddenWindowSeconds: 0,
  scaleUpLimit: { milli: 0n, whole: 0n },
  scaleDownLimit: { milli: 0n, whole: 0n },
} as const;

const marksOf = ({ targetMilli, widthMilli }: Drawn) => ({
  lowMilli: targetMilli,
  highMilli: targetMilli + widthMilli,
});

const hpaMarks = (drawn: Drawn): Marks => marksOf(drawn);

const percentOf = (targetMilli: bigint): number => Number(targetMilli / 1000n) + 1;

const hpaMetric = (drawn: Drawn): HpaMetric => {
  const target = hpaTarget(drawn);
  if (drawn.form === "external" && drawn.dialect !== "original")
    return { type: "External", metric: { name: "load" }, target };
  return drawn.form === "resource" || drawn.dialect === "original"
    ? { type: "Resource", name: "cpu", target }
    : { type: "Pods", metric: { name: "jobs" }, target };
};

const hpaTarget = ({ measure, form, targetMilli }: Drawn): MetricTarget => {
  if (measure === "Percent" && form !== "external" && form !== "pods")
    return { type: "Utilization", averageUtilization: percentOf(targetMilli) };
  return measure === "Total" && form === "external"
    ? { type: "Value", valueMilli: targetMilli }
    : { type: "AverageValue", averageValueMilli: targetMilli };
};

const nativeMetric = (drawn: Drawn): NativeMetric => {
  const { form, targetMilli, tolerance, scaleUpOnly } = drawn;
  const measure = nativeMeasure(drawn);
  const milli = measure === "Percent" ? BigInt(percentOf(targetMilli)) * 1000n : targetMilli;
  return {
    name: "a",
    source:
      form === "external"
        ? { type: "External", metric: { name: "load" } }
        : form === "resource"
          ? { type: "Resource", name: "cpu", of: "request" }
          : { type: "Pods", metric: { name: "jobs" } },
    measure,
    band: drawn.marks
      ? { kind: "watermarks", lowMilli: milli, highMilli: milli + drawn.widthMilli }
      : { kind: "target", milli, toleranceUp: tolerance.up, toleranceDown: tolerance.down },
    scaleUpOnly,
    onMissing: { action: "hold" },
  };
};

const nativeMeasure = ({ form, measure }: Drawn): NativeMetric["measure"] => {
  if (form === "external") return measure === "Percent" ? "Average" : measure;
  if (form === "pods") return "Average";
  return measure === "Total" ? "Average" : measure;
};

/** The value that was drawn, in steps. */
export const presentSteps = (drawn: Drawn): bigint => {
  const percent = isPercent(drawn);
  const target = percent ? BigInt(percentOf(drawn.targetMilli)) * 1000n : drawn.targetMilli;
  return (target * BigInt(drawn.load)) / 1000n;
};

const isPercent = (drawn: Drawn): boolean => {
  if (drawn.dialect === "original") return true;
  if (drawn.dialect === "watermark" || isMarkedHpa(drawn)) return false;
  return drawn.form === "resource" && drawn.measure === "Percent";
};

/** The forms that a dialect knows. */
export const isKnown = (drawn: Drawn): boolean => {
  const { dialect, form } = drawn;
  if (dialect === "original") return form === "resource";
  if (dialect === "watermark") return form !== "pods";
  return !(isMarkedHpa(drawn) && form === "resource" && drawn.measure === "Percent");
};

/** A text that a person reads, exactly: its number times a power of ten, and its unit in steps. */
export interface Read {
  readonly number: bigint;
  readonly digits: number;
  readonly unit: bigint;
}

export const readText = (text: string): Read => {
  const [, whole = "", rest = "", suffix = ""] = /^(-?\d+)(?:\.(\d+))?(.*)$/.exec(text) ?? [];
  const unit = suffix === "%" ? 1000n : milliOfText(`1${suffix}`);
  if (unit === undefined || whole === "") throw new RangeError(`"${text}" is no amount`);
  return { number: BigInt(whole + rest), digits: rest.length, unit };
};

export const asksFor = (outcome: MetricOutcome | undefined, from: number): string => {
  if (outcome?.kind !== "measured") return "nothing";
  if (outcome.proposal === from) return "same";
  return outcome.proposal > from ? "more" : "fewer";
};
