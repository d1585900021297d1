import { ifMatchText } from "../api/entity-tag.ts";
import { pageToken } from "../api/page-token.ts";
import { COMMAND_PATHS, IF_MATCH_HEADER, KEY_HEADER, QUERY_PATHS } from "../api/paths.ts";
import { type SeriesJson, seriesOf } from "../api/series-json.ts";
import { TidemarkError } from "../model/errors.ts";
import type { CalendarView } from "../service/calendars/requests.ts";
import type { OverrideCursor } from "../service/overrides/requests.ts";
import type {
  AutoscalerCursor,
  AutoscalerQuery,
  ChangeQuery,
  CommandService,
  EditCondition,
  EventQuery,
  Filter,
  KindCount,
  QueryService,
  Service,
} from "../service/service.ts";
import type { SourceView, UnreadableSource } from "../service/sources/requests.ts";
import type { Applied, AutoscalerView, ClusterView } from "../service/views/view-types.ts";
import type { ChangeView } from "../service/views/change-view.ts";
import type { EventView } from "../service/views/event-view.ts";
import type { OverrideView } from "../service/views/override-view.ts";
import type { ClusterRows, RowQuery } from "../service/views/row-view.ts";
import type { SendRequest } from "./send-request.ts";

type Fields = Readonly<Record<string, string | undefined>>;

/** The service of a deployed stack: one request per call, and lists page by page. `newKey` makes the idempotency key of each edit. */
export const remoteService = (ask: SendRequest, newKey: () => string): Service => ({ ...queryService(ask), ...commandService(ask, newKey) });

const queryService = (ask: SendRequest): QueryService => {
  const sendQuery = async <Answer>(path: string, fields: Fields = {}): Promise<Answer> =>
    (await ask({ method: "GET", path, query: presentFields(fields), headers: {} })) as Answer;
  return {
    autoscalers: (filter, after) =>
      pagesOf<AutoscalerView>(sendQuery, QUERY_PATHS.autoscalers, filterOf(filter), after && pageToken(filterOf(filter), cursorOf(after))),
    rows: (query, after) => rows(sendQuery, query, after),
    get: (query) => sendQuery(QUERY_PATHS.get, queryFields(query)),
    describe: (query) => sendQuery(QUERY_PATHS.describe, queryFields(query)),
    explain: (query, atMs) => sendQuery(QUERY_PATHS.explain, { ...queryFields(query), at: timeText(atMs) }),
    shadow: ({ sinceMs, untilMs, ...query }) =>
      sendQuery(QUERY_PATHS.shadow, presentFields({ ...queryFields(query), since: timeText(sinceMs), until: timeText(untilMs) })),
    history: ({ sinceMs, untilMs, stepMs, ...query }) =>
      sendQuery(
        QUERY_PATHS.history,
        presentFields({
          ...queryFields(query),
          since: timeText(sinceMs),
          until: timeText(untilMs),
          step: stepMs === undefined ? undefined : String(Math.round(stepMs / SECOND_MS)),
        }),
      ),
    events: (query) => events(sendQuery, query),
    changes: (query) => changes(sendQuery, query),
    series: async ({ labels = [], ...filter } = {}) => {
      const fields = { ...filterOf(filter), labels: labels.length > 0 ? labels.join(",") : undefined };
      return seriesOf({ families: listIn(QUERY_PATHS.series, await sendQuery<SeriesJson>(QUERY_PATHS.series, fields), "families") });
    },
    clusters: (after) => pagesOf<ClusterView>(sendQuery, QUERY_PATHS.clusters, {}, after === undefined ? undefined : pageToken({}, { name: after })),
    cluster: (name) => sendQuery(QUERY_PATHS.cluster, { name }),
    partition: (name) => sendQuery(QUERY_PATHS.partition, { name }),
    fleet: () => sendQuery(QUERY_PATHS.fleet),
    overrides: ({ name, ...filter }, after) => {
      const fields = presentFields({ ...filterOf(filter), name });
      return pagesOf<OverrideView>(sendQuery, QUERY_PATHS.overrides, fields, after && pageToken(fields, presentFields(overrideCursor(after))));
    },
    calendars: async () =>
      listIn(QUERY_PATHS.calendars, await sendQuery<{ readonly calendars: readonly CalendarView[] }>(QUERY_PATHS.calendars), "calendars"),
    status: () => sendQuery(QUERY_PATHS.status),
    sources: async () =>
      listIn(QUERY_PATHS.sources, await sendQuery<{ readonly sources: readonly (SourceView | UnreadableSource)[] }>(QUERY_PATHS.sources), "sources"),
    access: () => sendQuery(QUERY_PATHS.access),
    canI: ({ verb, ...place }) => sendQuery(QUERY_PATHS.canI, { verb, ...filterOf(place) }),
  };
};

const SECOND_MS = 1_000;

