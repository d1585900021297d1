import type {
  ClusterClient,
  Observed,
  ScaleAnswer,
  Watched,
  SpecListing,
  SpecRequest,
} from "../../lib/stack/cluster/cluster-client.ts";
import { specObject } from "../../lib/stack/cluster/specs/list-specs.ts";
import type { Namespace } from "../../lib/rules/model/ids.ts";
import type { ApiFailure, ScaleReading, RivalLook } from "../../lib/rules/model/observation.ts";
import type { SpecKind } from "../../lib/rules/model/spec.ts";
import { observationOf, scaleRead } from "../observation.ts";

/** One workload of the cluster in memory: as much of a Deployment as the protocol can see. */
export interface Workload {
  uid: string;
  replicas: number;
  resourceVersion: number;
  generation: number;
  /** The field manager of its last scale, where it was a Tidemark. */
  lastScaledBy?: string;
  /** The field manager of its count, where the server says so. */
  countSetBy?: string;
  /** Its demand, in replicas; the test's rules scale to it. */
  demand: number;
}

/**
 * `repeated`: something on the way sends the request twice, and gives the answer to the second. The
 * server refuses a write that is `denied`; of two copies it may refuse the second alone.
 */
export type PutFault =
  | "repeated"
  | "denied"
  | "repeated, then denied"
  | "lost answer"
  | "lost request"
  | "late"
  | "server error";

/**
 * A cluster behind the same port as the real one. PUTs that are late wait in `pending` until the
 * test lands them.
 */
export interface MemoryCluster {
  readonly workloads: Map<string, Workload>;
  readonly puts: {
    readonly key: string;
    readonly replicas: number;
    readonly effect: boolean;
    readonly atMs: number;
  }[];
  clock: () => number;
  readonly pending: (() => void)[];
  /** What becomes of the next PUTs, first come first served. */
  readonly faults: PutFault[];
  /** Called before every PUT is executed: the place to change the workload in between. */
  beforePut: (key: string) => void;
  broken: boolean;
  /** The code of the answer to a write that is denied. */
  denial: number;
  calls: number;
  readonly rivals: Map<string, { kind: string; name: string }[]>;
  /** How the LISTs of rivals ended, as the client says; absent where it says nothing. */
  looks?: (target: string) => readonly RivalLook[];
  /** Why rivals could not be looked for. */
  rivalsUnknown?: string;
  /** Another stack that was the last to scale each workload. */
  otherStack?: NonNullable<Observed["otherStack"]>;
  /** Objects that hold specs, by kind, namespace and name, as the API has them. */
  readonly objects: Map<string, Record<string, unknown>>;
  /**
   * Why the LIST of a kind fails; or, by the key of an object, why that object alone cannot be
   * read.
   */
  readonly specFailures: Map<string, ApiFailure>;
  specLists: number;
  readonly client: ClusterClient;
}

const listingOf = (
  { objects, specFailures }: MemoryCluster,
  kind: SpecKind,
  {
    namespace,
    knownVersion,
  }: Pick<SpecRequest, "knownVersion"> & { readonly namespace: Namespace | undefined },
): SpecListing => {
  const scope = { kind, ...(namespace !== undefined && { namespace }) };
  const failure = specFailures.get(kind.kind);
  if (failure) return { ...scope, outcome: { kind: "failed", failure } };
  const prefix = `${kind.kind}/${namespace === undefined ? "" : `${namespace}/`}`;
  const there = [...objects].filter(([key]) => key.startsWith(prefix));
  const read = there
    .filter(([key]) => !specFailures.has(key))
    .flatMap(([, raw]) => specObject(raw, { ...kind, cluster: {}, knownVersion }) ?? []);
  const unread = there.flatMap(([key]) => {
    const [, of = "", name = ""] = key.split("/");
    const { message } = specFailures.get(key) ?? {};
    return message === undefined ? [] : [{ namespace: of, name, message }];
  });
  return { ...scope, outcome: { kind: "listed", objects: read, unread } };
};

/** The faults of a PUT that was executed at once. */
const TAKES_EFFECT: ReadonlySet<PutFault> = new Set([
  "repeated",
  "repeated, then denied",
  "lost answer",
  "server error",
]);

const workload = (uid: string, replicas: number): Workload => ({
  uid,
  replicas,
  resourceVersion: 1,
  generation: 1,
  demand: replicas,
});

