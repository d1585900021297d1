import type { AutoscalerQuery, Service } from "../../answers/service/service.ts";
import type { AutoscalerView, RivalView } from "../../answers/views/autoscaler.ts";

export interface SyncWatch {
  readonly service: Pick<Service, "get" | "events">;
  /** Real time, and a wait in real time. */
  readonly elapsed: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}

export type WatchedSync =
  | { readonly kind: "good"; readonly view: AutoscalerView }
  | {
      readonly kind: "bad";
      readonly why: string /** Another controller scales it already. */;
      readonly beside: boolean;
    };

const LOOK_AGAIN_MS = 500;
/** Syncs without a fault after which a switch has worked. */
export const SYNCS_NEEDED = 2;
/** A sync is noticed in the journal within a minute at the latest. */
const SLACK_MS = 60_000;
const PERIODS = 4;

interface Switched {
  readonly since: string | undefined;
  readonly periodSeconds: number;
  /** The object that was brought to rest. */
  readonly rested: Pick<RivalView, "uid">;
}

/**
 * Watches the first syncs after a switch. Good: two of them found no other controller, and could
 * read and scale. Bad: one could not, or they did not come in time. `since` is the newest sync
 * before the switch, by the clock of the syncs.
 */
export const watchSyncs = async (
  ports: SyncWatch,
  query: AutoscalerQuery,
  { since, periodSeconds, rested }: Switched,
): Promise<WatchedSync> => {
  let [last, good] = [since, 0];
  for await (const view of looks(ports, query, periodSeconds)) {
    if (view.syncedAt === undefined || view.syncedAt === last) continue;
    last = view.syncedAt;
    const successor = successorOf(rested, view);
    const why = successor ?? faultOf(view) ?? (await refusal(ports.service, query, since));
    if (why !== undefined) return { kind: "bad", why, beside: successor !== undefined };
    good += isFree(view) ? 1 : 0;
    if (good >= SYNCS_NEEDED) return { kind: "good", view };
  }
  return {
    kind: "bad",
    why: `no ${SYNCS_NEEDED} syncs came in time that found it without another controller`,
    beside: false,
  };
};

/**
 * Looks at an autoscaler for four periods and a minute: what a sync has begun has ended by then.
 */
async function* looks(
  { service, elapsed, wait }: SyncWatch,
  query: AutoscalerQuery,
  periodSeconds: number,
): AsyncGenerator<AutoscalerView> {
  const untilMs = elapsed() + PERIODS * periodSeconds * 1_000 + SLACK_MS;
  while (elapsed() < untilMs) {
    await wait(LOOK_AGAIN_MS);
    yield await service.get(query);
  }
}

/** Waits until a look at the autoscaler is as wanted. False where none is in its time. */
export const until = async (
  ports: SyncWatch,
  query: AutoscalerQuery,
  periodSeconds: number,
  isWanted: (view: AutoscalerView) => boolean,
): Promise<boolean> => {
  for await (const view of looks(ports, query, periodSeconds)) if (isWanted(view)) return true;
  return false;
};

/**
 * True once a sync has held it because of its pause: those that began before the pause send nothing
 * any more.
 */
export const isHeldByPause = ({ state, decision }: AutoscalerView): boolean =>
  state === "paused" && decision?.reason === "AutoscalerPaused";

/** Neither beside another controller nor held by something that a next sync ends. */
const isFree = ({ state, rivals }: AutoscalerView): boolean =>
  rivals === undefined && (state === "active" || state === "limited");

const successorOf = (
  { uid }: Pick<RivalView, "uid">,
  { rivals = [] }: AutoscalerView,
): string | undefined => {
  const successor = rivals.find((rival) => rival.uid !== undefined && rival.uid !== uid);
  return (
    successor &&
    `something made ${successor.kind} "${successor.name}" anew, as Flux and Argo CD do: suspend the application before the takeover`
  );
};

/** A metric that is missing now may be one that only the other controller had asked for. */
const faultOf = ({ state, metrics, decision }: AutoscalerView): string | undefined => {
  if (decision?.refused !== undefined) return `its scale was refused: ${decision.refused}`;
  if (state === "failing" || state === "forbidden")
    return `the sync could not evaluate it: ${decision?.message ?? "no reason"}`;
  if (state === "paused" || state === "frozen" || state === "invalid") return `it is ${state}`;
  const missing = metrics.find((metric) => metric.kind === "failed");
  return missing?.kind === "failed"
    ? `its metric "${missing.name}" cannot be read: ${missing.message}`
    : undefined;
};

const refusal = async (
  service: SyncWatch["service"],
  query: AutoscalerQuery,
  since: string | undefined,
): Promise<string | undefined> => {
  for await (const { outcome, detail, at } of service.events({
    ...query,
    ...(since !== undefined && { sinceMs: Date.parse(since) }),
  })) {
    if (outcome === "refused" && at !== since)
      return `its scale was refused: ${detail ?? "no reason"}`;
  }
  return undefined;
};
