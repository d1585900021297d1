import { MessageChannel, type MessagePort } from "node:worker_threads";
import { answerIn, answerOn, type Ask, askOn, startThread } from "../engine/thread.ts";
import { startEngine, type EmbeddedTables } from "./embedded-tables.ts";
import { type CallTables, inProcessClient } from "./tables-client.ts";

type Headers = Readonly<Record<string, string>>;
interface Call {
  readonly kind: "call";
  readonly headers: Headers;
  readonly body: Uint8Array;
}
type Question =
  | { readonly kind: "open" | "compact" | "close" }
  | { readonly kind: "serve"; readonly port: MessagePort }
  | Call;

/**
 * The body of a response is a text here: a copy of a Buffer would be one of the memory that it
 * shares with others.
 */
interface Answered {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}
type Answer = { readonly endpoint: string } | Answered | undefined;

interface Start {
  readonly path: string;
  /** One number: the writes that were answered. */
  readonly writes: SharedArrayBuffer;
}

const PART = "embedded tables";

/** The headers that the engine reads. */
const READ_HEADERS = ["x-amz-target", "content-type", "authorization", "x-amz-date"] as const;

const callOver =
  (ask: Ask<Question, Answer>): CallTables =>
  async (headers, body) => {
    const read: Headers = Object.fromEntries(
      READ_HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])),
    );
    const own = body.byteLength < body.buffer.byteLength ? new Uint8Array(body) : body;
    const answer = await ask({ kind: "call", headers: read, body: own });
    if (!answer || !("status" in answer)) throw new TypeError("the embedded tables did not answer");
    return { status: answer.status, headers: answer.headers, body: Buffer.from(answer.text) };
  };

/** A client for the tables in another thread that this end of a channel leads to. */
export const clientOver = (port: MessagePort) => inProcessClient(callOver(askOn(port)));

/**
 * The embedded tables of a folder in a thread of their own, beside the syncs of many clusters.
 * Writes survive the death of the process, as they do in the thread of the run.
 */
export const startTablesThread = async (path: string): Promise<EmbeddedTables> => {
  const writes = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = startThread<Question, Answer, Start>({
    module: import.meta.url,
    part: PART,
    data: { path, writes: writes.buffer },
  });
  const opened = await thread.ask({ kind: "open" }).catch(async (error: unknown) => {
    await thread.end();
    throw error;
  });
  if (!opened || !("endpoint" in opened))
    throw new TypeError("the embedded tables have no address");
  const call = callOver(thread.ask);
  return {
    endpoint: opened.endpoint,
    client: () => inProcessClient(call),
    port: async () => {
      const { port1, port2 } = new MessageChannel();
      await thread.ask({ kind: "serve", port: port1 }, [port1]);
      return port2;
    },
    writes: () => Atomics.load(writes, 0),
    compact: async () => void (await thread.ask({ kind: "compact" })),
    close: async () => {
      try {
        await thread.ask({ kind: "close" });
      } finally {
        await thread.end();
      }
    },
  };
};

answerIn<Question, Answer, Start>(PART, ({ path, writes }) => {
  const counted = new Int32Array(writes);
  const starting = startEngine(path, {}, () => void Atomics.add(counted, 0, 1));
  // A start that fails is the answer to every question.
  starting.catch(() => undefined);
  const answer = async (question: Question): Promise<Answer> => {
    const engine = await starting;
    switch (question.kind) {
      case "open":
        return { endpoint: engine.endpoint };
      case "serve":
        answerOn(question.port, answer);
        return undefined;
      case "call": {
        const { status, headers, body } = await engine.call(question.headers, question.body);
        return { status, headers, text: body.toString() };
      }
      case "compact":
        await engine.compact();
        return undefined;
      case "close":
        await engine.close();
        return undefined;
    }
  };
  return answer;
});
