import type { ClusterClient, ScaleWrite } from "../../../lib/stack/cluster/cluster-client.ts";
import { namespace } from "../../../lib/rules/model/ids.ts";
import type { TargetRef } from "../../../lib/rules/model/spec-common.ts";
import { THIS_BUILD } from "../beside/build.ts";
import { type Effect, simulatedCluster, type Workload } from "../cluster.ts";
import type { CallKind, Fate } from "../fates.ts";
import type { Invocation } from "../invocation.ts";
import type { Listing } from "../objects/list-objects.ts";
import { newObjectStore } from "../objects/object-store.ts";
import type { Failing } from "../observe.ts";
import { newNetwork, type Process } from "../process.ts";
import { newScheduler } from "../scheduler.ts";
import { clusterOverSockets } from "./socket-cluster.ts";

const NONE = { kind: "none" } as const;
export const WEB: TargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
export const FLEET: TargetRef = { apiVersion: "games.example/v1", kind: "Fleet", name: "rooms" };
/** Enough for two pages of a LIST. */
export const OTHERS = ["a", "b", "c", "d"];
export const SHOP = namespace("shop");
export const TIMEOUT_MS = 5_000;
const UNTIL_MS = 120_000;
export const NO_FAILURES: Failing = { metrics: new Set(), scales: new Set(), rivals: "answered" };
const FRESH: Listing = { failing: new Set(), staleMs: 0 };

export type Planned = Partial<Fate> & { readonly of?: CallKind };

/**
 * A cluster with a few workloads, and a process that reaches it over connections in memory; each
 * request of a kind has the next of the fates for that kind.
 */
export const newWorld = (...planned: readonly Planned[]) => newWorldOf("eu-1", planned);

/** The same of a cluster of this name. */
export const newWorldOf = (cluster: string, planned: readonly Planned[] = []) => {
  const scheduler = newScheduler(0);
  const fates = [...planned];
  const kinds: CallKind[] = [];
  const next = (kind: CallKind): Fate => {
    kinds.push(kind);
    const at = fates.findIndex(({ of = "put" }) => of === kind);
    const [fate] = at === -1 ? [] : fates.splice(at, 1);
    return { fault: "none", outMs: 2, backMs: 2, lateness: 0, before: NONE, after: NONE, ...fate };
  };
  const network = newNetwork(
    scheduler,
    { next },
    { story: { tell: () => undefined, lines: [] }, note: () => undefined },
  );
  const workload = (target: TargetRef, generation: number | undefined): Workload => ({
    cluster,
    namespace: "shop",
    target,
    uid: `uid-${target.name}`,
    replicas: 3,
    resourceVersion: 100,
    generation,
    load: 40,
    rivalSinceMs: undefined,
    gone: false,
  });
  const others = OTHERS.map((name) => workload({ ...WEB, name }, 1));
  const workloads = [workload(WEB, 1), workload(FLEET, undefined), ...others];
  const site = simulatedCluster(
    cluster,
    { workloads, objects: newObjectStore(cluster, scheduler.nowMs) },
    scheduler.nowMs,
  );
  const process: Process = {
    name: "env-1",
    skewMs: 0,
    pausedUntilMs: 0,
    alive: true,
    build: THIS_BUILD,
    cache: THIS_BUILD.warmCache(),
    busy: 0,
    endsMs: Number.POSITIVE_INFINITY,
    onEnd: new Set(),
  };
  const troubles: Partial<Failing> & { listing?: Partial<Listing> } = {};
  const effects: Effect[] = [];
  const by = { name: "sync-1", process } as Invocation;
  const client = clusterOverSockets({ network, nowMs: scheduler.nowMs }, site, {
    by,
    effect: (effect) => effects.push(effect),
    failing: () => ({ ...NO_FAILURES, ...troubles }),
    listing: () => ({ ...FRESH, ...troubles.listing }),
  });
  /** How a call ends, and when by virtual time. */
  const ended = async <Answer>(
    call: Promise<Answer>,
  ): Promise<{ readonly answer: Answer | undefined; readonly tookMs: number }> => {
    const startMs = scheduler.nowMs();
    let answer: Answer | undefined;
    void call.then((given) => {
      answer = given;
    });
    await scheduler.run(startMs + UNTIL_MS, () => answer !== undefined);
    return { answer, tookMs: scheduler.nowMs() - startMs };
  };
  const write = (over: Partial<ScaleWrite> = {}): ScaleWrite => ({
    namespace: SHOP,
    target: WEB,
    targetUid: "uid-web",
    resourceVersion: "100",
    replicas: 5,
    ...over,
  });
  return {
    kinds,
    effects,
    scheduler,
    site,
    client,
    troubles,
    ended,
    put: (over?: Partial<ScaleWrite>) => ended(client.putScale(write(over), TIMEOUT_MS)),
    read: (
      target: TargetRef,
    ): Promise<{
      readonly answer: Awaited<ReturnType<ClusterClient["readScale"]>> | undefined;
      readonly tookMs: number;
    }> => ended(client.readScale(SHOP, target, TIMEOUT_MS)),
  };
};
