import { setTimeout as sleep } from "node:timers/promises";
import { type KubeconfigApi, meantBy, openKubeconfig } from "../../stack/cluster/kubeconfig-api.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { lines } from "../../stack/report/printed.ts";
import { readSelector } from "../../answers/service/label-selector.ts";
import type { Filter, Service } from "../../answers/service/service.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import { interruptible, type Printer, type Session, type CommandSurroundings } from "../io.ts";
import {
  type DocumentFormat,
  documentText,
  documentLabels,
  listDocument,
} from "../output/documents.ts";
import { aligned } from "../output/text-table.ts";
import { queryFor, type NamedAutoscalerOfKind } from "../select/selected-names.ts";
import { handBackOne } from "../takeover/hand-back-one.ts";
import { type ManySwitches, type SwitchResult, switchMany } from "../takeover/switch-many.ts";
import {
  isTakenOver,
  pathOfTarget,
  type TakeoverPorts,
  takeOverOne,
  waitsFor,
} from "../takeover/take-over-one.ts";
import { lengthMs } from "../options/time-options.ts";
import { usage } from "../usage-error.ts";

export interface TakeoverOptions {
  readonly kubeconfig: string;
  readonly context?: string;
  readonly allNamespaces?: true;
  readonly selector?: string;
  readonly batch: string;
  readonly pauseBetween?: string;
  readonly maxFailures: string;
  readonly wait?: string;
  readonly force?: true;
  readonly output: "text" | DocumentFormat;
}

/** Checks the options before anything is opened. Throws usage errors. */
export const batchesOf = (
  names: readonly string[],
  { allNamespaces, selector, batch, pauseBetween, maxFailures, wait }: TakeoverOptions,
): Pick<ManySwitches, "size" | "waitMs" | "pauseMs" | "failuresMax"> => {
  if (names.length > 0 && (allNamespaces || selector !== undefined))
    throw usage("Cannot use names together with -A or -l: give one of them");
  if (names.length === 0 && !allNamespaces && selector === undefined)
    throw usage("Cannot choose autoscalers: give names, or -A, or -l SELECTOR");
  if (selector !== undefined) readSelector(selector);
  return {
    size: countOf("--batch", batch, 1),
    failuresMax: countOf("--max-failures", maxFailures, 0),
    waitMs: wait === undefined ? 0 : lengthMs("--wait", wait, 0),
    pauseMs: pauseBetween === undefined ? 0 : lengthMs("--pause-between", pauseBetween, 0),
  };
};

const countOf = (option: string, words: string, least: number): number => {
  const count = Number(words);
  if (words.trim() === "" || !Number.isInteger(count) || count < least)
    throw usage(`Cannot read ${option} "${words}": give a whole number from ${least} on`);
  return count;
};

interface Verb {
  readonly name: "takeover" | "handback";
  readonly infinitive: string;
  readonly done: string;
  /** Which autoscalers -A or -l means, in the message where there is none. */
  readonly wanted: string;
  readonly isWanted: (service: Service, view: AutoscalerView) => Promise<boolean>;
  /** Why one cannot be switched yet. */
  readonly waitsFor: (view: AutoscalerView) => string | undefined;
  readonly work: (
    ports: TakeoverPorts,
    view: AutoscalerView,
    options: { readonly force: boolean },
  ) => Promise<string>;
}

const TAKE_OVER: Verb = {
  ...{
    name: "takeover",
    infinitive: "take over",
    done: "taken",
    wanted: "is in the state shadow",
    waitsFor,
    work: takeOverOne,
  },
  isWanted: async (_service, { state }) => state === "shadow",
};
const HAND_BACK: Verb = {
  ...{
    name: "handback",
    infinitive: "hand back",
    done: "handed back",
    wanted: "has been taken over",
  },
  ...{ isWanted: isTakenOver, waitsFor: () => undefined, work: handBackOne },
};

interface Task {
  readonly filter: Filter;
  /** Empty where -A or -l chooses. */
  readonly resources: readonly NamedAutoscalerOfKind[];
  readonly options: TakeoverOptions;
}

/**
 * Works on many one after the other and in batches. Resolves where each was switched; throws
 * `cli.takeover` where one was not, and then all that were is in the table.
 */
