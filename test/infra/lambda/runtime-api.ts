import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

export type Answer =
  | { readonly kind: "response"; readonly body: unknown }
  | {
      readonly kind: "error";
      readonly body: { readonly errorType: string; readonly errorMessage: string };
    };

export interface Environment {
  /**
   * Sends one event and waits for the handler's answer; an environment that dies answers with its
   * exit.
   */
  readonly invoke: (event: unknown) => Promise<Answer>;
  /** From the start of the process until it asked for its first event. */
  readonly initMs: () => Promise<number>;
  /** What the function wrote to its log so far. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

export interface FunctionSettings {
  /** Folder that the zip is unpacked to. */
  readonly taskRoot: string;
  readonly handler: string;
  readonly timeoutMs: number;
  readonly environment: Readonly<Record<string, string>>;
  /** How far the clock of the machine is ahead of the real one at an event. Default 0. */
  readonly aheadMs?: () => number;
}

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
};

/**
 * One execution environment of a function: its process, and the Runtime API that it talks to, on
 * loopback. Nothing of the host's environment reaches it but PATH.
 */
export const startEnvironment = async ({
  taskRoot,
  handler,
  timeoutMs,
  environment,
  aheadMs = () => 0,
}: FunctionSettings): Promise<Environment> => {
  const startedMs = performance.now();
  let parked: ServerResponse | undefined;
  let waiting: { readonly event: unknown; readonly answered: (answer: Answer) => void } | undefined;
  let log = "";
  const first = Promise.withResolvers<number>();
  const deliver = (): void => {
    if (parked === undefined || waiting === undefined) return;
    parked.writeHead(200, {
      "lambda-runtime-aws-request-id": crypto.randomUUID(),
      "lambda-runtime-deadline-ms": String(Date.now() + aheadMs() + timeoutMs),
      "stand-in-ahead-ms": String(aheadMs()),
    });
    parked.end(JSON.stringify(waiting.event));
    parked = undefined;
  };
  const answer = (kind: Answer["kind"], body: unknown): void => {
    const asked = waiting;
    waiting = undefined;
    asked?.answered({ kind, body } as Answer);
  };
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (path.endsWith("/invocation/next")) {
      first.resolve(performance.now() - startedMs);
      parked = response;
      deliver();
      return;
    }
    bodyOf(request).then(
      (body) => {
        response.writeHead(202).end();
        answer(path.endsWith("/response") ? "response" : "error", body);
      },
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const child: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, "bootstrap.ts")], {
    cwd: taskRoot,
    env: {
      PATH: process.env["PATH"],
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
      LAMBDA_TASK_ROOT: taskRoot,
      _HANDLER: handler,
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      ...environment,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => (log += chunk.toString("utf8")));
  const exited = new Promise<void>((resolve) =>
    child.once("exit", (code) => {
      first.reject(new Error(`Cannot start the function: it ended with ${code}\n${log}`));
      answer("error", {
        errorType: "Runtime.ExitError",
        errorMessage: `ended with ${code}\n${log}`,
      });
      resolve();
    }),
  );
  first.promise.catch(() => undefined);
  return {
    invoke: (event) =>
      new Promise((answered) => {
        waiting = { event, answered };
        deliver();
      }),
    initMs: () => first.promise,
    log: () => log,
    stop: async () => {
      child.kill("SIGKILL");
      await exited;
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
