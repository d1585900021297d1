import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { answersPage } from "../../docs/figures/answers-page.ts";
import { openApiDocument } from "../../docs/figures/openapi-document.ts";
import { ANSWERS, type Verb } from "../../lib/answers/api/answers.ts";
import { ALL_ROUTES } from "../../lib/answers/api/answer-request.ts";
import { COMMAND_PATHS, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { hpa } from "../service/world/manifests.ts";
import { type ApiWorld, apiWorld, ask } from "./world.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8"));

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly responses: {
    readonly "200": {
      readonly content: Readonly<Record<string, { readonly schema: object }>>;
      readonly headers?: object;
    };
  };
}
const document = openApiDocument(read("package.json").version) as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

const hasTag = (path: string, method: string): boolean =>
  document.paths[path]?.[method]?.responses["200"].headers !== undefined;

let world: ApiWorld;
beforeAll(async () => {
  world = await apiWorld();
});
afterAll(() => world.close());

const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "openapi");
const faultsOf = (schema: object, value: unknown): unknown =>
  ajv.validate(schema, value) ? [] : ajv.errors;
const pointer = (...parts: readonly string[]) => ({
  $ref: `openapi#/${parts.map((part) => part.replaceAll("/", "~1")).join("/")}`,
});
const answerSchema = (path: string, method: string): object =>
  pointer("paths", path, method, "responses", "200", "content", "application/json", "schema");
const PROBLEM = pointer("components", "schemas", "Problem");

/** The same schemas, but closed: a field that none of them describes is a fault. */
const closed = new Ajv2020({ strict: false, validateFormats: false });
const verbOf = (path: string) =>
  Object.entries({ ...QUERY_PATHS, ...COMMAND_PATHS }).find(
    ([, known]) => known === path,
  )?.[0] as Verb;
const undescribed = (path: string, value: unknown): unknown =>
  closed.validate(
    z.toJSONSchema(ANSWERS[verbOf(path)], { io: "output", unrepresentable: "any" }),
    value,
  )
    ? []
    : closed.errors;

describe("docs/openapi.json", () => {
  it("is what npm run docs -- openapi writes from the routes", () => {
    expect(read("docs/openapi.json")).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it("has its fields in docs/answers.md: npm run docs -- openapi", () => {
    expect(readFileSync(join(ROOT, "docs/answers.md"), "utf8")).toBe(answersPage());
  });

  it("is a valid document of OpenAPI 3.1, by an outside validator", async () => {
    const { valid, errors } = await new Validator().validate(read("docs/openapi.json"));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  it("has every route and no other", () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described).toEqual(ALL_ROUTES.map(({ method, path }) => `${method} ${path}`));
  });

  it.each([
    ["/v1/autoscalers", ""],
    ["/v1/autoscaler", "name=shop/web"],
    ["/v1/autoscaler/description", "name=shop/web"],
    ["/v1/autoscaler/explanation", "name=shop/web"],
    ["/v1/autoscaler/history", "name=shop/web"],
    ["/v1/doctor", "name=shop/web"],
    ["/v1/autoscaler/shadow", "name=shop/web"],
    ["/v1/rows", ""],
    ["/v1/events", ""],
    ["/v1/changes", ""],
    ["/v1/series", ""],
    ["/v1/clusters", ""],
    ["/v1/cluster", "name=eu-1"],
    ["/v1/partition", "name=eu-1"],
    ["/v1/fleet", ""],
    ["/v1/overrides", ""],
    ["/v1/calendars", ""],
    ["/v1/status", ""],
    ["/v1/sources", ""],
    ["/v1/access", ""],
    ["/v1/access/can-i", "verb=view"],
  ])("describes what GET %s?%s answers", async (path, query) => {
    const { status, headers, json } = await ask(world.api, { path, query });
    expect(status).toBe(200);
    expect(Object.hasOwn(headers, "etag")).toBe(hasTag(path, "get"));
    expect([faultsOf(answerSchema(path, "get"), json), undescribed(path, json)]).toEqual([[], []]);
  });

  it.each([
    ["/v1/autoscaler/pause", { name: "shop/web" }],
    ["/v1/autoscaler/resume", { name: "shop/web" }],
    ["/v1/cluster/pause", { name: "eu-1" }],
    ["/v1/cluster/resume", { name: "eu-1" }],
    ["/v1/fleet/freeze", { reason: "drill" }],
    ["/v1/fleet/thaw", {}],
  ])("describes what POST %s answers", async (path, body) => {
    const { status, headers, json } = await ask(world.api, { path, body: JSON.stringify(body) });
    expect(status).toBe(200);
    expect(Object.hasOwn(headers, "etag")).toBe(hasTag(path, "post"));
    expect([faultsOf(answerSchema(path, "post"), json), undescribed(path, json)]).toEqual([[], []]);
  });

  it("describes the answer to an apply and to a delete, and which of them has a tag", async () => {
    const sources = [{ file: "web.yaml", text: hpa("described", { namespace: "lab" }) }];
    const applied = await ask(world.api, {
      path: "/v1/apply",
      body: JSON.stringify({ sources, cluster: "eu-1" }),
    });
    expect([
      faultsOf(answerSchema("/v1/apply", "post"), applied.json),
      hasTag("/v1/apply", "post"),
    ]).toEqual([[], "etag" in applied.headers]);
    const path = "/v1/autoscaler/delete";
    const deleted = await ask(world.api, {
      path,
      body: JSON.stringify({ name: "eu-1/lab/described" }),
    });
    expect([faultsOf(answerSchema(path, "post"), deleted.json), hasTag(path, "post")]).toEqual([
      [],
      "etag" in deleted.headers,
    ]);
  });

  it("names If-Match at the routes that take it, and no other", async () => {
    for (const { method, path } of ALL_ROUTES.filter((route) => route.method === "POST")) {
      const { status, json } = await ask(world.api, {
        method,
        path,
        body: "{}",
        headers: { "if-match": "malformed" },
      });
      const { errors = [] } = json as {
        readonly errors?: readonly { readonly field: string; readonly message: string }[];
      };
      const described = document.paths[path]?.["post"]?.parameters.some(
        ({ name }) => name === "if-match",
      );
      const refused = errors.some(
        ({ field, message }) =>
          field === "If-Match" && message.includes("is not taken by this route"),
      );
      expect([path, status, refused]).toEqual([path, 400, described !== true]);
    }
  });

  it("describes the refusal of an edit under If-Match", async () => {
    const path = "/v1/autoscaler/pause";
    const { status, json } = await ask(world.api, {
      path,
      body: JSON.stringify({ name: "shop/web" }),
      headers: { "if-match": '"other.1"' },
    });
    expect(Object.keys(document.paths[path]?.["post"]?.responses ?? {})).toContain(String(status));
    expect([status, faultsOf(PROBLEM, json)]).toEqual([412, []]);
  });

  it("describes refusals", async () => {
    const { status, json } = await ask(world.api, { path: "/v1/cluster", query: "name=eu-9" });
    expect([status, faultsOf(PROBLEM, json)]).toEqual([404, []]);
  });
});
