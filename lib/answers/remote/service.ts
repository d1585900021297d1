import { ifMatchText, familiesIn } from "../api/request-and-answer.ts";
import { pageToken } from "../api/list-page.ts";
import { COMMAND_PATHS, IF_MATCH_HEADER, KEY_HEADER, QUERY_PATHS } from "../api/paths.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import type { AheadTimes, OverrideCursor, RowQuery } from "../service/requests.ts";
import type {
  AutoscalerCursor,
  AutoscalerQuery,
  ChangeQuery,
  CommandService,
  EditCondition,
  EventQuery,
  Filter,
  QueryService,
  Service,
} from "../service/service.ts";
import type { ChangeView } from "../views/change.ts";
import type { EventView } from "../views/event.ts";
import type { ClusterRows } from "../views/row.ts";
import type { SendRequest } from "./send-request.ts";
import { LATEST_DATE_MS, SECOND_MS } from "../../rules/model/time-text.ts";
import { checkAnswer, type AnswerTo } from "./check-answer.ts";

type Fields = Readonly<Record<string, string | undefined>>;

/**
 * The service of a deployed stack: one request per call, and lists page by page. `newKey` makes the
 * idempotency key of each edit.
 */
export const remoteService = (ask: SendRequest, newKey: () => string): Service => ({
  ...queryService(ask),
  ...commandService(ask, newKey),
});

const queryService = (ask: SendRequest): QueryService => {
  const look: Look = async (verb, fields = {}) => {
    const path = QUERY_PATHS[verb];
    return checkAnswer(
      verb,
      path,
      await ask({ method: "GET", path, query: present(fields), headers: {} }),
    );
  };
  return {
    autoscalers: (filter, after) =>
      pagesOf(
        (page) => look("autoscalers", { ...filterOf(filter), page }),
        after && pageToken(filterOf(filter), cursorOf(after)),
      ),
    rows: (query, after) => rows(look, query, after),
    get: (query) => look("get", queryFields(query)),
    describe: (query) => look("describe", queryFields(query)),
    explain: (query, atMs) => look("explain", { ...queryFields(query), at: timeField(atMs) }),
    schedule: ({ fromMs, untilMs, most, ...query }) =>
      look("schedule", {
        ...queryFields(query),
        ...aheadFields(present({ fromMs, untilMs, most })),
      }),
    schedules: ({ names, ...ahead }) =>
      look("schedules", { names: names.join(","), ...aheadFields(ahead) }),
    doctor: ({ name, ...filter }, after) => {
      const question = present({ name, ...filterOf(filter) });
      return pagesOf(
        (page) => look("doctor", { ...question, page }),
        after && pageToken(question, cursorOf(after)),
      );
    },
    shadow: ({ sinceMs, untilMs, ...query }) =>
      look("shadow", {
        ...queryFields(query),
        since: timeField(sinceMs),
        until: timeField(untilMs),
      }),
    history: ({ sinceMs, untilMs, stepMs, why, ...query }) =>
      look("history", {
        ...queryFields(query),
        since: timeField(sinceMs),
        until: timeField(untilMs),
        step: stepMs === undefined ? undefined : String(Math.round(stepMs / SECOND_MS)),
        why: why === true ? "true" : undefined,
      }),
    sparklines: ({ names }) => look("sparklines", { names: names.join(",") }),
    events: (query) => events(look, query),
    eventCounts: (query, after) => {
      const { fields, question } = eventFields(query);
      return pagesOf(
        (page) => look("eventCounts", { ...fields, page }),
        after && pageToken(question, present({ ...after })),
      );
    },
    changes: (query) => changes(look, query),
    series: async ({ labels = [], ...filter } = {}) =>
      familiesIn(
        await look("series", {
          ...filterOf(filter),
          labels: labels.length > 0 ? labels.join(",") : undefined,
        }),
      ),
    clusters: (after) =>
      pagesOf(
        (page) => look("clusters", { page }),
        after === undefined ? undefined : pageToken({}, { name: after }),
      ),
    cluster: (name) => look("cluster", { name }),
    partition: (name) => look("partition", { name }),
    fleet: () => look("fleet"),
    measuredSyncs: () => look("measuredSyncs"),
    overrides: ({ name, expired, ...filter }, after) => {
      const fields = present({ ...filterOf(filter), name, expired });
      return pagesOf(
        (page) => look("overrides", { ...fields, page }),
        after && pageToken(fields, present(overrideCursor(after))),
      );
    },
    calendars: async () => (await look("calendars")).calendars,
    status: () => look("status"),
    sources: async () => (await look("sources")).sources,
    wakes: async () => (await look("wakes")).wakes,
    access: () => look("access"),
    canI: ({ verb, ...place }) => look("canI", { verb, ...filterOf(place) }),
  };
};

const overrideCursor = ({ cluster, namespace, name, id }: OverrideCursor): Fields => ({
  cluster,
  namespace,
  name,
  id,
});
const cursorOf = ({ cluster, namespace, name }: AutoscalerCursor): AutoscalerCursor => ({
  cluster,
  namespace,
  name,
});

