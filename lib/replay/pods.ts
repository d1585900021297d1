import type { MilliByResource, Pod } from "../rules/model/observation.ts";
import type { LabelIndex } from "../rules/model/selector.ts";
import type { TargetRef } from "../rules/model/spec-common.ts";
import { type PodStarts, startAt } from "./pod-starts.ts";
import type { RecordedPods } from "./recorded-pods.ts";

/** What all pods of a replayed workload have in common. */
export interface PodTemplate {
  readonly target: TargetRef;
  readonly container: string;
  readonly requests: MilliByResource;
  readonly limits: MilliByResource;
  /** Time from the scale until a pod serves. */
  readonly startMs: number;
  /** How long the pods of one scale take. Absent: all take `startMs`. */
  readonly starts?: PodStarts;
}

/** A pod of the replay. It serves from `readyMs` on, and costs from `createdMs` on. */
export interface ReplayedPod {
  readonly name: string;
  readonly createdMs: number;
  readonly runningMs: number;
  readonly readyMs: number;
}

/** A pod, and whether the metrics server knows its use. */
export interface SeenPod {
  readonly pod: Pod;
  readonly hasSample: boolean;
}

export const POD_LABELS = { app: "replayed" } as const;
export const POD_SELECTOR = "app=replayed";

/** Its image is pulled by then; in the simulated cluster 30 to 60 % of the start-up go by. */
const PULLED = 0.45;
/** The first pods are past every initialization period. */
const AGE_MS = 86_400_000;
/** A recorded scale and one of the replay are the same within half of the usual sync period. */
const SAME_SCALE_MS = 7_500;

/**
 * The pods of a replayed workload, oldest first. All start in the same time, so the ones that are
 * ready are the first ones. As the ReplicaSet controller does it, those that are not ready go
 * first, then the youngest: so the last ones of the list.
 */
export class ReplayedPods {
  readonly #template: PodTemplate;
  #pods: ReplayedPod[] = [];
  #ordinal = 0;
  /** The first recorded scale that is not past. */
  #scale = 0;
  #ready = 0;
  #seen: readonly Pod[] | undefined;
  /** The next instant at which a pod begins to run, or to serve. */
  nextMs = Number.POSITIVE_INFINITY;
  /** The last instant at which a pod came, went, began to run, or began to serve. */
  changedMs = Number.NEGATIVE_INFINITY;

  constructor(template: PodTemplate, count: number, nowMs: number) {
    this.#template = template;
    this.#bear(count, nowMs - AGE_MS - template.startMs);
    this.pass(nowMs);
  }

  get count(): number {
    return this.#pods.length;
  }

  get ready(): number {
    return this.#ready;
  }

