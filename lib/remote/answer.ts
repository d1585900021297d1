import { PROBLEM_TYPE } from "../api/paths.ts";

/** An HTTP answer. */
export interface HttpAnswer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  /** The platform's name for its own refusal. */
  readonly errorType: string;
  /** The server's clock. */
  readonly dateMs?: number;
  readonly retryAfterMs?: number;
}

/** A problem that Tidemark answered. Other refusals come from the platform. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** The URL that takes this request. */
  readonly url?: string;
  /** What a look at a cluster found, where that is why it is refused. */
  readonly report?: unknown;
}

export const readAnswer = async (response: Response): Promise<HttpAnswer> => {
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

export const problemIn = ({ type, text }: HttpAnswer): Problem | undefined => {
  if (type !== PROBLEM_TYPE) return undefined;
  const value = parsedJson(text);
  if (typeof value !== "object" || value === null) return undefined;
  const { status, code, detail, url, report } = value as Partial<Problem>;
  if (typeof status !== "number" || typeof code !== "string" || typeof detail !== "string") return undefined;
  return { status, code, detail, ...(typeof url === "string" && { url }), ...(report !== undefined && { report }) };
};

/** Parses JSON; undefined for any other text. */
export const parsedJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
