import { describe, expect, it } from "vitest";
import { queryKey } from "../../lib/rules/model/query.ts";
import { HTTP, type HttpQuery } from "../../lib/rules/sources/http.ts";
import { native, sync } from "../policy/native/world.ts";

const query = (pointer: string): HttpQuery => ({
  for: "http",
  source: "jobs",
  path: "/queues",
  pointer,
});
const read = (body: unknown, pointer: string, status = 200) => {
  if (HTTP.asking.way !== "registered" || HTTP.asking.batch)
    throw new Error("an HTTP server is registered");
  return HTTP.asking.read({ status, bytes: 10, body }, query(pointer));
};

/** The document of RFC 6901, section 5, and what metrics have. */
const DOCUMENT = {
  "": 0,
  "a/b": 1,
  "m~n": 8,
  list: ["zero", 7, { depth: "1500m" }],
  depth: 12.5,
  text: "many",
  flag: true,
  big: Number.POSITIVE_INFINITY,
  nothing: null,
};

describe("a list in a document", () => {
  const POINTS = {
    points: [
      [3, 100],
      [4, 200],
    ],
    numbers: [1, "1500m", 2.5],
    none: [],
    odd: [1, "x"],
  };
  const of = (pointer: string, list: HttpQuery["list"], item?: string) => {
    if (HTTP.asking.way !== "registered" || HTTP.asking.batch)
      throw new Error("an HTTP server is registered");
    return HTTP.asking.read(
      { status: 200, bytes: 10, body: POINTS },
      { ...query(pointer), ...(list && { list }), ...(item !== undefined && { item }) },
    );
  };

  it.each<readonly [string, HttpQuery["list"], string | undefined, bigint]>([
    ["/numbers", "Sum", undefined, 5_000n],
    ["/numbers", "Last", undefined, 2_500n],
    ["/numbers", "Count", undefined, 3_000n],
    ["/points", "Last", "/0", 4_000n],
    ["/points", "Sum", "/0", 7_000n],
    ["/none", "Count", undefined, 0n],
    ["/none", "Sum", undefined, 0n],
  ])("at %s has a value by %s of %s", (pointer, list, item, milli) => {
    expect(of(pointer, list, item)).toMatchObject({ kind: "answered", items: [{ milli }] });
  });

  it.each<readonly [string, HttpQuery["list"], string | undefined]>([
    ["/none", "Last", undefined],
    ["/odd", "Sum", undefined],
    ["/points", "Last", undefined],
    ["/points", "Sum", "/2"],
    ["/numbers/0", "Count", undefined],
    ["/absent", "Count", undefined],
    ["/numbers", undefined, undefined],
  ])("at %s has no value by %s of %s, and the metric is missing", (pointer, list, item) => {
    expect(of(pointer, list, item)).toMatchObject({
      kind: "failed",
      failure: { reason: "NotANumber" },
    });
  });

  it("needs Last or Sum for an item, and is the question of its own", () => {
    const metric = (more: object) => ({
      metrics: [{ http: { source: "jobs", path: "/q", pointer: "/l", ...more }, target: 1 }],
    });
    expect(() => native(metric({ list: "Count", item: "/a" }))).toThrow(
      /http\.item: is for a list with Last or Sum/,
    );
    expect(() => native(metric({ item: "/a" }))).toThrow(/http\.item: is for a list/);
    expect(native(metric({ list: "Sum", item: "/a" }))).toBeDefined();
  });
});

describe("a number in a document", () => {
  it.each([
    ["/depth", 12_500n],
    ["/list/1", 7_000n],
    ["/list/2/depth", 1_500n],
    ["/a~1b", 1_000n],
    ["/m~0n", 8_000n],
    ["/", 0n],
  ])("is found at %s", (pointer, milli) => {
    expect(read(DOCUMENT, pointer)).toMatchObject({ kind: "answered", items: [{ milli }] });
  });

  it.each([
    "/text",
    "/flag",
    "/big",
    "/nothing",
    "/list",
    "/list/9",
    "/list/01",
    "/list/-",
    "/list/length",
    "/absent",
    "/absent/deep",
    "/__proto__",
    "/constructor/length",
    "/text/length",
  ])("is not at %s, and the metric is missing", (pointer) => {
    expect(read(DOCUMENT, pointer)).toMatchObject({
      kind: "failed",
      failure: { reason: "NotANumber" },
    });
  });

  it.each([
    1e19,
    9e18,
    1e300,
    "1e30",
    "9e18",
    "1e999",
    "-1e999",
    "99999999999999999999",
    "99999Ei",
  ])("is missing, and not 0, where 64 bits cannot hold it: %s", (depth) => {
    expect(read({ depth }, "/depth")).toMatchObject({
      kind: "failed",
      failure: { reason: "NotANumber" },
    });
  });

  it.each([
    [undefined, 200],
    [DOCUMENT, 201],
    [DOCUMENT, 404],
    [DOCUMENT, 302],
  ])("is not in %j with status %d", (body, status) => {
    expect(read(body, "/depth", status)).toMatchObject({
      kind: "failed",
      failure: { code: status, reason: "InvalidAnswer" },
    });
  });
});

describe("a metric of an HTTP server", () => {
  const spec = (more: object = {}) =>
    native({
      metrics: [
        {
          http: { source: "jobs", path: "/queues", pointer: "/depth", ...more },
          measure: "Total",
          target: 10,
        },
      ],
    });

  it("is decided as an external metric is", () => {
    const answers = new Map([[queryKey(query("/depth")), read({ depth: 20 }, "/depth")]]);
    expect(sync(spec(), { replicas: 4, observed: { answers }, unstored: true }).count).toBe(8);
  });

  it.each([
    "queues",
    "/",
    "/a//b",
    "/../secrets",
    "/a/..",
    "/./a",
    "/a?b=c",
    "/a#b",
    "/%2e%2e/a",
    "/a b",
    "//evil.example.com",
    "/a\\b",
    `/${"x".repeat(600)}`,
  ])("with the path %s is refused at its field", (path) => {
    expect(() => spec({ path })).toThrow(
      /http.path must (be \/segments|have at most 512 characters)/,
    );
  });

  it.each(["depth", "/a~2", "/~"])("with the pointer %s is refused at its field", (pointer) => {
    expect(() => spec({ pointer })).toThrow(/http.pointer must be a JSON Pointer/);
  });
});
