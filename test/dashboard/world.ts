import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http";
import { text } from "node:stream/consumers";
import { answerByService } from "../../lib/dashboard/serve/answer-by-service.ts";
import { type DashboardSource, dashboardServer } from "../../lib/dashboard/serve/server.ts";
import { closeServer, listenWithOwnGuards } from "../../lib/embedded/host/loopback.ts";
import { openService } from "../../lib/answers/service/open.ts";
import { NOON } from "../noon.ts";
import type { ServiceWorld } from "../service/world/context.ts";

/** The page of one start, and what a program of this machine knows of it. */
export interface Served {
  readonly origin: string;
  readonly host: string;
  readonly token: string;
  readonly failures: readonly unknown[];
  readonly close: () => Promise<void>;
}

export const served = async (
  source: DashboardSource,
  allowEdits = false,
  requestMs?: number,
): Promise<Served> => {
  const failures: unknown[] = [];
  const options = {
    allowEdits,
    onFailure: (error: unknown) => void failures.push(error),
    ...(requestMs !== undefined && { requestMs }),
  };
  const { server, urlAt, idle } = dashboardServer(source, options);
  const origin = await listenWithOwnGuards(server, 0);
  const { host, hash } = new URL(urlAt(origin));
  const token = new URLSearchParams(hash.slice(1)).get("token") ?? "";
  return { origin, host, token, failures, close: () => closeServer(server, idle) };
};

/** The page over tables of this machine, for their user. */
export const localSource = ({ context, tables }: ServiceWorld, nowMs = NOON): DashboardSource => {
  const clock = (): number => nowMs;
  const service = openService({ ...context, clock });
  const { insert } = context;
  return {
    answerApi: answerByService({ service, tables, insert, clock, by: "ada" }),
    caller: async () => "ada",
    clock,
    place: "folder data",
    target: "--data data",
    refreshSeconds: 2,
  };
};

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Absent where the answer is no JSON. */
  readonly json: unknown;
}

export interface Sent {
  readonly method?: string;
  /** The target of the request line, as it is written. */
  readonly path: string;
  /** In place of the headers that the page sends, by name; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string;
}

/** Sends one request as it is written: no client adds, drops or corrects anything. */
export const send = async ({ origin, host, token }: Served, sent: Sent): Promise<Answered> => {
  const { method = "GET", path, headers = {}, body } = sent;
  const own = { host, "x-tidemark-token": token };
  const given = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== undefined);
  const options = {
    ...{ method, path, setHost: false, agent: false },
    headers: Object.fromEntries(given) as OutgoingHttpHeaders,
  };
  const { hostname, port } = new URL(origin);
  const answer = await new Promise<Parameters<NonNullable<Parameters<typeof request>[2]>>[0]>(
    (resolve, reject) => {
      request({ hostname, port, ...options }, resolve)
        .on("error", reject)
        .end(body);
    },
  );
  const words = await text(answer);
  const isJson = /json/.test(answer.headers["content-type"] ?? "");
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    text: words,
    json: isJson && words !== "" ? JSON.parse(words) : undefined,
  };
};
