import { isTidemarkError } from "../../lib/model/errors.ts";
import { openService } from "../../lib/service/open.ts";
import type { Service } from "../../lib/service/service.ts";
import { insertByStatement } from "../../lib/store/history/insert.ts";
import type { Tables } from "../../lib/store/table/tables.ts";
import type { Order } from "./orders.ts";
import type { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Story } from "./story.ts";
import type { PlannedAutoscaler, PlannedEdit } from "./timetable.ts";
import type { Stops } from "./watch/stops.ts";
import { SIMULATED_CONNECTION } from "./world.ts";

/** Somebody at the command line. */
export interface Person {
  readonly edit: (autoscaler: PlannedAutoscaler, edit: PlannedEdit) => void;
  readonly order: (order: Order) => void;
  /** True when everything that was asked for is done. */
  readonly idle: () => boolean;
}

const RETRY_MS = 1_000;

interface World {
  readonly scheduler: Scheduler;
  readonly story: Story;
  readonly newProcess: (name: string) => Process;
  readonly tablesOf: (process: Process) => Tables;
  /** Told when an edit is about to be made, and when it is done. */
  readonly stops: Stops;
}

/** One command, as often as it is tried. */
interface Deed {
  readonly words: string;
  readonly perform: (service: Service, clock: () => number) => Promise<unknown>;
  readonly begin: () => void;
  readonly done: () => void;
}

/** A person does one thing after the other, each again until it is done, in a new process where the last one died. */
export const newPerson = (world: World, name: string): Person => {
  const { scheduler, story, stops } = world;
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
    try {
      deed.begin();
      const gone = await deed.perform(service, tables.clock).then(() => false, isGone);
      story.tell(process.name, `${deed.words}: ${gone ? "there is none" : "done"}`);
      deed.done();
      waiting.shift();
      process.onEnd.clear();
      next();
    } catch (error) {
      story.tell(process.name, `${deed.words}: ${error instanceof Error ? error.message : String(error)}`);
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
    edit: (autoscaler, edit) => ask(editDeed(autoscaler, edit, stops)),
    order: (order) => ask({ words: wordsOf(order), perform: (service) => performOrder(service, order), begin: () => {}, done: () => {} }),
    idle: () => waiting.length === 0,
  };
};

const editDeed = ({ cluster, namespace, name }: PlannedAutoscaler, edit: PlannedEdit, stops: Stops): Deed => {
  const asked = { cluster, namespace, name };
  const words = `${edit.verb} ${name}`;
  const stopped = { begin: () => {}, done: (): void => stops.stop(name, Number.POSITIVE_INFINITY) };
  const goesOn = { begin: (): void => stops.goOn(name), done: () => {} };
  switch (edit.verb) {
    case "apply": {
      const source = { file: "-", text: JSON.stringify(edit.manifest) };
      return { words, perform: (service) => service.apply([source], { cluster, dryRun: false }), ...goesOn };
    }
    case "pause": {
      let untilMs = 0;
      const perform = (service: Service, clock: () => number): Promise<unknown> => {
        untilMs = clock() + edit.forMs;
        return service.pause(asked, untilMs);
      };
      return { words, perform, begin: () => {}, done: () => stops.stop(name, untilMs) };
    }
    case "resume":
      return { words, perform: (service) => service.resume(asked), ...goesOn };
    case "delete":
      return { words, perform: (service) => service.delete(asked), ...stopped };
  }
};

const wordsOf = (order: Order): string => ("cluster" in order ? `${order.verb} ${order.cluster}` : order.verb);

const performOrder = (service: Service, order: Order): Promise<unknown> => {
  switch (order.verb) {
    case "freeze":
      return service.freeze("to see what happens");
    case "thaw":
      return service.thaw();
    case "pause cluster":
      return service.pauseCluster(order.cluster);
    case "resume cluster":
      return service.resumeCluster(order.cluster);
    case "divide":
      return service.replaceCluster({ name: order.cluster, connection: SIMULATED_CONNECTION, partitions: order.partitions });
  }
};

/** Somebody may have deleted it before, or this one in an attempt that died after its effect. */
const isGone = (error: unknown): true => {
  if (!isTidemarkError(error, "service.unknown")) throw error;
  return true;
};
