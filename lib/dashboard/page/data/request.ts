import { printable } from "../../../rules/model/foreign-text.ts";
import type { EditPath } from "../../serve/routes.ts";

/** Why there is no answer, in the kinds that a person does different things about. */
export interface Failure {
  readonly kind: "offline" | "starting" | "token" | "no right" | "not found" | "refused" | "failed";
  readonly message: string;
}

export type Parameters = Readonly<Record<string, string | number | undefined>>;

export interface Answer<Value> {
  readonly value: Value;
  readonly tag: string | undefined;
  /** Set where there is more to ask for at once, after this much was shown. */
  readonly isPart?: true;
}

/** What a request came to: an answer, nothing new (the caller has what its tag names), or none. */
export type Outcome<Value> =
  | ({ readonly kind: "answer" } & Answer<Value>)
  | { readonly kind: "unchanged" }
  | { readonly kind: "failure"; readonly failure: Failure };

const TOKEN_HEADER = "x-tidemark-token";
const UNCHANGED = 304;

/** Sends requests to the server of this page, with its token. */
export class Api {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  get<Value>(
    path: string,
    parameters: Parameters = {},
    options: { readonly tag?: string | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<Outcome<Value>> {
    const { tag, signal } = options;
    return this.#send<Value>(`${path}${queryText(parameters)}`, {
      ...(signal && { signal }),
      headers: tag === undefined ? {} : { "if-none-match": tag },
    });
  }

  /** An edit. A repeat with the same key and body does nothing more. */
  post<Value>(path: EditPath, body: object, key: string): Promise<Outcome<Value>> {
    return this.#send<Value>(path, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(body),
    });
  }

  async #send<Value>(path: string, init: RequestInit): Promise<Outcome<Value>> {
    try {
      const response = await fetch(path, {
        ...init,
        headers: { ...init.headers, [TOKEN_HEADER]: this.#token },
        cache: "no-store",
        redirect: "error",
      });
      if (response.status === UNCHANGED) return { kind: "unchanged" };
      if (!response.ok) return { kind: "failure", failure: await failureOf(response) };
      const value = shownAnswer<Value>(await response.text());
      return { kind: "answer", value, tag: response.headers.get("etag") ?? undefined };
    } catch (error) {
      return {
        kind: "failure",
        failure: { kind: "offline", message: error instanceof Error ? error.message : "" },
      };
    }
  }
}

/** What JSON escapes, and what a browser would hide or obey: the order of letters, line ends. */
const HIDDEN = /\\u|[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/u;
const LINES_AND_TABS = /([\n\t])/;

/**
 * An answer whose texts are all shown as they are: of what strangers wrote, what would be hidden or
 * would turn the order of the letters beside it is escaped, as the command prints it.
 */
const shownAnswer = <Value>(text: string): Value =>
  HIDDEN.test(text)
    ? JSON.parse(text, (_, value: unknown) => (typeof value === "string" ? shown(value) : value))
    : JSON.parse(text);

const shown = (text: string): string =>
  text
    .split(LINES_AND_TABS)
    .map((part, at) => (at % 2 === 1 ? part : printable(part)))
    .join("");

const queryText = (parameters: Parameters): string => {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`;
};

interface Problem {
  readonly code?: string;
  readonly detail?: string;
}

const failureOf = async (response: Response): Promise<Failure> => {
  const { code = "", detail = "" } = await response
    .text()
    .then(shownAnswer<Problem>)
    .catch((): Problem => ({}));
  return { kind: kindOf(response.status, code), message: detail };
};

const FORBIDDEN = 403;
const NOT_FOUND = 404;
const SERVER_ERRORS = 500;

const kindOf = (status: number, code: string): Failure["kind"] => {
  if (code === "dashboard.token") return "token";
  if (code === "dashboard.starting") return "starting";
  if (status === FORBIDDEN) return "no right";
  if (status === NOT_FOUND) return "not found";
  return status >= SERVER_ERRORS ? "failed" : "refused";
};
