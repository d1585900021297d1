import { handBackOne } from "../../lib/command/takeover/hand-back-one.ts";
import {
  isTakenOver,
  type TakeoverPorts,
  takeOverOne,
} from "../../lib/command/takeover/take-over-one.ts";
import type { ClusterApiAnswer, KubeconfigApi } from "../../lib/stack/cluster/kubeconfig-api.ts";
import type { Json } from "../../lib/rules/model/json.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import type { ApiFailure } from "../../lib/rules/model/observation.ts";
import { workloadKey } from "../../lib/stack/sync/load/open-intents.ts";
import type { Effect, SimulatedCluster, Workload } from "./cluster.ts";
import { BROKEN, BUSY } from "./cluster-client.ts";
import { PODS_MAX } from "./manifests/bounds.ts";
import type { Person } from "./people.ts";
import type { Network, Process } from "./process.ts";
import type { Random } from "./random.ts";
import { siteOf } from "./sites.ts";
import type { Stage } from "./stage.ts";
import { LAST_MS, type PlannedAutoscaler, type Timetable } from "./timetable.ts";
import type { Ledger } from "./watch/ledger.ts";
import { noteOutside } from "./watch/outside.ts";

/**
 * A workload that another controller scales, until a person takes it over; later it may be handed
 * back. Offsets from the start.
 */
export interface PlannedTakeover {
  readonly workload: number;
  readonly kind: RivalKind;
  readonly comesMs: number;
  /** When the other controller, while it is not at rest, sets which count. */
  readonly counts: readonly { readonly atMs: number; readonly replicas: number }[];
  /** Loads at about the time of the switches, so that there is something to scale just then. */
  readonly loads: readonly { readonly atMs: number; readonly load: number }[];
  readonly takeoverMs: number;
  readonly handbackMs: number | undefined;
  /** The person hands back at the very moment at which a sync has begun. */
  readonly atClaim: boolean;
}

export type RivalKind = "HorizontalPodAutoscaler" | "ScaledObject";

/**
 * An attempt lasts for four periods and a minute at most, and all of them end before the faults do.
 */
const ATTEMPT_MS = 120_000;
const LAST_ATTEMPT_MS = LAST_MS - ATTEMPT_MS;

/**
 * Drawn in a quarter of the seeds, for an autoscaler to which nothing else happens but loads and
 * counts.
 */
export const planTakeover = (
  random: Random,
  { autoscalers, happenings, orders }: Timetable,
): PlannedTakeover | undefined => {
  if (!random.chance(1 / 4)) return undefined;
  const left = new Set(orders.flatMap((order) => (order.verb === "remove" ? [order.cluster] : [])));
  const busy = new Set(
    happenings.flatMap(({ kind, workload }) =>
      kind === "load" || kind === "count" ? [] : [workload],
    ),
  );
  const free = autoscalers.flatMap(({ cluster, home }, at) =>
    home === undefined && !left.has(cluster) && !busy.has(at) ? [at] : [],
  );
  if (free.length === 0) return undefined;
  const comesMs = random.int(5_000, 40_000);
  const takeoverMs = comesMs + random.int(5_000, 60_000);
  const handbackMs = random.chance(1 / 2) ? takeoverMs + random.int(5_000, 60_000) : undefined;
  const switches = [takeoverMs, ...(handbackMs === undefined ? [] : [handbackMs, handbackMs])];
  return {
    workload: random.pick(free),
    kind: random.pick(["HorizontalPodAutoscaler", "ScaledObject"]),
    comesMs,
    counts: Array.from({ length: 3 }, () => ({
      atMs: comesMs + random.int(1_000, 150_000),
      replicas: random.int(1, PODS_MAX),
    })),
    loads: switches.map((atMs) => ({
      atMs: atMs + random.int(-20_000, 10_000),
      load: random.int(5, 110),
    })),
    takeoverMs,
    handbackMs,
    atClaim: random.chance(1 / 2),
  };
};

/**
 * The object of another controller in its cluster. While it exists and is not at rest, its
 * controller scales the workload.
 */
interface Other {
  readonly kind: RivalKind;
  uid: string;
  version: number;
  exists: boolean;
  paused: boolean;
  /** A person has let it go on. */
  isBack: boolean;
}

const PAUSED = "autoscaling.keda.sh/paused";
const SILENT: ApiFailure = { code: 0, reason: "Timeout", message: "no answer in time" };
const failed = (code: number, reason: string): ClusterApiAnswer<never> => ({
  kind: "failed",
  failure: { code, reason, message: reason },
});

interface Place {
  readonly stage: Stage;
  readonly autoscaler: PlannedAutoscaler;
  readonly site: SimulatedCluster;
  readonly workload: Workload;
  readonly other: Other;
}

const objectOf = ({
  autoscaler: { namespace, target },
  other: { kind, uid, version, paused },
}: Place): Json => ({
  apiVersion: kind === "ScaledObject" ? "keda.sh/v1alpha1" : "autoscaling/v2",
  kind,
  metadata: {
    name: "another",
    namespace,
    uid,
    resourceVersion: String(version),
    annotations: paused ? { [PAUSED]: "true" } : {},
  },
  spec: { scaleTargetRef: target },
});

