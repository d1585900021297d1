import { answerRequest } from "../../../lib/answers/api/answer-request.ts";
import { QUERY_PATHS } from "../../../lib/answers/api/paths.ts";
import { openByRights } from "../../../lib/answers/service/open.ts";
import type { AutoscalerRow, ClusterRows } from "../../../lib/answers/views/row.ts";
import type { EventCount, EventView } from "../../../lib/answers/views/event.ts";
import type { ChangeView } from "../../../lib/answers/views/change.ts";
import type { HistoryView } from "../../../lib/answers/views/over-time.ts";
import { DAY_MS, MINUTE_MS } from "../../../lib/rules/model/time-text.ts";
import type { Tables } from "../../../lib/stack/store/table/tables.ts";
import type { Process } from "../process.ts";
import type { Random } from "../random.ts";
import { type Asked, type AskOnce, bodyOf, placeQuery, type Unanswered } from "./asking.ts";
import { looked } from "./looks.ts";
import { type Observation, type ShownPartition, TENANT, timeOf } from "./observed.ts";
import { type Place, pathOf, READERS } from "./places.ts";
import type { Question } from "./timetable.ts";

export const OPS = "arn:aws:sts::000000000000:assumed-role/ops/ada";
export const TENANT_ARN = "arn:aws:sts::000000000000:assumed-role/tenant/bob";

/** What a reader does with its answers: a mistake may be planted between. */
export type Answering = (reader: number, ask: AskOnce) => AskOnce;
interface Reader {
  process: Process;
  tables: Tables;
  /** The tag of the newest whole answer, and what it showed. */
  tagged: { readonly tag: string; readonly partitions: readonly ShownPartition[] } | undefined;
  /** By CLUSTER/PARTITION: the rows that a mark stands for. */
  readonly marked: Map<string, Marked>;
}

interface Marked {
  readonly mark: string;
  readonly version: number;
  readonly syncedMs: number;
  readonly rows: readonly AutoscalerRow[];
}

interface World {
  readonly nowMs: () => number;
  readonly random: Random;
  readonly newProcess: (name: string) => Process;
  readonly tablesFor: (process: Process) => Tables;
  readonly observations: Observation[];
  readonly answering?: Answering | undefined;
}

/** Chance that an environment is a new one though the last one is there. */
const NEW_CHANCE = 0.03;
const STEP_MS = 5 * MINUTE_MS;

/** The readers, each with one environment that lives on from request to request. */
export const newReaders = (
  world: World,
): { readonly ask: (reader: number, question: Question) => void } => {
  const { nowMs, random } = world;
  const readers = new Map<number, Reader>();
  let made = 0;
  const readerOf = (at: number): Reader => {
    const known = readers.get(at);
    if (known?.process.alive && !random.chance(NEW_CHANCE)) return known;
    const process = world.newProcess(`reader-${at}-${++made}`);
    const environment = { process, tables: world.tablesFor(process) };
    if (known) return Object.assign(known, environment);
    const reader: Reader = { ...environment, tagged: undefined, marked: new Map() };
    readers.set(at, reader);
    return reader;
  };
  let requests = 0;
  const asking =
    (at: number, { tables }: Reader, path: string): AskOnce =>
    (query, headers) =>
      answerRequest(
        { ...openByRights({ tables, clock: tables.clock }), clock: tables.clock, log: () => {} },
        {
          ...{ method: "GET", path, query, headers, body: new Uint8Array() },
          ...{ by: at === TENANT ? TENANT_ARN : OPS, id: `request-${++requests}` },
        },
      );
  const answerTo = async (at: number, question: Question): Promise<Observation | undefined> => {
    const reader = readerOf(at);
    const verb = question.kind === "counts" ? "eventCounts" : question.kind;
    const plain = asking(at, reader, QUERY_PATHS[verb]);
    const once = world.answering?.(at, plain) ?? plain;
    const clockMs = reader.tables.clock();
    const untilMs = Math.floor(clockMs / STEP_MS) * STEP_MS;
    const days = "days" in question ? question.days : 0;
    const asked = { reader: at, askedMs: nowMs(), sinceMs: untilMs - days * DAY_MS, untilMs };
    const answered = await answerOf(once, reader, question, asked);
    return answered && { ...answered, answeredMs: nowMs() };
  };
  return {
    ask: (at, question) => {
      void answerTo(at % READERS, question).then((observation) => {
        if (observation) world.observations.push(observation);
      });
    },
  };
};

