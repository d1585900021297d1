import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import type { Observed } from "../../../lib/stack/cluster/cluster-client.ts";
import { NOTHING_SET, type ScopedOverride } from "../../../lib/rules/model/override.ts";
import type { Decision } from "../../../lib/rules/model/decision.ts";
import type { DecideInput } from "../../../lib/rules/policy/decide.ts";
import { fleetKey } from "../../../lib/stack/store/table/keys.ts";
import type { SyncPorts } from "../../../lib/stack/sync/sync-ports.ts";
import { MADE, ONE_CONTROLLER, OUTSIDE, type PlantedBug, RIVALS, WINDOWS } from "./planted.ts";
import { withClient } from "./ports.ts";

/** A claim looks for no kill switch. */
const unreadFleet: PlantedBug = {
  leftOut: "the kill switch read after the claim",
  seed: 1,
  caughtBy: ["nothing is sent that was claimed after a freeze or a pause"],
  ports: (ports) => {
    const { client } = ports.tables;
    const send = async (command: object): Promise<object> => {
      const isFleet =
        command instanceof GetItemCommand && command.input.Key?.["sk"]?.S === fleetKey.sk;
      return isFleet ? {} : client.send(command as GetItemCommand);
    };
    return {
      ...ports,
      tables: { ...ports.tables, client: { send: send as DynamoDBClient["send"] } },
    };
  },
};

/**
 * Edits leave the spec version as it is: warm functions go on with the records that they remember.
 */
const unraisedVersion: PlantedBug = {
  leftOut: "the spec version raised after an edit",
  seed: 7,
  caughtBy: ["nothing is sent that was claimed after a freeze or a pause"],
  sent: (command) => {
    if (
      !(command instanceof UpdateItemCommand) ||
      !command.input.UpdateExpression?.startsWith("SET specVersion")
    )
      return command;
    const unraised = {
      UpdateExpression: "SET specVersion = if_not_exists(specVersion, :zero)",
      ExpressionAttributeValues: { ":zero": { N: "0" } },
    };
    return new UpdateItemCommand({ ...command.input, ...unraised });
  },
};

/** Decisions by manifest and metrics only. */
const unreadOverrides: PlantedBug = {
  leftOut: "the overrides in a decision",
  seed: 7,
  caughtBy: [OUTSIDE],
  ports: (ports) => ({
    ...ports,
    rules: {
      ...ports.rules,
      decide: ({ setByPeople: _unread, ...input }) => ports.rules.decide(input),
    },
  }),
};

/** Ports whose decisions go by other overrides, or by another spec. */
const decidingBy = (
  ports: SyncPorts,
  otherwise: (input: DecideInput) => DecideInput,
): SyncPorts => ({
  ...ports,
  rules: { ...ports.rules, decide: (input) => ports.rules.decide(otherwise(input)) },
});

const withOverrides = (
  input: DecideInput,
  change: (overrides: readonly ScopedOverride[]) => readonly ScopedOverride[],
): DecideInput => {
  const { setByPeople } = input;
  return setByPeople
    ? { ...input, setByPeople: { ...setByPeople, overrides: change(setByPeople.overrides) } }
    : input;
};

/** Decisions by the bounds of the manifest, whatever its schedule says. */
const unreadSchedule: PlantedBug = {
  leftOut: "the schedule in a decision",
  seed: 14,
  caughtBy: [OUTSIDE],
  ports: (ports) =>
    decidingBy(ports, (input) => {
      const { schedule: _unread, ...spec } = input.spec;
      return { ...input, spec };
    }),
};

/** Only what holds for many is read. */
const unreadOwnOverrides: PlantedBug = {
  leftOut: "the overrides of one autoscaler in a decision",
  seed: 14,
  caughtBy: [OUTSIDE],
  ports: (ports) =>
    decidingBy(ports, (input) =>
      withOverrides(input, (all) => all.filter(({ scope }) => scope !== "autoscaler")),
    ),
};

