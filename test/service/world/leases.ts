import { MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import {
  claimingRegion,
  claimLeases,
  laterRegion,
  lookAtLeases,
  renewLeases,
} from "../../../lib/stack/plan/fleet-leases.ts";
import {
  type FleetLease,
  type LeasePlace,
  readLease,
  replicaPlace,
  witnessPlace,
  writeLease,
} from "../../../lib/stack/store/records/fleet-leases.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import { memoryTables } from "../../contracts/memory-engine.ts";

/** The holder of the fleet is in A, its standby in B, and the witness in W. */
export const [AFTER_MS, TERM] = [5 * MINUTE_MS, 0];
export type Actor = "A" | "B";

/** What becomes of a request: it is answered, its answer is lost, or it arrives nowhere. */
export type Fate = "answered" | "lost" | "cut";

interface Request {
  readonly actor: Actor;
  readonly run: (fate: Fate) => void;
}

/** `coverage`: until when the holder planned. `claims`: when the standby had both leases. */
export interface Played {
  readonly coverage: number[];
  readonly claims: number[];
}

const failure = (name: string): Error => Object.assign(new Error(name), { name });

/** What would be wrong, so that a test sees that it is found. */
export type Mistake =
  | "the holder plans without a renewal"
  | "one lease is enough for the standby"
  | "a lease is written without its condition";

/** Two stacks whose every request to a lease waits until the test lets it go on. */
export const newLeases = (mistake?: Mistake) => {
  const engines = { B: memoryTables(), W: memoryTables() };
  const executed = (at: keyof typeof engines, command: object): unknown => {
    if (mistake === "a lease is written without its condition")
      Reflect.deleteProperty(Reflect.get(command, "input"), "ConditionExpression");
    return engines[at].execute(command);
  };
  const waiting: Request[] = [];
  const world = { nowMs: 0, hasTaken: false, isFree: false };
  const held = (actor: Actor, execute: () => unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const once = (): Promise<unknown> => Promise.resolve().then(execute);
      const noAnswer = (): void => reject(failure("TimeoutError"));
      const fates: Readonly<Record<Fate, () => void>> = {
        answered: () => void once().then(resolve, reject),
        lost: () => void once().then(noAnswer, noAnswer),
        cut: () => reject(failure("cut off")),
      };
      waiting.push({ actor, run: (fate) => fates[fate]() });
    });
  const tablesOf = (actor: Actor, at: keyof typeof engines): Tables => ({
    client: {
      send: (async (command: object) =>
        world.isFree ? executed(at, command) : held(actor, () => executed(at, command))) as never,
    },
    ...{ stateTable: "s", historyTable: "", clock: () => world.nowMs, random: () => 0 },
    ...{ wait: () => Promise.resolve(), token: () => "t", untilMs: -1 },
  });
  const places = (actor: Actor): readonly LeasePlace[] => [
    replicaPlace("B", tablesOf(actor, "B")),
    witnessPlace({ region: "W", tables: tablesOf(actor, "W"), afterMs: AFTER_MS }, "s"),
  ];
  const played: Played = { coverage: [], claims: [] };

  /** A call of the scheduler of the holder. */
  const renew = async (): Promise<void> => {
    const self = { region: "A", term: TERM };
    const untilMs = world.nowMs + 3 * MINUTE_MS;
    const looked = await lookAtLeases(places("A"));
    if (laterRegion(looked, self) !== undefined) return;
    if (claimingRegion(looked, self) !== undefined && world.hasTaken) return;
    const { kind } = await renewLeases(looked, self, untilMs);
    if (kind === "covered" || mistake === "the holder plans without a renewal")
      played.coverage.push(untilMs);
  };
  /** A call of the scheduler of the standby. */
  const claim = async (): Promise<void> => {
    const looked = await lookAtLeases(places("B"));
    const seenMs = world.nowMs;
    const claimed = await claimLeases(
      looked,
      {
        ...{ region: "B", term: TERM, holder: "A", untilMs: seenMs + 5 * MINUTE_MS },
        hasEnded: ({ untilMs }) => untilMs + AFTER_MS <= seenMs,
      },
      mistake !== "one lease is enough for the standby",
    );
    if (claimed.kind !== "claimed") return;
    world.hasTaken = true;
    played.claims.push(seenMs);
  };
  /** What the leases are before the play begins. */
  const begin = async (
    leases: readonly (Omit<FleetLease, "version"> | undefined)[],
  ): Promise<void> => {
    world.isFree = true;
    for (const [index, place] of places("A").entries()) {
      const lease = leases[index];
      if (lease) await writeLease(place, lease, undefined);
    }
    world.isFree = false;
  };
  const read = () => Promise.all(places("A").map(readLease));
  return { world, waiting, played, renew, claim, begin, read };
};

/** True where no plan of the holder reaches to a claim, by as much as the parameter says. */
export const isSafe = ({ coverage, claims }: Played): boolean =>
  claims.every((atMs) => coverage.every((untilMs) => untilMs + AFTER_MS <= atMs));
