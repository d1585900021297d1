import type { Telling, Told, ToldObject } from "../../cluster/objects/telling.ts";
import type { ClusterClient } from "../../cluster/port.ts";
import type { SpecObject } from "../../cluster/specs/spec-listing.ts";
import { originIn } from "../../model/origin.ts";
import type { AutoscalerRecord, ScaleEventRecord } from "../../model/records.ts";
import { SPEC_KINDS } from "../../model/spec-kinds.ts";
import { type Moved, movedOf } from "../../report/objects/moved.ts";
import { conditionObjectEvents, scaleObjectEvent } from "../../report/objects/object-events.ts";
import { objectStatus } from "../../report/objects/object-status.ts";
import { connected } from "../connected.ts";
import type { Verdict } from "../decide.ts";
import { evaluationOf } from "../evaluation.ts";
import type { Loaded } from "../load.ts";
import type { SyncMessage } from "../message.ts";
import type { Seen } from "../observe.ts";
import type { Settled } from "../settle.ts";
import { STATUS_RIVAL_MS } from "../specs/holds-of-objects.ts";
import type { SyncPorts } from "../sync-ports.ts";
import type { After } from "../windows-after.ts";
import { isTurn, placeOf, roundOf } from "./turns.ts";

/** The most that one sync tells: requests, Events of one object, and time. A request costs the API server 3 to 9 ms of CPU (npm run bench -- write-back). */
export const TOLD_MAX = 200;
const EVENTS_OF_ONE_MAX = 3;
export const TELL_MS_MAX = 2_000;

interface Done {
  readonly loaded: Loaded;
  readonly seen: Pick<Seen, "client">;
  readonly verdicts: readonly Verdict[];
  readonly settled: Settled;
  readonly after: After;
  readonly softUntilMs: number;
}

/**
 * Writes back what was decided to the objects that autoscalers were read from: their status and Events. It comes after the release, in the time that is left, and nothing depends on it: every
 * failure is a count. What the LIST of this sync showed says what has moved, so that nothing is stored for it.
 */
export const tellObjects = async (ports: SyncPorts, message: SyncMessage, done: Done): Promise<Told | undefined> => {
  const leftMs = done.softUntilMs - ports.tables.clock();
  if (leftMs <= 0) return undefined;
  const tellings = tellingsOf(message, done);
  const client = tellings.length === 0 ? undefined : await clientOf(ports, done);
  if (!client?.tell) return undefined;
  return client.tell(tellings, { budgetMs: Math.min(leftMs, TELL_MS_MAX), callsMax: TOLD_MAX });
};

/** A sync without a valid autoscaler has observed nothing, and so has no client yet. */
const clientOf = async (ports: SyncPorts, { loaded, seen }: Done): Promise<ClusterClient | undefined> => {
  if (seen.client) return seen.client;
  const connection = await connected(ports, loaded.cluster);
  return connection.kind === "connected" ? connection.client : undefined;
};

interface Ranked {
  readonly telling: Telling;
  /** The lowest is told first. */
  readonly rank: number;
  /** Within a rank, the lowest. */
  readonly place: number;
}

const RANKS: Readonly<Record<Exclude<Moved, "nothing">, number>> = { state: 1, values: 3 };
const EVENT_RANK = 2;

/** States come first, then Events, then values. Within each the objects take turns, so that none waits for long where there is no room for all. */
const tellingsOf = (message: SyncMessage, done: Done): readonly Telling[] => {
  const scales = Map.groupBy(
    [...done.settled.late, ...done.settled.own].map(({ event }) => event).filter((event) => event !== undefined),
    ({ uid }) => uid,
  );
  return done.verdicts
    .flatMap((verdict) => ofVerdict(message, done, verdict, scales))
    .toSorted((one, other) => one.rank - other.rank || one.place - other.place)
    .map(({ telling }) => telling);
};

const ofVerdict = (
  message: SyncMessage,
  { loaded, after }: Done,
  verdict: Verdict,
  scales: ReadonlyMap<string, readonly ScaleEventRecord[]>,
): readonly Ranked[] => {
  if (verdict.autoscaler.kind === "unreadable") return [];
  const { record } = verdict.autoscaler;
  const target = toldObjectOf(loaded, record);
  const evaluation = target && evaluationOf(verdict, after);
  if (!target || !evaluation) return [];
  const { about, object } = target;
  const events = scales.get(record.uid) ?? [];
  const listed = object.status ?? {};
  const made = events.filter(({ outcome }) => outcome !== "refused").length;
  const status = objectStatus(about.of.kind, evaluation, { generation: object.generation, nowMs: loaded.nowMs, listed, scales: made });
  const moved = movedOf(status, listed);
  const isWritten = moved === "state" || (moved === "values" && isTurn(about.uid, message));
  const ofConditions = moved === "state" ? conditionObjectEvents(about.uid, status, listed, loaded.nowMs) : [];
  return [
    ...(isWritten
      ? [
          {
            rank: RANKS[moved],
            place: placeOf(about.uid, roundOf(moved === "values" ? "values" : "others", message)),
            telling: { kind: "status", about, status } as const,
          },
        ]
      : []),
    ...[...events.map(scaleObjectEvent), ...ofConditions].slice(0, EVENTS_OF_ONE_MAX).map((event) => ({
      rank: EVENT_RANK,
      place: placeOf(about.uid, roundOf("others", message)),
      telling: { kind: "event", about, event } as const,
    })),
  ];
};

/** The object of an autoscaler in the LIST of this sync. Fails to silence: the status of an object that another controller writes is left to it. */
const toldObjectOf = (
  { cluster, objects, nowMs }: Loaded,
  record: AutoscalerRecord,
): { readonly about: ToldObject; readonly object: SpecObject } | undefined => {
  const origin = originIn(cluster, record);
  const of = SPEC_KINDS.find(({ kind }) => kind === origin?.kind);
  const object = origin && objects?.listed.get(origin.uid);
  if (!of || !object) return undefined;
  if (object.statusBy && nowMs - object.statusBy.atMs <= STATUS_RIVAL_MS) return undefined;
  const { namespace, name, uid, resourceVersion } = object;
  return { about: { of, namespace, name, uid, resourceVersion }, object };
};
