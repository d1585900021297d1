import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { closeServer, listenOnLoopback } from "../../../lib/embedded/host/loopback.ts";
import type { Json } from "../packaged.ts";

export interface Statement {
  readonly Sid: string;
  readonly Effect: string;
  readonly Action: readonly string[];
  readonly Resource: Json;
  readonly Condition?: Json;
}

/**
 * What stands behind the account's one endpoint: table engine and queue by address, secrets by
 * name, and the statements of each role by access key.
 */
export interface Account {
  readonly dynamodb: string;
  readonly sqs: string;
  readonly secrets: Readonly<Record<string, string>>;
  /** What EKS says about a cluster, by its name. */
  readonly eks: Readonly<Record<string, Json>>;
  /** Runs a function with a payload, by its name. */
  readonly invoke: (name: string, payload: unknown) => Promise<unknown>;
  readonly roles: Readonly<Record<string, readonly Statement[]>>;
  /** Name that a logical id of the template got: "StateTable" is "tidemark-prod-state". */
  readonly names: Readonly<Record<string, string>>;
  /** A topic that was deleted. */
  readonly deafTopic?: string;
  /** The clock in the date of each answer. Default: that of this machine. */
  readonly clock?: () => number;
  /** Gets what the tables charge for each request, by the role that asked. */
  readonly onConsumed?: (consumed: Consumed) => void;
}

export interface Consumed {
  readonly role: string;
  readonly isWrite: boolean;
  readonly units: number;
}

export interface Call {
  readonly role: string;
  readonly action: string;
  readonly resource: string;
  readonly allowed: boolean;
}

export interface OpenAccount {
  readonly endpoint: string;
  readonly calls: readonly Call[];
  /** Messages to topics, by the names that SNS gives their parts. */
  readonly published: readonly Readonly<Record<string, string>>[];
  readonly close: () => Promise<void>;
}

/** A request with what IAM would look at. */
interface Asked {
  readonly service: string;
  readonly actions: readonly string[];
  readonly resource: string;
  /**
   * Partition keys that a request to a table names, as the condition key dynamodb:LeadingKeys has
   * them.
   */
  readonly leadingKeys?: readonly string[];
  /** Attributes that a write of a table names, dynamodb:Attributes. */
  readonly attributes?: readonly string[];
  readonly returnValues?: readonly string[];
}

/**
 * An AWS endpoint on loopback that lets each call through only as the template's role for its
 * access key allows, and keeps what was asked. It knows the six services that functions call; any
 * other request is refused.
 */
export const openAccount = async (account: Account): Promise<OpenAccount> => {
  const calls: Call[] = [];
  const published: Readonly<Record<string, string>>[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const asked =
      describedBy(request) ??
      invokedBy(request) ??
      publishedBy(request, body) ??
      askedBy(String(request.headers["x-amz-target"]), body);
    const role =
      /Credential=([^/]+)\//.exec(String(request.headers.authorization))?.[1] ?? "unknown";
    const allowed = asked.actions.every((action) =>
      (account.roles[role] ?? []).some((statement) =>
        allows(statement, action, asked, account.names),
      ),
    );
    calls.push(
      ...asked.actions.map((action) => ({ role, action, resource: asked.resource, allowed })),
    );
    if (!allowed)
      return reply(response, 400, {
        __type: "AccessDeniedException",
        message: `${role} may not ${asked.actions.join(", ")} on ${asked.resource}`,
      });
    const [status, answered] =
      asked.service === "dynamodb" || asked.service === "sqs"
        ? await forwarded(account, asked, request, body)
        : await ownAnswer(asked, body);
    if (asked.service === "dynamodb") count(asked, role, answered);
    reply(response, status, answered);
  };
  const { onConsumed } = account;
  const count = ({ actions }: Asked, role: string, answered: unknown): void => {
    const { ConsumedCapacity = [] } = answered as {
      readonly ConsumedCapacity?: Capacity | readonly Capacity[];
    };
    const units = [ConsumedCapacity]
      .flat()
      .reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
    onConsumed?.({ role, isWrite: actions.some((action) => WRITES.has(action)), units });
  };
  const ownAnswer = async (
    { service, resource }: Asked,
    body: string,
  ): Promise<readonly [number, unknown]> => {
    if (service === "eks") return [200, { cluster: account.eks[resource.replace("cluster/", "")] }];
    if (service === "lambda") return [200, await account.invoke(resource, JSON.parse(body))];
    if (service === "secretsmanager")
      return [200, { Name: resource, SecretString: account.secrets[resource] }];
    if (resource === account.deafTopic) return [404, { message: "there is no such topic" }];
    published.push(Object.fromEntries(new URLSearchParams(body)));
    return [200, {}];
  };
  const { clock } = account;
  const server = createServer((request, response) => {
    if (clock) response.setHeader("date", new Date(clock()).toUTCString());
    answer(request, response).catch((error: unknown) =>
      reply(response, 500, { __type: "InternalFailure", message: String(error) }),
    );
  });
  return {
    endpoint: await listenOnLoopback(server),
    calls,
    published,
    close: () => closeServer(server),
  };
};

