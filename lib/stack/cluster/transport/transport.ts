import type { Json } from "../../../rules/model/json.ts";
import type { OnDated } from "../../aws/bounded-requests.ts";
import type { ApiFailure } from "../../../rules/model/observation.ts";
import type { Access } from "../access/access.ts";
import type { ServiceAnswer } from "../cluster-client.ts";
import {
  MAX_RETRY_AFTER_WAITS,
  PUT_SOCKET_IDLE_MS,
  READ_SOCKET_IDLE_MS,
  READ_TIMEOUT_MS,
  WATCH_TIMEOUT_MS,
} from "../request-limits.ts";
import type { CallBudget } from "./budget.ts";
import { type Exchange, connectionPool, type Pool, type Surroundings } from "./exchange.ts";
import { answeredFailure, brokenFailure, malformedFailure, type CallSubject } from "./failure.ts";
import {
  bodyOf,
  type Formats,
  formats,
  giveCut,
  type ApiRequest,
  type Method,
  type Send,
  sender,
} from "./send.ts";

/**
 * Calls to the API server of one cluster: one pool, a deadline for each call, failures as values.
 */
export interface Transport {
  /**
   * Reads one object, from JSON or from protobuf. It repeats where that is safe, within the budget.
   */
  readonly get: (request: ApiRequest, budget: CallBudget) => Promise<ReadAnswer>;
  /**
   * Sends one GET once and gives the answer as it came, whatever its status: it may come from a
   * service behind the API server.
   */
  readonly getOnce: (request: ApiRequest, timeoutMs: number) => Promise<ServiceAnswer>;
  /** Sends one PUT once. `sent: false` proves that the server did not receive it. */
  readonly put: (
    request: ApiRequest & { readonly body: unknown },
    timeoutMs: number,
  ) => Promise<WriteAnswer>;
  /** Sends any other write once: what a sync reports, and the edits of a person. */
  readonly edit: (
    request: ApiRequest & { readonly method: Exclude<Method, "GET">; readonly body: unknown },
    timeoutMs: number,
  ) => Promise<WriteAnswer>;
  /** Why another cluster may have answered some of the reads so far; undefined where none can have. */
  readonly doubt: () => Promise<ApiFailure | undefined>;
  readonly close: () => void;
}

/**
 * `bytes`: of the unpacked answer. `streamed`: `onItem` of the request got the items, and the body
 * has none.
 */
export type ReadAnswer =
  | { readonly kind: "read"; readonly body: Json; readonly bytes: number; readonly streamed?: true }
  | { readonly kind: "failed"; readonly failure: ApiFailure };
export type WriteAnswer =
  | { readonly kind: "written"; readonly body: Json }
  | { readonly kind: "failed"; readonly failure: ApiFailure; readonly sent: boolean };

export interface TransportOptions {
  readonly cluster: string;
  readonly access: Access;
  /**
   * The real wall clock in milliseconds, never a virtual one. The age of connections is measured
   * with it.
   */
  readonly clock: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
  /** Time and connections, where they are not the machine's. */
  readonly surroundings?: Surroundings;
  /** Gets the `Date` header of each answer, and the own clock before and after the call. */
  readonly onDated?: OnDated;
}

const dated =
  (send: Send, clock: () => number, onDated: OnDated): Send =>
  async (...call) => {
    const sentMs = clock();
    const outcome = await send(...call);
    const { date } = outcome.kind === "answered" ? outcome.headers : {};
    if (date !== undefined) onDated({ date, sentMs, receivedMs: clock() });
    return outcome;
  };

/**
 * A transport without connections. The first call opens one. It does not ask which cluster answers:
 * only same-cluster.ts may use it.
 */
