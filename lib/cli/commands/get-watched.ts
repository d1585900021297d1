import { type TableRow, tableRowOf, tableRows } from "../../service/views/row-view.ts";
import { waitForAll } from "../../store/table/wait-for-all.ts";
import type { AutoscalerView } from "../../views/autoscaler.ts";
import type { ClusterRows, PartitionRows } from "../../views/row.ts";
import { type CommandIo, type Printer, type Session, watch } from "../io.ts";
import { listedAutoscalers, listedClusters, namedAutoscalers, namedIfThere } from "../select/listed-autoscalers.ts";
import { autoscalerPrinter, isDocument, rowPrinter, type Shown } from "../output/autoscaler-rows.ts";
import type { Selection } from "../select/selected-names.ts";
import type { GetOptions } from "./get-fields.ts";

interface Known<Form> {
  readonly view: Form;
  /** What is compared: everything but the ages. */
  readonly text: string;
}

/** By uid, so that one that was made anew under the same name is another one. */
type Look<Form> = ReadonlyMap<string, Known<Form>>;

/** What changes with every sync, although nothing else does. */
const viewText = ({ ageSeconds: _age, syncedAt: _synced, decision, ...view }: AutoscalerView): string =>
  JSON.stringify({ ...view, decision: decision && { ...decision, at: undefined } });
const rowText = ({ ageSeconds: _age, syncedAt: _synced, measuredAt: _measured, partition: _partition, ...row }: TableRow): string =>
  JSON.stringify(row);

interface Watching<Form> {
  /** Looks once. The first look counts an unknown name as an error. */
  readonly look: (isFirst: boolean) => Promise<Look<Form>>;
  readonly print: (shown: readonly Shown<Form>[]) => Promise<boolean>;
  readonly everyMs?: () => number;
}

/**
 * Prints all, then each autoscaler that is new or changed, and once more each that was deleted or no longer has the labels, as kubectl does. A failed look ends it: a list that could not be read says
 * nothing about what was deleted.
 */
export const getWatched = (
  session: Session,
  { printer, io }: { readonly printer: Printer; readonly io: Pick<CommandIo, "interruptible" | "watchEveryMs"> },
  selection: Selection,
  options: GetOptions,
): Promise<void> => {
  const { output } = options;
  if (isDocument(output)) {
    const documents = autoscalerPrinter(session, printer, options);
    if (selection.resources.length === 0) return watched(io, options, { ...watchedDocuments(session, selection, options), print: documents });
    return watched(io, options, { look: async (isFirst) => lookOf(viewsOf(session, selection, isFirst), viewText), print: documents });
  }
  const print = rowPrinter(session, printer, { ...options, output });
  if (selection.resources.length === 0) return watched(io, options, { ...watchedList(session, selection, options), print });
  return watched(io, options, { look: async (isFirst) => lookOf(rowsOfNamed(viewsOf(session, selection, isFirst)), rowText), print });
};

const watched = async <Form>(
  io: Pick<CommandIo, "interruptible" | "watchEveryMs">,
  { watchOnly }: GetOptions,
  { look, print, everyMs }: Watching<Form>,
): Promise<void> => {
  let known: Look<Form> = new Map();
  await watch(
    io,
    async (isFirst) => {
      const next = await look(isFirst);
      const shown = changesBetween(known, next);
      known = next;
      return shown.length === 0 || (isFirst && watchOnly) || print(shown);
    },
    everyMs,
  );
};

const lookOf = async <Form extends { readonly uid: string }>(items: AsyncIterable<Form>, textOf: (item: Form) => string): Promise<Look<Form>> => {
  const next = new Map<string, Known<Form>>();
  for await (const view of items) next.set(view.uid, { view, text: textOf(view) });
  return next;
};

/** A name that was never there is an error, as without --watch. Later it was deleted, and may come again. */
const viewsOf = ({ service }: Session, { resources }: Selection, isFirst: boolean): AsyncIterable<AutoscalerView> =>
  (isFirst ? namedAutoscalers : namedIfThere)(service, resources);

async function* rowsOfNamed(views: AsyncIterable<AutoscalerView>): AsyncGenerator<TableRow> {
  for await (const view of views) yield tableRowOf(view);
}

/** The rows of a partition, as the look before had them. */
interface Held extends Pick<PartitionRows, "version" | "mark"> {
  readonly rows: readonly TableRow[];
}

/** A look at a large fleet costs more: it comes every five seconds up to 33 partitions, and every 15 seconds from 100 on, which is the usual period of syncs. */
const PARTITION_MS = 150;
const EVERY_MIN_MS = 5_000;
const EVERY_MAX_MS = 15_000;

const everyMsOf = (partitions: number): number => Math.min(EVERY_MAX_MS, Math.max(EVERY_MIN_MS, partitions * PARTITION_MS));

