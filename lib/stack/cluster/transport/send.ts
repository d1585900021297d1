import type { Json } from "../../../rules/model/json.ts";
import { isTidemarkError } from "../../../rules/model/errors.ts";
import type { ApiFailure } from "../../../rules/model/observation.ts";
import type { Access, Credentials } from "../access/access.ts";
import { bareHost } from "../reachable.ts";
import { MAX_ANSWER_BYTES, WATCH_MOST_MS, WATCH_QUIET_MS } from "../request-limits.ts";
import { PROTOBUF, type Decoded, decodeAnswer, decodeCut, STATUS_KIND } from "../wire/answer.ts";
import { NAMED_LIST } from "../wire/objects.ts";
import { decodeWatch } from "../wire/watch.ts";
import type { KnownItems, Receiver, Message, WireKind } from "../wire/message.ts";
import {
  type Answered,
  type Broken,
  contentOf,
  type Cut,
  type Exchange,
  exchange,
  type Outgoing,
  type Pool,
} from "./exchange.ts";
import { decodeJson } from "../wire/decode-json.ts";

export interface ApiRequest {
  /** Path from the root of the server, with encoded segments: "/apis/apps/v1/deployments". */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** The resource as in messages of the API server: "deployments.apps". */
  readonly resource: string;
  /** The list that may be answered as protobuf; absent where only JSON is read. */
  readonly protobuf?: WireKind;
  /** The fields that are read of an answer that is no list; absent: all. */
  readonly fields?: Message;
  /**
   * Gets the items of a list one by one, as they are decoded, each with its bytes in the answer.
   * The answer then says `streamed`.
   */
  readonly onItem?: (item: Json, bytes: number) => void;
  /** Knows the items of the last answer, so that one that did not change is not decoded again. */
  readonly unchanged?: KnownItems;
  /**
   * Gets the metadata of an item of a list that is too large to be read, and its bytes. Without it
   * such an item breaks the answer.
   */
  readonly onPassedOver?: (named: Json, bytes: number) => void;
  /**
   * Gets the name of each item that has come whole of an answer that was cut off by its time, and
   * its bytes. The answer has failed all the same.
   */
  readonly onCut?: (named: Json, bytes: number) => void;
  /**
   * Ends the call where an answer is slow and what has come of it says that the rest is not worth
   * its time. Gets the name of each item that has come, and its bytes.
   */
  readonly early?: {
    readonly afterMs: number;
    readonly ends: (items: readonly CutItem[]) => boolean;
  };
  /**
   * The changes of `protobuf` since the version in `query`. The body of the answer has the `events`
   * that have come (wire/watch.ts).
   */
  readonly watch?: true;
  /** Only the metadata of the objects of a list, as JSON. */
  readonly metadataOnly?: true;
  /** What `onItem` keeps of an item is small, whatever the item holds. */
  readonly light?: boolean;
  /** Most decompressed bytes of the answer, where they are fewer than a LIST's. */
  readonly maxBytes?: number;
  /** The only namespace that needs the answer; absent where many need it (budget.ts). */
  readonly flow?: string;
  /**
   * Headers for a service behind the API server. They never replace the credentials of the call.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** The JSON body; never with GET. */
  readonly body?: unknown;
  /** The type of the body; "application/json" where it is absent. */
  readonly contentType?: string;
}

/** The name of an item that has come whole, and its bytes. */
export type CutItem = readonly [named: Json, bytes: number];

/**
 * A sync reads with GET and scales with PUT; PATCH and POST report what it did. POST is also for
 * the reviews of a check, POST and DELETE for the edits of a person (kubeconfig-api.ts).
 */
export type Method = "DELETE" | "GET" | "PATCH" | "POST" | "PUT";
export type Sent = Exchange | { readonly kind: "no-credentials"; readonly failure: ApiFailure };

/**
 * Sends one request once, credentials and answer within `callMs` together. `binary`: protobuf is
 * asked for before JSON.
 */
export type Send = (
  method: Method,
  request: ApiRequest,
  callMs: number,
  binary: boolean,
) => Promise<Sent>;

