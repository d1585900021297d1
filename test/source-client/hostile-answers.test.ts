import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Answer, MetricValue } from "../../lib/rules/model/observation.ts";
import { queryKey } from "../../lib/rules/model/query.ts";
import { sourceClient } from "../../lib/stack/source-client/source-client.ts";
import type { ForeignAnswer, RegisteredQuery } from "../../lib/rules/sources/source.ts";
import { answererOf, registeredQueryOf } from "../../lib/rules/sources/sources.ts";
import { NOON } from "../noon.ts";
import { native, sync } from "../policy/native/world.ts";
import { sourceRecord } from "./scene.ts";
import { runs } from "../runs.ts";

type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

const PODS = 9;
const RUNS = runs(500);
const ROUNDS_MAX = 60;
/**
 * Each answer asks for more pods than there are: whatever is misread as less shows as a count that
 * falls.
 */
const HIGH = 900;
const SECRET = "s3cr3t-0f-th3-s3rv3r";
const END = NOON / 1_000 - 60;

interface Kind {
  readonly block: object;
  readonly bases: readonly Json[];
  /** Where the value is. A number there is one that the source has said, whatever it is. */
  readonly places: readonly (readonly (string | number)[])[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  "a Prometheus": {
    block: { prometheus: { source: "main", query: "x" } },
    bases: [
      {
        status: "success",
        data: {
          resultType: "vector",
          result: [{ metric: { job: "shop" }, value: [END, String(HIGH)] }],
        },
      },
      {
        status: "success",
        warnings: [],
        data: { resultType: "scalar", result: [END, String(HIGH)] },
      },
      { status: "error", errorType: "bad_data", error: "parse error" },
    ],
    places: [
      ["data", "result", 0, "value", 1],
      ["data", "result", 1],
    ],
  },
  "an HTTP server": {
    block: { http: { source: "main", path: "/queues", pointer: "/queues/0/depth" } },
    bases: [
      { queues: [{ name: "orders", depth: HIGH }] },
      { queues: [{ depth: `${HIGH}` }], total: 1 },
    ],
    places: [["queues", 0, "depth"]],
  },
  "an SQS queue": {
    block: { sqs: { source: "main", queue: "orders" } },
    bases: [
      {
        Attributes: {
          ApproximateNumberOfMessages: String(HIGH),
          ApproximateNumberOfMessagesNotVisible: "0",
        },
      },
      {
        __type: "com.amazonaws.sqs#QueueDoesNotExist",
        message: "The specified queue does not exist.",
      },
    ],
    places: [
      ["Attributes", "ApproximateNumberOfMessages"],
      ["Attributes", "ApproximateNumberOfMessagesNotVisible"],
    ],
  },
  CloudWatch: {
    block: { cloudwatch: { source: "main", namespace: "AWS/SQS", metric: "Age" } },
    bases: [
      {
        MetricDataResults: [
          { Id: "q0", Label: "q0", StatusCode: "Complete", Timestamps: [END], Values: [HIGH] },
        ],
        Messages: [],
      },
      { __type: "com.amazonaws.monitoring#ValidationError", message: "The value is wrong" },
    ],
    places: [["MetricDataResults", 0, "Values", 0]],
  },
};

const junk: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>("0", "1", 0, 1, "1"),
  fc.constantFrom<Json>(
    0,
    -1,
    null,
    "",
    "0",
    "NaN",
    "-Inf",
    "+Inf",
    "1e999",
    "0x0",
    " ",
    "-0",
    false,
    true,
    [],
    {},
    [0],
    ["0"],
    [[END, "0"]],
    {
      value: [END, "0"],
    },
  ),
  fc.constantFrom<Json>(
    SECRET,
    `\u001b[31m${SECRET}`,
    { token: SECRET },
    [SECRET],
    `${SECRET}\n`.repeat(50),
  ),
  fc.double().map((value) => (Number.isFinite(value) ? value : String(value))),
  fc.string({ unit: "binary", maxLength: 40 }),
);

/** Every place of a document, the root too. */
const pathsOf = (
  value: Json,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] => {
  if (value === null || typeof value !== "object") return [path];
  const inside = Array.isArray(value)
    ? value.map((item: Json, at) => [at, item] as const)
    : Object.entries(value);
  return [path, ...inside.flatMap(([name, item]) => pathsOf(item, [...path, name]))];
};

type Change = "replaced" | "removed" | "doubled";

/** What becomes of one item, by its name or its place. */
const became = <Name>(
  name: Name,
  item: Json,
  { change, by, beside }: Damage & { readonly beside: (name: Name) => Name },
): readonly (readonly [Name, Json])[] => {
  if (change === "removed") return [];
  return change === "doubled"
    ? [
        [name, item],
        [beside(name), by],
      ]
    : [[name, by]];
};

interface Damage {
  readonly change: Change;
  readonly by: Json;
}

const changed = (
  value: Json,
  [name, ...rest]: readonly (string | number)[],
  damage: Damage,
): Json => {
  if (name === undefined) return damage.change === "replaced" ? damage.by : value;
  if (value === null || typeof value !== "object") return value;
  const inside = (item: Json): Json => changed(item, rest, damage);
  if (Array.isArray(value)) {
    const items: readonly Json[] = value;
    return items.flatMap((item, at) => {
      if (at !== name) return [item];
      return rest.length > 0
        ? [inside(item)]
        : became(at, item, { ...damage, beside: (place) => place }).map(([, left]) => left);
    });
  }
  const entries = Object.entries(value).flatMap(
    ([key, item]: readonly [string, Json]): readonly (readonly [string, Json])[] => {
      if (key !== name) return [[key, item]];
      return rest.length > 0
        ? [[key, inside(item)]]
        : became(key, item, { ...damage, beside: (own) => `${own}2` });
    },
  );
  return Object.fromEntries(entries);
};

