import { rfc3339 } from "../../answers/service/times.ts";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import * as z from "zod";
import { isOfTidemark } from "../../stack/cluster/scale.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import { isObject, present } from "../../rules/model/json.ts";
import { lines } from "../../stack/report/printed.ts";
import type { Printer, Session } from "../io.ts";
import { type DocumentFormat, documentText } from "../output/documents.ts";
import { Table } from "../output/text-table.ts";

export interface WritersOptions {
  readonly auditLog: readonly string[];
  readonly cluster?: string;
  readonly namespace?: string;
  readonly output: "table" | DocumentFormat;
}

/** Writes of one writer without another one between them. */
interface Turn {
  readonly writer: string;
  readonly firstMs: number;
  lastMs: number;
  writes: number;
}

interface Switch {
  readonly at: string;
  readonly from: string;
  readonly to: string;
  /** The takeover or handback between the two; absent where nothing explains the second writer. */
  readonly by?: string;
}

interface Workload {
  readonly workload: string;
  readonly writes: number;
  readonly writers: readonly string[];
  readonly switches: readonly Switch[];
}

/**
 * Reads audit logs of an API server (audit.k8s.io/v1, a line each) and says who wrote the count of
 * each workload. A workload changes its writer only by a takeover or handback that the history of
 * Tidemark has; any other change is a second writer. Throws where there is one, so that a script
 * sees it. Memory grows with changes of writers, not with lines.
 */
export const writers = async (
  { service }: Session,
  printer: Printer,
  { auditLog, cluster, namespace, output }: WritersOptions,
): Promise<void> => {
  const turns = new Map<string, Turn[]>();
  const span = { firstMs: Number.POSITIVE_INFINITY, lastMs: Number.NEGATIVE_INFINITY };
  for (const file of auditLog) await readLog(file, { turns, span, namespace }, printer);
  if (turns.size === 0)
    throw new TidemarkError(
      "cli.audit",
      `Cannot say who wrote counts: "${auditLog.join('", "')}" has no write of a scale; its audit policy must log update and patch of */scale, at the level Metadata or above`,
      {},
    );
  const known = await knownSwitches(service, cluster);
  const workloads = [...turns]
    .map(([workload, own]) => workloadOf(workload, own, known.get(workload) ?? []))
    .toSorted((one, other) => one.workload.localeCompare(other.workload));
  const second = workloads.filter(({ switches }) => switches.some(({ by }) => by === undefined));
  const summary: Summary = {
    since: rfc3339(span.firstMs),
    until: rfc3339(span.lastMs),
    workloads,
    secondWriters: second.length,
  };
  await printer.print(
    output === "table"
      ? lines([...tableOf(workloads), sentenceOf(summary)])
      : documentText(summary, output),
  );
  if (second.length === 0) return;
  const names = second.map(({ workload }) => workload);
  throw new TidemarkError(
    "cli.writers",
    `${second.length} of ${workloads.length} workloads had a second writer without a takeover or handback: ${names.join(", ")}`,
    {},
  );
};

interface Summary {
  readonly since: string;
  readonly until: string;
  readonly workloads: readonly Workload[];
  readonly secondWriters: number;
}

const tableOf = (workloads: readonly Workload[]) =>
  new Table(["WORKLOAD", "WRITES", "WRITERS", "SWITCHES"]).lines(
    workloads.map(({ workload, writes, writers: own, switches }) => [
      workload,
      String(writes),
      own.join(" -> "),
      switches.map(({ at, by }) => `${at} ${by ?? "NOT EXPLAINED"}`).join(", ") || "none",
    ]),
  );

const sentenceOf = ({ since, until, workloads, secondWriters }: Summary): string => {
  const writes = workloads.reduce((sum, one) => sum + one.writes, 0);
  const verdict =
    secondWriters === 0
      ? "no workload had a second writer outside of a takeover or handback"
      : `${secondWriters} had a second writer`;
  return `${workloads.length} ${workloads.length === 1 ? "workload" : "workloads"}, ${writes} ${writes === 1 ? "write" : "writes"} from ${since} to ${until}: ${verdict}`;
};

const workloadOf = (
  workload: string,
  turns: readonly Turn[],
  known: readonly Known[],
): Workload => ({
  workload,
  writes: turns.reduce((sum, turn) => sum + turn.writes, 0),
  writers: turns.map(({ writer }) => writer),
  switches: turns.slice(1).map((turn, at) => switchOf(turns[at] ?? turn, turn, known)),
});

/** The clocks of the API server and of Tidemark may differ by so much. */
const CLOCKS_MS = 5_000;

const switchOf = (before: Turn, after: Turn, known: readonly Known[]): Switch => {
  const explained = known.find(
    ({ atMs }) => atMs >= before.lastMs - CLOCKS_MS && atMs <= after.firstMs + CLOCKS_MS,
  );
  return {
    at: rfc3339(after.firstMs),
    from: before.writer,
    to: after.writer,
    ...(explained && { by: explained.by }),
  };
};

interface Known {
  readonly atMs: number;
  readonly by: string;
}

