import { ON_THIS_MACHINE } from "../../stack/cluster/access/kubeconfig-file.ts";
import type { ClusterClient, Observed, Watched } from "../../stack/cluster/cluster-client.ts";
import { connect } from "../../stack/cluster/connect.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../rules/model/ids.ts";
import { isObject, type Json } from "../../rules/model/json.ts";
import type { ClusterRecord, ConnectionRecord } from "../../rules/model/records.ts";
import { NEW_WINDOWS, type Windows } from "../../rules/model/windows.ts";
import { asksOf } from "../../rules/policy/dialects.ts";
import { PURE_PART } from "../../stack/sync/pure-part.ts";
import type { KubeApi } from "../cluster/api.ts";
import { isoTime } from "../cluster/kube-objects.ts";
import { KEPT_KINDS, type KeptKind } from "../cluster/objects/custom-objects.ts";
import { ServerRefusal } from "../cluster/status.ts";
import type { Activity } from "../engine/event-source.ts";
import { type ClusterCalls, clusterCalls, kedaOperator } from "./keda-stand-in.ts";
import type { BesideWhat } from "./options.ts";

export interface StandInOptions {
  readonly clock: () => number;
  readonly beside: BesideWhat;
  readonly cluster: Pick<ClusterRecord, "name" | "settings"> & Pick<ConnectionRecord, "connection">;
  readonly call: KubeApi;
}

/** The sync period of the controllers, and how far its instants are from Tidemark's. */
const PERIOD_MS = 15_000;
const OFFSET_MS = 7_000;
const OBSERVE_MS = 10_000;

/**
 * Whose objects a controller follows, and the name under which the API server records its writes.
 * KEDA has the HPA controller scale.
 */
const HPA_CONTROLLER = {
  kind: "HorizontalPodAutoscaler",
  manager: "kube-controller-manager",
} as const;
const CONTROLLERS: Readonly<
  Record<BesideWhat, { readonly kind: string; readonly manager: string }>
> = {
  hpa: HPA_CONTROLLER,
  wpa: { kind: "WatermarkPodAutoscaler", manager: "watermarkpodautoscaler" },
  keda: HPA_CONTROLLER,
};

/** What a controller remembers of one object. */
interface Kept {
  readonly windows: Windows;
  readonly lastScaleMs?: number;
}

/** An object that the controller follows, and what its rules ask. */
interface Followed {
  readonly watched: Watched;
  readonly object: Json;
}

/**
 * Plays the controller of HPAs or of WatermarkPodAutoscalers in the simulated cluster, and before
 * the first the operator of KEDA: each object is decided each 15 s by the rules of its kind, with
 * windows in memory, and gets its status. A real controller forgets its windows at a restart too.
 */
export const standIn = async ({
  clock,
  beside,
  cluster,
  call,
}: StandInOptions): Promise<Activity & { readonly close: () => void }> => {
  const { kind, manager } = CONTROLLERS[beside];
  const of = KEPT_KINDS.find((each) => each.kind === kind);
  if (!of) throw new RangeError(`The simulated cluster does not keep ${kind}`);
  const calls = clusterCalls(call, manager);
  const operator = beside === "keda" ? kedaOperator(clusterCalls(call, "keda")) : undefined;
  const client = await connect(
    { ...cluster, kubeSystemUid: undefined },
    { clock: Date.now, trusted: ON_THIS_MACHINE },
  );
  const sync: ControllerSync = { clock, cluster, client, calls, of };
  let kept: ReadonlyMap<string, Kept> = new Map();
  let next = clock() + OFFSET_MS;
  return {
    nextMs: () => next,
    happen: async () => {
      next += PERIOD_MS;
      await operator?.();
      kept = await syncAll(sync, kept);
    },
    close: client.close,
  };
};

interface ControllerSync {
  readonly clock: () => number;
  readonly cluster: StandInOptions["cluster"];
  readonly client: ClusterClient;
  readonly calls: ClusterCalls;
  readonly of: KeptKind;
}

