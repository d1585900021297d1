import * as http from "node:http";
import * as https from "node:https";
import * as zlib from "node:zlib";
import type { Duplex } from "node:stream";
import type { Socket } from "node:net";
import type { Access } from "../access/access.ts";
import { foreignLookup } from "../reachable.ts";
import { MAX_FLOW_CALLS, MAX_IDLE_SOCKETS, MAX_SOCKETS } from "../request-limits.ts";
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";
import { promisify } from "node:util";

/** Time and connections of the calls to one cluster. */
export interface Surroundings {
  /** Calls back after a time. Returns what cancels the call. */
  readonly after: (ms: number, happen: () => void) => () => void;
  /** Opens a connection, which emits "connect" once it stands. Absent: a socket of this machine. */
  readonly connection?: () => Duplex;
}

/** Time and connections of the machine that the process runs on. */
export const OF_THE_MACHINE: Surroundings = {
  after: (ms, happen) => {
    const timer = setTimeout(happen, ms);
    return () => clearTimeout(timer);
  },
};

/** The keep-alive connections to one cluster. */
export interface Pool {
  readonly agent: http.Agent;
  /** The timer of the calls. */
  readonly after: Surroundings["after"];
  /**
   * Closes connections that were idle for longer than this. A process that was frozen has not
   * noticed that the server closed them.
   */
  readonly dropIdle: (olderThanMs: number) => void;
  /** Closes idle connections now, and the others when they become idle. */
  readonly close: () => void;
}

/**
 * A bounded pool: the writes may take all but the connections of reads that go on beside them.
 * `nowMs` is the wall clock, because it must run on while the process is frozen.
 */
export const connectionPool = (
  access: Access,
  nowMs: () => number,
  { after, connection }: Surroundings = OF_THE_MACHINE,
): Pool => {
  const idleSince = new WeakMap<Socket, number>();
  const options = {
    keepAlive: true,
    maxSockets: MAX_SOCKETS + MAX_FLOW_CALLS,
    maxFreeSockets: MAX_IDLE_SOCKETS,
    scheduling: "lifo" as const,
  };
  const agent =
    access.server.protocol === "https:"
      ? new https.Agent({
          ...options,
          rejectUnauthorized: access.rejectUnauthorized,
          ...(!access.ownAddresses && { lookup: foreignLookup }),
          ...(access.ca !== undefined && { ca: access.ca }),
          ...(access.servername !== undefined && { servername: access.servername }),
        })
      : new http.Agent(options);
  if (connection) agent.createConnection = connection;
  agent.on("free", (socket: Socket) => idleSince.set(socket, nowMs()));
  const idle = (): Socket[] => Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);
  return {
    agent,
    after,
    dropIdle: (olderThanMs) => {
      const now = nowMs();
      for (const socket of idle()) {
        const age = now - (idleSince.get(socket) ?? Number.NEGATIVE_INFINITY);
        // After a clock was set back the age is not known, so that the connection is not used.
        if (age > olderThanMs || age < 0) socket.destroy();
      }
      // The agent passes over destroyed ones only where they come first, and takes the last.
      for (const sockets of Object.values(agent.freeSockets))
        sockets?.sort((one, other) => Number(other.destroyed) - Number(one.destroyed));
    },
    close: () => {
      const drop = (): void => {
        for (const socket of idle()) socket.destroy();
      };
      drop();
      // Runs after the listener of the agent, which may have given the connection to a waiting
      // call. Only connections that are idle now are closed.
      agent.on("free", drop);
    },
  };
};

/** The end of one HTTP exchange. `wireBytes` counts the received bytes before decompression. */
export type Exchange = Answered | Broken;

export interface Answered {
  readonly kind: "answered";
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly wireBytes: number;
}

