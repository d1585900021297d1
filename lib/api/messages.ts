/** One HTTP request as the platform hands it over, after it has checked who sent it. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  /** What stands behind the question mark, still encoded. */
  readonly query: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Uint8Array;
  /** The caller's ARN, as the platform verified it; absent where nothing was verified. */
  readonly by?: string;
  readonly id: string;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or bytes where it is packed. */
  readonly body: string | Uint8Array;
}

/** What a route has to say. */
export interface Reply {
  readonly type: string;
  readonly text: string;
}

/** An answer before it is packed. */
export interface PlainAnswer extends Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = "application/json";

export const jsonText = (text: string): Reply => ({ type: JSON_TYPE, text });
export const json = (value: unknown): Reply => jsonText(JSON.stringify(value));
