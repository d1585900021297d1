import { KEY_HEADER, PROBLEM_TYPE, TAG_HEADER } from "../api/paths.ts";
import { type ApiAnswer, problemOf, type VerifiedRequest } from "../api/request-and-answer.ts";
import { invalidRequest } from "../api/route.ts";
import { isTidemarkError, TidemarkError } from "../../rules/model/errors.ts";
import { present } from "../../rules/model/json.ts";
import type { HttpAnswer } from "./answer.ts";
import type { ExchangeRequest } from "./send-request.ts";

/**
 * Passes a request of a person on to a stack, signed as all requests of that person are, and gives
 * the stack's answer as it came. What keeps the stack from answering is a problem too, with the
 * words of the command. `newKey` makes the idempotency key of an edit that has none.
 */
export const passOn =
  (exchange: Readonly<Record<"GET" | "POST", ExchangeRequest>>, newKey: () => string) =>
  async (request: VerifiedRequest): Promise<ApiAnswer> => {
    try {
      return answerOf(await exchange[methodOf(request)](unsigned(request, newKey)));
    } catch (error) {
      return plain(problemAnswer(error, request.id));
    }
  };

const methodOf = ({ method }: VerifiedRequest): "GET" | "POST" => {
  if (method === "GET" || method === "POST") return method;
  throw new RangeError(`A request "${method}" is not passed on`);
};

const unsigned = (
  { method, path, query, headers, body }: VerifiedRequest,
  newKey: () => string,
): Parameters<ExchangeRequest>[0] => {
  // fetch asks for gzip by itself, and unpacks what comes.
  const { "accept-encoding": _own, ...passed } = headers;
  const isEdit = method === "POST";
  return {
    method: isEdit ? "POST" : "GET",
    path,
    query: parametersIn(query),
    headers: {
      ...present(passed),
      ...(isEdit && {
        "content-type": "application/json",
        [KEY_HEADER]: passed[KEY_HEADER] ?? newKey(),
      }),
    },
    ...(isEdit && { body: new TextDecoder().decode(body) }),
  };
};

/** Refused as the stack does: of two values of one name, one would be dropped silently here. */
const parametersIn = (query: string): Readonly<Record<string, string>> => {
  const pairs = [...new URLSearchParams(query)];
  const parameters = Object.fromEntries(pairs);
  const twice = pairs.find(([name, value]) => parameters[name] !== value);
  if (twice) throw invalidRequest([{ field: twice[0], message: "is given twice; give it once" }]);
  return parameters;
};

const answerOf = ({ status, type, text, tag, retryAfterMs }: HttpAnswer): ApiAnswer => ({
  status,
  headers: present({
    "content-type": type,
    [TAG_HEADER]: tag,
    "retry-after": retryAfterMs === undefined ? undefined : String(retryAfterMs / 1_000),
  }),
  body: text,
});

const BAD_GATEWAY = 502;

const problemAnswer = (error: unknown, requestId: string) => {
  if (!(error instanceof TidemarkError) || !isTidemarkError(error, "remote"))
    return problemOf(error, requestId);
  const status = isTidemarkError(error, "remote.forbidden") ? 403 : BAD_GATEWAY;
  const { code, message: detail } = error;
  return { status, type: PROBLEM_TYPE, text: JSON.stringify({ status, code, detail }) };
};

const plain = ({ status, type, text }: ReturnType<typeof problemOf>): ApiAnswer => ({
  status,
  headers: { "content-type": type },
  body: text,
});