/** Each look says which rows it has, so that a look where nothing has changed costs the heads of the partitions. */
const watchedList = (
  { service }: Session,
  { kinds }: Selection,
  { fields: _none, ...options }: GetOptions,
): Required<Omit<Watching<TableRow>, "print">> => {
  let held: ReadonlyMap<string, Held> = new Map();
  return {
    look: async () => {
      const marks = [...held.values()].flatMap(({ mark }) => mark ?? []).slice(0, MARKS_MAX);
      const next = new Map<string, Held>();
      const look = new Map<string, Known<TableRow>>();
      for await (const cluster of listedClusters(service, kinds, { ...options, ...(marks.length > 0 && { known: marks.join("") }) })) {
        for (const [path, one] of heldAfter(cluster, held)) {
          next.set(path, one);
          for (const view of one.rows) look.set(view.uid, { view, text: rowText(view) });
        }
      }
      held = next;
      return look;
    },
    everyMs: () => everyMsOf(held.size),
  };
};

/** The documents of a cluster, and the marks of its partitions when they were read. */
interface HeldCluster {
  readonly marks: readonly string[];
  readonly views: readonly AutoscalerView[];
}

/** Of so many changed clusters each is read by itself; of more, all are read as one list. */
const READ_ALONE_MAX = 8;

/** Documents are read again only of clusters whose rows have changed: a look where nothing has costs the heads of the partitions, as with rows. */
const watchedDocuments = (
  { service }: Session,
  { kinds }: Selection,
  { fields: _none, ...options }: GetOptions,
): Required<Omit<Watching<AutoscalerView>, "print">> => {
  let held: ReadonlyMap<string, HeldCluster> = new Map();
  const { clusters: _patterns, ...inOneCluster } = options;
  const read = async (changed: readonly string[]): Promise<readonly AutoscalerView[]> => {
    if (changed.length > READ_ALONE_MAX) return Array.fromAsync(listedAutoscalers(service, kinds, options));
    return (await waitForAll(changed.map((cluster) => Array.fromAsync(listedAutoscalers(service, kinds, { ...inOneCluster, cluster }))))).flat();
  };
  return {
    look: async () => {
      const known = [...held.values()].flatMap(({ marks }) => marks).slice(0, MARKS_MAX);
      const seen = await Array.fromAsync(
        listedClusters(service, kinds, { ...options, fields: ["state"], ...(known.length > 0 && { known: known.join("") }) }),
      );
      const kept = new Map(seen.flatMap((one) => unchangedIn(one, held.get(one.cluster))));
      const changed = seen.filter(({ cluster }) => !kept.has(cluster));
      const views = Map.groupBy(await read(changed.map(({ cluster }) => cluster)), ({ cluster }) => cluster);
      held = new Map(seen.map((one) => [one.cluster, kept.get(one.cluster) ?? { marks: marksOf(one), views: views.get(one.cluster) ?? [] }]));
      return new Map([...held.values()].flatMap((one) => one.views.map((view) => [view.uid, { view, text: viewText(view) }] as const)));
    },
    everyMs: () => everyMsOf([...held.values()].reduce((sum, { marks }) => sum + marks.length, 0)),
  };
};

const marksOf = ({ partitions }: ClusterRows): readonly string[] => partitions.flatMap(({ mark }) => mark ?? []);

/** What is held of a cluster, where the answer says that all of its partitions are as they were. */
const unchangedIn = ({ cluster, partitions, rows }: ClusterRows, before: HeldCluster | undefined): readonly (readonly [string, HeldCluster])[] =>
  before && rows.length === 0 && before.marks.length === partitions.length && partitions.every(({ unchanged }) => unchanged)
    ? [[cluster, before]]
    : [];

/** Marks that a request carries. The rows of further partitions come again. */
const MARKS_MAX = 800;

/** The partitions of a cluster after a look. An answer that is older than what is held, as one of a copy of the table may be, changes nothing. */
const heldAfter = (cluster: ClusterRows, before: ReadonlyMap<string, Held>): readonly (readonly [path: string, held: Held])[] => {
  const rows = Map.groupBy(tableRows(cluster), ({ partition }) => partition);
  const others = rows.get(undefined);
  return [
    ...cluster.partitions.map(({ name, version, mark, unchanged }): readonly [string, Held] => {
      const path = `${cluster.cluster}/${name}`;
      const known = before.get(path);
      if (known && version < known.version) return [path, known];
      const kept = unchanged && known ? known.rows : (rows.get(name) ?? []);
      return [path, { version, ...(mark !== undefined && { mark }), rows: kept }];
    }),
    ...(others ? [[`${cluster.cluster}/`, { version: 0, rows: others }] as const] : []),
  ];
};

const changesBetween = <Form>(before: Look<Form>, after: Look<Form>): readonly Shown<Form>[] => [
  ...[...before].flatMap(([uid, { view }]): readonly Shown<Form>[] => (after.has(uid) ? [] : [{ view, event: "DELETED" }])),
  ...[...after].flatMap(([uid, { view, text }]): readonly Shown<Form>[] => {
    const known = before.get(uid);
    return known?.text === text ? [] : [{ view, event: known ? "MODIFIED" : "ADDED" }];
  }),
];