  /** Pods that served at an earlier instant, of those that are there now. */
  readyAt(atMs: number): number {
    let ready = this.#ready;
    while (ready > 0 && (this.#pods[ready - 1]?.readyMs ?? atMs) > atMs) ready--;
    return ready;
  }

  get all(): readonly ReplayedPod[] {
    return this.#pods;
  }

  /** Lets pass what happens until `nowMs`. */
  pass(nowMs: number): void {
    if (nowMs < this.nextMs) return;
    this.#seen = undefined;
    this.changedMs = nowMs;
    while ((this.#pods[this.#ready]?.readyMs ?? Number.POSITIVE_INFINITY) <= nowMs) this.#ready++;
    this.nextMs = Number.POSITIVE_INFINITY;
    for (const { runningMs, readyMs } of this.#pods.slice(this.#ready))
      this.nextMs = Math.min(this.nextMs, runningMs > nowMs ? runningMs : readyMs);
  }

  scale(to: number, nowMs: number): void {
    this.#pods.length = Math.min(this.#pods.length, to);
    this.#ready = Math.min(this.#ready, to);
    this.#bear(to - this.#pods.length, nowMs);
    this.nextMs = nowMs;
    this.pass(nowMs);
  }

  /** As a sync lists them. The same list while nothing has happened to them. */
  seen(nowMs: number): LabelIndex<Pod> {
    this.#seen ??= this.#pods.map((pod) => this.#seenPod(pod, nowMs));
    const all = this.#seen;
    // The selector of the workload selects each of them: there are no others.
    return { all, select: () => all, looksAt: () => all.length };
  }

  /**
   * As a recorded sync saw them: pods whose samples count come first, then pods without a sample,
   * then pods that start.
   */
  seenAs({ current, ready, counted, missing }: RecordedPods, nowMs: number): readonly SeenPod[] {
    const length = Math.max(current, counted + missing);
    return Array.from({ length }, (_, at) => {
      const isReady = at < ready;
      const isStarting = at >= counted + missing;
      const sinceMs = isStarting ? nowMs : nowMs - AGE_MS;
      const pod = { name: `recorded-${at}`, createdMs: sinceMs };
      const runningMs = isStarting && !isReady ? nowMs + 1 : sinceMs;
      const seen = this.#seenPod(
        { ...pod, runningMs, readyMs: isReady ? sinceMs : nowMs + 1 },
        nowMs,
      );
      return { pod: seen, hasSample: at < counted || (isStarting && isReady) };
    });
  }

  #bear(count: number, createdMs: number): void {
    const { startMs } = this.#template;
    const startsMs = this.#startsAt(createdMs);
    for (let more = 0; more < count; more++) {
      const takesMs = startsMs?.length ? startAt(startsMs, more, count) : startMs;
      this.#pods.push({
        name: `replayed-${++this.#ordinal}`,
        createdMs,
        runningMs: createdMs + Math.floor(takesMs * PULLED),
        readyMs: createdMs + takesMs,
      });
    }
    // A fast pod of this scale may serve before a slow one of the scale before.
    if (count > 0 && this.#template.starts)
      this.#pods.push(
        ...this.#pods.splice(this.#ready).sort((one, other) => one.readyMs - other.readyMs),
      );
    if (count > 0) this.nextMs = Math.min(this.nextMs, createdMs);
  }

  /** Pods of a scale at the instant of a recorded one take as long as pods took then. */
  #startsAt(createdMs: number): Float64Array | undefined {
    const { starts } = this.#template;
    if (!starts) return undefined;
    const { scaleMs, scaleEnds, scaleStartsMs, usualMs } = starts;
    while ((scaleMs[this.#scale] ?? Number.POSITIVE_INFINITY) < createdMs - SAME_SCALE_MS)
      this.#scale++;
    const at = this.#scale;
    return (scaleMs[at] ?? Number.POSITIVE_INFINITY) <= createdMs + SAME_SCALE_MS
      ? scaleStartsMs.subarray(scaleEnds[at - 1] ?? 0, scaleEnds[at])
      : usualMs;
  }

  #seenPod({ name, createdMs, runningMs, readyMs }: ReplayedPod, nowMs: number): Pod {
    const { target, container, requests, limits } = this.#template;
    const isReady = readyMs <= nowMs;
    return {
      name,
      labels: POD_LABELS,
      owners: [ownerOf(target)],
      deleting: false,
      phase: runningMs <= nowMs ? "Running" : "Pending",
      startMs: createdMs,
      ready: { status: isReady ? "True" : "False", transitionMs: isReady ? readyMs : createdMs },
      containers: [{ name: container, requests, limits, restartable: false }],
      initContainers: [],
      overhead: {},
    };
  }
}

/** A ReplicaSet stands between the pods and every kind but those that own their pods themselves. */
const ownerOf = ({ kind, name }: TargetRef): Pod["owners"][number] =>
  kind === "StatefulSet" || kind === "ReplicaSet" || kind === "ReplicationController"
    ? { kind, name }
    : { kind: "ReplicaSet", name: `${name}-replayed` };
