import * as z from "zod";
import { EventEmitter } from "node:events";
import type {
  IncomingMessage,
  OutgoingHttpHeaders,
  RequestListener,
  ServerResponse,
  IncomingHttpHeaders,
} from "node:http";
import { DynamoDBClient, type DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { boundedRequests, withoutLogger } from "../../stack/aws/bounded-requests.ts";
import { jsonIn } from "../../rules/model/json.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION, UNSIGNED } from "../host/loopback.ts";

/**
 * Many times as long as the slowest call. A command must not wait for ever on a process that serves
 * the tables and was stopped.
 */
const CONNECT_MS = 5_000;
const ANSWER_MS = 30_000;

const clientWith = (config: DynamoDBClientConfig): DynamoDBClient =>
  withoutLogger(
    new DynamoDBClient({
      region: LOOPBACK_REGION,
      credentials: LOOPBACK_CREDENTIALS,
      signer: {
        sign: async (request) =>
          Object.assign(request, { headers: { ...request.headers, ...UNSIGNED } }),
      },
      ...config,
    }),
  );

/**
 * A client for the embedded tables of another process. Connections are kept, since a command makes
 * several calls in a row.
 */
export const tablesClient = (endpoint: string): DynamoDBClient =>
  clientWith({
    endpoint,
    requestHandler: boundedRequests({ connectMs: CONNECT_MS, wholeMs: ANSWER_MS }),
  });

/**
 * A client for the embedded tables of this process, in this thread or another: the same requests
 * and answers, without a socket.
 */
export const inProcessClient = (call: CallTables): DynamoDBClient =>
  clientWith({
    endpoint: "http://in-process",
    requestHandler: {
      handle: async ({ headers, body }: HttpRequest) => {
        const answer = await bounded(call(headers, body));
        return {
          response: { statusCode: answer.status, headers: answer.headers, body: answer.body },
        };
      },
      destroy: () => {},
      updateHttpClientConfig: () => {},
      httpHandlerConfigs: () => ({}),
    },
  });

/** A request of the SDK, as far as the engine reads it. */
interface HttpRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Rejects as a request over a socket does when no answer comes, so that a caller treats both alike.
 */
const bounded = async <Given>(answer: Promise<Given>): Promise<Given> => {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const late = () =>
      reject(
        Object.assign(new Error(`no answer from the embedded tables within ${ANSWER_MS} ms`), {
          name: "TimeoutError",
        }),
      );
    timer = setTimeout(late, ANSWER_MS);
  });
  try {
    return await Promise.race([answer, limit]);
  } finally {
    clearTimeout(timer);
  }
};

/** Answers a request of this process. */
export type CallTables = (
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
) => Promise<ListenerAnswer>;

/** What a request listener answered. */
export interface ListenerAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

const METHOD = "POST";

/**
 * Sends one request to a request listener of the embedded engine in this process, without a socket:
 * no connection, no parsing of HTTP. Request and response have only the members that the listener
 * uses. Throws what the listener throws before it answers.
 */
export const callListener = (
  listener: RequestListener,
  headers: OutgoingHttpHeaders,
  body: Uint8Array,
): Promise<ListenerAnswer> =>
  new Promise((resolve) => {
    const request = Object.assign(new EventEmitter(), { method: METHOD, url: "/", headers });
    const answered: Record<string, string> = {};
    const response = {
      statusCode: 200,
      setHeader: (name: string, value: unknown) => {
        answered[name.toLowerCase()] = String(value);
      },
      end: (text = "") =>
        resolve({ status: response.statusCode, headers: answered, body: Buffer.from(text) }),
    };
    listener(request as unknown as IncomingMessage, response as unknown as ServerResponse);
    request.emit("data", Buffer.from(body.buffer, body.byteOffset, body.byteLength));
    request.emit("end");
  });

/** The limit of DynamoDB. */
const STATEMENTS_MAX = 25;
const TARGET = "DynamoDB_20120810.BatchExecuteStatement";
const PUT_TARGET = "DynamoDB_20120810.PutItem";
const CONTENT_TYPE = "application/x-amz-json-1.0";
/** INSERT INTO "history" VALUE {'pk': ?, 'sk': ?} */
const INSERT = /^INSERT INTO "([\w.-]+)" VALUE \{('\w+': \?(?:, '\w+': \?)*)\}$/;