/** Its controller goes on, or is at rest, from now on. */
const settle = ({ stage: { nowMs, story }, site, workload, other }: Place): void => {
  const scales = other.exists && !other.paused;
  if (scales === (workload.rivalSinceMs !== undefined)) return;
  story.tell(
    site.name,
    `"${workload.target.name}" ${scales ? `has a ${other.kind} that scales it` : `has no ${other.kind} any more that scales it`}`,
  );
  workload.rivalSinceMs = scales ? nowMs() : undefined;
  site.changed(workload);
};

/** The objects of the other controller, as the kubeconfig of a person reaches them. */
const apiOf = (place: Place, process: Process): KubeconfigApi => {
  const { other, stage } = place;
  const { network } = stage;
  const changed = (): ClusterApiAnswer<Json> => {
    other.version++;
    settle(place);
    return { kind: "done", value: objectOf(place) };
  };
  const ask = <Value>(
    kind: "read" | "update",
    what: string,
    execute: () => ClusterApiAnswer<Value>,
  ): Promise<ClusterApiAnswer<Value>> =>
    asked(network, process, { kind, what: `${what} of ${place.workload.target.name}`, execute });
  return {
    list: () => Promise.reject(new TypeError("a takeover lists nothing")),
    get: () =>
      ask<Json>("read", "get the other controller", () =>
        other.exists ? { kind: "done", value: objectOf(place) } : failed(404, "NotFound"),
      ),
    may: () => ask("read", "ask for a right", () => ({ kind: "done", value: true })),
    create: () =>
      ask<Json>("update", "make the other controller", () => {
        if (other.exists) return failed(409, "AlreadyExists");
        other.exists = true;
        other.isBack = true;
        other.uid = `${other.uid}+`;
        return changed();
      }),
    replace: (_kind, _ref, object) =>
      ask<Json>("update", "replace the other controller", () => {
        const { resourceVersion, annotations } = object["metadata"] as {
          readonly resourceVersion: string;
          readonly annotations?: Json;
        };
        if (!other.exists) return failed(404, "NotFound");
        if (resourceVersion !== String(other.version)) return failed(409, "Conflict");
        other.paused = annotations?.[PAUSED] === "true";
        other.isBack = !other.paused;
        return changed();
      }),
    remove: (_kind, _ref, version) =>
      ask<Json>("update", "delete the other controller", () => {
        if (!other.exists) return failed(404, "NotFound");
        if (version.uid !== other.uid || version.resourceVersion !== String(other.version))
          return failed(409, "Conflict");
        other.exists = false;
        return changed();
      }),
    close: () => undefined,
  };
};

const asked = <Value>(
  network: Network,
  process: Process,
  {
    kind,
    what,
    execute,
  }: {
    readonly kind: "read" | "update";
    readonly what: string;
    readonly execute: () => ClusterApiAnswer<Value>;
  },
): Promise<ClusterApiAnswer<Value>> =>
  network.call<ClusterApiAnswer<Value>>(process, {
    kind,
    name: kind === "read" ? "read the other controller" : "switch the other controller",
    what,
    timeoutMs: 5_000,
    lateMs: 10_000,
    execute,
    unclear: ({ fault }) => {
      if (fault === "throttled") return { kind: "failed", failure: BUSY };
      if (fault === "denied") return failed(403, "Forbidden");
      return {
        kind: "failed",
        failure:
          fault === "lost request" || fault === "lost answer" || fault === "late" ? SILENT : BROKEN,
      };
    },
  });

interface Moving {
  readonly place: Place;
  readonly planned: PlannedTakeover;
  readonly startMs: number;
  readonly movesBy: (ports: TakeoverPorts) => TakeoverPorts;
}

type Deed = Parameters<Person["does"]>[1];

/**
 * Plays it: the other controller comes, a person takes over and may hand back, and in the end the
 * other controller is gone, so that the run ends as if it had never been there.
 */
export const playTakeover = (
  stage: Stage,
  mover: Person,
  options: Pick<Moving, "startMs" | "movesBy">,
): void => {
  const { takeover: planned, scheduler } = stage;
  if (!planned) return;
  const place = placeOf(stage, planned);
  const moving: Moving = { place, planned, ...options };
  const { name } = place.autoscaler;
  const at = (ms: number, words: string, deed: Deed): void =>
    scheduler.at(options.startMs + ms, () => mover.does(`${words} ${name}`, deed));
  playOther(moving);
  at(
    planned.takeoverMs,
    "take over",
    whileTime(moving, (ports) => takeOverFor(place, ports)),
  );
  if (planned.handbackMs !== undefined)
    at(
      planned.handbackMs,
      "hand back",
      whileTime(moving, (ports) => handBackFor(moving, ports)),
    );
  at(LAST_ATTEMPT_MS + ATTEMPT_MS / 2, "remove the other controller of", async (service) => {
    place.other.exists = false;
    settle(place);
    await service.resume(queryOf(place));
  });
};

