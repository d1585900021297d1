import { type TableRow, tableRowOf, tableRows } from "../../answers/service/views/row-view.ts";
import { present } from "../../rules/model/json.ts";
import { waitForAll } from "../../stack/store/table/wait-for-all.ts";
import type { AutoscalerView } from "../../answers/views/autoscaler.ts";
import type { ClusterRows, PartitionRows } from "../../answers/views/row.ts";
import { type Session, type CommandSurroundings, watch, type Watching } from "../io.ts";
import {
  listedAutoscalers,
  listedClusters,
  namedAutoscalers,
  namedIfThere,
} from "../select/listed-autoscalers.ts";
import { documentsText, isDocument, rowWriter, type Shown } from "../output/autoscaler-rows.ts";
import type { Printed } from "../../stack/report/printed.ts";
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
const viewText = ({
  ageSeconds: _age,
  syncedAt: _synced,
  decision,
  ...view
}: AutoscalerView): string =>
  JSON.stringify({ ...view, decision: decision && { ...decision, at: undefined } });
const rowText = ({
  ageSeconds: _age,
  syncedAt: _synced,
  measuredAt: _measured,
  partition: _partition,
  ...row
}: TableRow): string => JSON.stringify(row);

interface Looks<Form> {
  /** Looks once. The first look counts an unknown name as an error. */
  readonly look: (isFirst: boolean) => Promise<Look<Form>>;
  readonly everyMs?: () => number;
}

/**
 * Prints all, then each autoscaler that is new or changed, and once more each that was deleted or
 * no longer has the labels, as kubectl does. A failed look ends it: a list that could not be read
 * says nothing about what was deleted.
 */
export const getWatched = (
  session: Session,
  { printer, io }: CommandSurroundings<Watching>,
  selection: Selection,
  options: GetOptions,
): Promise<void> => {
  const { output, outputWatchEvents, watchOnly } = options;
  const isList = selection.resources.length === 0;
  const named = (isFirst: boolean) => viewsOf(session, selection, isFirst);
  const watched = async <Form>(
    { look, everyMs }: Looks<Form>,
    write: (shown: readonly Shown<Form>[]) => Printed,
  ): Promise<void> => {
    let known: Look<Form> = new Map();
    const work = async (isFirst: boolean): Promise<boolean> => {
      const next = await look(isFirst);
      const shown = changesBetween(known, next);
      known = next;
      return shown.length === 0 || (isFirst && watchOnly) || printer.print(write(shown));
    };
    await watch(io, work, everyMs);
  };
  if (isDocument(output)) {
    const documents = isList
      ? watchedDocuments(session, selection, options)
      : { look: async (isFirst: boolean) => lookOf(named(isFirst), viewText) };
    return watched(documents, (shown) => documentsText(shown, output, outputWatchEvents === true));
  }
  const rows = isList
    ? watchedList(session, selection, options)
    : { look: async (isFirst: boolean) => lookOf(rowsOfNamed(named(isFirst)), rowText) };
  return watched(rows, rowWriter(session, printer, { ...options, output }).batch);
};

const lookOf = async <Form extends { readonly uid: string }>(
  items: AsyncIterable<Form>,
  textOf: (item: Form) => string,
): Promise<Look<Form>> => {
  const next = new Map<string, Known<Form>>();
  for await (const view of items) next.set(view.uid, { view, text: textOf(view) });
  return next;
};

/**
 * A name that was never there is an error, as without --watch. Later it was deleted, and may come
 * again.
 */
const viewsOf = (
  { service }: Session,
  { resources }: Selection,
  isFirst: boolean,
): AsyncIterable<AutoscalerView> => (isFirst ? namedAutoscalers : namedIfThere)(service, resources);

async function* rowsOfNamed(views: AsyncIterable<AutoscalerView>): AsyncGenerator<TableRow> {
  for await (const view of views) yield tableRowOf(view);
}

/** The rows of a partition, as the look before had them. */
interface Held extends Pick<PartitionRows, "version" | "mark" | "syncedAt"> {
  readonly rows: readonly TableRow[];
}

/**
 * A look at a large fleet costs more: it comes every five seconds up to 33 partitions, and every 15
 * seconds from 100 on, which is the usual period of syncs.
 */
const PARTITION_MS = 150;
const EVERY_MIN_MS = 5_000;
const EVERY_MAX_MS = 15_000;

const everyMsOf = (partitions: number): number =>
  Math.min(EVERY_MAX_MS, Math.max(EVERY_MIN_MS, partitions * PARTITION_MS));

/**
 * Each look says which rows it has, so that a look where nothing has changed costs the heads of the
 * partitions.
 */
