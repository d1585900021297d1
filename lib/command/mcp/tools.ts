import * as z from "zod";
import { ANSWERS } from "../../answers/api/answers.ts";
import { AUTOSCALER_HISTORY, AUTOSCALER_SINCE } from "../../answers/api/input-schemas.ts";
import { answerSchema, inputSchema, type JsonSchema } from "../../answers/api/json-schemas.ts";
import { QUERY_ROUTES } from "../../answers/api/query-routes.ts";
import { readInstant, DAY_MS, MINUTE_MS } from "../../rules/model/time-text.ts";
import type { QueryService } from "../../answers/service/service.ts";
import type { AskApi, ToolParameters } from "./ask-api.ts";
import type { Narrowing } from "./marked-data.ts";
import type { Replays } from "./replays.ts";

/** A question that an assistant can ask. None of them changes anything. */
export interface Tool extends Narrowing {
  readonly name: string;
  readonly about: string;
  readonly input: JsonSchema;
  readonly output: JsonSchema;
  readonly answer: (asked: ToolParameters, sources: ToolSources) => Promise<unknown>;
}

/** Where the answers come from. */
export interface ToolSources {
  readonly ask: AskApi;
  readonly replays: Replays;
  readonly clock: () => number;
}

/** What is told beside the answer of a route. */
const output = (answer: z.ZodType): JsonSchema =>
  answerSchema(
    z.object({
      notice: z.string(),
      answer,
      cut: z.string().describe("what was left out, and how to ask for it").exactOptional(),
    }),
  );

const TIMES = "Times are RFC 3339, such as 2026-03-01T12:00:00Z.";

/** The words of the route as a sentence. Pages are left out: an answer is cut and says so. */
const aboutOf = (verb: keyof QueryService): string => {
  const words = QUERY_ROUTES[verb].summary.replace(/, a page at a time$/, "");
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
};

/** Fields of routes that are for programs with a memory. */
const FOR_PROGRAMS: ReadonlySet<string> = new Set(["page", "known"]);

const inputOf = (schema: z.ZodType): JsonSchema => {
  const { properties = {}, ...rest } = inputSchema(schema);
  return {
    ...rest,
    properties: Object.fromEntries(
      Object.entries(properties as object).filter(([name]) => !FOR_PROGRAMS.has(name)),
    ),
  };
};

interface OfRoute extends Narrowing {
  readonly name?: string;
  readonly more?: string;
  /** What is asked where the assistant says nothing else. */
  readonly before?: (asked: ToolParameters, nowMs: number) => ToolParameters;
  readonly after?: (answer: unknown) => unknown;
}

const ofRoute = (
  verb: keyof QueryService,
  { name = verb, more, before = (asked) => asked, after, ...narrowing }: OfRoute,
): Tool => ({
  name,
  about: [aboutOf(verb), more, TIMES].filter((each) => each !== undefined).join(" "),
  input: inputOf(QUERY_ROUTES[verb].schema),
  output: output(ANSWERS[verb]),
  ...narrowing,
  answer: async (asked, { ask, clock }) => {
    const answer = await ask(verb, before(asked, clock()));
    return after ? after(answer) : answer;
  },
});

/** The last day, where no other time is asked for. */
const lastDay = (asked: ToolParameters, nowMs: number): ToolParameters => ({
  since: new Date(nowMs - DAY_MS).toISOString(),
  ...asked,
});
const LAST_DAY = "Without `since` it is of the last day.";

const TIMELINE_POINTS = 60;
const TIMELINE_MS = 120 * MINUTE_MS;
const STEP_SECONDS_MIN = 15;

/** Some sixty points, where no other step is asked for. */
const withStep = (asked: ToolParameters, nowMs: number): ToolParameters => {
  const untilMs = readInstant(asked["until"] ?? "") ?? nowMs;
  const sinceMs = readInstant(asked["since"] ?? "") ?? untilMs - TIMELINE_MS;
  const seconds = Math.ceil((untilMs - sinceMs) / TIMELINE_POINTS / 1_000);
  return { step: String(Math.min(86_400, Math.max(STEP_SECONDS_MIN, seconds))), ...asked };
};

