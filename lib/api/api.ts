import type { LogLine } from "../report/log-lines.ts";
import { requestLine } from "../report/request-line.ts";
import type { Editing, Reading } from "../service/service.ts";
import type { ApiAnswer, ApiRequest, Said } from "./exchange.ts";
import { type Found, findRoute } from "./find-route.ts";
import { type Ledger, once } from "./once.ts";
import { packed } from "./packed.ts";
import { PAGE_LIMITS, type PageLimits } from "./pages.ts";
import { problemOf, refusal } from "./problem.ts";

/** Whether clusters are connected here. A URL has no rights for single routes, so that this right has a URL of its own. */
export type Connecting = { readonly kind: "here" } | { readonly kind: "elsewhere"; readonly url: string };

/** What answers requests. */
export interface ApiDesk {
  /** Kept from one request to the next: it remembers what series need of the history. */
  readonly reading: Reading;
  /** Absent where nothing can be edited. */
  readonly editing?: {
    /** Edits are recorded for the caller that the platform verified, never for one that the request names. */
    readonly for: (by: string) => Editing;
    readonly ledger: Omit<Ledger, "unkept" | "clock">;
    readonly connecting: Connecting;
  };
  readonly clock: () => number;
  readonly tell: (line: LogLine) => void;
  readonly limits?: PageLimits;
}

type Named = ApiRequest & { readonly by: string };

/** Answers every request, and tells each in one line of the log. Never rejects. */
export const answer = async (desk: ApiDesk, request: ApiRequest): Promise<ApiAnswer> => {
  const startedMs = desk.clock();
  const failures: unknown[] = [];
  const answered = await attempt(request, failures, () => said(desk, request, failures));
  const { method, path, by, id: requestId } = request;
  const report = { method, path, status: answered.status, tookMs: desk.clock() - startedMs, bytes: Buffer.byteLength(answered.body), requestId };
  desk.tell(requestLine({ ...report, ...(by !== undefined && { by }), ...(failures.length > 0 && { error: failures[0] }) }));
  return answered;
};

const attempt = async (request: ApiRequest, failures: unknown[], work: () => Promise<Said>): Promise<ApiAnswer> => {
  try {
    return packed(await work(), request);
  } catch (error) {
    failures.push(error);
    return packed(problemOf(error, request.id), request);
  }
};

const said = async (desk: ApiDesk, request: ApiRequest, failures: unknown[]): Promise<Said> => {
  const named = identified(request);
  const found = findRoute(request);
  return found.kind === "reading" ? look(desk, found, named) : edit(desk, found, named, failures);
};

/** Without a verified caller nothing is answered: a URL that lets everybody in by mistake lets nobody in. */
const identified = (request: ApiRequest): Named => {
  if (request.by !== undefined && request.by !== "") return { ...request, by: request.by };
  throw refusal("api.no-identity", "Cannot answer: the request has no IAM identity, and the URL must ask for one (AuthType AWS_IAM)", {
    status: 403,
  });
};

const DONE = { status: 200 };

const look = async (desk: ApiDesk, { route }: Extract<Found, { kind: "reading" }>, request: Named): Promise<Said> => {
  const reply = await route.read(request).call(desk.reading, { clock: desk.clock, limits: desk.limits ?? PAGE_LIMITS });
  return { ...DONE, ...reply };
};

/** Everything about the request is checked before it is begun; a refusal of the service is an answer like any other, and repeats are told it again. */
const edit = async (desk: ApiDesk, { route, path }: Extract<Found, { kind: "editing" }>, request: Named, failures: unknown[]): Promise<Said> => {
  const { editing, clock } = desk;
  if (!editing) throw refusal("api.read-only", `Cannot POST "${path}": this URL only shows; edits have a URL of their own`, { status: 403 });
  const { call, connects } = route.read(request);
  // Before the key of the edit is kept: the same request is then sent to the other URL.
  if (connects && editing.connecting.kind === "elsewhere") throw connectsElsewhere(editing.connecting.url);
  const work = async (): Promise<Said> => {
    try {
      return { ...DONE, ...(await call(editing.for(request.by), { clock, limits: desk.limits ?? PAGE_LIMITS })) };
    } catch (error) {
      failures.push(error);
      return problemOf(error, request.id);
    }
  };
  return once({ ...editing.ledger, clock, unkept: (error) => failures.push(error) }, request, work);
};

/** The sentence is for people, `url` for the command, which goes on there. */
const connectsElsewhere = (url: string): Error =>
  refusal("api.connects-elsewhere", `Cannot connect a cluster here: that is a right of its own, and has the URL ${url}`, { status: 403, url });
