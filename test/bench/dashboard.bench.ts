import { randomUUID } from "node:crypto";
import { availableParallelism, loadavg } from "node:os";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import Table from "cli-table3";
import { COMMAND_PATHS, QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import { openService } from "../../lib/answers/service/open.ts";
import type { ClusterRows } from "../../lib/answers/views/row.ts";
import { answerByService } from "../../lib/dashboard/serve/answer-by-service.ts";
import { FACTS_PATH, TOKEN_HEADER } from "../../lib/dashboard/serve/routes.ts";
import { dashboardServer } from "../../lib/dashboard/serve/server.ts";
import { closeServer, listenWithOwnGuards } from "../../lib/embedded/host/loopback.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../lib/rules/model/time-text.ts";
import { insertByStatement } from "../../lib/stack/store/history/item.ts";
import { browserTable, lookInBrowser } from "./dashboard-browser.ts";
import { fleetOf, playedTemplate } from "../service/world/real-fleet.ts";

/** Two weeks of 10,000 autoscalers, whose screens are asked for as the page asks. */
const CLUSTERS = Number(process.env["DASHBOARD_CLUSTERS"] ?? 100);
const EACH = Number(process.env["DASHBOARD_AUTOSCALERS"] ?? 100);
const SCREEN_ROWS = 40;
const OPENED_MS_MAX = 300;
const OPENED_KIB_MAX = 100;
const REFRESH_SECONDS = 15;

/** The bytes as they come: fetch would unpack them. */
const raw = async (
  url: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>>,
) => {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(`${url}?${new URLSearchParams(query)}`, { headers }, resolve)
      .on("error", reject)
      .end();
  });
  const [bytes, status] = [await buffer(answer), answer.statusCode ?? 0];
  if (status !== 200 && status !== 304) throw new Error(`${url}: ${status} ${bytes}`);
  return { bytes, status, headers: answer.headers };
};

interface Got {
  readonly text: string;
  readonly etag: string | null;
  readonly status: number;
}

/** What the page gets of one look: how long until all of it was there, and its bytes on the wire. */
interface Look {
  ms: number;
  /** Of this process: of the server, the tables in memory and the one who asks. */
  cpuMs: number;
  bytes: number;
  requests: number;
}