export interface Broken {
  readonly kind: "broken";
  readonly because: "timeout" | "too-large" | "network";
  readonly error: NodeJS.ErrnoException;
  /** False proves that no byte of the request was sent. */
  readonly sent: boolean;
  /** True on a connection that was used before. The server may have closed it while it was idle. */
  readonly reused: boolean;
  /** True when a status line was received before the failure. */
  readonly answering: boolean;
  readonly wireBytes: number;
  /** What has come of the content, as it came. */
  readonly cut: Cut;
}

export type Cut = Pick<Answered, "headers"> & { readonly chunks: readonly Buffer[] };

export interface Outgoing {
  readonly secure: boolean;
  readonly options: RequestOptions & https.RequestOptions;
  readonly body?: string;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  /** The timer of `timeoutMs`, where it is not the crash of the machine. */
  readonly after?: Surroundings["after"];
  /** Looks at what has come after so long. True ends the call as its time would. */
  readonly look?: {
    readonly afterMs: number;
    readonly ends: (cut: Cut) => Promise<boolean>;
  };
  /**
   * For an answer that the server does not end, such as a watch. Called when its status has come:
   * the answer is over where nothing more has come for `quietMs`, and after `mostMs` at the latest.
   */
  readonly endless?: () => { readonly quietMs: number; readonly mostMs: number };
}

/**
 * Connections with a complete TLS handshake. Before that Node sends no request, so that a failure
 * proves that nothing was sent.
 */
const established = new WeakSet<Socket>();

/**
 * Sends one request once and waits for the whole answer. It never repeats, never throws, and leaves
 * no timer running.
 */
export const exchange = (outgoing: Outgoing): Promise<Exchange> => {
  const progress: Progress = {
    sent: false,
    reused: false,
    answering: false,
    wireBytes: 0,
    because: "network",
    cut: { headers: {}, chunks: [] },
  };
  try {
    return perform((outgoing.secure ? https : http).request(outgoing.options), outgoing, progress);
  } catch (error) {
    // Node refuses an invalid header or certificate before it connects. Nothing was sent, so that
    // this fails like an unreachable server and the workloads hold. The message of Node is dropped,
    // because it may quote the credentials.
    const { code = "" } = error as NodeJS.ErrnoException;
    return Promise.resolve({
      kind: "broken",
      error: new Error(`the request cannot be made of these credentials (${code})`),
      ...progress,
    });
  }
};

const perform = (
  request: http.ClientRequest,
  { secure, body, timeoutMs, maxBytes, after = OF_THE_MACHINE.after, look, endless }: Outgoing,
  progress: Progress,
): Promise<Exchange> =>
  new Promise((resolve) => {
    let isOpen = true;
    const giveUp = (): void => {
      if (!isOpen) return;
      progress.because = "timeout";
      const late = new Error("deadline passed");
      request.destroy(late);
      // The whole answer may be there and only its unpacking be late: then the request has no
      // error.
      fail(late);
    };
    const cancel = after(timeoutMs, giveUp);
    const cancelLook = look && after(look.afterMs, () => void lookAt(look));
    const lookAt = async ({ ends }: NonNullable<Outgoing["look"]>): Promise<void> => {
      if (await ends(progress.cut)) giveUp();
    };
    const end = (outcome: Exchange): void => {
      isOpen = false;
      cancel();
      cancelLook?.();
      resolve(outcome);
    };
    const fail = (error: Error): void => end({ kind: "broken", error, ...progress });
    request.on("socket", (socket) => follow(socket, secure, progress));
    request.on("error", fail);
    request.on("response", (response) => {
      progress.answering = true;
      progress.cut.headers = response.headers;
      const whenQuiet = endless && quiet(endless(), after);
      collect(response, { maxBytes, progress, whenQuiet }).then((bytes) => {
        end({
          kind: "answered",
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          wireBytes: progress.wireBytes,
        });
      }, fail);
    });
    request.end(body);
  });

interface Progress {
  sent: boolean;
  reused: boolean;
  answering: boolean;
  wireBytes: number;
  because: Broken["because"];
  readonly cut: { headers: IncomingHttpHeaders; readonly chunks: Buffer[] };
}

