import { ON_THIS_MACHINE } from "../../cluster/access/on-this-machine.ts";
import type { ClusterClient, Observed, Watched } from "../../cluster/cluster-client.ts";
import { connect } from "../../cluster/connect.ts";
import { autoscalerName, autoscalerUid, namespace } from "../../model/ids.ts";
import { isObject } from "../../model/is-object.ts";
import type { ClusterRecord, ConnectionRecord } from "../../model/records.ts";
import { NEW_WINDOWS, type Windows } from "../../model/windows.ts";
import { asksOf } from "../../policy/dialects.ts";
import type { Service } from "../../service/service.ts";
import { PURE_PART } from "../../sync/pure-part.ts";
import { isoTime, type Rival } from "../cluster/kube-objects.ts";
import type { Activity } from "../engine/drive.ts";

export interface StandInOptions {
  readonly clock: () => number;
  readonly service: Pick<Service, "autoscalers">;
  readonly cluster: Pick<ClusterRecord, "name" | "settings"> & Pick<ConnectionRecord, "connection">;
  /** The HPAs of the simulated cluster. The stand-in adds its own and keeps their status. */
  readonly hpas: Rival[];
}

/** The sync period of the HPA controller, and how far its instants are from those of Tidemark. */
const PERIOD_MS = 15_000;
const OFFSET_MS = 7_000;
const OBSERVE_MS = 10_000;
const PUT_MS = 5_000;

/** One HPA: what it watches, and what the controller remembers of it. */
interface Kept {
  readonly watched: Watched;
  windows: Windows;
  lastScaleMs: number | undefined;
}

/**
 * Plays the HPA controller in the simulated cluster: an HPA for each HPA manifest that was applied when it starts, the rules of the HPA, a sync each 15 s, windows of its own in memory.
 * So Tidemark is in its shadow. A real controller forgets its windows at a restart too.
 */
export const hpaStandIn = async (options: StandInOptions): Promise<Activity & { readonly close: () => void }> => {
  const { clock, cluster, hpas } = options;
  const kept = await keptOf(options);
  for (const { watched } of kept) hpas.push(rivalOf(watched));
  const client = await connect(cluster, { clock: Date.now, trusted: ON_THIS_MACHINE });
  let next = clock() + OFFSET_MS;
  return {
    nextMs: () => (kept.length === 0 ? undefined : next),
    happen: async () => {
      next += PERIOD_MS;
      // A call that fails is a value: the HPA keeps its count then, as the rules say.
      const { observations } = await client.observe(
        kept.map(({ watched }) => watched),
        { budgetMs: OBSERVE_MS, namespaces: "all" },
      );
      for (const one of kept) {
        const observed = observations.get(one.watched.uid);
        if (observed) await syncOne(one, observed, { ...options, client });
      }
    },
    close: client.close,
  };
};

const keptOf = async ({ service, cluster }: StandInOptions): Promise<readonly Kept[]> => {
  const kept: Kept[] = [];
  for await (const { uid, namespace: inside, name, manifest } of service.autoscalers({ cluster: cluster.name })) {
    const reading = PURE_PART.specOf(JSON.stringify(manifest));
    if (!isHpa(manifest) || reading.kind === "invalid") continue;
    const { spec } = reading;
    const inNamespace = namespace(inside);
    kept.push({
      watched: { uid: autoscalerUid(uid), namespace: inNamespace, name: autoscalerName(name), spec, ...asksOf(spec, inNamespace) },
      windows: NEW_WINDOWS,
      lastScaleMs: undefined,
    });
  }
  return kept;
};

const isHpa = (manifest: unknown): boolean => isObject(manifest) && manifest["kind"] === "HorizontalPodAutoscaler";

const rivalOf = ({ uid, namespace: inside, name, spec }: Watched): Rival => ({ namespace: inside, name, uid: `hpa-${uid}`, target: spec.target });

const syncOne = async (
  kept: Kept,
  observed: Observed,
  { clock, cluster, hpas, client }: StandInOptions & { readonly client: ClusterClient },
): Promise<void> => {
  const { watched } = kept;
  const nowMs = clock();
  const { observation } = observed;
  const { spec, namespace: inside, name } = watched;
  const decision = PURE_PART.decide({ namespace: inside, name, spec, settings: cluster.settings, observation, windows: kept.windows, nowMs });
  kept.windows = decision.windows;
  const { scale } = observation;
  if (decision.kind === "scale" && scale.kind === "read") {
    const { uid: targetUid, resourceVersion } = scale;
    const answer = await client.putScale({ namespace: inside, target: spec.target, targetUid, resourceVersion, replicas: decision.to }, PUT_MS);
    if (answer.kind === "applied") {
      const report = { spec, decision, outcome: { kind: "applied" }, atMs: nowMs, earliestMs: nowMs, eventId: `${watched.uid}:${nowMs}` } as const;
      kept.windows = PURE_PART.afterWrite(report).windows;
      kept.lastScaleMs = nowMs;
    }
  }
  const at = hpas.findIndex((hpa) => hpa.namespace === inside && hpa.name === name);
  if (at >= 0) hpas[at] = { ...rivalOf(watched), status: statusOf(kept, decision.kind === "scale" ? decision.to : decision.from) };
};

const statusOf = ({ windows, lastScaleMs }: Kept, desired: number | undefined): object => ({
  desiredReplicas: desired ?? windows.status.desiredReplicas,
  currentReplicas: windows.status.currentReplicas,
  ...(lastScaleMs !== undefined && { lastScaleTime: isoTime(lastScaleMs) }),
  conditions: windows.status.conditions.map(({ transitionMs, ...condition }) => ({ ...condition, lastTransitionTime: isoTime(transitionMs) })),
});