const requestSchema = z.object({
  Statements: z
    .array(
      z.object({
        Statement: z.string(),
        Parameters: z.array(z.record(z.string(), z.unknown())).default([]),
      }),
    )
    .min(1)
    .max(STATEMENTS_MAX),
  ReturnConsumedCapacity: z.string().default("NONE"),
});
type Statement = z.infer<typeof requestSchema>["Statements"][number];

/**
 * What the engine answers a put: the capacity that it consumed if that was asked for, or a refusal.
 */
interface PutAnswer {
  readonly ConsumedCapacity?: object;
  readonly __type?: string;
  readonly message?: string;
}

/**
 * A listener that also answers `BatchExecuteStatement`, which the embedded engine does not know,
 * for the one statement that the store sends: the INSERT of an item. It becomes a put that needs
 * the key to be free, so that the embedded run appends to history by the same requests as a
 * deployed stack. Any other statement is refused.
 */
export const withInsertStatements = (engine: RequestListener): RequestListener => {
  return (request, response) => {
    if (request.headers["x-amz-target"] !== TARGET) return engine(request, response);
    void bodyOf(request)
      .then((body) => answer(engine, request, body))
      .then(({ status, document }) => respond(response, status, document));
  };
};

/** A request that breaks off has no end, and is not answered. */
const bodyOf = (request: IncomingMessage): Promise<Buffer> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => resolve(Buffer.concat(chunks)));
  });

const respond = (response: ServerResponse, status: number, document: object): void => {
  const body = JSON.stringify(document);
  response.statusCode = status;
  response.setHeader("Content-Type", CONTENT_TYPE);
  response.setHeader("Content-Length", Buffer.byteLength(body));
  response.end(body);
};

interface StatementAnswer {
  readonly status: number;
  readonly document: object;
}

const answer = async (
  engine: RequestListener,
  { headers }: IncomingMessage,
  body: Buffer,
): Promise<StatementAnswer> => {
  const parsed = requestSchema.safeParse(jsonIn(body.toString()));
  if (!parsed.success)
    return {
      status: 400,
      document: {
        __type: "com.amazon.coral.validate#ValidationException",
        message: parsed.error.message,
      },
    };
  const { Statements, ReturnConsumedCapacity } = parsed.data;
  const consumed: object[] = [];
  const responses = Statements.map(async (statement) => {
    const params = putOf(statement);
    if (params === undefined)
      return {
        Error: {
          Code: "ValidationError",
          Message: `The statement is no INSERT of an item: ${statement.Statement}`,
        },
      };
    const answered = await put(engine, headers, { ...params, ReturnConsumedCapacity });
    if (answered.ConsumedCapacity) consumed.push(answered.ConsumedCapacity);
    return {
      TableName: params.TableName,
      ...(answered.__type !== undefined && { Error: errorOf(answered) }),
    };
  });
  return {
    status: 200,
    document: { Responses: await Promise.all(responses), ConsumedCapacity: consumed },
  };
};

const put = async (
  engine: RequestListener,
  headers: IncomingHttpHeaders,
  params: object,
): Promise<PutAnswer> => {
  const { authorization, "x-amz-date": date } = headers;
  const putHeaders = {
    authorization,
    "x-amz-date": date,
    "x-amz-target": PUT_TARGET,
    "content-type": CONTENT_TYPE,
  };
  const { body } = await callListener(engine, putHeaders, Buffer.from(JSON.stringify(params)));
  return JSON.parse(body.toString()) as PutAnswer;
};

const putOf = ({ Statement, Parameters }: Statement) => {
  const [, TableName, places = ""] = INSERT.exec(Statement) ?? [];
  const names = [...places.matchAll(/'(\w+)'/g)].map(([, name = ""]) => name);
  if (TableName === undefined || names.length !== Parameters.length) return undefined;
  return {
    TableName,
    Item: Object.fromEntries(names.map((name, at) => [name, Parameters[at]])),
    // The older way to say `attribute_not_exists`: the engine takes longer to parse an expression
    // than to put the item.
    Expected: { [names[0] ?? ""]: { Exists: false } },
  };
};

/** The error of a put as a batch of statements gives it. */
const errorOf = ({
  __type = "",
  message = "",
}: PutAnswer): { readonly Code: string; readonly Message: string } => {
  const name = __type.slice(__type.indexOf("#") + 1);
  if (name === "ConditionalCheckFailedException")
    return { Code: "DuplicateItem", Message: "Duplicate primary key exists in table" };
  return {
    Code: name.replace(/Exception$/, name === "ValidationException" ? "Error" : ""),
    Message: message,
  };
};
