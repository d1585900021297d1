import { isTidemarkError } from "../../lib/model/errors.ts";
import { openService } from "../../lib/service/open.ts";
import { insertByPut } from "../../lib/store/history-put.ts";
import type { Tables } from "../../lib/store/tables.ts";
import type { Process } from "./process.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Story } from "./story.ts";
import type { PlannedAutoscaler, PlannedEdit } from "./timetable.ts";

export interface People {
  readonly edit: (autoscaler: PlannedAutoscaler, edit: PlannedEdit) => void;
  /** True when everything that was asked for is done. */
  readonly idle: () => boolean;
}

const RETRY_MS = 1_000;

/** A person at the command line: one edit after the other, each again until it is done, in a new process where the last one died. */
export const newPeople = (world: {
  readonly scheduler: Scheduler;
  readonly story: Story;
  readonly newProcess: (name: string) => Process;
  readonly tablesOf: (process: Process) => Tables;
}): People => {
  const { scheduler, story } = world;
  const waiting: (() => Promise<void>)[] = [];
  let uids = 0;
  let attempts = 0;
  let busy = false;
  const perform = (process: Process, { cluster, namespace, name }: PlannedAutoscaler, edit: PlannedEdit): Promise<unknown> => {
    const tables = world.tablesOf(process);
    const service = openService({ tables, insert: insertByPut(tables), clock: tables.clock, by: "a person", newUid: () => `uid-${name}-${++uids}` });
    const asked = { cluster, namespace, name };
    switch (edit.verb) {
      case "apply":
        return service.apply([{ file: "-", text: JSON.stringify(edit.manifest) }], { cluster, dryRun: false });
      case "pause":
        return service.pause(asked, tables.clock() + edit.forMs);
      case "resume":
        return service.resume(asked);
      case "delete":
        return service.delete(asked);
    }
  };
  const next = (): void => {
    const first = waiting[0];
    busy = first !== undefined;
    void first?.();
  };
  const attempt = (autoscaler: PlannedAutoscaler, edit: PlannedEdit) => async (): Promise<void> => {
    const process = world.newProcess(`person-${++attempts}`);
    const again = (): void => scheduler.at(scheduler.nowMs() + RETRY_MS, resumedNext);
    process.onEnd.add(again);
    try {
      await perform(process, autoscaler, edit).catch(unlessGone);
      story.tell(process.name, `${edit.verb} ${autoscaler.name}: done`);
      waiting.shift();
      process.onEnd.clear();
      next();
    } catch (error) {
      story.tell(process.name, `${edit.verb} ${autoscaler.name}: ${error instanceof Error ? error.message : String(error)}`);
      process.onEnd.clear();
      if (!isTidemarkError(error)) throw error;
      again();
    }
  };
  const resumedNext = (): void => {
    next();
    scheduler.resumed();
  };
  return {
    edit: (autoscaler, edit) => {
      waiting.push(attempt(autoscaler, edit));
      if (!busy) resumedNext();
    },
    idle: () => waiting.length === 0,
  };
};

/** Somebody may have deleted it before, or this one in an attempt that died after its effect. */
const unlessGone = (error: unknown): void => {
  if (!isTidemarkError(error, "service.unknown")) throw error;
};
