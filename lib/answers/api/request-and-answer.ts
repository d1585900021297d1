import { hash } from "node:crypto";
import { TAG_HEADER, PROBLEM_TYPE } from "./paths.ts";
import type { AutoscalerVersion, EditCondition } from "../service/service.ts";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import type { Rights } from "../../rules/model/access.ts";
import { present } from "../../rules/model/json.ts";
import type { ChangedDetails } from "../service/edits/edit-condition.ts";
import { isThrottle } from "../../stack/store/table/repeat.ts";
import type { MetricFamily } from "../../stack/report/open-metrics.ts";
import type { SeriesJson } from "../views/source.ts";

/** One HTTP request after the platform has verified its sender. */
export interface VerifiedRequest {
  readonly method: string;
  readonly path: string;
  /** The query string, still encoded. */
  readonly query: string;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** The caller's ARN as the platform verified it. Absent when it verified none. */
  readonly by?: string;
  /** Why there is no caller, where that is known. */
  readonly unproven?: Error;
  readonly id: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or compressed bytes. */
  readonly body: string | Uint8Array;
}

/** The body of an answer, and the headers that belong to it. */
export interface Reply {
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What to ask for instead, where the answer is too long. */
  readonly narrower?: string;
}

/** An answer before compression. */
export interface PlainAnswer extends Reply {
  readonly status: number;
}

const JSON_TYPE = "application/json";

export const jsonText = (text: string): Reply => ({ type: JSON_TYPE, text });
export const json = (value: unknown): Reply => jsonText(JSON.stringify(value));

/** JSON with the tag of the autoscaler that it shows, if it is stored. */
export const taggedJson = (
  value: unknown,
  { uid, generation }: { readonly uid?: string; readonly generation?: number },
): Reply =>
  uid === undefined || generation === undefined
    ? json(value)
    : { ...json(value), headers: { [TAG_HEADER]: entityTag({ uid, generation }) } };

/**
 * The entity tag of a stored autoscaler (RFC 9110, section 8.8.3). It changes with each edit, and
 * not with the counts and metrics beside the manifest.
 */
const entityTag = ({ uid, generation }: AutoscalerVersion): string => `"${uid}.${generation}"`;

/**
 * The header If-Match of a condition. A header without tags is malformed, so an empty list is sent
 * as a tag that no autoscaler has.
 */
export const ifMatchText = (condition: EditCondition): string => {
  if (condition === "exists") return "*";
  return condition.length === 0 ? '""' : condition.map(entityTag).join(", ");
};

/**
 * True where the caller has an answer that shows the same (RFC 9110, section 13.1.2). The tag of a
 * stored autoscaler is strong, and says nothing of the counts in an answer: only weak tags count.
 */
export const callerHas = (tag: string | undefined, ifNoneMatch: string | undefined): boolean =>
  tag?.startsWith("W/") === true &&
  (ifNoneMatch ?? "").split(",").some((one) => one.trim() === tag);

const TAG_CHARACTERS = 22;
/**
 * When a partition was synced: what an answer shows beside it may be the same after many syncs. A
 * key in a text has its quotes escaped.
 */
const AGES = /"(?:ageSeconds":[\d.]+|syncedAt":"[^"]*")/g;

/**
 * The tag of what an answer shows, but for its ages. It is weak: two answers with one tag may
 * differ in these.
 */
export const weakTag = (text: string): string =>
  `W/"${hash("sha256", text.replace(AGES, ""), "base64url").slice(0, TAG_CHARACTERS)}"`;

/**
 * An answer with a weak tag, where it has no tag of its own. The rights of a limited caller are in
 * it: after a new grant, or a grant less, a tag from before is never "not modified".
 */
export const tagged = (
  reply: Reply,
  { limited, grants }: Pick<Rights, "limited" | "grants">,
): Reply => {
  const tag = reply.headers?.[TAG_HEADER] ?? weakTag(reply.text);
  // The tag of an autoscaler names its version, by which edits are conditional.
  if (!tag.startsWith("W/") || !limited)
    return { ...reply, headers: { ...reply.headers, [TAG_HEADER]: tag } };
  return {
    ...reply,
    headers: { ...reply.headers, [TAG_HEADER]: weakTag(JSON.stringify([tag, grants])) },
  };
};

/** How a request is refused before the service is called. */
export interface RequestRefusal {
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

export const refusal = (
  code: `api.${string}`,
  message: string,
  why: RequestRefusal,
): TidemarkError<string, RequestRefusal> => new TidemarkError(code, message, why);

/** Seconds after which a caller may try again. */
const RETRY_AFTER = { "retry-after": "2" };

/**
 * The status of each error code; the first that covers the code counts. Other errors are our own
 * failures, and only the log has their message.
 */
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
  ["store.clock-wrong", 503],
  ["store.unreadable", 500],
];

/** An RFC 9457 problem with the code of the error. `detail` is the sentence for people. */
const problem = (
  status: number,
  code: string,
  detail: string,
  { headers, errors, url, report, stored }: Omit<RequestRefusal, "status"> = {},
): PlainAnswer => ({
  status,
  headers: { ...(status === 429 || status === 503 ? RETRY_AFTER : {}), ...headers },
  type: PROBLEM_TYPE,
  text: JSON.stringify({
    status,
    code,
    detail,
    ...(errors && { errors }),
    ...(url !== undefined && { url }),
    ...(report && { report }),
    ...stored,
  }),
});

/**
 * The answer to an error. An unexpected error gets only a pointer to the log, because its message
 * may contain internal details.
 */
export const problemOf = (error: unknown, requestId: string): PlainAnswer => {
  if (isTidemarkError(error, "api")) {
    const { status, ...rest } = error.details as RequestRefusal;
    return problem(status, error.code, error.message, rest);
  }
  if (isTidemarkError(error, "store.unclear") && isThrottle(error.cause))
    return problem(429, error.code, error.message);
  if (isTidemarkError(error, "service.unusable"))
    return problem(409, error.code, error.message, error.details as Pick<RequestRefusal, "report">);
  if (isTidemarkError(error, "service.changed"))
    return problem(
      412,
      error.code,
      error.message,
      present({ stored: (error.details as ChangedDetails).stored }),
    );
  const [, status] = STATUSES.find(([code]) => isTidemarkError(error, code)) ?? [];
  if (status !== undefined && isTidemarkError(error))
    return problem(status, error.code, error.message);
  return problem(
    500,
    "api.failed",
    `Cannot answer request "${requestId}": an unexpected error happened; ` +
      "the log line of this request has it",
  );
};

export const seriesJson = (families: readonly MetricFamily[]): SeriesJson => ({
  families: families.map(({ samples, ...family }) => ({
    ...family,
    samples: samples.map(({ labels, value }) => ({
      labels,
      value: Number.isFinite(value) ? value : String(value),
    })),
  })),
});

export const familiesIn = ({ families }: SeriesJson): readonly MetricFamily[] =>
  families.map(({ samples, ...family }) => ({
    ...family,
    samples: samples.map(({ labels, value }) => ({ labels, value: Number(value) })),
  }));