/** `elapsed` gives milliseconds of a monotonic clock. */
export const sender = (
  access: Access,
  pool: Pool,
  elapsed: () => number,
  maxBytes = MAX_ANSWER_BYTES,
): Send => {
  return async (method, request, callMs, binary) => {
    const startMs = elapsed();
    const credentials = await withDeadline(credentialsOf(access), callMs, pool.after);
    if ("kind" in credentials) return credentials;
    const timeoutMs = Math.max(1, callMs - (elapsed() - startMs));
    const { early } = request;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    return exchange({
      secure: access.server.protocol === "https:",
      options: {
        agent: pool.agent,
        ...optionsOf(method, request, { access, credentials, timeoutMs, binary, body }),
      },
      timeoutMs,
      maxBytes: Math.min(request.maxBytes ?? maxBytes, maxBytes),
      after: pool.after,
      ...(early && {
        look: {
          afterMs: early.afterMs,
          ends: async (cut) => early.ends(await itemsOfCut(cut, request)),
        },
      }),
      ...(request.watch && { endless: () => watchEnds(elapsed() - startMs) }),
      ...(body !== undefined && { body }),
    });
  };
};

/**
 * When a watch has shown what has changed. The API server sends it right behind its status, so that
 * a pause means that there is no more. A server that was slow to answer gets a longer one.
 */
const watchEnds = (answeredMs: number): { readonly quietMs: number; readonly mostMs: number } => {
  const quietMs = Math.max(WATCH_QUIET_MS, 2 * answeredMs);
  return { quietMs, mostMs: quietMs + WATCH_MOST_MS };
};

const ACCEPT_JSON = "application/json";
/** Of each object the metadata: the API server leaves out the rest, whatever the kind. */
const ACCEPT_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/**
 * Accepted formats. A server without protobuf for a kind answers JSON; errors may have either
 * format.
 */
const ACCEPT_BOTH = `${PROTOBUF}, ${ACCEPT_JSON}`;

interface Prepared {
  readonly access: Access;
  readonly credentials: Credentials;
  readonly timeoutMs: number;
  readonly binary: boolean;
  readonly body: string | undefined;
}

const optionsOf = (
  method: Method,
  request: ApiRequest,
  { access, credentials, timeoutMs, binary, body }: Prepared,
): Outgoing["options"] => ({
  method,
  hostname: bareHost(access.server.hostname),
  port: access.server.port || (access.server.protocol === "https:" ? 443 : 80),
  path: fullPath(access.server, request, timeoutMs),
  headers: {
    ...request.headers,
    ...credentials.headers,
    accept: request.metadataOnly ? ACCEPT_METADATA : binary ? ACCEPT_BOTH : ACCEPT_JSON,
    "user-agent": "tidemark",
    // Packing 1,000 pods costs the API server 13 ms of CPU and spares the network 1.5 MB of 1.6; it
    // packs nothing under 128 KiB. At 15 s that is 9 GB a day against a thousandth of a core.
    ...(method === "GET" && { "accept-encoding": "gzip" }),
    ...(body !== undefined && {
      "content-type": request.contentType ?? ACCEPT_JSON,
      "content-length": Buffer.byteLength(body),
    }),
  },
  // The certificate goes with the call and not with the pool: the agent then opens new connections
  // for a rotated one.
  ...(credentials.cert !== undefined && { cert: credentials.cert }),
  ...(credentials.key !== undefined && { key: credentials.key }),
});

/**
 * The path with the deadline as a parameter, so that the server stops working when the call has
 * timed out.
 */
const fullPath = (server: URL, request: ApiRequest, timeoutMs: number): string => {
  const query = new URLSearchParams({
    ...request.query,
    timeout: `${Math.max(1, Math.floor(timeoutMs))}ms`,
  });
  return `${server.pathname.replace(/\/$/, "")}${request.path}?${query}`;
};

interface NoCredentials {
  readonly kind: "no-credentials";
  readonly failure: ApiFailure;
}

const noCredentials = (message: string): NoCredentials => ({
  kind: "no-credentials",
  failure: { code: 0, reason: "AccessFailed", message },
});

const credentialsOf = async (access: Access): Promise<Credentials | NoCredentials> => {
  try {
    return await access.credentials();
  } catch (error) {
    if (!isTidemarkError(error, "cluster.access")) throw error;
    return noCredentials(error.message);
  }
};

/**
 * A plain timer: an aborted signal makes an error with a stack, which costs more than the rest of
 * this file, and every call passes here.
 */
