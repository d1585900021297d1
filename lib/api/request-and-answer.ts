import { TAG_HEADER } from "./paths.ts";
import type { AutoscalerVersion, EditCondition } from "../service/service.ts";

/** One HTTP request after the platform has verified its sender. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  /** The query string, still encoded. */
  readonly query: string;
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** The caller's ARN as the platform verified it. Absent when it verified none. */
  readonly by?: string;
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

interface Tagged {
  readonly uid?: string;
  readonly generation?: number;
}

/** JSON with the tag of the autoscaler that it shows, if it is stored. */
export const taggedJson = (value: unknown, { uid, generation }: Tagged): Reply =>
  uid === undefined || generation === undefined ? json(value) : { ...json(value), headers: { [TAG_HEADER]: entityTag({ uid, generation }) } };

/** The entity tag of a stored autoscaler (RFC 9110, section 8.8.3). It changes with each edit, and not with the counts and metrics beside the manifest. */
const entityTag = ({ uid, generation }: AutoscalerVersion): string => `"${uid}.${generation}"`;

/** The header If-Match of a condition. A header without tags is malformed, so an empty list is sent as a tag that no autoscaler has. */
export const ifMatchText = (condition: EditCondition): string => {
  if (condition === "exists") return "*";
  return condition.length === 0 ? '""' : condition.map(entityTag).join(", ");
};

/** True where the caller has an answer that shows the same (RFC 9110, section 13.1.2). The tag of a stored autoscaler is strong, and says nothing of the counts in an answer: only weak tags count. */
export const isHeld = (tag: string | undefined, ifNoneMatch: string | undefined): boolean =>
  tag?.startsWith("W/") === true && (ifNoneMatch ?? "").split(",").some((one) => one.trim() === tag);
