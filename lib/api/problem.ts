import { isTidemarkError, TidemarkError } from "../model/errors.ts";
import type { ChangedDetails } from "../service/edits/edit-condition.ts";
import type { AutoscalerVersion } from "../service/service.ts";
import { isThrottle } from "../store/table/repeat.ts";
import { PROBLEM_TYPE } from "./paths.ts";
import type { PlainAnswer } from "./request-and-answer.ts";

/** How a request is refused before the service is called. */
export interface Refusal {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The URL that takes this request. */
  readonly url?: string;
  /** What a look at a cluster found, where that is why it is refused. */
  readonly report?: object;
  /** The autoscaler that is stored instead of the expected one. */
  readonly stored?: AutoscalerVersion;
  /** One entry per invalid field. */
  readonly errors?: readonly { readonly field: string; readonly message: string }[];
}

export const refusal = (code: `api.${string}`, message: string, why: Refusal): TidemarkError<string, Refusal> =>
  new TidemarkError(code, message, why);

/** Seconds after which a caller may try again. */
const RETRY_AFTER = { "retry-after": "2" };

const UNUSABLE = "service.unusable";
type UnusableDetails = Pick<Refusal, "report">;
const CHANGED = "service.changed";

/** The status of each error code; the first that covers the code counts. Other errors are our own failures, and only the log has their message. */
const STATUSES: readonly (readonly [code: string, status: number])[] = [
  ["manifest", 400],
  ["service.invalid", 400],
  ["service.ambiguous", 400],
  ["service.unknown", 404],
  ["service.not-evaluated", 404],
  ["service.no-grant", 403],
  ["service.busy", 503],
  ["service", 409],
  ["cluster.access", 409],
  ["store.unclear", 503],
  ["store.unreadable", 500],
];

/** An RFC 9457 problem with the code of the error. `detail` is the sentence for people. */
const problem = (
  status: number,
  code: string,
  detail: string,
  { headers, errors, url, report, stored }: Omit<Refusal, "status"> = {},
): PlainAnswer => ({
  status,
  headers: { ...(status === 429 || status === 503 ? RETRY_AFTER : {}), ...headers },
  type: PROBLEM_TYPE,
  text: JSON.stringify({ status, code, detail, ...(errors && { errors }), ...(url !== undefined && { url }), ...(report && { report }), ...stored }),
});

/** The answer to an error. An unexpected error gets only a pointer to the log, because its message may contain internal details. */
export const problemOf = (error: unknown, requestId: string): PlainAnswer => {
  if (isTidemarkError(error, "api")) {
    const { status, ...rest } = error.details as Refusal;
    return problem(status, error.code, error.message, rest);
  }
  if (isTidemarkError(error, "store.unclear") && isThrottle(error.cause)) return problem(429, error.code, error.message);
  if (isTidemarkError(error, UNUSABLE)) return problem(409, error.code, error.message, error.details as UnusableDetails);
  if (isTidemarkError(error, CHANGED)) {
    const { stored } = error.details as ChangedDetails;
    return problem(412, error.code, error.message, { ...(stored && { stored }) });
  }
  const [, status] = STATUSES.find(([code]) => isTidemarkError(error, code)) ?? [];
  if (status !== undefined && isTidemarkError(error)) return problem(status, error.code, error.message);
  return problem(500, "api.failed", `Cannot answer request "${requestId}": an unexpected error happened; the log line of this request has it`);
};
