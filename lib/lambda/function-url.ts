import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from "aws-lambda";
import type { Invocation } from "./invoked-call.ts";
import { type ApiContext, answerRequest } from "../answers/api/answer-request.ts";
import type { ApiAnswer, VerifiedRequest } from "../answers/api/request-and-answer.ts";

export type FunctionUrlHandler = (
  event: LambdaFunctionURLEvent,
  invocation?: Invocation,
) => Promise<LambdaFunctionURLResult>;

/** How people call the functions of a stack. */
export type CalledBy = "url" | "invoke";

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

/**
 * Handles requests of a function URL in its payload format 2.0; with `invoke`, signed calls, and
 * nothing else. A function cannot distinguish an event of its URL from one that its invoker wrote,
 * so that a stack takes one of both only.
 */
export const functionUrlHandler =
  (context: ApiContext, calledBy: CalledBy = "url"): FunctionUrlHandler =>
  async (event, invocation) =>
    resultOf(
      await answerRequest(
        context,
        calledBy === "url"
          ? requestOf(event)
          : await (await import("./invoked-call.ts")).invokedRequest(
              event,
              invocation ?? { invokedFunctionArn: "", awsRequestId: "" },
              context.clock,
            ),
      ),
    );