const overrideCursor = ({ cluster, namespace, name, id }: OverrideCursor): Fields => ({ cluster, namespace, name, id });
const cursorOf = ({ cluster, namespace, name }: AutoscalerCursor): AutoscalerCursor => ({ cluster, namespace, name });

/** Keeps only the known fields, because the stack refuses unknown ones and callers may pass larger objects. */
const filterOf = ({ cluster, namespace }: Filter): Readonly<Record<string, string>> => presentFields({ cluster, namespace });
const queryFields = ({ name, ...filter }: AutoscalerQuery): Readonly<Record<string, string>> => ({ name, ...filterOf(filter) });

/** Drops absent fields. */
const presentFields = (fields: Fields): Readonly<Record<string, string>> => defined(fields);

const defined = <Value>(fields: Readonly<Record<string, Value | undefined>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));

const timeText = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : new Date(Math.max(0, ms)).toISOString());

type SendQuery = <Answer>(path: string, fields?: Fields) => Promise<Answer>;

async function* pagesOf<Item>(look: SendQuery, path: string, fields: Fields, first: string | undefined): AsyncGenerator<Item> {
  let page = first;
  do {
    const answer = await look<{ readonly items: readonly Item[]; readonly next?: string }>(path, { ...fields, page });
    yield* listIn(path, answer, "items");
    page = answer.next;
  } while (page !== undefined);
}

/** Reads a list from an answer, which another version of Tidemark may have sent. Throws `remote.unreadable`. */
const listIn = <Key extends string, Item>(path: string, answer: { readonly [K in Key]: readonly Item[] }, key: Key): readonly Item[] => {
  const list: unknown = typeof answer === "object" && answer !== null ? answer[key] : undefined;
  if (Array.isArray(list)) return list;
  throw new TidemarkError(
    "remote.unreadable",
    `Cannot read the answer to "${path}": it has no "${key}"; the stack may run another version of Tidemark`,
    {},
  );
};

const rows = (
  look: SendQuery,
  { name, kinds, selector, known, fields, ...filter }: RowQuery,
  after: string | undefined,
): AsyncIterable<ClusterRows> => {
  const question = { ...filterOf(filter), ...presentFields({ name, selector }), ...(kinds && { kinds }), ...(fields && { fields }) };
  const parameters = { ...question, kinds: kinds?.join(","), fields: fields?.join(","), known };
  return pagesOf(look, QUERY_PATHS.rows, parameters, after === undefined ? undefined : pageToken(question, { cluster: after }));
};

const events = (look: SendQuery, { sinceMs, untilMs, after, name, ...filter }: EventQuery): AsyncIterable<EventView> => {
  const query = { ...presentFields({ name }), ...filterOf(filter) };
  const fields = { ...query, since: timeText(sinceMs), until: timeText(untilMs) };
  const question = { ...query, ...(sinceMs !== undefined && { sinceMs: Math.max(0, sinceMs) }), ...(untilMs !== undefined && { untilMs }) };
  // The stack caps the end of the list at its present time.
  const cursor = after && { untilMs: untilMs ?? LATEST_MS, fromMs: after.atMs, after };
  return pagesOf(look, QUERY_PATHS.events, fields, cursor && pageToken(question, cursor));
};

const changes = (look: SendQuery, { sinceMs, after, name, ...filter }: ChangeQuery): AsyncIterable<ChangeView> => {
  const query = { ...presentFields({ name }), ...filterOf(filter) };
  const question = { ...query, ...(sinceMs !== undefined && { sinceMs: Math.max(0, sinceMs) }) };
  return pagesOf(look, QUERY_PATHS.changes, { ...query, since: timeText(sinceMs) }, after && pageToken(question, { atMs: after.atMs, id: after.id }));
};

const LATEST_MS = 8_640_000_000_000_000;

/** The body limit of `lib/api`. The platform refuses larger requests without an explanation. */
const BODY_BYTES_MAX = 5_000_000;

