import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from "aws-lambda";
import { type ApiContext, answerRequest } from "../answers/api/answer-request.ts";
import type { ApiAnswer, VerifiedRequest } from "../answers/api/request-and-answer.ts";

export type FunctionUrlHandler = (
  event: LambdaFunctionURLEvent,
) => Promise<LambdaFunctionURLResult>;

/**
 * The identity that the platform verified. The types of `aws-lambda` have it only for other
 * authorizers.
 */
interface Verified {
  readonly iam?: { readonly userArn?: string };
}

const requestOf = ({
  rawPath,
  rawQueryString,
  headers,
  body,
  isBase64Encoded,
  requestContext,
}: LambdaFunctionURLEvent): VerifiedRequest => {
  const { authorizer } = requestContext as { readonly authorizer?: Verified };
  const by = authorizer?.iam?.userArn;
  return {
    method: requestContext.http.method,
    path: rawPath,
    query: rawQueryString,
    headers,
    body: Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8"),
    ...(by !== undefined && { by }),
    id: requestContext.requestId,
  };
};

const resultOf = ({ status: statusCode, headers, body }: ApiAnswer): LambdaFunctionURLResult =>
  typeof body === "string"
    ? { statusCode, headers, body }
    : { statusCode, headers, body: Buffer.from(body).toString("base64"), isBase64Encoded: true };

/** Handles requests of a function URL in its payload format 2.0. */
export const functionUrlHandler =
  (context: ApiContext): FunctionUrlHandler =>
  async (event) =>
    resultOf(await answerRequest(context, requestOf(event)));
