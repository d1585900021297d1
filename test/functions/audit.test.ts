import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { auditHandler } from "../../functions/audit.ts";
import { keepDays } from "../../lib/answers/audit/daily.ts";
import { chained } from "../../lib/answers/audit/chain.ts";
import { JSON_LINES } from "../../lib/answers/audit/json-lines.ts";
import type { AuditRecord } from "../../lib/answers/audit/record.ts";
import { closeServer, listenOnLoopback } from "../../lib/embedded/host/loopback.ts";
import { auditReads } from "../../lib/lambda/auditing.ts";
import { putsObjects } from "../../lib/lambda/put-object.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";
import { lastAuditDay } from "../../lib/stack/store/history/audit-days.ts";
import { emptyFolder, type Folder, type Said } from "../cli/folder.ts";
import { inside } from "../cli/inside.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { fillShop } from "../service/world/shop.ts";

const DAY_MS = 86_400_000;
/** Half past midnight after the day of the shop. */
const NIGHT = NOON + DAY_MS / 2 + 1_800_000;

let server: Server;
let world: ServiceWorld;
let folder: Folder;
let lines: LogLine[];
const files = new Map<string, string>();
/** What the bucket answers. */
let status = 200;

beforeAll(async () => {
  // A bucket with object lock: it takes a PUT that names its checksum only.
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const sum = createHash("sha256").update(body).digest("base64");
      const isWhole =
        request.method === "PUT" &&
        request.headers["x-amz-sdk-checksum-algorithm"] === "SHA256" &&
        request.headers["x-amz-checksum-sha256"] === sum &&
        /\/eu-central-1\/s3\/aws4_request/.test(request.headers.authorization ?? "");
      const code = isWhole ? status : 400;
      if (code === 200) files.set(request.url ?? "", body);
      response.writeHead(code).end(code === 200 ? "" : "<Code>AccessDenied</Code>");
    });
  });
  vi.stubEnv("AWS_ENDPOINT_URL_S3", await listenOnLoopback(server));
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await closeServer(server);
});
beforeEach(async () => {
  world = await serviceWorld();
  await fillShop(world);
  folder = emptyFolder();
  files.clear();
  [lines, status] = [[], 200];
});
afterEach(async () => {
  folder.remove();
  await world.close();
});

const SIGNER = {
  credentials: async () => ({ accessKeyId: "a", secretAccessKey: "b" }),
  region: async () => "eu-central-1",
  clock: () => NOON,
};

/** One call of the function at a time. */
const call = (atMs: number, fileRecords?: number): Promise<void> => {
  world.set(atMs);
  const { context } = world;
  return auditHandler({
    keep: () =>
      keepDays({
        service: auditReads(context),
        tables: { ...context.tables, clock: () => atMs },
        insert: context.insert,
        put: putsObjects(SIGNER, "audits-of-a-stack"),
        ...(fileRecords !== undefined && { fileRecords }),
      }),
    reporter: { line: (line) => void lines.push(line) },
  })();
};

const keys = (): readonly string[] =>
  [...files.keys()].map((path) => path.split("/audits/")[1] ?? "");
const recordsOf = (key: string): readonly AuditRecord[] =>
  JSON.parse(files.get(`/audits-of-a-stack/audits/${key}`) ?? "{}").records;
/** `tidemark audit --verify` of these files, as they are in the bucket. */
const verify = (of: readonly string[]): Promise<Said> =>
  inside([
    "audit",
    "--verify",
    ...of.map((key) =>
      folder.write(key.replaceAll("/", "-"), files.get(`/audits-of-a-stack/audits/${key}`) ?? ""),
    ),
  ]);

