import { entityTag } from "./entity-tag.ts";
import { TAG_HEADER } from "./paths.ts";

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