/** The whole documents of an edit have thousands of characters, and its fields say what differs. */
const withoutDocuments = (answer: unknown): unknown => {
  const { items } = answer as z.infer<typeof ANSWERS.changes>;
  return {
    ...(answer as object),
    items: items.map(({ before: _before, after: _after, rival: _rival, ...change }) => change),
  };
};

const ONE = "ask with explain or schedule, or read it with the command tidemark";
const ONE_PLACE = "ask for one cluster, one namespace or one name";

/** The load, the counts, what held them, the scales and the edits of one autoscaler. */
const TIMELINE: Tool = {
  name: "timeline",
  about: `${aboutOf("history")} With its scale events and its edits. Without \`since\` it is of two hours. ${TIMES}`,
  input: inputOf(AUTOSCALER_HISTORY),
  output: output(
    ANSWERS.history.extend({
      events: ANSWERS.events.shape.items,
      changes: ANSWERS.changes.shape.items,
    }),
  ),
  list: "points",
  narrower: "ask for a shorter time, or with a longer step",
  answer: async (asked, { ask, clock }) => {
    const wanted = withStep(asked, clock());
    const history = (await ask("history", wanted)) as z.infer<typeof ANSWERS.history>;
    const { step: _step, until: _until, ...of } = wanted;
    const place = { ...of, since: history.since };
    const [events, changes] = await Promise.all([
      ask("events", { ...place, until: history.until }),
      ask("changes", place),
    ]);
    const untilMs = Date.parse(history.until);
    const edits = withoutDocuments(changes) as z.infer<typeof ANSWERS.changes>;
    return {
      ...history,
      events: (events as z.infer<typeof ANSWERS.events>).items,
      changes: edits.items.filter(({ at }) => Date.parse(at) <= untilMs),
    };
  },
};

const MANIFEST_CHARACTERS_MAX = 100_000;

const REPLAY: Tool = {
  name: "replay",
  about: `What an autoscaler did on its recorded history, and what other manifests would have done on it: replica-hours, time above the target, scales. Nothing is stored or scaled. Without \`since\` it is of seven days. ${TIMES}`,
  input: inputOf(
    AUTOSCALER_SINCE.extend({
      manifest: z
        .string()
        .max(MANIFEST_CHARACTERS_MAX)
        .describe("the other manifests in YAML or JSON, as `tidemark apply` takes them")
        .exactOptional(),
    }),
  ),
  output: output(z.looseObject({})),
  narrower: "ask for a shorter time, or with fewer manifests",
  answer: (asked, { replays }) => replays(asked),
};

/** In the order in which an assistant finds its way: the fleet, one autoscaler, its past. */
export const TOOLS: readonly Tool[] = [
  ofRoute("status", { narrower: "read it with tidemark status" }),
  ofRoute("rows", {
    name: "list",
    list: "items",
    narrower: `${ONE_PLACE}, or for fewer fields`,
  }),
  ofRoute("get", { narrower: ONE }),
  ofRoute("describe", { narrower: ONE }),
  ofRoute("explain", { narrower: "ask with get" }),
  ofRoute("doctor", { list: "items", narrower: ONE_PLACE }),
  ofRoute("schedule", { narrower: "ask for a shorter time, or for fewer changes with next" }),
  TIMELINE,
  ofRoute("events", {
    list: "items",
    more: LAST_DAY,
    before: lastDay,
    narrower: `${ONE_PLACE}, for a shorter time, or go on with the time of the last one as since`,
  }),
  ofRoute("changes", {
    list: "items",
    more: LAST_DAY,
    before: lastDay,
    after: withoutDocuments,
    narrower: `${ONE_PLACE}, or go on with the time of the last one as since`,
  }),
  ofRoute("shadow", { list: "stretches", narrower: "ask for a shorter time" }),
  REPLAY,
];