/** Looks at every object afresh. What is remembered of one that is gone is forgotten. */
const syncAll = async (
  sync: ControllerSync,
  kept: ReadonlyMap<string, Kept>,
): Promise<ReadonlyMap<string, Kept>> => {
  const followed = (await sync.calls.list(sync.of)).flatMap((object) =>
    followedOf(sync.of, object),
  );
  // A call that fails is a value: the count stays then, as the rules say.
  const { observations } = await sync.client.observe(
    followed.map(({ watched }) => watched),
    { budgetMs: OBSERVE_MS, namespaces: "all" },
  );
  const after = new Map<string, Kept>();
  for (const one of followed) {
    const { uid } = one.watched;
    const before = kept.get(uid) ?? { windows: NEW_WINDOWS };
    const observed = observations.get(uid);
    after.set(uid, observed ? await syncOne(sync, { ...one, before, observed }) : before);
  }
  return after;
};

/** An object whose spec is no rule is left alone. */
const followedOf = ({ apiVersion, kind }: KeptKind, object: Json): readonly Followed[] => {
  const {
    name,
    namespace: inside,
    uid,
    annotations,
  } = isObject(object["metadata"]) ? object["metadata"] : {};
  const metadata = { name, namespace: inside, ...(annotations !== undefined && { annotations }) };
  const reading = PURE_PART.specOf(
    JSON.stringify({ apiVersion, kind, metadata, spec: object["spec"] }),
  );
  if (reading.kind === "invalid") return [];
  const { spec } = reading;
  const inNamespace = namespace(String(inside));
  const watched = {
    uid: autoscalerUid(String(uid)),
    namespace: inNamespace,
    name: autoscalerName(String(name)),
    spec,
  };
  return [{ object, watched: { ...watched, ...asksOf(spec, inNamespace) } }];
};

interface One extends Followed {
  readonly before: Kept;
  readonly observed: Observed;
}

const syncOne = async (
  { clock, cluster, calls, of }: ControllerSync,
  { watched, object, before, observed }: One,
): Promise<Kept> => {
  const nowMs = clock();
  const { spec, namespace: inside, name, uid } = watched;
  const { observation } = observed;
  const decision = PURE_PART.decide({
    namespace: inside,
    name,
    spec,
    settings: cluster.settings,
    observation,
    windows: before.windows,
    nowMs,
  });
  let after: Kept = { ...before, windows: decision.windows };
  try {
    if (decision.kind === "scale" && observation.scale.kind === "read") {
      await calls.scale(inside, spec.target, {
        replicas: decision.to,
        resourceVersion: observation.scale.resourceVersion,
      });
      const report = {
        spec,
        decision,
        outcome: { kind: "applied" },
        atMs: nowMs,
        earliestMs: nowMs,
        eventId: `${uid}:${nowMs}`,
      } as const;
      after = { windows: PURE_PART.afterWrite(report).windows, lastScaleMs: nowMs };
    }
    await calls.status(
      of,
      { namespace: inside, name },
      statusOf(object, after, decision.kind === "scale" ? decision.to : decision.from),
    );
  } catch (error) {
    // The workload or the object was changed or deleted meanwhile: the next sync reads it again.
    if (!(error instanceof ServerRefusal)) throw error;
  }
  return after;
};

const statusOf = (
  object: Json,
  { windows: { status }, lastScaleMs }: Kept,
  desired: number | undefined,
): Json => ({
  observedGeneration: isObject(object["metadata"]) ? Number(object["metadata"]["generation"]) : 1,
  desiredReplicas: desired ?? status.desiredReplicas,
  currentReplicas: status.currentReplicas,
  ...(status.currentMetrics && { currentMetrics: status.currentMetrics }),
  ...(lastScaleMs !== undefined && { lastScaleTime: isoTime(lastScaleMs) }),
  conditions: status.conditions.map(({ transitionMs, ...condition }) => ({
    ...condition,
    lastTransitionTime: isoTime(transitionMs),
  })),
});
