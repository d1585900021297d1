import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { OPEN_METRICS_TYPE } from "../../stack/report/open-metrics.ts";
import { labelNames } from "../../answers/service/series/autoscaler-series.ts";
import { answering } from "../../dashboard/serve/answering.ts";
import { closeServer, listenForOwnUser } from "../host/loopback.ts";

export interface SeriesServer {
  /** The address of the series. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

export const SERIES_PATH = "/metrics";
const PLAIN = "text/plain; charset=utf-8";
const READING = new Set(["GET", "HEAD"]);

/** Gives the text, with the labels of these names in `labels_info`. */
export type SeriesReader = (labels: readonly string[]) => Promise<string>;

/**
 * Answers scrapers of this user only on 127.0.0.1, with what `read` gives: `port` 0 takes a free
 * one. Throws `local.port-in-use`.
 */
export const startSeriesServer = async (
  read: SeriesReader,
  port: number,
): Promise<SeriesServer> => {
  const { listener, idle } = answering((request, response) => answer(read, request, response));
  const server = createServer(listener);
  const endpoint = await listenForOwnUser(server, port);
  return { url: `${endpoint}${SERIES_PATH}`, close: () => closeServer(server, idle) };
};

/** Never rejects. A scrape that fails is answered with the error, and the run goes on. */
const answer = async (
  read: SeriesReader,
  { method = "", url = "" }: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const reply = (
    status: number,
    type: string,
    body: string,
    headers: Readonly<Record<string, string>> = {},
  ): void => {
    response.writeHead(status, {
      "content-type": type,
      "content-length": Buffer.byteLength(body),
      ...headers,
    });
    response.end(method === "HEAD" ? undefined : body);
  };
  const [path, query] = url.split("?");
  if (path !== SERIES_PATH)
    return reply(404, PLAIN, `Not found: the series are at ${SERIES_PATH}\n`);
  if (!READING.has(method))
    return reply(405, PLAIN, "Not allowed: the series can only be read\n", { allow: "GET, HEAD" });
  try {
    reply(
      200,
      OPEN_METRICS_TYPE,
      await read(labelNames(new URLSearchParams(query).get("labels") ?? "")),
    );
  } catch (error) {
    reply(
      500,
      PLAIN,
      `Cannot read the series: ${(error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ")}\n`,
    );
  }
};
