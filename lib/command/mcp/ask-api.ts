import { randomUUID } from "node:crypto";
import { QUERY_PATHS } from "../../answers/api/paths.ts";
import type { AnswerApi } from "../../dashboard/serve/handler.ts";
import { TidemarkError } from "../../rules/model/errors.ts";
import type { QueryService } from "../../answers/service/service.ts";

/** What an assistant asked, as the parameters of a route. */
export type ToolParameters = Readonly<Record<string, string>>;

export type AskApi = (verb: keyof QueryService, asked: ToolParameters) => Promise<unknown>;

const NO_BODY = new Uint8Array();
const DONE = 200;

/**
 * Asks a query of the API: it checks what was asked, and shows what the grants of the caller let it
 * see. There is no way to an edit here. Throws `mcp.refused` with the words of the API.
 */
export const askApi =
  (answerApi: AnswerApi, onFailure: (error: unknown) => void): AskApi =>
  async (verb, asked) => {
    const { status, body } = await answerApi(
      {
        ...{ method: "GET", path: QUERY_PATHS[verb], query: String(new URLSearchParams(asked)) },
        ...{ headers: {}, body: NO_BODY, id: randomUUID() },
      },
      onFailure,
    );
    const text = typeof body === "string" ? body : new TextDecoder().decode(body);
    if (status === DONE) return JSON.parse(text);
    throw new TidemarkError("mcp.refused", refusalIn(text, status), { status });
  };

/** The detail of a problem names each field. */
const refusalIn = (text: string, status: number): string => {
  const { detail = `the API answered ${status}` }: { readonly detail?: string } = JSON.parse(text);
  return detail;
};
