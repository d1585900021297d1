import { type AttributeValue, PutItemCommand } from "@aws-sdk/client-dynamodb";
import type { ScaleRead, ScaleReading } from "../../../lib/rules/model/observation.ts";
import type { ScaleChange } from "../../../lib/rules/model/windows.ts";
import { fleetKey } from "../../../lib/stack/store/table/keys.ts";
import { workloadKey } from "../../../lib/stack/sync/load/open-intents.ts";
import { type Accident, accidentOf } from "../accidents.ts";
import type { Process } from "../process.ts";
import {
  BREACH,
  EVENT,
  FORBIDDEN,
  HELD,
  INTENT,
  LIMITS,
  LOST,
  ONE_EVENT,
  type PlantedBug,
  SET_BY_OTHERS,
  STACKS,
} from "./planted.ts";
import { withClient } from "./ports.ts";

const withAccident =
  (accident: Accident) =>
  (seed: number): boolean =>
    accidentOf(seed) === accident;

type Item = Readonly<Record<string, AttributeValue>>;

const newest = new WeakMap<Process, Map<string, ScaleRead>>();

/**
 * An environment takes an answer with an older generation for one that is late, and goes by the
 * newest that it has seen.
 */
const newestRemembered: PlantedBug = {
  leftOut:
    "going by an older generation, which a restored etcd shows (the newest that was seen counts)",
  seed: 332,
  where: withAccident("a cluster goes back"),
  caughtBy: [SET_BY_OTHERS],
  ports: (ports, { process }) => {
    const known = newest.get(process) ?? new Map<string, ScaleRead>();
    newest.set(process, known);
    const latest = (key: string, reading: ScaleReading): ScaleReading => {
      if (reading.kind !== "read" || reading.generation === undefined) return reading;
      const before = known.get(key);
      if (before?.uid === reading.uid && (before.generation ?? 0) > reading.generation)
        return before;
      known.set(key, reading);
      return reading;
    };
    return withClient(ports, (inner) => ({
      ...inner,
      readScale: async (namespace, target, timeoutMs) =>
        latest(workloadKey(namespace, target), await inner.readScale(namespace, target, timeoutMs)),
      observe: async (watched, limits) => {
        const seen = await inner.observe(watched, limits);
        const observations = new Map(
          watched.flatMap(({ uid, namespace, spec }) => {
            const observed = seen.observations.get(uid);
            if (!observed) return [];
            const scale = latest(workloadKey(namespace, spec.target), observed.observation.scale);
            return [
              [uid, { ...observed, observation: { ...observed.observation, scale } }] as const,
            ];
          }),
        );
        return { ...seen, observations };
      },
    }));
  },
};

/** The clock of a run is a monotonic one, which stands still while its machine is suspended. */
const clockStandsStill: PlantedBug = {
  leftOut: "a clock that goes on while the machine is suspended",
  seed: 412,
  where: withAccident("one machine"),
  caughtBy: [EVENT, INTENT, LIMITS, FORBIDDEN],
  ports: (ports, { process }, _client, { machine }) => {
    const { tables } = ports;
    return {
      ...ports,
      tables: { ...tables, clock: () => tables.clock() - (machine?.stoodStillMs(process) ?? 0) },
    };
  },
};

/** A write is answered as soon as the process has it, and the disk a moment later. */
const notDurable: PlantedBug = {
  leftOut: "writes that survive a loss of power before they are answered",
  seed: 52,
  where: withAccident("one machine"),
  caughtBy: [EVENT, INTENT, ONE_EVENT],
  undurableMs: 1_000,
};

/** A sync does not ask which tables it works on. */
const unaskedIds: PlantedBug = {
  leftOut: "a look at the ids of the tables (restored ones are taken for the former)",
  seed: 132,
  where: withAccident("tables go back"),
  caughtBy: [HELD],
  ports: (ports) => {
    const { ids: _asked, ...tables } = ports.tables;
    return { ...ports, tables };
  },
};

/** A request that stores an item, without a part of it. */
const withoutPart = (command: unknown, isMeant: (item: Item) => boolean, part: string): unknown => {
  if (!(command instanceof PutItemCommand) || !isMeant(command.input.Item ?? {})) return command;
  const { [part]: _dropped, ...Item } = command.input.Item ?? {};
  return new PutItemCommand({ ...command.input, Item });
};

/**
 * Adopted tables go on at once: what was frozen, paused or deleted since the instant of the restore
 * scales.
 */
const adoptedUnfrozen: PlantedBug = {
  leftOut: "the freeze that an adoption leaves",
  seed: 1032,
  where: withAccident("tables go back"),
  caughtBy: [HELD],
  sent: (command) =>
    withoutPart(
      command,
      ({ sk, restores }) => sk?.S === fleetKey.sk && restores !== undefined,
      "frozen",
    ),
};

const withoutName = (command: unknown): unknown =>
  withoutPart(command, ({ restoredAs }) => restoredAs !== undefined, "restoredAs");

/** Two stacks with copies of one table scale under one name. */
const oneName: PlantedBug = {
  leftOut: "another name for the scales of adopted tables",
  seed: 72,
  where: withAccident("tables go back"),
  caughtBy: [STACKS],
  sent: withoutName,
};

const isAssumed = ({ eventId = "" }: ScaleChange): boolean => eventId.startsWith("adopt");

/**
 * A sync goes by what was really made, as far as the restored tables know; the name stays, so that
 * it does not hold beside what the former stack has scaled either.
 */
const knownPast: PlantedBug = {
  leftOut:
    "an unknown past and another name after an adoption (limits count only the scales that the restored tables hold)",
  seed: 252,
  where: withAccident("tables go back"),
  caughtBy: [LOST, BREACH],
  sent: withoutName,
  ports: (ports) => ({
    ...ports,
    rules: {
      ...ports.rules,
      decide: ({ windows, ...input }) => {
        const { memory } = windows;
        const [scaleUps, scaleDowns] = [memory.scaleUps, memory.scaleDowns].map((all) =>
          all.filter((one) => !isAssumed(one)),
        );
        const { lastScaleMs: _assumed, ...status } = windows.status;
        const wasAssumed =
          scaleUps?.length !== memory.scaleUps.length ||
          scaleDowns?.length !== memory.scaleDowns.length;
        return ports.rules.decide({
          ...input,
          windows: wasAssumed
            ? {
                ...windows,
                status,
                memory: { ...memory, scaleUps: scaleUps ?? [], scaleDowns: scaleDowns ?? [] },
              }
            : windows,
        });
      },
    },
  }),
};

export const ACCIDENT_BUGS: readonly PlantedBug[] = [
  unaskedIds,
  adoptedUnfrozen,
  oneName,
  knownPast,
  newestRemembered,
  clockStandsStill,
  notDurable,
];
