import { createServer, type Server } from "node:http";
import { type PendingAnswers, answering } from "./answering.ts";
import type { DashboardFacts } from "./facts.ts";
import { type AnswerApi, dashboardHandler } from "./handler.ts";
import { pageFiles } from "./page-files.ts";
import { newSecret } from "./secret.ts";
import { packageVersion } from "./version.ts";

/** Names, cookies of other servers on 127.0.0.1 and what browsers add take some kilobytes. */
const HEADER_BYTES_MAX = 16 * 1_024;
/** A browser on this machine sends a request at once. A connection that does not is closed. */
const REQUEST_MS = 10_000;
/** Some pages of one person, each with the six connections of a browser. */
const CONNECTIONS_MAX = 64;

/** What the page of one data folder, run or stack is served by. */
export interface DashboardSource
  extends Omit<DashboardFacts, "version" | "edits" | "now" | "caller"> {
  readonly answerApi: AnswerApi;
  readonly caller: () => Promise<string>;
  readonly clock: () => number;
  /** False while what is to be shown is being opened. Absent: it is there. */
  readonly isReady?: () => boolean;
}

export interface DashboardOptions {
  readonly allowEdits: boolean;
  /** Called with what failed here; the page is answered with it too. */
  readonly onFailure: (error: unknown) => void;
  /** How long a request may take to arrive, in place of ten seconds. */
  readonly requestMs?: number;
}

export interface DashboardServer extends Pick<PendingAnswers, "idle"> {
  readonly server: Server;
  readonly urlAt: (origin: string) => string;
}

/**
 * The server of one start, with a token of its own. The token is in the fragment of the address,
 * which a browser sends to no server and writes into no log of one. Until a request comes it does
 * nothing: the page is built and the API loaded then.
 */
export const dashboardServer = (
  source: DashboardSource,
  { allowEdits, onFailure, requestMs = REQUEST_MS }: DashboardOptions,
): DashboardServer => {
  const { answerApi, caller, clock, place, target, refreshSeconds } = source;
  const { isReady = () => true } = source;
  const token = newSecret();
  let name: Promise<string> | undefined;
  const facts = async (): Promise<DashboardFacts> => {
    name ??= caller();
    return {
      version: packageVersion(),
      ...{ place, target, refreshSeconds },
      caller: await name,
      edits: allowEdits,
      now: new Date(clock()).toISOString(),
    };
  };
  const dashboard = { answerApi, facts, isReady, pageFiles: pageFiles(), onFailure };
  const answer = dashboardHandler(dashboard, { token, allowEdits });
  const limits = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: requestMs,
    requestTimeout: requestMs,
    connectionsCheckingInterval: requestMs / 2,
  };
  const { listener, idle } = answering(answer);
  const server = createServer(limits, listener);
  server.maxConnections = CONNECTIONS_MAX;
  return { server, idle, urlAt: (origin) => `${origin}/#token=${token}` };
};
