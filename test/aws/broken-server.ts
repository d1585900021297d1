import { createServer, type Socket } from "node:net";

/** What a server does with one connection. It closes none by itself. */
export type Behaviour = (socket: Socket) => void;

/** A whole answer of HTTP with a body of JSON, or of the given type. */
export const wholeAnswer = (body: string, type = "application/x-amz-json-1.0"): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const headOf = (answer: string): string => answer.slice(0, answer.indexOf("\r\n\r\n") + 4);

export const silent: Behaviour = () => undefined;

/** Answers every request, each time with the next answer; the last one stays. */
export const answering =
  (...answers: readonly string[]): Behaviour =>
  (socket) => {
    let at = 0;
    socket.on("data", () => socket.write(answers[Math.min(at++, answers.length - 1)] ?? ""));
  };

/**
 * Answers one request. The connection is dead from then on, as after a freeze of the client's
 * machine: the server knows nothing of it, and no reset comes.
 */
export const deadAfterOne =
  (answer: string): Behaviour =>
  (socket) =>
    void socket.once("data", () => socket.write(answer));

const headOnly =
  (answer: string): Behaviour =>
  (socket) =>
    void socket.on("data", () => socket.write(headOf(answer)));

const halfBody =
  (answer: string): Behaviour =>
  (socket) =>
    void socket.on("data", () => socket.write(answer.slice(0, -10)));

const dripping =
  (answer: string): Behaviour =>
  (socket) => {
    socket.once("data", () => {
      socket.write(headOf(answer).replace(/length: \d+/, "length: 100000"));
      const timer = setInterval(() => socket.write(" "), 100);
      socket.on("close", () => clearInterval(timer));
    });
  };

/** Every way in which a server takes a request and never gives a whole answer. */
export const BROKEN: readonly (readonly [
  what: string,
  behaviour: (answer: string) => Behaviour,
])[] = [
  ["accepts and never answers", () => silent],
  ["sends the head of an answer and no body", headOnly],
  ["stops in the middle of a body", halfBody],
  ["sends a body one byte at a time", dripping],
];

export interface BrokenServer {
  readonly endpoint: string;
  readonly connections: readonly Socket[];
  /** The behaviour of each connection in turn; the last one stays. */
  behaviours: readonly Behaviour[];
  /** Resolves when the first connection was accepted. */
  readonly reached: Promise<void>;
  readonly close: () => Promise<void>;
}

export const brokenServer = async (...behaviours: readonly Behaviour[]): Promise<BrokenServer> => {
  const connections: Socket[] = [];
  const { promise: reached, resolve: isReached } = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    // A client that gives up resets the connection.
    socket.on("error", () => undefined);
    broken.behaviours[Math.min(connections.length, broken.behaviours.length - 1)]?.(socket);
    connections.push(socket);
    isReached();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  const broken: BrokenServer = {
    endpoint: typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "",
    connections,
    behaviours,
    reached,
    close: async () => {
      for (const socket of connections) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
  return broken;
};

/**
 * Fails the test when a call outlives its limit by far: a call without a limit never comes back at
 * all.
 */
export const within = async <Value>(ms: number, call: Promise<Value>): Promise<Value> => {
  const late = new Promise<never>(
    (_, reject) =>
      void setTimeout(() => reject(new Error(`still waiting after ${ms} ms`)), ms).unref(),
  );
  return Promise.race([call, late]);
};
