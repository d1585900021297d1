import type { ClusterRows } from "../../../answers/views/row.ts";
import { type Ask, type Known, usePolled, useSource } from "../data/use-document.ts";
import type { Api, Outcome } from "../data/request.ts";
import { type FleetRow, flatRows, joinedClusters, marksOf } from "./fleet-rows.ts";
import type { Place } from "../route.ts";
import { useMemo } from "preact/hooks";

const ROWS = "/v1/rows";

interface RowsPage {
  readonly items: readonly ClusterRows[];
  readonly next?: string;
}

/** The rows as far as they were read. */
interface ReadRows {
  readonly clusters: readonly ClusterRows[];
  /** Where to go on the first time; absent once all were read. */
  readonly next?: string;
  /** Of the answer of one page that says what is new: it names the rows, without what differs. */
  readonly tag?: string | undefined;
}

/** The rows of the fleet; `isPart` while the first look has not read all of them. */
export type KnownRows = Known<readonly FleetRow[]> & { readonly isPart: boolean };

/** What a server answered last, so that a page that is opened again shows it at once. */
const remembered = new WeakMap<Api, ReadRows>();

/**
 * True where the rows that were shown say that a sync has evaluated it; undefined where they do not
 * say it.
 */
export const isKnownEvaluated = (
  api: Api,
  { cluster, namespace, name }: Place,
): true | undefined => {
  const rows = remembered.get(api)?.clusters.find((one) => one.cluster === cluster)?.rows;
  const row = rows?.find((one) => one.namespace === namespace && one.name === name);
  return row?.reason === undefined ? undefined : true;
};

/** A first page of so many rows is soon there, and more than a screen. */
const FIRST_ROWS = 200;

/**
 * All rows of the fleet. The first time they are shown page by page, as they come: first a small
 * page. After that only the rows of partitions that show something new come again, and are
 * shown together.
 */
export const useRows = (): KnownRows => {
  const { api, refreshMs } = useSource();
  const ask: Ask<ReadRows> = async (before, signal) => {
    const had = before ?? remembered.get(api);
    if (had && !before) return { kind: "answer", value: had, tag: undefined, isPart: true };
    const outcome = await (had && had.next === undefined
      ? refreshed(api, had, signal)
      : firstLook(api, had, signal));
    if (outcome.kind === "answer") remembered.set(api, outcome.value);
    return outcome;
  };
  const { value, failure } = usePolled(ROWS, ask, refreshMs);
  const clusters = value?.clusters;
  const rows = useMemo(() => clusters && flatRows(clusters), [clusters]);
  return {
    ...(rows && { value: rows }),
    ...(failure && { failure }),
    isPart: value?.next !== undefined,
  };
};

/**
 * The next page. Where it is refused, as after the server was started anew, and by a stack that
 * knows no small page, all are read at once.
 */
const firstLook = async (
  api: Api,
  before: ReadRows | undefined,
  signal: AbortSignal,
): Promise<Outcome<ReadRows>> => {
  const outcome = await nextPage(api, before, signal);
  const isRefused = outcome.kind === "failure" && outcome.failure.kind === "refused";
  return isRefused ? refreshed(api, { clusters: [] }, signal) : outcome;
};

const nextPage = async (
  api: Api,
  before: ReadRows | undefined,
  signal: AbortSignal,
): Promise<Outcome<ReadRows>> => {
  const wanted = before ? { page: before.next } : { most: FIRST_ROWS };
  const outcome: Outcome<RowsPage> = await api.get(ROWS, wanted, { signal });
  if (outcome.kind !== "answer") return outcome;
  const { items, next: after } = outcome.value;
  const value = { clusters: [...(before?.clusters ?? []), ...items] };
  return after === undefined
    ? { kind: "answer", value, tag: undefined }
    : { kind: "answer", value: { ...value, next: after }, tag: undefined, isPart: true };
};

const refreshed = async (
  api: Api,
  before: ReadRows,
  signal: AbortSignal,
): Promise<Outcome<ReadRows>> => {
  const known = before.clusters.length === 0 ? undefined : marksOf(before.clusters);
  const first: Outcome<RowsPage> = await api.get(ROWS, { known }, { signal, tag: before.tag });
  if (first.kind !== "answer") return first;
  const found = [...first.value.items];
  let page = first.value.next;
  // A tag is of one page.
  const tag = page === undefined ? first.tag : undefined;
  while (page !== undefined) {
    const outcome: Outcome<RowsPage> = await api.get(ROWS, { known, page }, { signal });
    if (outcome.kind !== "answer") return outcome;
    found.push(...outcome.value.items);
    page = outcome.value.next;
  }
  const clusters = joinedClusters(before.clusters, found);
  return { kind: "answer", value: { clusters, tag }, tag };
};