/** What is shown; `undefined` where the request was answered by an error. */
const answerOf = async (
  once: AskOnce,
  reader: Reader,
  question: Question,
  asked: Asked,
): Promise<Unanswered<Observation> | undefined> => {
  const since = `since=${timeOf(asked.sinceMs)}`;
  const times = `${since}&until=${timeOf(asked.untilMs)}`;
  switch (question.kind) {
    case "rows": {
      const partitions = await askRows(once, reader, question.with);
      return partitions && { ...asked, kind: "rows", question, partitions };
    }
    case "events": {
      const query = `${times}${placeQuery(question.place)}`;
      const events = await allPages<EventView>(once, query);
      return events && { ...asked, kind: "events", question, events };
    }
    case "counts": {
      const counts = await allPages<EventCount>(once, times);
      return counts && { ...asked, kind: "counts", counts };
    }
    case "changes": {
      const changes = await allPages<ChangeView>(once, since);
      return changes && { ...asked, kind: "changes", changes };
    }
    case "history": {
      const history = await wholeHistory(once, question.place, asked);
      return history && { ...asked, kind: "history", path: pathOf(question.place), history };
    }
    case "describe":
    case "explain":
    case "sparklines":
    case "series":
      return looked(once, question, asked);
  }
};

const askRows = async (
  once: AskOnce,
  reader: Reader,
  by: Extract<Question, { kind: "rows" }>["with"],
): Promise<readonly ShownPartition[] | undefined> => {
  const { tagged } = reader;
  const known = [...reader.marked.values()].map(({ mark }) => mark).join("");
  const answer = await once(
    by === "marks" ? `known=${known}` : "",
    by === "tag" && tagged ? { "if-none-match": tagged.tag } : {},
  );
  if (answer.status === 304)
    return tagged?.partitions.map(({ syncedMs: _at, ...kept }) => ({ ...kept, how: "304" }));
  if (answer.status !== 200) return undefined;
  const clusters = bodyOf<{ readonly items: readonly ClusterRows[] }>(answer).items;
  const partitions = clusters.flatMap((cluster) => partitionsOf(reader, cluster));
  const tag = answer.headers["etag"];
  if (by !== "marks") reader.tagged = tag === undefined ? undefined : { tag, partitions };
  return partitions;
};

/** What the reader has of each partition after the answer; it keeps what has a mark. */
const partitionsOf = (
  { marked }: Reader,
  { cluster, partitions, rows }: ClusterRows,
): readonly ShownPartition[] =>
  partitions.flatMap((one) => {
    const kept = marked.get(`${cluster}/${one.name}`);
    if (one.unchanged) return keptPartition(cluster, one.name, kept);
    const syncedMs = one.syncedAt === undefined ? 0 : Date.parse(one.syncedAt);
    // As the page does: a head may be read that is older than the one before.
    if (kept && one.version < kept.version && syncedMs < kept.syncedMs) return [];
    const own = rows.filter(({ partition }) => partition === one.name);
    const { mark, version, name } = one;
    if (mark === undefined) marked.delete(`${cluster}/${name}`);
    else marked.set(`${cluster}/${name}`, { mark, version, syncedMs, rows: own });
    const shown = { cluster, name, rows: own, how: "shown" as const };
    return [syncedMs === 0 ? shown : { ...shown, syncedMs }];
  });

const keptPartition = (
  cluster: string,
  name: string,
  kept: Marked | undefined,
): readonly ShownPartition[] =>
  kept ? [{ cluster, name, rows: kept.rows, how: "unchanged" }] : [];

const PAGES_MAX = 200;

const allPages = async <Item>(
  once: AskOnce,
  query: string,
): Promise<readonly Item[] | undefined> => {
  const items: Item[] = [];
  let next: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const answer = await once(next === undefined ? query : `${query}&page=${next}`, {});
    if (answer.status !== 200) return undefined;
    const page = bodyOf<{ readonly items: readonly Item[]; readonly next?: string }>(answer);
    items.push(...page.items);
    next = page.next;
    if (next === undefined) return items;
  }
  throw new RangeError("a list does not end");
};

const wholeHistory = async (
  once: AskOnce,
  place: Place,
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): Promise<HistoryView | undefined> => {
  const points: HistoryView["points"][number][] = [];
  const until = new Date(untilMs - 1).toISOString();
  let since = new Date(sinceMs).toISOString();
  for (let parts = 0; parts < PAGES_MAX; parts++) {
    const query = `${placeQuery(place).slice(1)}&since=${since}&until=${until}&step=${STEP_MS / 1_000}`;
    const answer = await once(query, {});
    if (answer.status !== 200) return undefined;
    const part = bodyOf<HistoryView>(answer);
    points.push(...part.points);
    if (part.next === undefined) return { ...part, points };
    since = part.next;
  }
  throw new RangeError("a history does not end");
};