const LATE_END_MS = 120_000;

/** A timer ends an override some time after its end. */
const lateEnd: PlantedBug = {
  leftOut: "the end of an override (it ends later)",
  seed: 7,
  caughtBy: [OUTSIDE],
  ports: (ports) =>
    decidingBy(ports, (input) =>
      withOverrides(input, (all) =>
        all.map((one) =>
          one.untilMs === undefined ? one : { ...one, untilMs: one.untilMs + LATE_END_MS },
        ),
      ),
    ),
};

/** The first end of each override that a process has seen. */
const firstEnds = new WeakMap<object, Map<string, number | undefined>>();

/** A warm environment keeps the end that it has read first. */
const unreadExtension: PlantedBug = {
  leftOut: "the new end of an override that was extended",
  seed: 39,
  caughtBy: [OUTSIDE],
  ports: (ports, { process }) => {
    const ends = firstEnds.get(process) ?? new Map<string, number | undefined>();
    firstEnds.set(process, ends);
    const firstEnd = ({ untilMs, ...one }: ScopedOverride): ScopedOverride => {
      if (!ends.has(one.id)) ends.set(one.id, untilMs);
      const endMs = ends.get(one.id);
      return { ...one, ...(endMs !== undefined && { untilMs: endMs }) };
    };
    return decidingBy(ports, (input) => withOverrides(input, (all) => all.map(firstEnd)));
  },
};

/** The overrides of each autoscaler that a process has seen. */
const seenOverrides = new WeakMap<object, Map<string, Map<string, ScopedOverride>>>();

/**
 * A warm environment keeps what it has read until the end that it has read: an override that was
 * cleared goes on.
 */
const unreadClear: PlantedBug = {
  leftOut: "the end of an override that was cleared",
  seed: 159,
  caughtBy: [OUTSIDE],
  ports: (ports, { process }) => {
    const ofProcess = seenOverrides.get(process) ?? new Map<string, Map<string, ScopedOverride>>();
    seenOverrides.set(process, ofProcess);
    return decidingBy(ports, ({ setByPeople = NOTHING_SET, ...input }) => {
      const key = `${input.namespace}/${input.name}`;
      const seen = ofProcess.get(key) ?? new Map<string, ScopedOverride>();
      ofProcess.set(key, seen);
      for (const one of setByPeople.overrides) seen.set(one.id, one);
      return { ...input, setByPeople: { ...setByPeople, overrides: [...seen.values()] } };
    });
  },
};

const unseenRivals: PlantedBug = {
  leftOut: "a look for other controllers of the workload",
  seed: 0,
  caughtBy: ["nothing is sent where another controller was seen or may be"],
  ports: (ports) =>
    withClient(ports, (inner) => ({
      ...inner,
      observe: async (watched, limits) => {
        const seen = await inner.observe(watched, limits);
        return {
          ...seen,
          observations: new Map(
            [...seen.observations].map(([uid, observed]) => [uid, { ...observed, rivals: [] }]),
          ),
        };
      },
    })),
};

/** A list of other controllers that fails is taken for an empty one. */
const unknownRivals: PlantedBug = {
  leftOut: "a hold where other controllers could not be looked for",
  seed: 7,
  caughtBy: ["nothing is sent where another controller was seen or may be"],
  ports: (ports) =>
    withClient(ports, (inner) => ({
      ...inner,
      observe: async (watched, limits) => {
        const seen = await inner.observe(watched, limits);
        const known = [...seen.observations].map(
          ([uid, { rivalsUnknown: _unknown, ...observed }]) => [uid, observed] as const,
        );
        return { ...seen, observations: new Map(known) };
      },
    })),
};

/**
 * A 403 or 404 is taken for an answer without other controllers, though an earlier sync was
 * answered.
 */