export const uncheckedTransport = ({
  cluster,
  access,
  clock,
  elapsed,
  surroundings,
  onDated,
}: TransportOptions): Transport => {
  const pool = connectionPool(access, clock, surroundings);
  const plain = sender(access, pool, elapsed);
  const send = onDated ? dated(plain, clock, onDated) : plain;
  const http: HttpSession = { cluster, access, pool, send, formats: formats() };
  return {
    get: (request, budget) => {
      pool.dropIdle(READ_SOCKET_IDLE_MS);
      return read(http, request, budget);
    },
    getOnce: (request, timeoutMs) => {
      pool.dropIdle(READ_SOCKET_IDLE_MS);
      return readOnce(http, request, timeoutMs);
    },
    put: (request, timeoutMs) => {
      // It is never repeated, neither here nor by Node. A connection that the server closed while
      // it was idle would lose the PUT and leave it unclear. So only connections with a recent
      // answer are used; the LISTs of the sync have just used them.
      pool.dropIdle(PUT_SOCKET_IDLE_MS);
      return write(http, "PUT", request, timeoutMs);
    },
    edit: ({ method, ...request }, timeoutMs) => {
      pool.dropIdle(PUT_SOCKET_IDLE_MS);
      return write(http, method, request, timeoutMs);
    },
    doubt: () => Promise.resolve(undefined),
    close: pool.close,
  };
};

interface HttpSession {
  readonly cluster: string;
  readonly access: Access;
  readonly pool: Pool;
  readonly send: Send;
  readonly formats: Formats;
}

const longestMs = ({ watch }: ApiRequest): number => (watch ? WATCH_TIMEOUT_MS : READ_TIMEOUT_MS);

const read = async (
  http: HttpSession,
  request: ApiRequest,
  budget: CallBudget,
): Promise<ReadAnswer> => {
  const subject: CallSubject = { cluster: http.cluster, method: "GET", resource: request.resource };
  let tried: Tried = NOTHING_TRIED;
  for (;;) {
    const over = budget.take();
    if (over) return failed(over);
    const timeoutMs = Math.min(longestMs(request), budget.remainingMs());
    const binary = http.formats.asksProtobuf(request);
    const outcome = await http.send("GET", request, timeoutMs, binary);
    if (outcome.kind === "no-credentials") return failed(outcome.failure);
    budget.receive(
      outcome.wireBytes,
      outcome.kind === "answered" ? outcome.bytes.length : undefined,
    );
    // A server that supports neither format of this list gets requests for JSON from now on.
    if (binary && http.formats.see(request, outcome) === "again") continue;
    const next = afterRead(outcome, tried, {
      remainingMs: budget.remainingMs(),
      maxWaits: MAX_RETRY_AFTER_WAITS,
    });
    if (next.kind === "done")
      return readAnswer(outcome, subject, { ...request, room: budget }, timeoutMs);
    tried = counted(tried, next);
    await beforeAgain(next, http);
  }
};

const readOnce = async (
  { cluster, access, send }: HttpSession,
  request: ApiRequest,
  timeoutMs: number,
): Promise<ServiceAnswer> => {
  const outcome = await send("GET", request, timeoutMs, false);
  if (outcome.kind === "no-credentials") return failed(outcome.failure);
  if (outcome.kind === "broken")
    return failed(
      brokenFailure(outcome, { cluster, method: "GET", resource: request.resource }, timeoutMs),
    );
  if (outcome.status === 401) access.forget();
  return { kind: "answered", status: outcome.status, bytes: outcome.bytes };
};

const beforeAgain = async (next: Again, { access, pool }: HttpSession): Promise<void> => {
  if (next.because === "unauthorized") access.forget();
  if (next.because === "stale") pool.dropIdle(0);
  if (next.afterMs > 0) await new Promise<void>((resolve) => pool.after(next.afterMs, resolve));
};

