import { isTidemarkError } from "../../lib/rules/model/errors.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import type { Tables } from "../../lib/stack/store/table/tables.ts";
import type { Applied, EditResult } from "../../lib/answers/views/autoscaler.ts";
import type { Order } from "./orders.ts";
import type { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Story } from "./story.ts";
import type { PlannedAutoscaler, PlannedEdit, Timetable } from "./timetable.ts";
import { CLOCK_ALLOWANCE_MS } from "./watch/clocks.ts";
import type { EditAnswer, EditLog, WantedEdit } from "./watch/edits.ts";
import type { Stops } from "./watch/stops.ts";
import { clusterAdded, ELSEWHERE } from "./world.ts";

/** A person at the command line. */
export interface Person {
  readonly edit: (autoscaler: PlannedAutoscaler, edit: PlannedEdit) => void;
  readonly order: (order: Order) => void;
  readonly does: (
    words: string,
    perform: (service: Service, tables: Tables, process: Process) => Promise<unknown>,
  ) => void;
  /** True when everything that was asked for is done. */
  readonly idle: () => boolean;
}

const RETRY_MS = 1_000;

interface World {
  readonly scheduler: Scheduler;
  readonly story: Story;
  readonly newProcess: (name: string) => Process;
  readonly tablesOf: (process: Process) => Tables;
  readonly edits: EditLog;
  readonly stops: Stops;
  readonly timetable: Timetable;
}

/** One command, as often as it is tried. */
interface Deed {
  readonly words: string;
  /** Of one autoscaler; absent for an order to all. */
  readonly wanted?: WantedEdit;
  /** It takes overrides away before their end, so long after it begins. */
  readonly clearsAfterMs?: number;
  readonly perform: (service: Service, tables: Tables, process: Process) => Promise<unknown>;
}

/**
 * A person does one thing after the other, each again until it is done, in a new process where the
 * last one died.
 */
export const newPerson = (world: World, name: string): Person => {
  const { scheduler, story, edits, stops } = world;
  const waiting: Deed[] = [];
  let uids = 0;
  let attempts = 0;
  let busy = false;
  const attempt = async (deed: Deed): Promise<void> => {
    const process = world.newProcess(`${name}-${++attempts}`);
    const tables = world.tablesOf(process);
    const service = openService({
      tables,
      insert: insertByStatement(tables),
      clock: tables.clock,
      by: "a person",
      newUid: () => `uid-${name}-${++uids}`,
    });
    process.onEnd.add(again);
    if (deed.wanted) edits.began(process.name, deed.wanted);
    if (deed.clearsAfterMs !== undefined)
      // By the clock of the world: the clock of the person may be ahead of it.
      edits.clears(process.name, scheduler.nowMs() + deed.clearsAfterMs - CLOCK_ALLOWANCE_MS);
    try {
      const answer = await deed.perform(service, tables, process).then(answerOf, isGone);
      story.tell(process.name, `${deed.words}: ${answer}`);
      edits.answered(process.name, answer);
      stops.answered(process.name);
      waiting.shift();
      process.onEnd.clear();
      next();
    } catch (error) {
      story.tell(
        process.name,
        `${deed.words}: ${error instanceof Error ? error.message : String(error)}`,
      );
      edits.answered(process.name, "unclear");
      process.onEnd.clear();
      if (!isTidemarkError(error)) throw error;
      again();
    }
  };
  const next = (): void => {
    const [first] = waiting;
    busy = first !== undefined;
    if (first) void attempt(first);
  };
  const again = (): void =>
    scheduler.at(scheduler.nowMs() + RETRY_MS, () => {
      next();
      scheduler.resumed();
    });
  const ask = (deed: Deed): void => {
    waiting.push(deed);
    if (busy) return;
    next();
    scheduler.resumed();
  };
  return {
    edit: (autoscaler, edit) => ask(editDeed(autoscaler, edit)),
    order: (order) =>
      ask({
        words: wordsOf(order),
        ...(order.verb === "clear overrides" && { clearsAfterMs: 0 }),
        ...(order.verb === "extend overrides" && { clearsAfterMs: order.forMs }),
        perform: (service, { clock }) =>
          performOrder(service, order, { timetable: world.timetable, clock }),
      }),
    does: (words, perform) => ask({ words, perform }),
    idle: () => waiting.length === 0,
  };
};

const editDeed = ({ cluster, namespace, name }: PlannedAutoscaler, edit: PlannedEdit): Deed => {
  const asked = { cluster, namespace, name };
  const wanted: WantedEdit = {
    name,
    cluster,
    verb: edit.verb,
    ...(edit.verb === "apply" && { manifest: JSON.stringify(edit.manifest) }),
  };
  return {
    words: `${edit.verb} ${name}`,
    wanted,
    perform: (service, { clock }) => performEdit(service, asked, { edit, nowMs: clock() }),
  };
};

type Asked = Pick<PlannedAutoscaler, "cluster" | "namespace" | "name">;

