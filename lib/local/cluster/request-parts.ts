import { badRequest } from "./status.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly accept: string;
  readonly body: string;
}

/** The JSON of a body. Anything else is a 400. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw badRequest(`the object provided is unrecognized: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
};

/** Whether a request asks for a dry run, in its query or in the options of a DELETE. */
export const asksForDryRun = (query: URLSearchParams, ofBody: unknown = []): boolean => {
  const dryRuns = [...query.getAll("dryRun"), ...(Array.isArray(ofBody) ? ofBody : [ofBody])].filter((each) => each !== "");
  if (dryRuns.some((each) => each !== "All")) throw badRequest(`dryRun: Unsupported value: "${dryRuns.join(",")}": supported values: "All"`);
  return dryRuns.length > 0;
};