const failure = (code: number, reason: string, message: string) => ({ code, reason, message });

export const memoryCluster = (
  names: Readonly<Record<string, number>>,
  options: { readonly generations?: boolean } = {},
): MemoryCluster => {
  const workloads = new Map(
    Object.entries(names).map(([name, replicas]) => [name, workload(`uid-of-${name}`, replicas)]),
  );
  const reading = (name: string): ScaleReading => {
    if (world.broken)
      return { kind: "failed", failure: failure(0, "Timeout", "connection timed out") };
    const found = workloads.get(name);
    if (!found)
      return {
        kind: "failed",
        failure: failure(404, "NotFound", `deployments.apps "${name}" not found`),
      };
    const { uid, replicas, resourceVersion, generation, lastScaledBy, countSetBy } = found;
    return scaleRead(replicas, {
      selector: `app=${name}`,
      uid,
      resourceVersion: String(resourceVersion),
      ...(options.generations !== false && { generation }),
      ...(lastScaledBy !== undefined && { lastScaledBy }),
      ...(countSetBy !== undefined && { countSetBy }),
    });
  };
  const execute = (name: string, resourceVersion: string, replicas: number): ScaleAnswer => {
    const found = workloads.get(name);
    if (!found)
      return {
        kind: "refused",
        failure: failure(404, "NotFound", `deployments.apps "${name}" not found`),
      };
    if (String(found.resourceVersion) !== resourceVersion) {
      return {
        kind: "conflict",
        failure: failure(409, "Conflict", "the object has been modified"),
      };
    }
    const effect = found.replicas !== replicas;
    world.puts.push({ key: name, replicas, effect, atMs: world.clock() });
    if (effect) {
      found.replicas = replicas;
      found.resourceVersion++;
      found.generation++;
    }
    return {
      kind: "applied",
      resourceVersion: String(found.resourceVersion),
      generation: found.generation,
    };
  };
  const UNCLEAR: ScaleAnswer = {
    kind: "unclear",
    failure: failure(0, "Timeout", "no answer in time"),
  };
  const world: MemoryCluster = {
    workloads,
    puts: [],
    clock: () => 0,
    pending: [],
    faults: [],
    beforePut: () => {},
    broken: false,
    denial: 403,
    calls: 0,
    rivals: new Map(),
    objects: new Map(),
    specFailures: new Map(),
    specLists: 0,
    client: {
      observe: async (watched: readonly Watched[]) => {
        world.calls += 2;
        const observations = new Map(
          watched.map(({ uid, spec }): [typeof uid, Observed] => [
            uid,
            {
              observation: observationOf({ scale: reading(spec.target.name) }),
              rivals: world.rivals.get(spec.target.name) ?? [],
              ...(world.looks && { looks: world.looks(spec.target.name) }),
              ...(world.rivalsUnknown !== undefined && { rivalsUnknown: world.rivalsUnknown }),
              ...(world.otherStack && { otherStack: world.otherStack }),
            },
          ]),
        );
        return { observations, calls: 2, bytes: 100 };
      },
      putScale: async ({ target, resourceVersion, replicas }) => {
        world.calls++;
        const fault = world.faults.shift();
        world.beforePut(target.name);
        const executed = (): ScaleAnswer => execute(target.name, resourceVersion, replicas);
        if (fault === undefined) return executed();
        if (fault === "late") world.pending.push(() => void executed());
        if (TAKES_EFFECT.has(fault)) executed();
        if (fault === "repeated") return executed();
        return fault.endsWith("denied")
          ? { kind: "refused", failure: failure(world.denial, "Denied", "the server denied it") }
          : UNCLEAR;
      },
      readScale: async (_namespace, target) => {
        world.calls++;
        return reading(target.name);
      },
      listSpecs: async ({ kinds, namespaces, knownVersion }) => {
        world.specLists++;
        const scopes = namespaces === "all" ? [undefined] : namespaces;
        const listings = kinds.flatMap((kind) =>
          scopes.map((namespace) => listingOf(world, kind, { namespace, knownVersion })),
        );
        return { listings, calls: listings.length, bytes: 100 };
      },
      recommend: async () => ({
        kind: "failed",
        failure: failure(0, "RecommenderUnreachable", "there is none"),
      }),
      close: () => {},
    },
  };
  return world;
};
