import { setTimeout as sleep } from "node:timers/promises";
import { openKubeconfig } from "../../cluster/kubeconfig-api.ts";
import { isTidemarkError, TidemarkError } from "../../model/errors.ts";
import { lines } from "../../report/printed.ts";
import { readSelector } from "../../service/label-selector.ts";
import type { Filter, Service } from "../../service/service.ts";
import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import type { Printer, Session } from "../io.ts";
import { labelsOf } from "../output/kubernetes-object.ts";
import { queryFor, type Resource } from "../selected-names.ts";
import { handBackOne, isTakenOver } from "../takeover/hand-back-one.ts";
import { pathOf, type TakeoverPorts, takeOverOne } from "../takeover/take-over-one.ts";
import { lengthMs } from "../time-options.ts";
import { usage } from "../usage-error.ts";

export interface TakeoverOptions {
  readonly kubeconfig: string;
  readonly context?: string;
  readonly allNamespaces?: true;
  readonly selector?: string;
  readonly batch: string;
  readonly pauseBetween?: string;
  readonly force?: true;
}

/** Checks the options before anything is opened. Throws usage errors. */
export const batchesOf = (
  names: readonly string[],
  { allNamespaces, selector, batch, pauseBetween }: TakeoverOptions,
): { readonly size: number; readonly waitMs: number } => {
  if (names.length > 0 && (allNamespaces || selector !== undefined)) throw usage("Cannot use names together with -A or -l: give one of them");
  if (names.length === 0 && !allNamespaces && selector === undefined) throw usage("Cannot choose autoscalers: give names, or -A, or -l SELECTOR");
  const size = Number(batch);
  if (!Number.isInteger(size) || size < 1) throw usage(`Cannot read --batch "${batch}": give a whole number from 1 on`);
  if (selector !== undefined) readSelector(selector);
  return { size, waitMs: pauseBetween === undefined ? 0 : lengthMs("--pause-between", pauseBetween, 0) };
};

export const takeover = (session: Session, printer: Printer, chosen: Chosen, options: TakeoverOptions): Promise<void> =>
  inBatches(session, printer, { chosen, options, isWanted: async ({ state }) => state === "shadow", none: NONE_SHADOW }, (ports, view) =>
    takeOverOne(ports, view, { force: options.force === true }),
  );

export const handback = (session: Session, printer: Printer, chosen: Chosen, options: TakeoverOptions): Promise<void> =>
  inBatches(session, printer, { chosen, options, isWanted: (view) => isTakenOver(session.service, view), none: NONE_TAKEN }, handBackOne);

const NONE_SHADOW = "Cannot find an autoscaler to take over: none of the selected autoscalers is in the state shadow";
const NONE_TAKEN = "Cannot find an autoscaler to hand back: none of the selected autoscalers has been taken over";

export interface Chosen {
  readonly filter: Filter;
  /** Empty where -A or -l chooses. */
  readonly resources: readonly Resource[];
}

interface Task {
  readonly chosen: Chosen;
  readonly options: TakeoverOptions;
  /** True for an autoscaler that -A or -l means. */
  readonly isWanted: (view: AutoscalerView) => Promise<boolean>;
  /** The message where there is none. */
  readonly none: string;
}

/** Works batch by batch. After a batch with a failure the rest is left as it is: a cause that many have in common then strikes one batch alone. */
const inBatches = async (
  { service }: Session,
  printer: Printer,
  task: Task,
  work: (ports: TakeoverPorts, view: AutoscalerView) => Promise<string>,
): Promise<void> => {
  const { chosen, options } = task;
  const { size, waitMs } = batchesOf(
    chosen.resources.map(({ name }) => name),
    options,
  );
  const views = await viewsOf(service, task);
  const api = await openKubeconfig({ path: options.kubeconfig, ...(options.context !== undefined && { context: options.context }) });
  const ports: TakeoverPorts = { service, api, elapsed: () => performance.now(), wait: async (ms) => sleep(ms) };
  try {
    for (let begin = 0; begin < views.length; begin += size) {
      if (begin > 0) await sleep(waitMs);
      const faults = await oneBatch(views.slice(begin, begin + size), printer, (view) => work(ports, view));
      if (faults.length > 0) throw stopped(faults, views.slice(begin + size));
    }
  } finally {
    api.close();
  }
};

const oneBatch = async (
  batch: readonly AutoscalerView[],
  printer: Printer,
  work: (view: AutoscalerView) => Promise<string>,
): Promise<readonly string[]> => {
  const outcomes = await Promise.allSettled(batch.map(async (view) => printer.print(lines([await work(view)]))));
  return outcomes.flatMap((outcome) => {
    if (outcome.status === "fulfilled") return [];
    if (!isTidemarkError(outcome.reason)) throw outcome.reason;
    return [outcome.reason.message];
  });
};

const stopped = (faults: readonly string[], rest: readonly AutoscalerView[]): TidemarkError => {
  const left =
    rest.length === 0 ? [] : [`Cannot go on after a failure: ${rest.length} more were left as they are, from "${rest[0] ? pathOf(rest[0]) : ""}" on`];
  return new TidemarkError("cli.takeover", [...faults, ...left].join("\n"), { faults });
};

const viewsOf = async (
  service: Service,
  { chosen: { filter, resources }, options: { selector }, isWanted, none }: Task,
): Promise<readonly AutoscalerView[]> => {
  if (resources.length > 0) return Promise.all(resources.map(async (resource) => service.get(await queryFor(service, resource))));
  const test = selector === undefined ? () => true : readSelector(selector);
  const views: AutoscalerView[] = [];
  for await (const view of service.autoscalers(filter)) if (test(labelsOf(view)) && (await isWanted(view))) views.push(view);
  if (views.length === 0) throw new TidemarkError("cli.takeover", none, {});
  return views;
};