/**
 * Keeps only the known fields, because the stack refuses unknown ones and callers may pass larger
 * objects.
 */
const filterOf = ({ cluster, namespace }: Filter): Readonly<Record<string, string>> =>
  present({ cluster, namespace });
const queryFields = ({ name, ...filter }: AutoscalerQuery): Readonly<Record<string, string>> => ({
  name,
  ...filterOf(filter),
});

const aheadFields = ({ fromMs, untilMs, most }: AheadTimes) => ({
  at: timeField(fromMs),
  until: timeField(untilMs),
  next: most === undefined ? undefined : String(most),
});

const timeField = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(Math.max(0, ms)).toISOString();

type Query = keyof QueryService;
type Look = <Of extends Query>(verb: Of, fields?: Fields) => Promise<AnswerTo<Of>>;

async function* pagesOf<Item>(
  look: (
    page: string | undefined,
  ) => Promise<{ readonly items: readonly Item[]; readonly next?: string }>,
  first: string | undefined,
): AsyncGenerator<Item> {
  let page = first;
  do {
    const answer = await look(page);
    yield* answer.items;
    page = answer.next;
  } while (page !== undefined);
}

const rows = (
  look: Look,
  { name, kinds, selector, known, fields, ...filter }: RowQuery,
  after: string | undefined,
): AsyncIterable<ClusterRows> => {
  const question = {
    ...filterOf(filter),
    ...present({ name, selector }),
    ...(kinds && { kinds }),
    ...(fields && { fields }),
  };
  const parameters = { ...question, kinds: kinds?.join(","), fields: fields?.join(","), known };
  // Whoever asked for some fields reads no others.
  return pagesOf(
    (page) => look("rows", { ...parameters, page }),
    after === undefined ? undefined : pageToken(question, { cluster: after }),
  ) as AsyncIterable<ClusterRows>;
};

const withRemoved = (removed: true | undefined) => (removed ? { removed: "true" } : {});

/** The parameters of a question about events, and the question as a page token holds it. */
const eventFields = ({
  sinceMs,
  untilMs,
  name,
  removed,
  ...filter
}: Pick<EventQuery, "sinceMs" | "untilMs" | "name" | "cluster" | "namespace" | "removed">) => {
  const query = { ...present({ name }), ...filterOf(filter) };
  return {
    fields: {
      ...query,
      ...withRemoved(removed),
      since: timeField(sinceMs),
      until: timeField(untilMs),
    },
    question: present({
      ...query,
      removed,
      sinceMs: sinceMs === undefined ? undefined : Math.max(0, sinceMs),
      untilMs,
    }),
  };
};

const events = (look: Look, { after, ...query }: EventQuery): AsyncIterable<EventView> => {
  const { fields, question } = eventFields(query);
  // The stack caps the end of the list at its present time.
  const cursor = after && { untilMs: query.untilMs ?? LATEST_DATE_MS, fromMs: after.atMs, after };
  return pagesOf(
    (page) => look("events", { ...fields, page }),
    cursor && pageToken(question, cursor),
  );
};

const changes = (
  look: Look,
  { sinceMs, after, name, removed, ...filter }: ChangeQuery,
): AsyncIterable<ChangeView> => {
  const query = { ...present({ name }), ...filterOf(filter) };
  const question = present({
    ...query,
    removed,
    sinceMs: sinceMs === undefined ? undefined : Math.max(0, sinceMs),
  });
  const fields = { ...query, ...withRemoved(removed), since: timeField(sinceMs) };
  return pagesOf(
    (page) => look("changes", { ...fields, page }),
    after && pageToken(question, { atMs: after.atMs, id: after.id }),
  );
};

/**
 * The body limit of `lib/answers/api`. The platform refuses larger requests without an explanation.
 */
const BODY_BYTES_MAX = 5_000_000;

type Command = keyof CommandService;