describe("audit", () => {
  it("puts the scales and edits of the last day into the bucket, and notes the head of their chain", async () => {
    await call(NIGHT);
    expect(keys()).toEqual(["2026/03/01.json"]);
    const records = recordsOf("2026/03/01.json");
    expect(records[0]).toMatchObject({
      ...{ kind: "audit", id: "0".repeat(64) },
      ...{ at: "2026-03-01T00:00:00.000Z", until: "2026-03-01T23:59:59.999Z" },
    });
    expect(records.filter(({ kind }) => kind === "scale")).toHaveLength(4);
    expect(records.filter(({ kind }) => kind === "edit")).toHaveLength(5);
    const [line] = lines;
    expect((await verify(keys())).out).toContain(`head ${String(line?.fields?.["head"])}`);
    expect(await lastAuditDay(world.context.tables)).toMatchObject({
      date: "2026-03-01",
      head: line?.fields?.["head"],
    });
  });

  it("puts a day once, and each later day with the head of the one before it", async () => {
    for (const atMs of [NIGHT, NIGHT + 60_000, NIGHT + DAY_MS, NIGHT + 2 * DAY_MS])
      await call(atMs);
    expect(keys()).toEqual(["2026/03/01.json", "2026/03/02.json", "2026/03/03.json"]);
    expect(lines).toHaveLength(3);
    expect(await verify(keys())).toMatchObject({ code: 0 });
  });

  it("shows that a file was taken out, or was made anew", async () => {
    for (const days of [0, 1, 2]) await call(NIGHT + days * DAY_MS);
    const [first = "", second = "", third = ""] = keys();
    expect(await verify([first, third])).toMatchObject({
      code: 1,
      err: expect.stringContaining("a file between them is missing, or one was made anew"),
    });
    // The same day without its first scale, as whoever may write the bucket could make it.
    const place = `/audits-of-a-stack/audits/${second}`;
    const made = files.get(place) ?? "";
    files.set(place, made.replace('"id":"', '"id":"0'));
    expect(await verify([first, second, third])).toMatchObject({ code: 1 });
    const writer = chained(JSON_LINES);
    const anew: string[] = [];
    for (const { hash: _hash, ...record } of JSON.parse(made).records)
      if (record.kind !== "gap") anew.push(...writer.linesOf(record));
    files.set(place, [...anew, ...writer.end(), ""].join("\n"));
    expect(await verify([first, second])).toMatchObject({ code: 0 });
    expect(await verify([first, second, third])).toMatchObject({
      code: 1,
      err: expect.stringContaining("is missing, or one was made anew"),
    });
  });

  it("puts many records of a day into several files that follow each other", async () => {
    await call(NIGHT, 4);
    expect(keys()).toEqual(["2026/03/01.json", "2026/03/01-2.json", "2026/03/01-3.json"]);
    expect(await verify(keys())).toMatchObject({ code: 0 });
    const all = keys().flatMap(recordsOf);
    expect(all.filter(({ kind }) => kind === "scale" || kind === "edit")).toHaveLength(9);
    const times = all.flatMap(({ kind, at = "" }) => (kind === "gap" ? [] : [at])).length;
    expect(times).toBeGreaterThan(9);
  });

  it("notes nothing where the bucket refuses, and puts the day with a later one", async () => {
    status = 403;
    await expect(call(NIGHT)).rejects.toMatchObject({
      code: "audit.bucket",
      message: expect.stringContaining('Cannot put "audits/2026/03/01.json" into the bucket'),
    });
    expect(await lastAuditDay(world.context.tables)).toBeUndefined();
    status = 200;
    await call(NIGHT);
    status = 403;
    await expect(call(NIGHT + DAY_MS)).rejects.toMatchObject({ code: "audit.bucket" });
    status = 200;
    await call(NIGHT + 2 * DAY_MS);
    expect(keys()).toEqual(["2026/03/01.json", "2026/03/02.json", "2026/03/03.json"]);
    expect(await verify(keys())).toMatchObject({ code: 0 });
  });

  it("makes up for a long pause in several nights, seven days in each", async () => {
    await call(NIGHT);
    await call(NIGHT + 10 * DAY_MS);
    expect(keys()).toHaveLength(8);
    await call(NIGHT + 11 * DAY_MS);
    expect(keys()).toHaveLength(12);
    expect(await verify(keys())).toMatchObject({ code: 0 });
  });
});