interface Capacity {
  readonly CapacityUnits: number;
}
/** Actions that change a table; all others read. */
const WRITES = new Set(
  ["PutItem", "UpdateItem", "DeleteItem", "PartiQLInsert"].map((name) => `dynamodb:${name}`),
);

const forwarded = async (
  { dynamodb, sqs, onConsumed }: Account,
  { service }: Asked,
  { headers: given }: IncomingMessage,
  body: string,
): Promise<readonly [number, unknown]> => {
  const names = ["content-type", "x-amz-target", "authorization", "x-amz-date"];
  const headers = Object.fromEntries(names.map((name) => [name, String(given[name])]));
  const isCharged = service === "dynamodb" && onConsumed !== undefined;
  const answer = await fetch(service === "dynamodb" ? dynamodb : sqs, {
    method: "POST",
    headers,
    body: isCharged
      ? JSON.stringify({ ...JSON.parse(body), ReturnConsumedCapacity: "TOTAL" })
      : body,
  });
  return [answer.status, await answer.json()];
};

const reply = (response: ServerResponse, status: number, body: unknown): void => {
  response.writeHead(status, { "content-type": "application/x-amz-json-1.0" });
  response.end(JSON.stringify(body));
};

/** EKS is asked by path and not by target. */
const describedBy = ({ method, url = "" }: IncomingMessage): Asked | undefined => {
  const name = /^\/clusters\/([\w-]+)$/.exec(url)?.[1];
  return method === "GET" && name !== undefined
    ? { service: "eks", actions: ["eks:DescribeCluster"], resource: `cluster/${name}` }
    : undefined;
};

/** So is Lambda. */
const invokedBy = ({ method, url = "" }: IncomingMessage): Asked | undefined => {
  const name = /^\/2015-03-31\/functions\/([\w-]+)\/invocations$/.exec(url)?.[1];
  return method === "POST" && name !== undefined
    ? { service: "lambda", actions: ["lambda:InvokeFunction"], resource: name }
    : undefined;
};

/** SNS is asked by a form. */
const publishedBy = ({ headers }: IncomingMessage, body: string): Asked | undefined => {
  if (!headers["content-type"]?.startsWith("application/x-www-form-urlencoded")) return undefined;
  const form = new URLSearchParams(body);
  return {
    service: "sns",
    actions: [`sns:${form.get("Action")}`],
    resource: form.get("TopicArn") ?? "",
  };
};

interface Keyed {
  readonly pk?: { readonly S?: string };
}

/** PartiQL has its rights by the kind of its statements. */
const INSERT = /^INSERT INTO "([^"]+)"/;

const askedBy = (target: string, body: string): Asked => {
  const [prefix = "", operation = ""] = target.split(".");
  const parsed: {
    TableName?: string;
    QueueUrl?: string;
    SecretId?: string;
    Item?: Keyed;
    Key?: Keyed;
    UpdateExpression?: string;
    ConditionExpression?: string;
    ExpressionAttributeNames?: Readonly<Record<string, string>>;
    ReturnValues?: string;
    Statements?: readonly { Statement: string }[];
    RequestItems?: Readonly<Record<string, { readonly Keys: readonly Keyed[] }>>;
  } = JSON.parse(body);
  if (prefix === "secretsmanager")
    return {
      service: prefix,
      actions: [`secretsmanager:${operation}`],
      resource: parsed.SecretId ?? "",
    };
  if (prefix === "AmazonSQS")
    return {
      service: "sqs",
      actions: [`sqs:${operation.replace("Batch", "")}`],
      resource: parsed.QueueUrl?.split("/").at(-1) ?? "",
    };
  const batch = Object.entries(parsed.RequestItems ?? {});
  const batchKeys = batch.flatMap(([, { Keys }]) => Keys.map(({ pk }) => pk?.S));
  const leadingKeys = [parsed.Item?.pk?.S, parsed.Key?.pk?.S, ...batchKeys].filter(
    (key) => key !== undefined,
  );
  if (parsed.Statements === undefined)
    return {
      service: "dynamodb",
      actions: [`dynamodb:${operation}`],
      resource: parsed.TableName ?? batch.map(([table]) => table).join(" and "),
      leadingKeys,
      attributes: [...Object.keys(parsed.Item ?? parsed.Key ?? {}), ...namedBy(parsed)],
      returnValues: parsed.ReturnValues === undefined ? [] : [parsed.ReturnValues],
    };
  const tables = parsed.Statements.map(
    ({ Statement }) => INSERT.exec(Statement)?.[1] ?? "no insert",
  );
  return {
    service: "dynamodb",
    actions: ["dynamodb:PartiQLInsert"],
    resource: [...new Set(tables)].join(" and "),
  };
};