/**
 * The takeovers and handbacks of each workload, as NAMESPACE/NAME of it. An autoscaler that was
 * deleted counts for the workload of its name.
 */
const knownSwitches = async (
  service: Session["service"],
  cluster: string | undefined,
): Promise<ReadonlyMap<string, readonly Known[]>> => {
  const filter = present({ cluster });
  const targets = new Map<string, string>();
  for await (const { namespace, name, target } of service.autoscalers(filter))
    if (target) targets.set(`${namespace}/${name}`, target.name);
  const known = new Map<string, Known[]>();
  for await (const { verb, at, by, namespace, name, made } of service.changes({
    ...filter,
    sinceMs: 0,
  })) {
    if ((verb !== "takeover" && verb !== "handback") || made === false || namespace === undefined)
      continue;
    const workload = `${namespace}/${targets.get(`${namespace}/${name}`) ?? name}`;
    const entry = { atMs: Date.parse(at), by: `${verb} by ${by}` };
    known.set(workload, [...(known.get(workload) ?? []), entry]);
  }
  return known;
};

interface Reading {
  readonly turns: Map<string, Turn[]>;
  readonly span: { firstMs: number; lastMs: number };
  readonly namespace: string | undefined;
}

/**
 * The API server may be in the middle of a line, so a last line that is not whole is left out, and
 * a note says so.
 */
const readLog = async (file: string, reading: Reading, printer: Printer): Promise<void> => {
  let number = 0;
  let broken: TidemarkError | undefined;
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (broken) throw broken;
    number += 1;
    const event = line.trim() === "" ? undefined : parsed(line);
    if (event === NO_JSON) {
      const message = `Cannot read audit log "${file}", line ${number}: it is no JSON; give the log as the API server writes it, one event a line`;
      broken = new TidemarkError("cli.audit", message, {});
    }
    const write = writeIn(event);
    if (write) note(reading, write);
  }
  if (!broken) return;
  if (await endsWithLine(file)) throw broken;
  printer.note(`the last line of "${file}" is not whole yet, and was left out`);
};

const NO_JSON = Symbol("no JSON");

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return NO_JSON;
  }
};

/** True where the last byte is the end of a line. */
const endsWithLine = async (path: string): Promise<boolean> => {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: size - 1 });
    return buffer.toString() === "\n";
  } finally {
    await file.close();
  }
};

interface ScaleWrite {
  readonly workload: string;
  readonly writer: string;
  readonly atMs: number;
}

const note = (
  { turns, span, namespace }: Reading,
  { workload, writer, atMs }: ScaleWrite,
): void => {
  if (namespace !== undefined && !workload.startsWith(`${namespace}/`)) return;
  span.firstMs = Math.min(span.firstMs, atMs);
  span.lastMs = Math.max(span.lastMs, atMs);
  const own = turns.get(workload) ?? [];
  turns.set(workload, own);
  const last = own.at(-1);
  if (last?.writer === writer) {
    last.lastMs = Math.max(last.lastMs, atMs);
    last.writes += 1;
  } else own.push({ writer, firstMs: atMs, lastMs: atMs, writes: 1 });
};

/** An answered write, in the fields of audit.k8s.io/v1 that count here. */
const auditEvent = z.object({
  stage: z.literal("ResponseComplete"),
  verb: z.enum(["update", "patch"]),
  objectRef: z.object({
    namespace: z.string(),
    name: z.string(),
    subresource: z.string().exactOptional(),
  }),
  responseStatus: z.object({ code: z.int().min(200).max(299) }),
  requestURI: z.string(),
  user: z.object({ username: z.string() }),
  requestObject: z.unknown().optional(),
  stageTimestamp: z.iso.datetime(),
});

/**
 * A count that was written: an update or patch of a scale, or a patch of the workload that names
 * its replicas. A dry run and a refusal wrote nothing.
 */
const writeIn = (event: unknown): ScaleWrite | undefined => {
  const { success, data } = auditEvent.safeParse(event);
  if (!success) return undefined;
  const { verb, objectRef, requestURI, user, requestObject, stageTimestamp } = data;
  const { namespace, name, subresource } = objectRef;
  const isPatchOfWorkload =
    subresource === undefined && verb === "patch" && namesReplicas(requestObject);
  if (subresource !== "scale" && !isPatchOfWorkload) return undefined;
  const query = new URLSearchParams(requestURI.split("?")[1] ?? "");
  if (query.has("dryRun")) return undefined;
  return {
    workload: `${namespace}/${name}`,
    writer: writerOf(query.get("fieldManager"), user.username),
    atMs: Date.parse(stageTimestamp),
  };
};

const namesReplicas = (body: unknown): boolean =>
  isObject(body) && isObject(body["spec"]) && "replicas" in body["spec"];

/**
 * Tidemark by its field manager, of which each cluster of a stack has one, and its user; everything
 * else by its user. A field manager is a word of the request, which any writer can give; the user
 * is what the API server has verified. So a write that only calls itself Tidemark is a second
 * writer.
 */
const writerOf = (manager: string | null, username: string): string =>
  manager !== null && isOfTidemark(manager) ? `${manager}@${username}` : username;
