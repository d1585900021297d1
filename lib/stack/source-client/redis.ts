import * as net from "node:net";
import * as tls from "node:tls";
import type { MetricSourceRecord } from "../../rules/model/metric-source.ts";
import { KINDS } from "../../rules/sources/kinds.ts";
import type { RegisteredRequest } from "../../rules/sources/source.ts";
import type { ServiceAnswer } from "../cluster/cluster-client.ts";
import {
  bareHost,
  foreignLookup,
  isOwnHost,
  isPrivateHost,
  publicLookup,
} from "../cluster/reachable.ts";
import type { Broken } from "../cluster/transport/exchange.ts";
import {
  brokenSource,
  type ClientCertificate,
  PRIVATE_WORDS,
  notAsked,
  type SendToSource,
} from "./direct.ts";
import type { Credential } from "./credential.ts";
import { commandBytes, type RedisReply, replyReader } from "./resp.ts";

interface RedisServer {
  /** "redis://…" or, with TLS, "rediss://…". */
  readonly url: string;
  /** True where the address may be in a private network, and where it may be asked without TLS. */
  readonly private: boolean;
  /** True in the embedded run only: the server may be on this machine. */
  readonly ownAddresses: boolean;
  readonly login: { readonly username: string; readonly password: string } | undefined;
  readonly ca: string | undefined;
  readonly client: ClientCertificate | undefined;
  /** True where a key may be on another server, which the first one names. */
  readonly isCluster: boolean;
}

const PORT = 6379;
/** Servers of a cluster that are asked for one request at most. */
const NODES_MAX = 64;

interface Node {
  readonly host: string;
  readonly port: number;
}

/** The way to the Redis of a source. */
export const toRedis = (
  { kind, url = "", private: isPrivate }: MetricSourceRecord,
  { login, ca, client }: Credential,
  ownAddresses: boolean,
): SendToSource =>
  redisSender({
    ...{ url, private: isPrivate, ownAddresses, login, ca, client },
    isCluster: KINDS[kind].isCluster === true,
  });

/**
 * The way to a Redis: each request opens one connection, sends all of its commands at once and
 * closes it. A connection that is kept would not survive the freezing of a function.
 */
const redisSender =
  (server: RedisServer): SendToSource =>
  async ({ commands = [] }: RegisteredRequest, limits) => {
    const first = nodeOf(server.url);
    if (first === undefined) return notAsked("its address is no URL");
    const untilMs = performance.now() + limits.timeoutMs;
    const askWithin = (node: Node, asked: readonly (readonly string[])[]) =>
      ask(server, node, asked, { ...limits, timeoutMs: Math.max(1, untilMs - performance.now()) });
    const outcome = await askWithin(first, commands);
    if (outcome.kind !== "replied") return answerOf(outcome, limits.timeoutMs);
    const whole = server.isCluster
      ? await askMoved(outcome.replies, { commands, from: first, askWithin })
      : outcome;
    return whole.kind === "replied" ? answered(whole.replies) : answerOf(whole, limits.timeoutMs);
  };

type AskNode = (node: Node, commands: readonly (readonly string[])[]) => Promise<Outcome>;

interface Asked {
  readonly commands: readonly (readonly string[])[];
  readonly from: Node;
  readonly askWithin: AskNode;
}

/** Asks the servers that have the keys which the first one has not, each once. */
const askMoved = async (
  first: readonly RedisReply[],
  { commands, from, askWithin }: Asked,
): Promise<Outcome> => {
  const moved = [...movedIn(first, from).values()];
  if (moved.length > NODES_MAX) return notAsked(`its cluster names more than ${NODES_MAX} servers`);
  const outcomes = await Promise.all(
    moved.map(({ node, places }) =>
      askWithin(
        node,
        places.map((place) => commands[place] ?? []),
      ),
    ),
  );
  const replies = [...first];
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome.kind !== "replied") return outcome;
    for (const [of, place] of (moved[at]?.places ?? []).entries())
      replies[place] = outcome.replies[of] ?? null;
  }
  return { kind: "replied", replies };
};

/** The host of a URL of another scheme than http is not normalized by the parser. */
const nodeOf = (url: string): Node | undefined => {
  const text = url.replace(/^rediss?:/, "http:");
  if (!URL.canParse(text) || !URL.canParse(url)) return undefined;
  const { port } = new URL(url);
  return { host: bareHost(new URL(text).hostname), port: port === "" ? PORT : Number(port) };
};

interface Moved {
  readonly node: Node;
  /** The places of the commands among all. */
  readonly places: number[];
}

/** "MOVED 3999 10.0.0.5:6381"; without a host it is the host that was asked. */
const MOVED = /^MOVED \d{1,5} ([^\s@]*):(\d{1,5})$/;