const watchedList = (
  { service }: Session,
  { kinds }: Selection,
  { fields: _none, ...options }: GetOptions,
): Looks<TableRow> => {
  let held: ReadonlyMap<string, Held> = new Map();
  return {
    look: async () => {
      const known = knownBy([...held.values()].flatMap(({ mark }) => mark ?? []));
      const seen = await Array.fromAsync(listedClusters(service, kinds, { ...options, ...known }));
      held = new Map(seen.flatMap((cluster) => heldAfter(cluster, held)));
      return new Map(
        [...held.values()].flatMap(({ rows }) =>
          rows.map((view) => [view.uid, { view, text: rowText(view) }] as const),
        ),
      );
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

/**
 * Documents are read again only of clusters whose rows have changed: a look where nothing has costs
 * the heads of the partitions, as with rows.
 */
const watchedDocuments = (
  { service }: Session,
  { kinds }: Selection,
  { fields: _none, ...options }: GetOptions,
): Looks<AutoscalerView> => {
  let held: ReadonlyMap<string, HeldCluster> = new Map();
  const { clusters: _patterns, ...inOneCluster } = options;
  const read = async (changed: readonly string[]): Promise<readonly AutoscalerView[]> => {
    if (changed.length > READ_ALONE_MAX)
      return Array.fromAsync(listedAutoscalers(service, kinds, options));
    return (
      await waitForAll(
        changed.map((cluster) =>
          Array.fromAsync(listedAutoscalers(service, kinds, { ...inOneCluster, cluster })),
        ),
      )
    ).flat();
  };
  return {
    look: async () => {
      const known = knownBy([...held.values()].flatMap(({ marks }) => marks));
      const seen = await Array.fromAsync(
        listedClusters(service, kinds, { ...options, fields: ["state"], ...known }),
      );
      const kept = new Map(seen.flatMap((one) => unchangedIn(one, held.get(one.cluster))));
      const changed = seen.filter(({ cluster }) => !kept.has(cluster));
      const views = Map.groupBy(
        await read(changed.map(({ cluster }) => cluster)),
        ({ cluster }) => cluster,
      );
      held = new Map(
        seen.map((one) => [
          one.cluster,
          kept.get(one.cluster) ?? { marks: marksOf(one), views: views.get(one.cluster) ?? [] },
        ]),
      );
      return new Map(
        [...held.values()].flatMap((one) =>
          one.views.map((view) => [view.uid, { view, text: viewText(view) }] as const),
        ),
      );
    },
    everyMs: () => everyMsOf([...held.values()].reduce((sum, { marks }) => sum + marks.length, 0)),
  };
};

const marksOf = ({ partitions }: ClusterRows): readonly string[] =>
  partitions.flatMap(({ mark }) => mark ?? []);

/** What is held of a cluster, where the answer says that all of its partitions are as they were. */
const unchangedIn = (
  { cluster, partitions, rows }: ClusterRows,
  before: HeldCluster | undefined,
): readonly (readonly [string, HeldCluster])[] =>
  before &&
  rows.length === 0 &&
  before.marks.length === partitions.length &&
  partitions.every(({ unchanged }) => unchanged)
    ? [[cluster, before]]
    : [];

/** Marks that a request carries. The rows of further partitions come again. */
const MARKS_MAX = 800;

const knownBy = (marks: readonly string[]) =>
  marks.length > 0 && { known: marks.slice(0, MARKS_MAX).join("") };

/**
 * The partitions of a cluster after a look. An answer that is older than what is held, as one of a
 * copy of the table may be, changes nothing.
 */
const heldAfter = (
  cluster: ClusterRows,
  before: ReadonlyMap<string, Held>,
): readonly (readonly [path: string, held: Held])[] => {
  const rows = Map.groupBy(tableRows(cluster), ({ partition }) => partition);
  const others = rows.get(undefined);
  return [
    ...cluster.partitions.map((partition): readonly [string, Held] => {
      const { name, version, mark, syncedAt, unchanged } = partition;
      const path = `${cluster.cluster}/${name}`;
      const known = before.get(path);
      if (known && isOlder(partition, known)) return [path, known];
      const kept = unchanged && known ? known.rows : (rows.get(name) ?? []);
      return [path, { version, ...present({ mark, syncedAt }), rows: kept }];
    }),
    ...(others ? [[`${cluster.cluster}/`, { version: 0, rows: others }] as const] : []),
  ];
};

/** Versions before and after a change of the caller's grants count from different beginnings. */
const isOlder = (
  { version, syncedAt = "" }: Pick<Held, "version" | "syncedAt">,
  known: Pick<Held, "version" | "syncedAt">,
): boolean => version < known.version && syncedAt <= (known.syncedAt ?? "");

const changesBetween = <Form>(before: Look<Form>, after: Look<Form>): readonly Shown<Form>[] => [
  ...[...before].flatMap(([uid, { view }]): readonly Shown<Form>[] =>
    after.has(uid) ? [] : [{ view, event: "DELETED" }],
  ),
  ...[...after].flatMap(([uid, { view, text }]): readonly Shown<Form>[] => {
    const known = before.get(uid);
    return known?.text === text ? [] : [{ view, event: known ? "MODIFIED" : "ADDED" }];
  }),
];
