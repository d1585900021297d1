import type {
  ObservedCluster,
  Watched,
  SpecListing,
} from "../../../lib/stack/cluster/cluster-client.ts";
import type { ScaleReading } from "../../../lib/rules/model/observation.ts";
import { queryKey } from "../../../lib/rules/model/query.ts";
import { questions } from "../../../lib/rules/policy/dialects.ts";
import { workloadKey } from "../../../lib/stack/sync/load/open-intents.ts";
import { askedOf, partsOf } from "../../answers.ts";
import type { PastWorkload, SimulatedCluster } from "../cluster.ts";
import type { Invocation } from "../invocation.ts";
import { STALE_MAX_MS } from "../objects/list-objects.ts";
import type { Invariant, Ledger } from "./ledger.ts";

const HAD: Invariant = "what a sync reads of its cluster, the cluster had while it was asked";
const NOT_FOUND = 404;

/** One call of a sync to a cluster that began at an instant and was answered now. */
export interface Asked {
  readonly by: Invocation;
  readonly site: SimulatedCluster;
  readonly sinceMs: number;
}

type Target = Pick<Watched, "namespace"> & Pick<Watched["spec"], "target">;

const pastOf = (
  { nowMs }: Ledger,
  { site, sinceMs }: Asked,
  { namespace, target }: Target,
): readonly PastWorkload[] => {
  const workload = site.workloads.get(workloadKey(namespace, target));
  return workload ? site.past(workload, sinceMs, nowMs()) : [];
};

/**
 * A scale is one that its workload had at some instant of the call; it is not found only where the
 * workload was gone.
 */
export const watchReading = (
  ledger: Ledger,
  asked: Asked,
  of: Target,
  reading: ScaleReading,
): void => {
  const past = pastOf(ledger, asked, of);
  const words = `${asked.by.name} reads of "${of.target.name}"`;
  if (reading.kind === "read") {
    const { uid, specReplicas, resourceVersion } = reading;
    const isOne = (one: PastWorkload): boolean =>
      !one.gone &&
      one.uid === uid &&
      one.replicas === specReplicas &&
      String(one.resourceVersion) === resourceVersion;
    if (!past.some(isOne))
      ledger.violate(
        HAD,
        `${words} ${specReplicas} replicas in version ${resourceVersion}, and it never was so`,
      );
  } else if (
    reading.failure.code === NOT_FOUND &&
    past.length > 0 &&
    !past.some(({ gone }) => gone)
  )
    ledger.violate(HAD, `${words} that it is gone, and it was there`);
};

/** The same of an observation, and of the load that it tells. */
export const watchReadings = (
  ledger: Ledger,
  asked: Asked,
  watched: readonly Watched[],
  { observations }: ObservedCluster,
): void => {
  for (const { uid, namespace, spec } of watched) {
    const { observation } = observations.get(uid) ?? {};
    if (!observation) continue;
    const of = { namespace, target: spec.target };
    watchReading(ledger, asked, of, observation.scale);
    const [own] = askedOf(questions(spec, namespace, observation.scale)).external;
    const answer = own && partsOf(observation.answers).external.get(queryKey(own));
    if (answer?.kind !== "answered") continue;
    const told = answer.items.map(({ milli }) => Number(milli) / MILLI);
    const loads = pastOf(ledger, asked, of).map(({ gone, load }) => (gone ? 0 : load));
    if (told.length !== 1 || !loads.some((load) => load === told[0]))
      ledger.violate(
        HAD,
        `${asked.by.name} reads of "${of.target.name}" a load of ${told.join(", ")}, and it had ${loads.join(", ")}`,
      );
  }
};

const MILLI = 1_000;

/**
 * The LISTs of one sync show everything that the cluster had of a kind at one instant: of the call,
 * or as much before it as an answer may be old.
 */
export const watchListings = (
  { nowMs, violate }: Ledger,
  { by, site, sinceMs }: Asked,
  listings: readonly SpecListing[],
): void => {
  const states = site.objects.between(sinceMs - STALE_MAX_MS, nowMs());
  for (const { kind, namespace, outcome } of listings) {
    if (outcome.kind === "failed") continue;
    const shown = versionsOf(outcome.objects);
    const had = (state: (typeof states)[number]): string =>
      versionsOf(
        state.filter(
          (object) =>
            object.of.kind === kind.kind && (namespace ?? object.namespace) === object.namespace,
        ),
      );
    if (!states.some((state) => had(state) === shown))
      violate(HAD, `${by.name} reads of ${kind.plural} ${shown}, and they never were so`);
  }
};

const versionsOf = (
  objects: readonly { readonly uid: string; readonly resourceVersion: string | number }[],
): string =>
  objects
    .map(({ uid, resourceVersion }) => `${uid} ${resourceVersion}`)
    .sort()
    .join(", ");
