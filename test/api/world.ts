import type { LambdaFunctionURLEvent } from "aws-lambda";
import { apiHandler } from "../../functions/api.ts";
import type { FunctionUrlHandler } from "../../lib/lambda/function-url.ts";
import { viewHandler } from "../../functions/view.ts";
import type { ApiContext } from "../../lib/answers/api/answer-request.ts";
import type { LogLine } from "../../lib/stack/report/log-lines.ts";
import type { QueryService } from "../../lib/answers/service/service.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { fillShop } from "../service/world/shop.ts";

export const ADA = "arn:aws:iam::123456789012:user/ada";
export const GRACE = "arn:aws:sts::123456789012:assumed-role/Operators/grace";

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Absent: the platform verified no caller. */
  readonly by?: string | null;
  readonly requestId?: string;
}

let requests = 0;

/**
 * An event as a function URL with IAM makes it (payload format 2.0): a body that is no text comes
 * as base64, cookies and parameters are absent where there are none.
 */
export const eventOf = ({
  method,
  path,
  query = "",
  headers = {},
  body,
  by = ADA,
  requestId,
}: Asked): LambdaFunctionURLEvent => {
  const domainPrefix = "abcdefghij";
  const domainName = `${domainPrefix}.lambda-url.eu-central-1.on.aws`;
  const verb = method ?? (body === undefined ? "GET" : "POST");
  const isBase64Encoded = body !== undefined && typeof body !== "string";
  const iam = {
    accessKey: "AKIA",
    accountId: "123456789012",
    callerId: "AIDA",
    cognitoIdentity: null,
    principalOrgId: null,
    userArn: by,
    userId: "AIDA",
  };
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    headers: { host: domainName, "x-forwarded-proto": "https", ...headers },
    requestContext: {
      accountId: "123456789012",
      apiId: domainPrefix,
      ...(by !== null && { authorizer: { iam } }),
      domainName,
      domainPrefix,
      http: { method: verb, path, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "test" },
      requestId: requestId ?? `request-${++requests}`,
      routeKey: "$default",
      stage: "$default",
      time: "01/Mar/2026:12:00:00 +0000",
      timeEpoch: 1_772_366_400_000,
    },
    ...(body !== undefined && {
      body: isBase64Encoded ? Buffer.from(body).toString("base64") : String(body),
    }),
    isBase64Encoded,
  };
};

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** Absent where the answer is no JSON, or is packed. */
  readonly json: unknown;
}

/** Sends one request to a handler, as the platform does. */
export const ask = async (handler: FunctionUrlHandler, asked: Asked): Promise<Answered> => {
  const result = await handler(eventOf(asked));
  if (typeof result === "string") throw new Error("an answer has a status");
  const bytes = Buffer.from(result.body ?? "", result.isBase64Encoded ? "base64" : "utf8");
  const text = bytes.toString("utf8");
  const type = String(result.headers?.["content-type"]);
  return {
    status: result.statusCode ?? 0,
    headers: result.headers ?? {},
    text,
    json: /json/.test(type) && !result.isBase64Encoded ? JSON.parse(text) : undefined,
  };
};

export interface ApiWorld extends ServiceWorld {
  readonly api: FunctionUrlHandler;
  /** As `api`, and it connects clusters. */
  readonly connect: FunctionUrlHandler;
  /** The URL of `connect` that `api` tells. */
  readonly elsewhere: { readonly kind: "elsewhere"; url: string };
  readonly view: FunctionUrlHandler;
  readonly lines: LogLine[];
}

/** The three functions over the shop of the service's tests, on tables of their own. */
export const apiWorld = async (): Promise<ApiWorld> => {
  const world = await serviceWorld();
  await fillShop(world);
  const { tables, insert, clock, newUid } = world.context;
  const lines: LogLine[] = [];
  const reporter = { line: (line: LogLine) => void lines.push(line) };
  const elsewhere: ApiWorld["elsewhere"] = {
    kind: "elsewhere",
    url: "https://connect.lambda-url.eu-central-1.on.aws/",
  };
  const parts = { tables, insert, clock, newUid, reporter };
  return {
    ...world,
    lines,
    elsewhere,
    api: apiHandler({ ...parts, connecting: elsewhere }),
    connect: apiHandler({ ...parts, connecting: { kind: "here" } }),
    view: viewHandler({ tables, clock, reporter }),
  };
};

/** What a context needs to show everything to every caller. */
export const openTo = (reading: QueryService): Pick<ApiContext, "access" | "reading"> => ({
  access: async () => ({ required: false, grants: [], version: 0 }),
  reading: () => reading,
});
