import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ALL_ROUTES } from "../../lib/answers/api/answer-request.ts";
import { hpa } from "../service/world/manifests.ts";
import { type ApiWorld, type Asked, apiWorld, ask } from "./world.ts";

let world: ApiWorld;
beforeAll(async () => {
  world = await apiWorld();
});
afterAll(() => world.close());

/** Words that lie near what is accepted, and far from it. */
const word = fc.oneof(
  fc.constantFrom(
    "web",
    "shop/web",
    "eu-1",
    "us-1",
    "shop",
    "eu-1/shop/web",
    "a/b/c/d",
    "__proto__",
    "#",
    "%",
    "W10",
    "WzEs",
  ),
  fc.constantFrom(
    "2026-03-01T12:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "2026-03-01T12:00:00+23:59",
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ maxLength: 500 }),
);
const scalar = fc.oneof(word, fc.integer(), fc.double(), fc.boolean(), fc.constant(null));
const amount = fc.oneof(fc.integer({ min: 0, max: 1_000_000 }), fc.double());
const connection = fc.record(
  {
    kind: fc.constantFrom("secret", "eks", "kubeconfig"),
    secretId: word,
    clusterId: word,
    endpoint: word,
    caData: word,
    region: word,
  },
  { requiredKeys: ["kind"] },
);
const manifest = fc.constantFrom(
  "- ",
  "[[[[",
  "&a [*a]",
  hpa("x"),
  hpa("x").replace("60", "1e999"),
  hpa("y", { namespace: "shop" }),
);
const source = fc.record({ file: word, text: fc.oneof(manifest, word, fc.json()) });
const partition = fc.record(
  { name: word, namespaces: fc.array(word, { maxLength: 3 }) },
  { requiredKeys: ["name"] },
);

const time = fc.oneof(
  fc.constantFrom(
    "0001-01-01T00:00:00Z",
    "1970-01-01T00:00:00Z",
    "2026-03-01T10:00:00Z",
    "2026-03-01T11:59:59Z",
    "2027-01-01T00:00:00Z",
  ),
  fc.constantFrom("9999-12-31T23:59:59Z", "2026-03-01T12:00:00+23:59", "2026-02-30T00:00:00Z"),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);

/** What each field of any route may be given. */
const FIELDS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  name: fc.oneof(fc.constant("shop/web"), word),
  since: time,
  until: time,
  at: time,
  namespace: fc.oneof(fc.constant("shop"), word),
  cluster: fc.oneof(fc.constant("eu-1"), word),
  sources: fc.array(source, { maxLength: 3 }),
  dryRun: fc.boolean(),
  connection,
  syncPeriodMs: amount,
  partitions: fc.array(partition, { maxLength: 3 }),
  settings: fc.record(
    { tolerance: amount, downscaleStabilizationMs: amount },
    { requiredKeys: [] },
  ),
};
const fieldsOf = (names: readonly string[]): fc.Arbitrary<Readonly<Record<string, unknown>>> =>
  fc.record(
    Object.fromEntries(
      names.map((name) => [name, fc.oneof({ weight: 8, arbitrary: FIELDS[name] ?? word }, scalar)]),
    ),
    {
      requiredKeys: names.includes("name") ? ["name"] : [],
    },
  );
const queryOf = (fields: Readonly<Record<string, unknown>>): string =>
  new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();

/** A request that a route may understand. */
const fitting = fc.constantFrom(...ALL_ROUTES).chain(({ method, path, route }) => {
  const names = "shape" in route.schema ? Object.keys(route.schema.shape as object) : [];
  return fieldsOf(names).map(
    (fields): Asked =>
      method === "GET" ? { path, query: queryOf(fields) } : { path, body: JSON.stringify(fields) },
  );
});
/** Any request at all. */
const strange = fc.record<Asked>(
  {
    method: fc.constantFrom("GET", "POST", "PUT"),
    path: fc.oneof(
      fc.constantFrom(...ALL_ROUTES.map(({ path }) => path)),
      fc.string({ unit: "binary" }).map((text) => `/${text}`),
    ),
    query: fc.oneof(fc.string({ unit: "binary" }), fc.webQueryParameters()),
    body: fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.json(), word),
    headers: fc.dictionary(
      fc.constantFrom("accept-encoding", "content-type", "idempotency-key"),
      fc.oneof(fc.uuid(), word),
    ),
  },
  { requiredKeys: ["path"] },
);

describe("a request", () => {
  it("is always answered with JSON and never with a failure, whatever its path, parameters and body", async () => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.oneof(fitting, fitting, strange), async (asked) => {
        const { status, headers, text } = await ask(world.api, asked);
        seen.set(status, (seen.get(status) ?? 0) + 1);
        expect(status, text).toBeLessThan(500);
        expect(headers["content-type"]).toMatch(
          status === 200 ? /json|openmetrics/ : /^application\/problem\+json$/,
        );
      }),
      { numRuns: 300 },
    );
    // It reaches past the edge, too.
    for (const status of [200, 400, 404, 405]) expect(seen.get(status)).toBeGreaterThan(10);
  }, 30_000);
});
