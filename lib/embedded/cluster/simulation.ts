import type { NamedMetric, WorkloadModel } from "./definition.ts";
import { isLive, type SimulatedPod } from "./simulated-pod.ts";
import {
  initialState,
  nextEventMs,
  passEvent,
  type WorkloadState,
  writeReplicas,
} from "./simulated-workload.ts";

/**
 * A change of `spec.replicas` that the cluster accepted. With the definitions and the seed these
 * give back every state.
 */
export interface AcceptedWrite {
  readonly atMs: number;
  readonly namespace: string;
  readonly name: string;
  readonly replicas: number;
  /** The name of the writer, as `metadata.managedFields` has it. */
  readonly manager?: string | undefined;
}

/** One workload as it is now. */
export interface SimulatedWorkload {
  readonly model: WorkloadModel;
  readonly state: WorkloadState;
  /** Pods that count in `status.replicas`: those not being deleted. */
  readonly live: readonly SimulatedPod[];
}

/**
 * All workloads on one clock, with one counter of versions. Time never runs backwards in it, and
 * only `now` moves it.
 */
export class Simulation {
  readonly #clock: () => number;
  readonly #running: Running[];
  readonly #byKey: Map<string, Running>;
  #version = FIRST_VERSION;
  #nowMs: number;

  constructor(models: readonly WorkloadModel[], startMs: number, clock: () => number) {
    this.#clock = clock;
    this.#nowMs = startMs;
    const byKey = new Map(models.map((model) => [keyOf(model), model]));
    if (byKey.size < models.length) {
      const twin = models.find((model) => byKey.get(keyOf(model)) !== model);
      throw new RangeError(`Cannot simulate "${twin && keyOf(twin)}": it is defined twice`);
    }
    const ordered = [...byKey].toSorted(([one], [other]) => (one < other ? -1 : 1));
    this.#running = ordered.map(([, model]) => started(model, this.#nextVersion()));
    this.#byKey = new Map(this.#running.map((running) => [keyOf(running.model), running]));
  }

  /**
   * Lets everything happen that is due, and gives the cluster's time: the clock's, or the time of
   * the last write where the clock is behind it.
   */
  now(): number {
    this.#advanceTo(this.#clock());
    return this.#nowMs;
  }

  /** resourceVersion of the cluster as a whole. */
  get version(): number {
    return this.#version;
  }

  workloads(): readonly SimulatedWorkload[] {
    return this.#running.map(viewOf);
  }

  workload(namespace: string, name: string): SimulatedWorkload | undefined {
    const workload = this.#find(namespace, name);
    return workload && viewOf(workload);
  }

  /** Applies a write at the current time, or while replaying at its own. */
  write(write: Omit<AcceptedWrite, "atMs">): AcceptedWrite {
    const accepted = { atMs: this.#nowMs, ...write };
    this.replay(accepted);
    return accepted;
  }

  replay({ atMs, namespace, name, replicas, manager }: AcceptedWrite): void {
    this.#advanceTo(atMs);
    const running = this.#find(namespace, name);
    if (!running) throw new RangeError(`There is no workload "${namespace}/${name}" to scale`);
    running.state = writeReplicas(running.model, running.state, {
      atMs: this.#nowMs,
      replicas,
      manager,
      version: this.#nextVersion(),
    });
    running.nextMs = nextEventMs(running.model, running.state);
  }

  /** Adds a workload at an instant; of one that is there already only the metrics that it lacks. */
  add(model: WorkloadModel, atMs: number): void {
    this.#advanceTo(atMs);
    const known = this.#find(model.namespace, model.name);
    if (known) {
      extend(known, model.metrics);
      return;
    }
    const running = started(model, this.#nextVersion());
    this.#byKey.set(keyOf(model), running);
    const behind = this.#running.findIndex((other) => keyOf(other.model) > keyOf(model));
    this.#running.splice(behind === -1 ? this.#running.length : behind, 0, running);
  }

  /**
   * Events of all workloads pass in the order of time, and within one instant in the order of their
   * names: so versions are the same in every run.
   */
  #advanceTo(nowMs: number): void {
    for (let dueMs = this.#nextDueMs(); dueMs <= nowMs; dueMs = this.#nextDueMs()) {
      for (const running of this.#running) if (running.nextMs === dueMs) this.#pass(running);
    }
    this.#nowMs = Math.max(this.#nowMs, nowMs);
  }

  #pass(running: Running): void {
    const before = running.state;
    running.state = passEvent(running.model, before, running.nextMs, this.#version + 1);
    if (running.state.version !== before.version) this.#version++;
    running.nextMs = nextEventMs(running.model, running.state);
  }

  #nextDueMs(): number {
    return this.#running.reduce(
      (soonest, { nextMs }) => Math.min(soonest, nextMs),
      Number.POSITIVE_INFINITY,
    );
  }

  #nextVersion(): number {
    this.#version++;
    return this.#version;
  }

  #find(namespace: string, name: string): Running | undefined {
    return this.#byKey.get(keyOf({ namespace, name }));
  }
}

interface Running {
  model: WorkloadModel;
  state: WorkloadState;
  nextMs: number;
  /**
   * The view of `state`. Each request looks at all workloads, and few change between two requests.
   */
  view?: SimulatedWorkload | undefined;
}

const extend = (running: Running, asked: readonly NamedMetric[]): void => {
  const { model } = running;
  running.model = { ...model, metrics: [...model.metrics, ...lackedBy(model, asked)] };
  running.view = undefined;
};

/** The metrics that a workload does not serve yet. */
export const lackedBy = <Metric extends NamedMetric>(
  { metrics }: WorkloadModel,
  asked: readonly Metric[],
): readonly Metric[] =>
  asked.filter(
    ({ name, selector }) =>
      !metrics.some((known) => known.name === name && known.selector === selector),
  );

/** Versions of a real cluster are large, so no client may rely on small ones. */
const FIRST_VERSION = 1000;

/** The order of lists of a real API server: by namespace, then by name. */
const keyOf = ({ namespace, name }: Pick<WorkloadModel, "namespace" | "name">): string =>
  `${namespace}/${name}`;

const started = (model: WorkloadModel, version: number): Running => {
  const state = initialState(model, version);
  return { model, state, nextMs: nextEventMs(model, state) };
};

const viewOf = (running: Running): SimulatedWorkload => {
  const { model, state, view } = running;
  if (view?.state === state) return view;
  running.view = { model, state, live: state.pods.filter(isLive) };
  return running.view;
};