const movedIn = (replies: readonly RedisReply[], from: Node): ReadonlyMap<string, Moved> => {
  const moved = new Map<string, Moved>();
  for (const [place, reply] of replies.entries()) {
    const [, host = "", port = ""] = MOVED.exec(errorOf(reply)) ?? [];
    if (port === "" || Number(port) === 0 || Number(port) > PORT_MAX) continue;
    const node = { host: bareHost(host) || from.host, port: Number(port) };
    const key = `${node.host} ${node.port}`;
    const known = moved.get(key) ?? { node, places: [] };
    known.places.push(place);
    moved.set(key, known);
  }
  return moved;
};
const PORT_MAX = 65_535;

const errorOf = (reply: RedisReply | undefined): string =>
  typeof reply === "object" && reply !== null && "error" in reply ? reply.error : "";

type Outcome =
  | { readonly kind: "replied"; readonly replies: readonly RedisReply[] }
  | Broken
  | ServiceAnswer;

const ask = async (
  server: RedisServer,
  node: Node,
  commands: readonly (readonly string[])[],
  limits: { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<Outcome> => {
  const why = refusedNode(node, server);
  if (why !== undefined) return notAsked(why);
  const { login } = server;
  const all = [...(login === undefined ? [] : [loginOf(login)]), ...commands];
  const outcome = await converse(server, node, all, limits);
  if (outcome.kind !== "replied" || login === undefined) return outcome;
  const [first, ...rest] = outcome.replies;
  return first === "OK"
    ? { kind: "replied", replies: rest }
    : answered({ error: errorOf(first) || "WRONGPASS" }, UNAUTHORIZED);
};

const OK = 200;
const UNAUTHORIZED = 401;
const answered = (body: unknown, status = OK): ServiceAnswer => ({
  kind: "answered",
  status,
  bytes: Buffer.from(JSON.stringify(body)),
});

/** A server before Redis 6 knows no users, and its password is the one of the user "default". */
const loginOf = ({
  username,
  password,
}: {
  readonly username: string;
  readonly password: string;
}) => (username === "default" ? ["AUTH", password] : ["AUTH", username, password]);

const answerOf = (outcome: Broken | ServiceAnswer, timeoutMs: number): ServiceAnswer =>
  outcome.kind === "broken"
    ? { kind: "failed", failure: brokenSource(outcome, timeoutMs) }
    : outcome;

/** Each server of a cluster is looked at as the first one. */
const refusedNode = (
  { host }: Node,
  { url, private: isPrivate, ownAddresses }: RedisServer,
): string | undefined => {
  const { protocol, username, password } = new URL(url);
  if (username !== "" || password !== "") return "its URL has a user or a password";
  if (protocol !== "rediss:" && !(protocol === "redis:" && (isPrivate || ownAddresses)))
    return "its URL must begin with rediss://, or with redis:// where the source is private";
  if (ownAddresses) return undefined;
  if (isOwnHost(host))
    return "its address is one of this machine, of its network link or of a metadata service";
  return isPrivateHost(host) && !isPrivate ? PRIVATE_WORDS : undefined;
};

const isSecure = ({ url }: Pick<RedisServer, "url">): boolean => url.startsWith("rediss:");

const connected = (
  { url, private: isPrivate, ownAddresses, ca, client }: RedisServer,
  node: Node,
) => {
  const options = {
    ...node,
    ...(!ownAddresses && { lookup: isPrivate ? foreignLookup : publicLookup }),
  };
  if (!isSecure({ url })) return net.connect(options);
  return tls.connect({
    ...options,
    ...(net.isIP(node.host) === 0 && { servername: node.host }),
    ...(ca !== undefined && { ca }),
    ...client,
  });
};

/** Sends all commands, and waits for as many replies. It never throws, and leaves no timer. */
const converse = (
  server: RedisServer,
  node: Node,
  commands: readonly (readonly string[])[],
  { timeoutMs, maxBytes }: { readonly timeoutMs: number; readonly maxBytes: number },
): Promise<Outcome> =>
  new Promise((resolve) => {
    const socket = connected(server, node);
    const reader = replyReader(commands.length);
    let sent = false;
    const end = (outcome: Outcome): void => {
      clearTimeout(timer);
      socket.removeAllListeners("data");
      socket.destroy();
      resolve(outcome);
    };
    const broken = (because: Broken["because"], error: NodeJS.ErrnoException): void => {
      const wireBytes = reader.bytes();
      const answering = wireBytes > 0;
      const cut = { headers: {}, chunks: [] };
      end({ kind: "broken", because, error, sent, reused: false, answering, wireBytes, cut });
    };
    const timer = setTimeout(() => broken("timeout", new Error("timeout")), timeoutMs);
    socket.on("error", (error) => broken("network", error));
    socket.on("close", () => broken("network", new Error("the connection was closed")));
    socket.once(isSecure(server) ? "secureConnect" : "connect", () => {
      sent = true;
      socket.write(Buffer.concat(commands.map(commandBytes)));
    });
    socket.on("data", (chunk: Buffer) => {
      const found = reader.take(chunk);
      if (found.kind === "none") end(notAsked(`what answers there is no Redis: ${found.why}`));
      else if (found.kind === "replied") end(found);
      else if (reader.bytes() > maxBytes)
        broken("too-large", new Error(`the answer has more than ${maxBytes} bytes`));
    });
  });