/** `npm run bench -- dashboard`: milliseconds and bytes of what the page asks of its server. */
export const run = async (): Promise<void> => {
  const fleet = await fleetOf(await playedTemplate(EACH), CLUSTERS);
  const { tables, nowMs } = fleet;
  const [insert, clock] = [insertByStatement(tables), () => nowMs];
  const service = openService({ tables, insert, clock, by: "bench", newUid: randomUUID });
  const answerApi = answerByService({ service, tables, insert, clock, by: "bench" });
  const { server, urlAt } = dashboardServer(
    {
      ...{ answerApi, clock, place: "the bench", target: "", refreshSeconds: REFRESH_SECONDS },
      caller: async () => "bench",
    },
    {
      allowEdits: true,
      onFailure: (error) => {
        throw error;
      },
    },
  );
  const url = urlAt(await listenWithOwnGuards(server, 0));
  const { origin, hash } = new URL(url);
  const token = { [TOKEN_HEADER]: hash.replace("#token=", "") };
  const rows: [string, Look][] = [];

  let look: Look = { ms: 0, cpuMs: 0, bytes: 0, requests: 0 };
  const get = async (
    path: string,
    query: Readonly<Record<string, string>> = {},
    held?: string | null,
  ): Promise<Got> => {
    const headers = { ...token, "accept-encoding": "gzip", ...(held && { "if-none-match": held }) };
    const { status, headers: of, bytes } = await raw(`${origin}${path}`, query, headers);
    look.bytes += bytes.length;
    look.requests += 1;
    const plain = of["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes;
    return { status, etag: of["etag"] ?? null, text: plain.toString("utf8") };
  };
  const looked = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
    look = { ms: 0, cpuMs: 0, bytes: 0, requests: 0 };
    const [beganMs, cpu] = [performance.now(), process.cpuUsage()];
    const result = await work();
    look.ms = performance.now() - beganMs;
    const { user, system } = process.cpuUsage(cpu);
    look.cpuMs = (user + system) / 1_000;
    rows.push([name, look]);
    return result;
  };

  const pages = async (known?: string) => {
    const items: ClusterRows[] = [];
    const tags: (string | null)[] = [];
    for (let page: string | undefined, goesOn = true; goesOn; goesOn = page !== undefined) {
      const { text, etag } = await get(QUERY_PATHS.rows, {
        ...(known !== undefined && { known }),
        ...(page !== undefined && { page }),
      });
      const answer: { readonly items: readonly ClusterRows[]; readonly next?: string } =
        JSON.parse(text);
      items.push(...answer.items);
      tags.push(etag);
      page = answer.next;
    }
    return { items, tags };
  };

  await looked("the page itself, built anew as in a checkout", () => get("/page.js"));
  await looked("the facts of the server, and the code of the API", () => get(FACTS_PATH));
  const { items } = await looked("all rows, in a new environment", () => pages());
  await looked("all rows again, as a page that is loaded again", () => pages());
  const all = items.flatMap(({ cluster, rows: own }) =>
    own.map(({ namespace, name }) => `${cluster}/${namespace}/${name}`),
  );
  const screen = { names: all.slice(0, SCREEN_ROWS).join(",") };
  const lines = await looked("sparklines of the first screen", () =>
    get(QUERY_PATHS.sparklines, screen),
  );
  const wide = all.filter((_, at) => at % EACH === 7).slice(0, SCREEN_ROWS);
  await looked("sparklines of a screen of 40 clusters", () =>
    get(QUERY_PATHS.sparklines, { names: wide.join(",") }),
  );
  await looked("the same sparklines again, by their tag", () =>
    get(QUERY_PATHS.sparklines, screen, lines.etag),
  );
  const marks = (of: readonly ClusterRows[]): string =>
    of.flatMap(({ partitions }) => partitions.map(({ mark }) => mark ?? "")).join("");
  await looked("a refresh of the rows in which nothing has changed", () => pages(marks(items)));
  const status = await looked("what needs a person (status)", () => get(QUERY_PATHS.status));
  await looked("the same by its tag", () => get(QUERY_PATHS.status, {}, status.etag));

  const ONE = { name: all[7] ?? "" };
  const since = (ms: number) => ({ since: new Date(nowMs - ms).toISOString() });
  const opened = (ms: number) => () =>
    Promise.all([
      get(QUERY_PATHS.describe, ONE),
      get(QUERY_PATHS.explain, ONE),
      get(QUERY_PATHS.history, { ...ONE, ...since(ms) }),
      get(QUERY_PATHS.events, { ...ONE, ...since(ms) }),
      get(QUERY_PATHS.changes, { ...ONE, ...since(ms) }),
    ]);
  await looked("one autoscaler opened, the last hour", opened(HOUR_MS));
  const [, past] = rows.at(-1) ?? [];
  await looked("the same, two hours", opened(2 * HOUR_MS));
  await looked("the same, one day", opened(DAY_MS));
  await looked("the same, 14 days", opened(14 * DAY_MS));
  await looked("an instant that is chosen (explanation of 20 hours ago)", () =>
    get(QUERY_PATHS.explain, { ...ONE, at: new Date(nowMs - 20 * HOUR_MS).toISOString() }),
  );
  const paused = await fetch(`${origin}${COMMAND_PATHS.pause}`, {
    ...{ method: "POST", body: JSON.stringify(ONE) },
    headers: { ...token, "content-type": "application/json" },
  });
  if (!paused.ok) throw new Error(await paused.text());
  const after = await looked("a refresh after an edit of one autoscaler", () =>
    pages(marks(items)),
  );
  const changed = after.items.filter(({ rows: own }) => own.length > 0).length;
  // Of an autoscaler that was not looked at yet.
  const other = all.find((path) => path.endsWith(`/${(all[EACH + 11] ?? "").split("/").at(-1)}`));
  const seen = await lookInBrowser(url, {
    name: other ?? all[0] ?? "",
    refreshMs: REFRESH_SECONDS * SECOND_MS,
  });
  const [load = 0] = loadavg();
  await closeServer(server);

  const table = new Table({
    head: ["look", "ms", "CPU ms", "KiB", "requests"],
    style: { head: [], border: [] },
    colAligns: ["left", "right", "right", "right", "right"],
  });
  for (const [name, { ms, cpuMs, bytes, requests }] of rows)
    table.push([name, ms.toFixed(0), cpuMs.toFixed(0), (bytes / 1_024).toFixed(1), requests]);
  process.stdout.write(
    `${CLUSTERS * EACH} autoscalers in ${CLUSTERS} clusters, two weeks, at a load of ${load.toFixed(1)} on ${availableParallelism()} cores\n${table}\n` +
      `${browserTable(seen)}\n` +
      `the refresh after an edit had the rows of ${changed} of ${CLUSTERS} clusters\n` +
      `one opened: ${past && past.ms <= OPENED_MS_MAX && past.bytes / 1_024 <= OPENED_KIB_MAX ? "within" : "over"} ${OPENED_MS_MAX} ms and ${OPENED_KIB_MAX} KiB\n`,
  );
};
