import { PROBLEM_TYPE } from "../api/paths.ts";

/** An answer as it came. */
export interface Received {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** What the platform calls its own refusal. */
  readonly errorType: string;
  /** The clock of who answered. */
  readonly dateMs?: number;
  readonly retryAfterMs?: number;
}

/** A refusal or failure that Tidemark itself put into words; all else is the platform's. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** Where the request can be made instead. */
  readonly url?: string;
}

export const receivedOf = async (response: Response): Promise<Received> => {
  const dateMs = Date.parse(response.headers.get("date") ?? "");
  const retryAfterMs = Number(response.headers.get("retry-after") ?? Number.NaN) * 1_000;
  return {
    status: response.status,
    type: (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "",
    text: await response.text(),
    errorType: response.headers.get("x-amzn-errortype") ?? "",
    ...(Number.isFinite(dateMs) && { dateMs }),
    ...(retryAfterMs >= 0 && { retryAfterMs }),
  };
};

export const problemIn = ({ type, text }: Received): Problem | undefined => {
  if (type !== PROBLEM_TYPE) return undefined;
  const value = parsedJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  const { status, code, detail, url } = value as Partial<Problem>;
  if (typeof status !== "number" || typeof code !== "string" || typeof detail !== "string") return undefined;
  return { status, code, detail, ...(typeof url === "string" && { url }) };
};

/** The value of a JSON text; undefined for any other text. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