const commandService = (ask: SendRequest, newKey: () => string): CommandService => {
  const send = async <Answer>(path: string, fields: object, headers: Readonly<Record<string, string>>): Promise<Answer> => {
    const body = JSON.stringify(fields);
    const bytes = Buffer.byteLength(body);
    if (bytes > BODY_BYTES_MAX) throw tooLarge(bytes);
    return (await ask({ method: "POST", path, query: {}, headers: { "content-type": "application/json", ...headers }, body })) as Answer;
  };
  const edit = <Answer>(path: string, fields: object, onlyIf?: EditCondition): Promise<Answer> =>
    send(path, fields, { [KEY_HEADER]: newKey(), ...conditionHeader(onlyIf) });
  const until = (query: Fields, untilMs: number | undefined): object => presentFields({ ...query, until: timeText(untilMs) });
  return {
    apply: async (sources, { dryRun, validation = "strict", onlyIf, onPassedOver, ...filter }) => {
      const applying = {
        sources: sources.map(({ file, text }) => ({ file, text })),
        ...filterOf(filter),
        dryRun,
        ...(validation !== "strict" && { validation }),
      };
      // A dry run needs no key, because repeating it has no effect.
      const answer = await (dryRun
        ? send<AppliedJson>(COMMAND_PATHS.apply, applying, conditionHeader(onlyIf))
        : edit<AppliedJson>(COMMAND_PATHS.apply, applying, onlyIf));
      const applied: readonly Applied[] = listIn(COMMAND_PATHS.apply, answer, "applied");
      if (Array.isArray(answer.passedOver)) onPassedOver?.(answer.passedOver);
      return applied;
    },
    delete: (query) => edit(COMMAND_PATHS.delete, queryFields(query), query.onlyIf),
    pause: (query, untilMs) => edit(COMMAND_PATHS.pause, until(queryFields(query), untilMs), query.onlyIf),
    resume: (query) => edit(COMMAND_PATHS.resume, queryFields(query), query.onlyIf),
    takeOver: ({ rival, failed, ...query }) =>
      edit(COMMAND_PATHS.takeOver, { ...queryFields(query), rival, ...(failed !== undefined && { failed }) }, query.onlyIf),
    handBack: ({ rival, ...query }) => edit(COMMAND_PATHS.handBack, { ...queryFields(query), rival }, query.onlyIf),
    // It needs no key, because it changes nothing.
    checkCluster: ({ name, kinds }) => send(COMMAND_PATHS.checkCluster, { name, ...(kinds && { kinds }) }, {}),
    addCluster: (cluster) => edit(COMMAND_PATHS.addCluster, cluster),
    replaceCluster: (cluster) => edit(COMMAND_PATHS.replaceCluster, cluster),
    pauseCluster: (name, untilMs) => edit(COMMAND_PATHS.pauseCluster, until({ name }, untilMs)),
    resumeCluster: (name) => edit(COMMAND_PATHS.resumeCluster, { name }),
    removeCluster: async (name) => {
      await edit(COMMAND_PATHS.removeCluster, { name });
    },
    resetWindows: (name, page) => edit(COMMAND_PATHS.resetWindows, { name, page }),
    resetIntent: (name, intent) => edit(COMMAND_PATHS.resetIntent, { name, intent }),
    resetTime: (name) => edit(COMMAND_PATHS.resetTime, { name }),
    freeze: (reason, replace = false) => edit(COMMAND_PATHS.freeze, { reason, ...(replace && { replace }) }),
    thaw: () => edit(COMMAND_PATHS.thaw, {}),
    adopt: () => edit(COMMAND_PATHS.adopt, {}),
    setOverride: ({ cluster, namespace, name, fleet, hold, min, max, minFactor, fromMs, untilMs, reason, force, dryRun }) => {
      const times = { from: timeText(fromMs), until: timeText(untilMs) };
      const fields = defined({ cluster, namespace, name, fleet, hold, min, max, minFactor, ...times, reason, force, dryRun });
      return dryRun ? send(COMMAND_PATHS.setOverride, fields, {}) : edit(COMMAND_PATHS.setOverride, fields);
    },
    extendOverride: ({ id, cluster, untilMs }) => edit(COMMAND_PATHS.extendOverride, presentFields({ id, cluster, until: timeText(untilMs) })),
    clearOverride: ({ id, cluster }) => edit(COMMAND_PATHS.clearOverride, presentFields({ id, cluster })),
    putCalendar: ({ name, dates }) => edit(COMMAND_PATHS.putCalendar, { name, dates }),
    deleteCalendar: async (name, force = false) => {
      await edit(COMMAND_PATHS.deleteCalendar, { name, ...(force && { force }) });
    },
    checkSource: (check) => send(COMMAND_PATHS.checkSource, check, {}),
    putSource: (source) => edit(COMMAND_PATHS.putSource, source),
    deleteSource: async (name) => {
      await edit(COMMAND_PATHS.deleteSource, { name });
    },
    grantAccess: ({ arn, role, cluster, namespace }) => edit(COMMAND_PATHS.grantAccess, presentFields({ arn, role, cluster, namespace })),
    revokeAccess: (id) => edit(COMMAND_PATHS.revokeAccess, { id }),
    requireAccess: (required) => edit(COMMAND_PATHS.requireAccess, { required }),
  };
};

const conditionHeader = (onlyIf: EditCondition | undefined): Readonly<Record<string, string>> =>
  onlyIf === undefined ? {} : { [IF_MATCH_HEADER]: ifMatchText(onlyIf) };

interface AppliedJson {
  readonly applied: readonly Applied[];
  /** Absent where nothing was passed over. */
  readonly passedOver?: readonly KindCount[];
}

const MEGABYTE = 1_000_000;

const tooLarge = (bytes: number): TidemarkError =>
  new TidemarkError(
    "remote.too-large",
    `Cannot send ${(bytes / MEGABYTE).toFixed(1)} MB to the stack: a request has ${BODY_BYTES_MAX / MEGABYTE} MB at most; apply the manifests in several steps`,
    { bytes },
  );
