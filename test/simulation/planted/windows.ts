import { PutItemCommand } from "@aws-sdk/client-dynamodb";
import { eventOf } from "../../../lib/stack/store/history/events.ts";
import { decodePage } from "../../../lib/stack/store/pages/codec.ts";
import type { Invocation } from "../invocation.ts";
import { INTENT, isEventItem, LIMITS, type PlantedBug, WINDOWS } from "./planted.ts";
import { withTables } from "./ports.ts";
import type { StoredWindows } from "../../../lib/rules/model/scale-records.ts";

/** The windows are told the time of the decision for that of the answer. */
const dateAtIntent: PlantedBug = {
  leftOut: "the event dated after the answer (at the intent instead)",
  seed: 0,
  caughtBy: [LIMITS, INTENT],
  ports: (ports) => {
    const decidedMs = new Map<string | undefined, number>();
    return {
      ...ports,
      insert: (items) => {
        for (const item of items.filter(isEventItem)) {
          const { id, atMs } = eventOf(item);
          decidedMs.set(id, atMs);
        }
        return ports.insert(items);
      },
      rules: {
        ...ports.rules,
        afterWrite: (report) =>
          ports.rules.afterWrite({ ...report, atMs: decidedMs.get(report.eventId) ?? report.atMs }),
        withScale: (windows, spec, change) =>
          ports.rules.withScale(windows, spec, {
            ...change,
            atMs: decidedMs.get(change.eventId) ?? change.atMs,
          }),
      },
    };
  },
};

const scalesOf = ({ windows: { memory, status } }: StoredWindows): string =>
  JSON.stringify([memory.scaleUps, memory.scaleDowns, status.lastScaleMs]);

/** True when a page differs from the one before in recommendations alone. */
const onlyRecommends = (before: Uint8Array | undefined, after: Uint8Array | undefined): boolean => {
  const [old, next] = [
    decodePage(before ?? new Uint8Array()),
    decodePage(after ?? new Uint8Array()),
  ];
  if (
    old.kind === "unreadable" ||
    next.kind === "unreadable" ||
    old.entries.size !== next.entries.size
  )
    return false;
  return [...next.entries.values()].every((entry) => {
    const known = old.entries.get(entry.uid);
    return known !== undefined && scalesOf(known) === scalesOf(entry);
  });
};

/** Bodies of the pages that each environment stored last, by key. */
const stored = new WeakMap<Invocation["process"], Map<string, Uint8Array | undefined>>();

/**
 * A page whose scales stay as they were is written with the recommendations that it had: the run
 * that was there is then taken to go on.
 */
const extendedUnrecorded: PlantedBug = {
  leftOut: "the record of a new run (the old one is extended)",
  seed: 0,
  caughtBy: [WINDOWS],
  ports: (ports, { process }) => {
    const known = stored.get(process) ?? new Map<string, Uint8Array | undefined>();
    stored.set(process, known);
    return withTables(ports, {
      request: (command) => {
        if (!(command instanceof PutItemCommand)) return command;
        const { Item: item = {} } = command.input;
        const key = `${item["pk"]?.S} ${item["sk"]?.S}`;
        if (!item["sk"]?.S?.startsWith("page#")) return command;
        const before = known.get(key);
        const kept = before && onlyRecommends(before, item["body"]?.B) ? before : item["body"]?.B;
        known.set(key, kept);
        return new PutItemCommand({
          ...command.input,
          Item: { ...item, ...(kept && { body: { B: kept } }) },
        });
      },
    });
  },
};

/** What is recommended is noted twice. */
const countedTwice: PlantedBug = {
  leftOut: "one record per recommendation (they are counted twice)",
  seed: 0,
  caughtBy: [WINDOWS],
  ports: (ports) => ({
    ...ports,
    rules: {
      ...ports.rules,
      decide: (input) => {
        const decision = ports.rules.decide(input);
        const { memory } = decision.windows;
        const twice = (memory.recommendations ?? []).flatMap((run) =>
          run.lastMs === input.nowMs
            ? [{ replicas: run.replicas, firstMs: run.lastMs - 1, lastMs: run.lastMs - 1 }, run]
            : [run],
        );
        return {
          ...decision,
          windows: { ...decision.windows, memory: { ...memory, recommendations: twice } },
        };
      },
    },
  }),
};

export const WINDOWS_BUGS: readonly PlantedBug[] = [dateAtIntent, extendedUnrecorded, countedTwice];
