import * as z from "zod";
import { ANSWERS, type Verb } from "../../lib/answers/api/answers.ts";
import { ALL_ROUTES, type FoundRoute } from "../../lib/answers/api/answer-request.ts";
import { inputSchema, type JsonSchema, openObject } from "../../lib/answers/api/json-schemas.ts";
import {
  COMMAND_PATHS,
  IF_MATCH_HEADER,
  IF_NONE_MATCH_HEADER,
  KEY_HEADER,
  METRICS_PATH,
  PROBLEM_TYPE,
  QUERY_PATHS,
  TAG_HEADER,
} from "../../lib/answers/api/paths.ts";
import { OPEN_METRICS_TYPE } from "../../lib/stack/report/open-metrics.ts";
import { count, text } from "../../lib/answers/views/view-of.ts";
import { VIEWS } from "./views.ts";

/** An error (RFC 9457). */
const PROBLEM = z.looseObject({
  status: z.int(),
  code: text,
  detail: text,
  errors: z.array(z.looseObject({ field: text, message: text })).exactOptional(),
  url: text.exactOptional(),
  uid: text.exactOptional(),
  generation: count.exactOptional(),
});

/** The routes whose answer has the tag of one stored autoscaler. */
const TAGGED: ReadonlySet<string> = new Set<Verb>(["get", "apply", "pause", "resume"]);

/** The schemas of all views and of all answers. They refer to views by name. */
const outputSchemas = (): Readonly<Record<string, JsonSchema>> => {
  const registry = z.registry<{ readonly id: string }>();
  const named = { ...VIEWS, Problem: PROBLEM };
  for (const [id, schema] of Object.entries({ ...named, ...ANSWERS }))
    if (!registry.has(schema)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    uri: (id) => `#/components/schemas/${id}`,
    io: "output",
    unrepresentable: "any",
    override: openObject,
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _dialect, $id: _id, ...schema }]) => [id, schema]),
  );
};

const SCHEMAS = outputSchemas();
const NAMES: ReadonlyMap<z.ZodType, string> = new Map(
  Object.entries(VIEWS).map(([name, schema]) => [schema, name]),
);

const answerSchema = (verb: Verb): JsonSchema => {
  const name = NAMES.get(ANSWERS[verb]);
  return name === undefined ? (SCHEMAS[verb] ?? {}) : { $ref: `#/components/schemas/${name}` };
};

const VERBS: ReadonlyMap<string, Verb> = new Map(
  Object.entries({ ...QUERY_PATHS, ...COMMAND_PATHS }).map(([verb, path]) => [path, verb as Verb]),
);

const TAG_HEADERS = {
  [TAG_HEADER]: {
    description:
      "the tag of the autoscaler that is stored, for If-Match; an apply of several has none",
    schema: { type: "string" },
  },
};

const WEAK_TAG_HEADERS = {
  [TAG_HEADER]: {
    description: "a weak tag of all that the answer shows but the ages of syncs, for If-None-Match",
    schema: { type: "string" },
  },
};

const PROBLEM_CONTENT = { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } };

const answersOf = ({ kind, path, route: { conditional } }: FoundRoute): JsonSchema => {
  const verb = VERBS.get(path);
  const content =
    path === METRICS_PATH || verb === undefined
      ? { [OPEN_METRICS_TYPE.split(";")[0] ?? ""]: { schema: { type: "string" } } }
      : { "application/json": { schema: answerSchema(verb) } };
  const isWeak = kind === "reading" && verb !== "get";
  const headers = isWeak ? WEAK_TAG_HEADERS : TAGGED.has(verb ?? "") ? TAG_HEADERS : undefined;
  return {
    "200": { description: "done", ...(headers && { headers }), content },
    ...(isWeak && {
      "304": { description: "the answer shows what it showed under a tag of If-None-Match" },
    }),
    ...(conditional && {
      "412": {
        description: "If-Match does not hold, and nothing was changed",
        content: PROBLEM_CONTENT,
      },
    }),
    default: { description: "refused or failed", content: PROBLEM_CONTENT },
  };
};

const parametersOf = (schema: JsonSchema): readonly JsonSchema[] => {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: JsonSchema;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: property,
  }));
};

const KEY_PARAMETER = {
  name: KEY_HEADER,
  in: "header",
  required: false,
  description: "makes the edit once, however often it is sent",
  schema: { type: "string", pattern: "^[A-Za-z0-9_-]{16,64}$" },
};

const IF_MATCH_PARAMETER = {
  name: IF_MATCH_HEADER,
  in: "header",
  required: false,
  description:
    "makes the edit only if the stored autoscaler has one of these tags, or exists (*); otherwise the answer is 412",
  schema: { type: "string" },
};

const IF_NONE_MATCH_PARAMETER = {
  name: IF_NONE_MATCH_HEADER,
  in: "header",
  required: false,
  description:
    "the tags of answers that the caller has: while one of them shows the same, the answer is 304 without a body",
  schema: { type: "string" },
};

const operationOf = (found: FoundRoute): JsonSchema => {
  const { kind, path, route } = found;
  const input = inputSchema(route.schema);
  const operationId = VERBS.get(path) ?? "metrics";
  const shared = { operationId, summary: route.summary, responses: answersOf(found) };
  return kind === "reading"
    ? {
        ...shared,
        parameters: [
          ...parametersOf(input),
          ...(operationId === "get" ? [] : [IF_NONE_MATCH_PARAMETER]),
        ],
      }
    : {
        ...shared,
        parameters: [KEY_PARAMETER, ...(route.conditional ? [IF_MATCH_PARAMETER] : [])],
        requestBody: { required: true, content: { "application/json": { schema: input } } },
      };
};

/** The OpenAPI 3.1 document, made of the routes and of what they check requests with. */
export const openApiDocument = (version: string): JsonSchema => ({
  openapi: "3.1.0",
  info: {
    title: "Tidemark",
    version,
    description:
      "The API of a deployed stack. Requests are signed by SigV4 for the service lambda; docs/api.md says which URL takes what.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [
    {
      url: "https://{id}.lambda-url.{region}.on.aws",
      variables: {
        id: { default: "abc123", description: "of the function URL" },
        region: { default: "eu-central-1" },
      },
    },
  ],
  security: [{ sigv4: [] }],
  paths: Object.fromEntries(
    ALL_ROUTES.map((found) => [found.path, { [found.method.toLowerCase()]: operationOf(found) }]),
  ),
  components: {
    securitySchemes: {
      sigv4: {
        type: "apiKey",
        in: "header",
        name: "Authorization",
        description: "AWS Signature Version 4, service lambda",
      },
    },
    schemas: Object.fromEntries(
      [...Object.keys(VIEWS), "Problem"].map((name) => [name, SCHEMAS[name] ?? {}]),
    ),
  },
});