const follow = (socket: Socket, secure: boolean, progress: Progress): void => {
  if (established.has(socket)) {
    progress.sent = true;
    progress.reused = true;
    return;
  }
  socket.once(secure ? "secureConnect" : "connect", () => {
    established.add(socket);
    progress.sent = true;
  });
};

const gunzip = promisify(zlib.gunzip);

type WhenQuiet = (response: IncomingMessage, stop: () => void) => void;

interface Collecting {
  readonly maxBytes: number;
  readonly progress: Progress;
  readonly whenQuiet: WhenQuiet | undefined;
}

const collect = async (response: IncomingMessage, collecting: Collecting): Promise<Buffer> => {
  const { maxBytes, progress } = collecting;
  const bytes = await received(response, collecting);
  if (response.headers["content-encoding"] !== "gzip") return bytes;
  try {
    // Decompresses off this thread, and as a rule in one piece: with the usual 16 KB the event loop
    // would be interrupted for each, and the whole take six times the CPU.
    return await gunzip(bytes, { maxOutputLength: maxBytes, chunkSize: chunkFor(bytes) });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
      ? tooLarge(maxBytes, progress)
      : error;
  }
};

/** The content of an answer that was cut off, as far as it has come. */
export const contentOf = async ({ headers, chunks }: Cut, maxBytes: number): Promise<Buffer> => {
  const bytes = Buffer.concat(chunks);
  if (headers["content-encoding"] !== "gzip") return bytes;
  try {
    return await gunzip(bytes, {
      maxOutputLength: maxBytes,
      finishFlush: zlib.constants.Z_SYNC_FLUSH,
    });
  } catch {
    // It is larger than an answer may be, or no gzip: nothing of it is known.
    return Buffer.alloc(0);
  }
};

const CHUNK_BYTES = { least: 16 * 1024, most: 1024 * 1024 } as const;
const SIZE_BYTES = 4;

/**
 * The size of the whole content, as the last bytes of gzip say. A wrong one only costs time,
 * because the content is bounded by itself.
 */
const chunkFor = (packed: Buffer): number => {
  const contentBytes =
    packed.length < SIZE_BYTES ? 0 : packed.readUInt32LE(packed.length - SIZE_BYTES);
  // With one byte more zlib sees the end without another piece.
  return Math.min(CHUNK_BYTES.most, Math.max(CHUNK_BYTES.least, contentBytes + 1));
};

const received = (
  response: IncomingMessage,
  { maxBytes, progress, whenQuiet }: Collecting,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const { chunks } = progress.cut;
    response.on("data", (chunk: Buffer) => {
      progress.wireBytes += chunk.length;
      if (progress.wireBytes > maxBytes) response.destroy(tooLarge(maxBytes, progress));
      else chunks.push(chunk);
    });
    const whole = (): void =>
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    response.on("end", whole);
    response.on("error", reject);
    whenQuiet?.(response, () => {
      whole();
      // The server would go on: nothing but the end of the connection stops it.
      response.destroy();
    });
  });

/** Calls `stop` once where nothing has come for `quietMs`, and after `mostMs` at the latest. */
const quiet =
  (
    { quietMs, mostMs }: { readonly quietMs: number; readonly mostMs: number },
    after: Surroundings["after"],
  ): WhenQuiet =>
  (response, stop) => {
    const cancel = (): void => {
      cancelQuiet();
      cancelMost();
    };
    const over = (): void => {
      cancel();
      stop();
    };
    const cancelMost = after(mostMs, over);
    let cancelQuiet = after(quietMs, over);
    response.on("data", () => {
      cancelQuiet();
      cancelQuiet = after(quietMs, over);
    });
    response.on("close", cancel);
  };

const tooLarge = (maxBytes: number, progress: Progress): RangeError => {
  progress.because = "too-large";
  return new RangeError(`answer is larger than ${maxBytes} bytes`);
};