const placeOf = (stage: Stage, { workload: at, kind }: PlannedTakeover): Place => {
  const autoscaler = stage.timetable.autoscalers[at];
  if (!autoscaler) throw new RangeError("an unknown autoscaler takes over");
  const site = siteOf(stage, autoscaler.cluster);
  const workload = site.workloads.get(workloadKey(autoscaler.namespace, autoscaler.target));
  if (!workload) throw new RangeError("an unknown workload is taken over");
  const other: Other = {
    kind,
    uid: `other-${autoscaler.name}`,
    version: 1,
    exists: false,
    paused: false,
    isBack: false,
  };
  workload.other = other;
  return { stage, autoscaler, site, workload, other };
};

/** The other controller comes, and sets counts while it is not at rest. */
const playOther = ({ place, planned, startMs }: Moving): void => {
  const { stage, site, workload, other } = place;
  stage.scheduler.at(startMs + planned.comesMs, () => {
    other.exists = true;
    settle(place);
  });
  for (const { atMs, load } of planned.loads) {
    stage.scheduler.at(startMs + Math.max(0, atMs), () => {
      stage.story.tell(site.name, `"${workload.target.name}" has a load of ${load}`);
      workload.load = load;
      site.changed(workload);
    });
  }
  for (const { atMs, replicas } of planned.counts) {
    stage.scheduler.at(startMs + atMs, () => {
      if (workload.rivalSinceMs === undefined || replicas === workload.replicas) return;
      other.version++;
      noteOutside(stage.ledger, workload, replicas);
      site.edit(workload, replicas);
      site.changed(workload);
    });
  }
};

const queryOf = ({ autoscaler: { cluster, namespace, name } }: Place) => ({
  cluster,
  namespace,
  name,
});

/** A deed with the ports of a person's process; nothing once too little time is left for it. */
const whileTime =
  ({ place, movesBy, startMs }: Moving, deed: (ports: TakeoverPorts) => Promise<void>): Deed =>
  async (service, tables, process) => {
    const { nowMs } = place.stage;
    if (nowMs() >= startMs + LAST_ATTEMPT_MS) return;
    await deed(movesBy({ service, api: apiOf(place, process), elapsed: nowMs, wait: tables.wait }));
  };

/** Throws where the person must look again. */
const takeOverFor = async (place: Place, ports: TakeoverPorts): Promise<void> => {
  const { service } = ports;
  const view = await service.get(queryOf(place));
  // What a sync before the last edit has seen is not shown: also for the command that is no
  // takeover.
  const isSeen = view.state !== "waiting" && view.rivals === undefined;
  if (isSeen && (await isTakenOver(service, view))) {
    // A takeover that took itself back, or died while it did.
    if (view.paused) await handBackOne(ports, view);
    watchOne(place, view.paused ? "other" : "Tidemark");
    return;
  }
  if (view.paused) await service.resume(queryOf(place));
  if (view.state !== "shadow")
    throw new TidemarkError("cli.takeover", `"${view.name}" is ${view.state}`, {});
  await takeOverOne(ports, view, { force: true });
  watchOne(place, "Tidemark");
};

const handBackFor = async ({ place, planned }: Moving, ports: TakeoverPorts): Promise<void> => {
  if (planned.atClaim) await untilClaim(place, ports);
  const view = await ports.service.get(queryOf(place));
  // What a person knows who looks at the cluster: the view may be a minute old, and then the
  // handback is refused and tried again.
  if (place.workload.rivalSinceMs !== undefined) return;
  await handBackOne(ports, view);
  watchOne(place, "other");
};

const LOOK_MS = 10;
const LOOKS = 2_000;

/** Until a sync claims a partition of the cluster; twenty seconds at most. */
const untilClaim = async (
  { stage: { ledger }, autoscaler: { cluster } }: Place,
  { wait }: TakeoverPorts,
): Promise<void> => {
  const holders = (): readonly unknown[] =>
    [...ledger.holders].flatMap(([key, holder]) => (key.includes(`#${cluster}#`) ? [holder] : []));
  const before = holders();
  for (let look = 0; look < LOOKS && holders().every((holder, at) => holder === before[at]); look++)
    await wait(LOOK_MS);
};

/** What a switch has left, as it says that it is done. */
const watchOne = (
  { stage: { ledger }, workload, autoscaler }: Place,
  scales: "Tidemark" | "other",
): void => {
  const isThere = workload.rivalSinceMs !== undefined;
  if (isThere !== (scales === "other"))
    ledger.violate(
      ONE,
      `"${autoscaler.name}" is ${scales === "other" ? "handed back" : "taken over"}, and the other controller ${isThere ? "is there" : "is at rest"}`,
    );
};

const ONE = "a workload that is taken over or handed back has one controller";

/** A PUT that takes effect after a person has let the other controller go on makes two of them. */
export const watchMoved = (ledger: Ledger, { workload, from, to }: Effect): void => {
  if (workload.other?.isBack && workload.rivalSinceMs !== undefined)
    ledger.violate(
      ONE,
      `"${workload.target.name}" goes from ${from} to ${to} by a PUT, and it was handed back`,
    );
};