const refusedLooks: PlantedBug = {
  leftOut: "a hold where a look for other controllers is refused that was answered before",
  seed: 1,
  caughtBy: [RIVALS],
  ports: (ports) =>
    withClient(ports, (inner) => ({
      ...inner,
      observe: async (watched, limits) => {
        const seen = await inner.observe(watched, limits);
        const none = ({ looks = [], ...observed }: Observed): Observed => ({
          ...observed,
          looks: looks.map(({ kind }) => ({ kind, outcome: "answered", rivals: [] })),
        });
        return {
          ...seen,
          observations: new Map(
            [...seen.observations].map(([uid, observed]) => [uid, none(observed)]),
          ),
        };
      },
    })),
};

/** A handback takes for granted that the other controller was made again. */
const notMadeAgain: PlantedBug = {
  leftOut: "the other controller made again by a handback",
  seed: 313,
  caughtBy: [ONE_CONTROLLER],
  movesBy: (ports) => ({
    ...ports,
    api: {
      ...ports.api,
      create: (_kind, _namespace, object) => Promise.resolve({ kind: "done", value: object }),
    },
  }),
};

/** A claim does not compare clocks. */
const uncomparedClocks: PlantedBug = {
  leftOut: "a look at the service's clock at the claim",
  seed: 2,
  caughtBy: [
    "nothing is sent under a clock that is wrong",
    "no stored time is ahead of what a clock may tell",
  ],
  ports: (ports) => {
    const { serverClock: _compared, ...tables } = ports.tables;
    return { ...ports, tables };
  },
};

/** Ports whose rules decide otherwise while the kill switch is on. */
const whileFrozen = (
  ports: SyncPorts,
  decide: (input: DecideInput, decision: Decision) => Decision,
): SyncPorts => {
  const { client } = ports.tables;
  let frozen = false;
  const send = async (command: object): Promise<object> => {
    const answer: object = await client.send(command as GetItemCommand);
    if (command instanceof GetItemCommand && command.input.Key?.["sk"]?.S === fleetKey.sk)
      frozen = JSON.stringify(answer).includes('"frozen"');
    return answer;
  };
  const rules = {
    ...ports.rules,
    decide: (input: DecideInput): Decision => {
      const decision = ports.rules.decide(input);
      return frozen ? decide(input, decision) : decision;
    },
  };
  return {
    ...ports,
    rules,
    tables: { ...ports.tables, client: { send: send as DynamoDBClient["send"] } },
  };
};

/**
 * What is held back by a freeze counts as if it had been written: limits and forbidden windows are
 * full when it ends.
 */
const countedThoughFrozen: PlantedBug = {
  leftOut: "counting only scales that were sent (those that a freeze held back count too)",
  seed: 1,
  caughtBy: [MADE],
  ports: (ports) =>
    whileFrozen(ports, ({ spec, nowMs }, decision) => {
      if (decision.kind === "hold") return decision;
      const outcome = { kind: "applied" } as const;
      return {
        ...decision,
        windows: ports.rules.afterWrite({
          spec,
          decision,
          outcome,
          atMs: nowMs,
          earliestMs: nowMs,
          eventId: "held back",
        }).windows,
      };
    }),
};

/** Windows stay as they are while the fleet is frozen: they have holes when it ends. */
const forgottenWhileFrozen: PlantedBug = {
  leftOut: "recording what is recommended during a freeze",
  seed: 1,
  caughtBy: [WINDOWS],
  ports: (ports) => whileFrozen(ports, ({ windows }, decision) => ({ ...decision, windows })),
};

export const STOP_BUGS: readonly PlantedBug[] = [
  unreadFleet,
  unraisedVersion,
  unreadOverrides,
  unreadSchedule,
  unreadOwnOverrides,
  lateEnd,
  unreadExtension,
  unreadClear,
  unseenRivals,
  unknownRivals,
  refusedLooks,
  notMadeAgain,
  uncomparedClocks,
  countedThoughFrozen,
  forgottenWhileFrozen,
];
