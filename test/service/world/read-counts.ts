import { gunzipSync } from "node:zlib";
import limited from "p-limit";
import { viewHandler } from "../../../functions/view.ts";
import { REQUESTS_AT_ONCE } from "../../../lib/stack/store/table/wait-for-all.ts";
import { eventOf } from "../../api/world.ts";
import { around } from "../../contracts/faults.ts";
import type { Fleet } from "./synced-fleet.ts";

interface Capacity {
  readonly CapacityUnits: number;
}
interface Charged {
  readonly ConsumedCapacity: Capacity | readonly Capacity[];
}

/**
 * What an answer takes: requests over HTTP, requests of the tables, how many of these in a row
 * within one HTTP request, read units, and KiB of the compressed answer.
 */
export type Count = readonly [
  http: number,
  requests: number,
  depth: number,
  units: number,
  kib: number,
];

/** A caller waits for each request that depends on another one. */
export const DEPTH_MAX = 8;

export interface Question {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly etag?: string;
  /** Only the first page of a list is asked for. */
  readonly isFirstPage?: true;
}

export interface HttpAnswer {
  readonly items: readonly unknown[];
  readonly text: string;
  readonly etag: string | undefined;
  /** The most requests of the tables that were asked for at one time. */
  readonly atOnce: number;
}

const nothing = () => ({ requests: 0, units: 0, done: 0, depth: 0, asked: 0, atOnce: 0 });

/**
 * An environment of the function `view` that has read nothing yet; each call counts what a question
 * asks of the tables, page by page. The engine says what each request is charged. As many requests
 * wait at once as the SDK has sockets.
 */
export const environmentOf = ({ tables, nowMs }: Fleet) => {
  let count = nothing();
  const sockets = limited(REQUESTS_AT_ONCE);
  const counted = async (send: () => Promise<unknown>): Promise<unknown> => {
    const own = count.done + 1;
    count.requests += 1;
    count.depth = Math.max(count.depth, own);
    // All that wait are sent before one is answered.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = (await send()) as Charged;
    for (const { CapacityUnits } of [answer.ConsumedCapacity].flat()) count.units += CapacityUnits;
    count.done = Math.max(count.done, own);
    return answer;
  };
  const client = around(tables.client, async (_command, send) => {
    count.asked += 1;
    count.atOnce = Math.max(count.atOnce, count.asked);
    const answer = await sockets(() => counted(send));
    count.asked -= 1;
    return answer;
  });
  const handler = viewHandler({
    tables: { ...tables, client },
    clock: () => nowMs,
    reporter: { line: () => {} },
  });
  const once = async (
    { path, query = {}, status = 200, etag }: Question,
    page: string | undefined,
  ) => {
    const headers = {
      "accept-encoding": "gzip",
      ...(etag !== undefined && { "if-none-match": etag }),
    };
    const parameters = new URLSearchParams({
      ...query,
      ...(page !== undefined && { page }),
    }).toString();
    const result = await handler(eventOf({ path, query: parameters, headers }));
    if (typeof result === "string" || result.statusCode !== status)
      throw new Error(`"${path}" has an unexpected answer: ${JSON.stringify(result)}`);
    const bytes = Buffer.from(result.body ?? "", result.isBase64Encoded ? "base64" : "utf8");
    const text = (result.isBase64Encoded ? gunzipSync(bytes) : bytes).toString("utf8");
    return {
      text,
      bytes: bytes.length,
      etag: result.headers?.["etag"]?.toString(),
      json: text.startsWith("{") ? JSON.parse(text) : {},
    };
  };
  return async (
    question: Question,
  ): Promise<{ readonly count: Count; readonly answer: HttpAnswer }> => {
    count = nothing();
    let [http, bytes, depth, text] = [0, 0, 0, ""];
    let etag: string | undefined;
    const items: unknown[] = [];
    for (
      let page: string | undefined, goesOn = true;
      goesOn;
      goesOn = page !== undefined && !question.isFirstPage
    ) {
      Object.assign(count, { done: 0, depth: 0 });
      const got = await once(question, page);
      http += 1;
      bytes += got.bytes;
      depth = Math.max(depth, count.depth);
      ({ text, etag } = got);
      const list = got.json as { readonly items?: readonly unknown[]; readonly next?: string };
      items.push(...(list.items ?? []));
      page = list.items ? list.next : undefined;
    }
    const { requests, units, atOnce } = count;
    return {
      count: [http, requests, depth, Math.ceil(units), Math.ceil(bytes / 1_024)],
      answer: { items, text, etag, atOnce },
    };
  };
};