interface Expressions {
  readonly UpdateExpression?: string;
  readonly ConditionExpression?: string;
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>>;
}

/**
 * Attributes in the expressions of a write: words of DynamoDB are in capitals or are functions,
 * values begin with a colon.
 */
const namedBy = ({
  UpdateExpression = "",
  ConditionExpression = "",
  ExpressionAttributeNames = {},
}: Expressions): readonly string[] => {
  const words = `${UpdateExpression} ${ConditionExpression}`.match(/[:#]?[A-Za-z_]\w*\(?/g) ?? [];
  return words
    .filter((word) => !/^:|\($|^[A-Z]+$/.test(word))
    .map((word) => ExpressionAttributeNames[word] ?? word);
};

const allows = (
  { Effect, Action, Resource, Condition }: Statement,
  action: string,
  asked: Asked,
  names: Account["names"],
): boolean =>
  Effect === "Allow" &&
  Action.includes(action) &&
  covers(Resource, asked.resource, names) &&
  (Condition === undefined || holds(Condition, asked));

type Compare = (value: string, pattern: string) => boolean;
const equal: Compare = (value, pattern) => value === pattern;
const like: Compare = (value, pattern) =>
  pattern.endsWith("*") ? value.startsWith(pattern.slice(0, -1)) : value === pattern;

/**
 * The operators that the roles use. Each is told the values of a key in the request, and what the
 * statement wants.
 */
const OPERATORS: Readonly<
  Record<string, (values: readonly string[], wanted: readonly string[]) => boolean>
> = {
  "ForAllValues:StringLike": (values, wanted) =>
    values.every((value) => wanted.some((pattern) => like(value, pattern))),
  "ForAllValues:StringEquals": (values, wanted) =>
    values.every((value) => wanted.some((pattern) => equal(value, pattern))),
  StringEqualsIfExists: (values, wanted) => values.every((value) => wanted.includes(value)),
  Null: (values, [isNull]) => (values.length === 0) === (isNull === "true"),
};

/**
 * True when every operator holds for every key of it. An operator or a key that is not known here
 * refuses.
 */
const holds = (
  condition: Json,
  { leadingKeys = [], attributes = [], returnValues = [] }: Asked,
): boolean => {
  const request: Readonly<Record<string, readonly string[]>> = {
    "dynamodb:LeadingKeys": leadingKeys,
    "dynamodb:Attributes": attributes,
    "dynamodb:ReturnValues": returnValues,
  };
  const operators = Object.entries(
    condition as Readonly<Record<string, Readonly<Record<string, Json>>>>,
  );
  return operators.every(([operator, keys]) =>
    Object.entries(keys).every(([key, wanted]) => {
      const values = request[key];
      return (
        values !== undefined &&
        OPERATORS[operator]?.(values, [wanted].flat() as readonly string[]) === true
      );
    }),
  );
};

/**
 * True when a resource of the template, or one of its list, covers a name: an ARN by GetAtt, or a
 * pattern by Sub whose last part may end in a star.
 */
const covers = (pattern: Json, resource: string, names: Account["names"]): boolean => {
  if (Array.isArray(pattern)) return pattern.some((one: Json) => covers(one, resource, names));
  // The ARN of a table of another stack, or of none.
  if (typeof pattern === "string")
    return pattern === resource || pattern.endsWith(`:table/${resource}`);
  const { "Fn::GetAtt": attribute, "Fn::Sub": substituted } = pattern as {
    readonly "Fn::GetAtt"?: readonly [string, string];
    readonly "Fn::Sub"?: string | readonly [string, Readonly<Record<string, Json>>];
  };
  // A pattern with a name of its own is of the tables of other regions, which have the same name.
  if (Array.isArray(substituted))
    return Object.values(substituted[1] as Readonly<Record<string, Json>>).some(
      (value) => names[String((value as { readonly Ref?: string }).Ref)] === resource,
    );
  if (attribute !== undefined) return names[attribute[0]] === resource;
  const filled = (substituted as string | undefined)?.replaceAll(
    /\$\{(\w+)\}/g,
    (whole, name: string) => names[name] ?? whole,
  );
  const last =
    filled
      ?.split(":")
      .at(-1)
      ?.replace(/^table\//, "") ?? "";
  return last.endsWith("*") ? resource.startsWith(last.slice(0, -1)) : last === resource;
};