interface Damaged {
  readonly text: string;
  readonly status: number;
}

/**
 * An answer of the source with up to three things changed, sometimes cut off, sometimes under
 * another status.
 */
const damaged = (bases: readonly Json[]): fc.Arbitrary<Damaged> =>
  fc
    .tuple(
      fc.constantFrom(...bases),
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.constantFrom<Change>("replaced", "replaced", "removed", "doubled"),
          junk,
        ),
        { maxLength: 3 },
      ),
      fc.constantFrom(
        ...Array.from({ length: 40 }, () => 200),
        204,
        206,
        301,
        307,
        400,
        401,
        403,
        404,
        429,
        500,
        503,
      ),
      fc.oneof(
        { weight: 9, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.nat({ max: 400 }) },
      ),
    )
    .map(([base, changes, status, cut]) => {
      let body = base;
      for (const [at, change, by] of changes) {
        const paths = pathsOf(body);
        body = changed(body, paths[at % paths.length] ?? [], { change, by });
      }
      const text = JSON.stringify(body);
      return { text: cut === null ? text : text.slice(0, cut), status };
    });

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const numberAt = (body: unknown, path: readonly (string | number)[]): boolean => {
  let found: unknown = body;
  for (const name of path)
    found =
      typeof found === "object" && found !== null
        ? (found as Readonly<Record<string | number, unknown>>)[name]
        : undefined;
  return (
    (typeof found === "number" || (typeof found === "string" && found.trim() !== "")) &&
    Number.isFinite(Number(found))
  );
};

/**
 * The way of the function: the bytes become an answer, and the answer a reading. Only what sends is
 * left out.
 */
const readAll = async (
  query: RegisteredQuery,
  { text, status }: Damaged,
  version: number,
): Promise<Answer<readonly MetricValue[]> | undefined> => {
  const { asking } = answererOf(query);
  if (asking.way !== "registered") throw new Error("the source is registered");
  const whole: ForeignAnswer = { status, bytes: Buffer.byteLength(text), body: parsed(text) };
  if (asking.batch) return asking.batch.read([whole], [query])[0];
  if (query.for === "sqs") return asking.read(whole, query);
  const service = {
    namespace: "monitoring",
    name: "main",
    port: "9090",
    scheme: "http",
    path: "",
  } as const;
  // Another version each time: a source that fails often is asked less.
  const source = sourceRecord({
    kind: query.for === "http" ? "http" : "prometheus",
    service,
    version,
  });
  const getFromService = async () => ({
    kind: "answered" as const,
    status,
    bytes: Buffer.from(text),
  });
  return (
    await CLIENT.ask(source, [query], { cluster: "eu-1", leftMs: () => 5_000, getFromService })
  ).get(queryKey(query));
};
const CLIENT = sourceClient({ clock: Date.now, ownAddresses: false });

/** A Prometheus and AWS say in one field why they refuse, and 200 characters of it are shown. */
const mayBeQuoted = ({ text, status }: Damaged): boolean =>
  /"error(?:Type)?":/.test(text) || (status !== 200 && /"(?:message|Message)2?":/.test(text));

const isUnprintable = (character: string): boolean => character < " " || character === "\u007f";

/** The place of a count after an answer: fewer pods, as many, or more. */
const directionOf = (count: number): "fell" | "held" | "grew" =>
  count < PODS ? "fell" : count > PODS ? "grew" : "held";

describe(`${RUNS.numRuns} damaged answers and more`, { timeout: 240_000 }, () => {
  const metricOf = (block: object) => {
    const metrics = [{ name: "load", ...block, target: 10, maxAgeSeconds: 3_600 }];
    const spec = native({
      metrics,
      minReplicas: 1,
      maxReplicas: 100,
      scaleDown: { stabilizationWindowSeconds: 0 },
    });
    const [metric] = spec.dialect === "native" ? spec.metrics : [];
    const query = metric && registeredQueryOf(metric.source);
    if (!query) throw new Error("the manifest asks a registered source");
    return { spec, query };
  };

  it.each(Object.entries(KINDS))(
    "of %s never shrink a workload but by a number at its place, and show nothing of themselves",
    async (_name, { block, bases, places }) => {
      const { spec, query } = metricOf(block);
      const seen = { fell: 0, held: 0, grew: 0 };
      let version = 0;
      const property = fc.asyncProperty(damaged(bases), async (answer) => {
        version += 1;
        const read = await readAll(query, answer, version);
        if (read === undefined) throw new Error("each question has an answer");
        const { count, decision } = sync(spec, {
          replicas: PODS,
          observed: { answers: new Map([[queryKey(query), read]]) },
          unstored: true,
        });
        const direction = directionOf(count);
        seen[direction] += 1;
        if (direction === "fell")
          expect([
            answer.status,
            places.some((place) => numberAt(parsed(answer.text), place)),
          ]).toEqual([200, true]);
        const said = `${read.kind === "failed" ? read.failure.message : ""} ${decision.because.message}`;
        expect([...said].filter(isUnprintable)).toEqual([]);
        expect(said.length).toBeLessThan(1_500);
        if (!mayBeQuoted(answer)) expect(said).not.toContain("s3cr3t");
      });
      // A number at its place is rare where most of an answer is something else.
      for (
        let round = 0;
        round < ROUNDS_MAX && Math.min(seen.fell, seen.held, seen.grew) <= 10;
        round++
      )
        await fc.assert(property, RUNS);
      expect(Math.min(seen.fell, seen.held, seen.grew)).toBeGreaterThan(10);
    },
  );
});