const commandService = (ask: SendRequest, newKey: () => string): CommandService => {
  const send = async <Of extends Command>(
    verb: Of,
    fields: object,
    headers: Readonly<Record<string, string>>,
  ): Promise<AnswerTo<Of>> => {
    const path = COMMAND_PATHS[verb];
    const body = JSON.stringify(fields);
    const bytes = Buffer.byteLength(body);
    if (bytes > BODY_BYTES_MAX) throw tooLarge(bytes);
    return checkAnswer(
      verb,
      path,
      await ask({
        method: "POST",
        path,
        query: {},
        headers: { "content-type": "application/json", ...headers },
        body,
      }),
    );
  };
  const edit = <Of extends Command>(
    verb: Of,
    fields: object,
    onlyIf?: EditCondition,
  ): Promise<AnswerTo<Of>> =>
    send(verb, fields, { [KEY_HEADER]: newKey(), ...conditionHeader(onlyIf) });
  const until = (query: Fields, untilMs: number | undefined): object =>
    present({ ...query, until: timeField(untilMs) });
  return {
    apply: async (sources, { dryRun, validation = "strict", onlyIf, onPassedOver, ...filter }) => {
      const applying = {
        sources: sources.map(({ file, text }) => ({ file, text })),
        ...filterOf(filter),
        dryRun,
        ...(validation !== "strict" && { validation }),
      };
      // A dry run needs no key, because repeating it has no effect.
      const { applied, passedOver } = await (dryRun
        ? send("apply", applying, conditionHeader(onlyIf))
        : edit("apply", applying, onlyIf));
      if (passedOver) onPassedOver?.(passedOver);
      return applied;
    },
    delete: (query) => edit("delete", queryFields(query), query.onlyIf),
    pause: (query, untilMs) => edit("pause", until(queryFields(query), untilMs), query.onlyIf),
    resume: (query) => edit("resume", queryFields(query), query.onlyIf),
    takeOver: ({ rival, failed, ...query }) =>
      edit(
        "takeOver",
        { ...queryFields(query), rival, ...(failed !== undefined && { failed }) },
        query.onlyIf,
      ),
    handBack: ({ rival, ...query }) =>
      edit("handBack", { ...queryFields(query), rival }, query.onlyIf),
    // It needs no key, because it changes nothing.
    checkCluster: (check) => send("checkCluster", present({ ...check }), {}),
    addCluster: (cluster) => edit("addCluster", cluster),
    replaceCluster: (cluster) => edit("replaceCluster", cluster),
    pauseCluster: (name, untilMs) => edit("pauseCluster", until({ name }, untilMs)),
    resumeCluster: (name) => edit("resumeCluster", { name }),
    removeCluster: (name) => edit("removeCluster", { name }).then(nothing),
    resetWindows: (name, page) => edit("resetWindows", { name, page }),
    resetIntent: (name, intent) => edit("resetIntent", { name, intent }),
    resetTime: (name) => edit("resetTime", { name }),
    freeze: (reason, replace = false) => edit("freeze", { reason, ...(replace && { replace }) }),
    thaw: () => edit("thaw", {}),
    adopt: () => edit("adopt", {}),
    move: (to) => edit("move", { to }),
    setOverride: ({
      cluster,
      namespace,
      name,
      fleet,
      hold,
      min,
      max,
      minFactor,
      fromMs,
      untilMs,
      reason,
      force,
      dryRun,
    }) => {
      const times = { from: timeField(fromMs), until: timeField(untilMs) };
      const fields = present({
        cluster,
        namespace,
        name,
        fleet,
        hold,
        min,
        max,
        minFactor,
        ...times,
        reason,
        force,
        dryRun,
      });
      return dryRun ? send("setOverride", fields, {}) : edit("setOverride", fields);
    },
    extendOverride: ({ id, cluster, untilMs }) =>
      edit("extendOverride", present({ id, cluster, until: timeField(untilMs) })),
    clearOverride: ({ id, cluster }) => edit("clearOverride", present({ id, cluster })),
    putCalendar: ({ name, dates }) => edit("putCalendar", { name, dates }),
    deleteCalendar: (name, force = false) =>
      edit("deleteCalendar", { name, ...(force && { force }) }).then(nothing),
    checkSource: (check) => send("checkSource", check, {}),
    putSource: (source) => edit("putSource", source),
    deleteSource: (name) => edit("deleteSource", { name }).then(nothing),
    putWake: ({ name, alarm, cluster, namespace, names }) =>
      edit("putWake", present({ name, alarm, cluster, namespace, names })),
    deleteWake: (name) => edit("deleteWake", { name }).then(nothing),
    // It needs no key: a wake that comes twice changes nothing.
    wake: async (wakes) => {
      const answers = await Promise.all(
        wakes.map(({ cluster, namespace, names, reason }) =>
          send("wake", present({ cluster, namespace, names, reason }), {}),
        ),
      );
      return { woken: answers.flatMap(({ woken }) => woken) };
    },
    grantAccess: ({ arn, role, cluster, namespace }) =>
      edit("grantAccess", present({ arn, role, cluster, namespace })),
    revokeAccess: (id) => edit("revokeAccess", { id }),
    requireAccess: (required) => edit("requireAccess", { required }),
  };
};

/** The answer of an edit that has nothing to say. */
const nothing = (): void => undefined;

const conditionHeader = (onlyIf: EditCondition | undefined): Readonly<Record<string, string>> =>
  onlyIf === undefined ? {} : { [IF_MATCH_HEADER]: ifMatchText(onlyIf) };

const MEGABYTE = 1_000_000;

const tooLarge = (bytes: number): TidemarkError =>
  new TidemarkError(
    "remote.too-large",
    `Cannot send ${(bytes / MEGABYTE).toFixed(1)} MB to the stack: a request has ${BODY_BYTES_MAX / MEGABYTE} MB at most; apply the manifests in several steps`,
    { bytes },
  );