const write = async (
  { cluster, access, send }: HttpSession,
  method: Exclude<Method, "GET">,
  request: ApiRequest,
  timeoutMs: number,
): Promise<WriteAnswer> => {
  const subject: CallSubject = { cluster, method, resource: request.resource };
  const outcome = await send(method, request, timeoutMs, false);
  if (outcome.kind === "no-credentials") return { ...failed(outcome.failure), sent: false };
  if (outcome.kind === "broken")
    return { ...failed(brokenFailure(outcome, subject, timeoutMs)), sent: outcome.sent };
  if (outcome.status === 401) access.forget();
  const answer = await readAnswer(outcome, subject, request, timeoutMs);
  return answer.kind === "read"
    ? { kind: "written", body: answer.body }
    : { ...answer, sent: true };
};

const failed = (
  failure: ApiFailure,
): { readonly kind: "failed"; readonly failure: ApiFailure } => ({ kind: "failed", failure });

type Room = Pick<CallBudget, "free" | "keep">;

const readAnswer = async (
  outcome: Exchange,
  subject: CallSubject,
  { room, ...request }: ApiRequest & { readonly room?: Room },
  timeoutMs: number,
): Promise<ReadAnswer> => {
  if (outcome.kind === "broken") {
    await giveCut(outcome, request);
    return failed(brokenFailure(outcome, subject, timeoutMs));
  }
  let parts = 0;
  const keep = (more: number): boolean => {
    if (!room?.keep(more)) return room === undefined;
    parts += more;
    return true;
  };
  const body = await bodyOf(outcome, { ...request, keep });
  if (body.kind === "broken") room?.free(parts);
  if (outcome.status < 200 || outcome.status > 299)
    return failed(
      answeredFailure(outcome.status, body.kind === "object" ? body.object : undefined, subject),
    );
  if (body.kind === "object")
    return {
      kind: "read",
      body: body.object,
      bytes: outcome.bytes.length,
      ...(body.streamed && { streamed: true }),
    };
  return failed(malformedFailure(subject, body.state, body.reason));
};

type Again = Extract<NextStep, { kind: "again" }>;

const counted = (tried: Tried, next: Again): Tried => {
  switch (next.because) {
    case "stale":
      return { ...tried, stale: tried.stale + 1 };
    case "unauthorized":
      return { ...tried, unauthorized: tried.unauthorized + 1 };
    case "retry-after":
      return { ...tried, waits: tried.waits + 1 };
  }
};

/** What a read does after an exchange. PUTs are never repeated. */
type NextStep =
  | { readonly kind: "done" }
  | {
      readonly kind: "again";
      readonly afterMs: number;
      readonly because: "stale" | "unauthorized" | "retry-after";
    };

export interface Tried {
  readonly stale: number;
  readonly unauthorized: number;
  readonly waits: number;
}

export const NOTHING_TRIED: Tried = { stale: 0, unauthorized: 0, waits: 0 };

const DONE: NextStep = { kind: "done" };

/**
 * A read is repeated when its idle connection was closed by the server (once), when its token was
 * refused (once, with a new one), and after 429 or 5xx with Retry-After, if the remaining time
 * allows it.
 */
export const afterRead = (
  outcome: Exchange,
  tried: Tried,
  limits: { readonly remainingMs: number; readonly maxWaits: number },
): NextStep => {
  if (outcome.kind === "broken") {
    const stale =
      outcome.because === "network" && outcome.reused && !outcome.answering && tried.stale === 0;
    return stale ? { kind: "again", afterMs: 0, because: "stale" } : DONE;
  }
  if (outcome.status === 401)
    return tried.unauthorized === 0 ? { kind: "again", afterMs: 0, because: "unauthorized" } : DONE;
  if (outcome.status !== 429 && outcome.status < 500) return DONE;
  const afterMs = retryAfterMs(outcome.headers["retry-after"]);
  if (afterMs === undefined || tried.waits >= limits.maxWaits || afterMs >= limits.remainingMs)
    return DONE;
  return { kind: "again", afterMs, because: "retry-after" };
};

/**
 * Milliseconds of Retry-After. Kubernetes only sends whole seconds. The date form of HTTP is
 * ignored, because it needs the clock of the server.
 */
const retryAfterMs = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;