const withDeadline = (
  credentials: Promise<Credentials | NoCredentials>,
  timeoutMs: number,
  after: Pool["after"],
): Promise<Credentials | NoCredentials> =>
  new Promise((resolve, reject) => {
    const late = (): void =>
      resolve(
        noCredentials(`Cannot authenticate: no credentials within ${Math.round(timeoutMs)} ms`),
      );
    const cancel = after(timeoutMs, late);
    const obtained = (answer: Credentials | NoCredentials): void => {
      cancel();
      resolve(answer);
    };
    const failed = (error: unknown): void => {
      cancel();
      reject(error);
    };
    credentials.then(obtained, failed);
  });

/**
 * The API groups of a cluster that do not answer with protobuf. The first JSON answer to a request
 * for protobuf adds its group, for the life of the client.
 */
export interface Formats {
  readonly asksProtobuf: (request: ApiRequest) => boolean;
  /**
   * Checks an answer to a request for protobuf. "again" means that the server refused the format,
   * so that the request must be repeated for JSON.
   */
  readonly see: (request: ApiRequest, outcome: Exchange) => "again" | "done";
}

const NOT_ACCEPTABLE = 406;

export const formats = (): Formats => {
  const jsonOnly = new Set<string>();
  return {
    asksProtobuf: (request) =>
      request.protobuf !== undefined && !jsonOnly.has(groupVersionOf(request)),
    see: (request, outcome) => {
      if (outcome.kind === "broken") return "done";
      const refused = outcome.status === NOT_ACCEPTABLE;
      if (refused || (outcome.status === 200 && !isProtobuf(outcome)))
        jsonOnly.add(groupVersionOf(request));
      return refused ? "again" : "done";
    },
  };
};

/**
 * "/api/v1", "/apis/metrics.k8s.io/v1beta1": the group and version, which one server behind the API
 * answers.
 */
const groupVersionOf = ({ path }: ApiRequest): string =>
  /^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)/.exec(path)?.[0] ?? path;

const isProtobuf = ({ headers }: Pick<Answered, "headers">): boolean =>
  (headers["content-type"] ?? "").split(";")[0]?.trim() === PROTOBUF;

const isWatch = (answer: Pick<Answered, "headers">): boolean =>
  isProtobuf(answer) && /;\s*stream=watch/.test(answer.headers["content-type"] ?? "");

/** Gives away what has come of the items of an answer that was cut off (ApiRequest.onCut). */
export const giveCut = async (broken: Broken, request: ApiRequest): Promise<void> => {
  if (!request.onCut || broken.because !== "timeout") return;
  for (const item of await itemsOfCut(broken.cut, request)) request.onCut(...item);
};

const itemsOfCut = async (
  cut: Cut,
  { maxBytes = MAX_ANSWER_BYTES }: ApiRequest,
): Promise<readonly CutItem[]> => {
  if (cut.chunks.length === 0) return [];
  const items: CutItem[] = [];
  const onItem = (named: Json, bytes: number): void => void items.push([named, bytes]);
  const bytes = await contentOf(cut, maxBytes);
  if (isProtobuf(cut)) await decodeCut(bytes, { onItem });
  else await decodeJson(bytes, { onItem, message: NAMED_LIST });
  return items;
};

/** The content of an answer, in the format of its content type. */
export const bodyOf = async (
  answer: Answered,
  { watch, ...request }: ApiRequest & Receiver,
): Promise<Decoded> => {
  if (!watch || request.protobuf === undefined || answer.status >= 300)
    return objectOf(answer, request);
  return isWatch(answer)
    ? decodeWatch(answer.bytes, request.protobuf)
    : { kind: "broken", state: "it is no watch" };
};

const objectOf = async (
  answer: Answered,
  { protobuf, fields, ...receiver }: Omit<ApiRequest, "watch"> & Receiver,
): Promise<Decoded> => {
  if (isProtobuf(answer)) {
    if (answer.status >= 300 || protobuf === undefined)
      return decodeAnswer(answer.bytes, STATUS_KIND);
    const decoded = await decodeAnswer(answer.bytes, protobuf, receiver);
    return decoded.kind === "object" && receiver.onItem ? { ...decoded, streamed: true } : decoded;
  }
  const decoded = await decodeJson(
    answer.bytes,
    answer.status < 300
      ? { ...receiver, message: receiver.onItem ? protobuf?.message : fields }
      : {},
  );
  return decoded.kind === "object"
    ? decoded
    : {
        ...decoded,
        state: `the server answered ${answer.status} without a JSON object that can be read: ${decoded.state}`,
      };
};
