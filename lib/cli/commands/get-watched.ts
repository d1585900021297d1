import type { AutoscalerView } from "../../service/views/autoscaler-view.ts";
import type { CommandIo, Printer, Session } from "../io.ts";
import { listedAutoscalers } from "../listed-autoscalers.ts";
import { namedAutoscalers, namedIfThere } from "../named-autoscalers.ts";
import { autoscalerPrinter, type Shown } from "../output/autoscaler-printer.ts";
import type { Selection } from "../selected-names.ts";
import { watch } from "../watch.ts";
import type { GetOptions } from "./get-options.ts";

interface Known {
  readonly view: AutoscalerView;
  /** What is compared: everything but the ages. */
  readonly text: string;
}

/** What changes with every sync, although nothing else does. */
const withoutAges = ({ ageSeconds: _age, syncedAt: _synced, decision, ...view }: AutoscalerView): string =>
  JSON.stringify({ ...view, decision: decision && { ...decision, at: undefined } });

/**
 * Prints all, then each autoscaler that is new or changed, and once more each that was deleted or no longer has the labels, as kubectl does. A failed look ends it: a list that could not be read says
 * nothing about what was deleted.
 */
export const getWatched = async (
  session: Session,
  { printer, io }: { readonly printer: Printer; readonly io: Pick<CommandIo, "interruptible" | "watchEveryMs"> },
  selection: Selection,
  options: GetOptions,
): Promise<void> => {
  const print = autoscalerPrinter(session, printer, options);
  let known: ReadonlyMap<string, Known> = new Map();
  await watch(io, async (isFirst) => {
    const next = await lookedUp(session, selection, { ...options, isFirst });
    const shown = changesBetween(known, next);
    known = next;
    return shown.length === 0 || (isFirst && options.watchOnly) || print(shown);
  });
};

/** By uid, so that one that was made anew under the same name is another one. */
const lookedUp = async (
  { service }: Session,
  { resources, kinds }: Selection,
  { isFirst, ...options }: GetOptions & { readonly isFirst: boolean },
): Promise<ReadonlyMap<string, Known>> => {
  const next = new Map<string, Known>();
  // A name that was never there is an error, as without --watch. Later it was deleted, and may come again.
  const named = isFirst ? namedAutoscalers : namedIfThere;
  const views = resources.length > 0 ? named(service, resources) : listedAutoscalers(service, kinds, options);
  for await (const view of views) next.set(view.uid, { view, text: withoutAges(view) });
  return next;
};

const changesBetween = (before: ReadonlyMap<string, Known>, after: ReadonlyMap<string, Known>): readonly Shown[] => [
  ...[...before].flatMap(([uid, { view }]): readonly Shown[] => (after.has(uid) ? [] : [{ view, event: "DELETED" }])),
  ...[...after].flatMap(([uid, { view, text }]): readonly Shown[] => {
    const known = before.get(uid);
    return known?.text === text ? [] : [{ view, event: known ? "MODIFIED" : "ADDED" }];
  }),
];