const performEdit = (
  service: Service,
  asked: Asked,
  { edit, nowMs }: { readonly edit: PlannedEdit; readonly nowMs: number },
): Promise<unknown> => {
  switch (edit.verb) {
    case "apply":
      return service.apply([{ file: "-", text: JSON.stringify(edit.manifest) }], {
        cluster: asked.cluster,
        dryRun: false,
      });
    case "pause":
      return service.pause(asked, nowMs + edit.forMs);
    case "resume":
      return service.resume(asked);
    case "delete":
      return service.delete(asked);
  }
};

/** What the service's answer to an edit says. */
const answerOf = (answer: unknown): EditAnswer => {
  const [applied] = Array.isArray(answer) ? (answer as readonly Applied[]) : [];
  if (applied) return applied.outcome === "unchanged" ? "unchanged" : "changed";
  return (answer as Partial<EditResult> | undefined)?.changed === false ? "unchanged" : "changed";
};

const wordsOf = (order: Order): string =>
  "place" in order
    ? `override ${JSON.stringify(order.place)}`
    : "cluster" in order
      ? `${order.verb} ${order.cluster}`
      : order.verb;

interface Around {
  readonly timetable: Timetable;
  readonly clock: () => number;
}

const performOrder = (
  service: Service,
  order: Order,
  { timetable, clock }: Around,
): Promise<unknown> => {
  switch (order.verb) {
    case "override": {
      const { set, forMs, inMs = 0, place } = order;
      const fromMs = clock() + inMs;
      const wanted = {
        ...set,
        ...(place.cluster === undefined ? { ...place, fleet: true } : place),
        fromMs,
        untilMs: fromMs + forMs,
      };
      return service.setOverride({ ...wanted, reason: "to see what happens" }).catch(isRefused);
    }
    case "extend overrides":
      return extendAll(service, clock() + order.forMs);
    case "clear overrides":
      return clearAll(service);
    case "freeze":
      return service.freeze("to see what happens");
    case "thaw":
      return service.thaw();
    case "pause cluster":
      return service.pauseCluster(order.cluster);
    case "resume cluster":
      return service.resumeCluster(order.cluster);
    case "divide":
      return service.replaceCluster({ name: order.cluster, partitions: order.partitions });
    case "reset windows":
      return service.resetWindows(order.partition, order.page).catch(isReadable);
    case "reset intent":
      return service.resetIntent(order.partition, order.id).catch(isReadable);
    case "specs":
      return service.replaceCluster({ name: order.cluster, specsFromCluster: order.kinds });
    case "remove":
      return removeAll(service, order.cluster);
    case "add elsewhere":
      return addElsewhere(service, timetable, order.cluster);
  }
};

/** A sync of a warm function, or another attempt, may have written it anew. */
const isReadable = (error: unknown): void => {
  if (!isTidemarkError(error, "service.readable")) throw error;
};

/** An attempt that died may have cleared some. */
const clearAll = async (service: Service): Promise<void> => {
  for await (const { id, state } of service.overrides({}))
    if (state !== "expired") await service.clearOverride({ id }).catch(isGone);
};

/** One may end, or be cleared, between the list and its extension. */
const extendAll = async (service: Service, untilMs: number): Promise<void> => {
  for await (const { id, state } of service.overrides({}))
    if (state !== "expired") await service.extendOverride({ id, untilMs }).catch(isRefused);
};

/** A minimum above the maximum of one autoscaler is refused, and an end that has passed. */
const isRefused = (error: unknown): EditAnswer =>
  isTidemarkError(error, "service.invalid") ? "unchanged" : isGone(error);

/**
 * What a person does for a cluster that goes. One that another editor creates meanwhile makes the
 * removal fail, and all of it is done again.
 */
const removeAll = async (service: Service, cluster: string): Promise<unknown> => {
  await service.replaceCluster({ name: cluster, specsFromCluster: [] }).catch(isGone);
  for await (const { namespace, name } of service.autoscalers({ cluster }))
    await service.delete({ cluster, namespace, name }).catch(isGone);
  return service.removeCluster(cluster);
};

const addElsewhere = async (
  service: Service,
  timetable: Timetable,
  name: string,
): Promise<unknown> => {
  const planned = timetable.clusters.find((one) => one.name === name);
  if (!planned) throw new RangeError(`there is no cluster "${name}"`);
  await service
    .addCluster({ ...clusterAdded(planned), connection: ELSEWHERE, force: true })
    .catch((error: unknown) => {
      // An attempt that died may have added it.
      if (!isTidemarkError(error, "service.exists")) throw error;
    });
  const stored = timetable.autoscalers.filter(
    ({ cluster, home }) => cluster === name && home === undefined,
  );
  const texts = stored.map(({ manifest }) => ({ file: "-", text: JSON.stringify(manifest) }));
  return service.apply(texts, { cluster: name, dryRun: false });
};

/**
 * Another person may have deleted it before, or this one in an attempt that died after its effect.
 */
const isGone = (error: unknown): EditAnswer => {
  if (!isTidemarkError(error, "service.unknown")) throw error;
  return "gone";
};