const switchAll =
  (verb: Verb) =>
  async (
    { service }: Session,
    { printer, io }: CommandSurroundings<"interruptible">,
    task: Task,
  ): Promise<void> => {
    const { resources, options } = task;
    const force = options.force === true;
    const names = resources.map(({ name }) => name);
    const { size, waitMs, pauseMs, failuresMax } = batchesOf(names, options);
    const views = await viewsOf(service, verb, task);
    const apis = clustersOf(service, options, printer);
    const format = options.output === "text" ? undefined : options.output;
    // With a document for programs, what people read goes to standard error.
    const say = async (words: string): Promise<unknown> =>
      format === undefined ? printer.print(lines([words])) : printer.report(words);
    const elapsed = (): number => performance.now();
    const ports: Omit<TakeoverPorts, "api"> = {
      service,
      elapsed,
      wait: async (ms) => sleep(ms),
      switched: say,
    };
    const report = async (
      { view, outcome, message }: SwitchResult,
      left: number,
    ): Promise<void> => {
      printer.progress();
      if (outcome === "done") await say(message);
      else if (views.length > 1) printer.report(`"${pathOfTarget(view)}" ${outcome}: ${message}`);
      if (left > 0) printer.progress(`${views.length - left} of ${views.length}`);
    };
    try {
      const results = await interruptible(io, (signal) =>
        switchMany(views, {
          ...{ service, elapsed, signal, size, waitMs, pauseMs, failuresMax, report },
          wait: (ms) => sleep(ms, undefined, { signal }).catch(() => undefined),
          waitsFor: (view) => (force ? undefined : verb.waitsFor(view)),
          begunToWait: (view, why) => printer.report(`"${pathOfTarget(view)}" waits: ${why}`),
          work: async (view) =>
            verb.work({ ...ports, api: await apis.of(view.cluster) }, view, { force }),
        }),
      );
      printer.progress();
      if (format !== undefined)
        await printer.print(
          documentText(listDocument(results.map((result) => documentOf(result, verb))), format),
        );
      else if (results.length > 1)
        await printer.print(
          lines(["", ...aligned([HEADERS, ...results.map((result) => rowOf(result, verb))])]),
        );
      refuseUnswitched(results, verb);
    } finally {
      await apis.close();
    }
  };

/**
 * The kubeconfig, opened for each cluster of the stack that it is used for: its calls reach that
 * cluster or none. -A without a cluster names autoscalers of several.
 */
const clustersOf = (
  service: Service,
  { kubeconfig: path, context }: TakeoverOptions,
  printer: Pick<Printer, "report">,
) => {
  const opened = new Map<string, Promise<KubeconfigApi>>();
  const open = async (cluster: string): Promise<KubeconfigApi> => {
    const meant = meantBy(await service.cluster(cluster));
    if (meant.kubeSystemUid === undefined)
      printer.report(
        `The identity of cluster "${cluster}" is not stored, so nothing compares this kubeconfig with it: tidemark cluster check ${cluster} says why`,
      );
    return openKubeconfig({ path, ...(context !== undefined && { context }) }, meant);
  };
  return {
    of: (cluster: string): Promise<KubeconfigApi> => {
      const known = opened.get(cluster) ?? open(cluster);
      opened.set(cluster, known);
      return known;
    },
    close: async (): Promise<void> => {
      for (const result of await Promise.allSettled(opened.values()))
        if (result.status === "fulfilled") result.value.close();
    },
  };
};

export const takeover = switchAll(TAKE_OVER);
export const handback = switchAll(HAND_BACK);

const HEADERS = ["CLUSTER", "NAMESPACE", "NAME", "RESULT", "WHY"];

const resultText = (outcome: SwitchResult["outcome"], { done }: Verb): string =>
  outcome === "done" ? done : outcome;

const rowOf = (
  { view: { cluster, namespace, name }, outcome, message }: SwitchResult,
  verb: Verb,
): readonly string[] => [
  ...[cluster, namespace, name, resultText(outcome, verb)],
  outcome === "done" ? "" : message,
];

const documentOf = (
  { view: { cluster, namespace, name }, outcome, message }: SwitchResult,
  verb: Verb,
) => ({
  ...{ cluster, namespace, name, result: resultText(outcome, verb), message },
});

const refuseUnswitched = (results: readonly SwitchResult[], { infinitive, name }: Verb): void => {
  const missed = results.filter(({ outcome }) => outcome !== "done");
  const [only] = missed;
  if (!only) return;
  if (results.length === 1)
    throw new TidemarkError(
      "cli.takeover",
      `Cannot ${infinitive} "${pathOfTarget(only.view)}": ${only.message}`,
      {},
    );
  const counts = (["failed", "refused", "waiting", "left"] as const).flatMap((each) => {
    const count = missed.filter(({ outcome }) => outcome === each).length;
    return count === 0 ? [] : [`${count} ${each}`];
  });
  const why = `Cannot ${infinitive} ${missed.length} of ${results.length}: ${counts.join(", ")}; the same ${name} goes on with them`;
  throw new TidemarkError("cli.takeover", why, {});
};

const viewsOf = async (
  service: Service,
  { isWanted, infinitive, wanted }: Verb,
  { filter, resources, options: { selector } }: Task,
): Promise<readonly AutoscalerView[]> => {
  if (resources.length > 0)
    return Promise.all(
      resources.map(async (resource) => service.get(await queryFor(service, resource))),
    );
  const test = selector === undefined ? () => true : readSelector(selector);
  const views: AutoscalerView[] = [];
  for await (const view of service.autoscalers(filter))
    if (test(documentLabels(view)) && (await isWanted(service, view))) views.push(view);
  if (views.length === 0)
    throw new TidemarkError(
      "cli.takeover",
      `Cannot find an autoscaler to ${infinitive}: none of the selected autoscalers ${wanted}`,
      {},
    );
  return views;
};
