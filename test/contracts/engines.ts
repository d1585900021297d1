import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { withoutLogger } from "../../lib/stack/aws/bounded-requests.ts";
import {
  closeServer,
  LOOPBACK_CREDENTIALS,
  LOOPBACK_REGION,
  listenOnLoopback,
} from "../../lib/embedded/host/loopback.ts";
import { ensureTables, startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import { type Tables, tableDefinitions } from "../../lib/stack/store/table/tables.ts";
import type { TableClient } from "./faults.ts";
import { memoryEngine, type Paging } from "./memory-engine.ts";

/** A table engine with both tables made. */
export interface Engine {
  readonly client: TableClient;
  /** Where other processes reach it; absent for an engine in memory. */
  readonly endpoint?: string;
  readonly tables: Pick<Tables, "stateTable" | "historyTable">;
  readonly close: () => Promise<void>;
}

/** An engine of the suite, or why it is left out here. */
export interface EngineChoice {
  readonly name: string;
  readonly start: () => Promise<Engine>;
  readonly missing: string | undefined;
}

const TABLES = { stateTable: "state", historyTable: "history" };
const START_MAX_MS = 30_000;
const POLL_MS = 20;

export const clientAt = (endpoint: string): DynamoDBClient =>
  withoutLogger(
    new DynamoDBClient({
      endpoint,
      region: LOOPBACK_REGION,
      credentials: LOOPBACK_CREDENTIALS,
      maxAttempts: 1,
    }),
  );

const engineAt = async (endpoint: string, stop: () => Promise<void>): Promise<Engine> => {
  const client = clientAt(endpoint);
  await untilAnswering(client);
  await ensureTables(client, tableDefinitions(TABLES));
  const close = async (): Promise<void> => {
    client.destroy();
    await stop();
  };
  return { client, endpoint, tables: TABLES, close };
};

const untilAnswering = async (client: DynamoDBClient): Promise<void> => {
  const untilMs = Date.now() + START_MAX_MS;
  for (;;) {
    try {
      await client.send(new ListTablesCommand({}));
      return;
    } catch (error) {
      if (Date.now() > untilMs) throw error;
      await wait(POLL_MS);
    }
  }
};

/** The embedded engine, in memory and in this process. */
export const startDynalite = async (): Promise<Engine> => {
  const { endpoint, close } = await startTables();
  return engineAt(endpoint, close);
};

/** The same, called without a socket. */
export const startInProcess = async (): Promise<Engine> => {
  const embedded = await startTables();
  const client = embedded.client();
  await ensureTables(client, tableDefinitions(TABLES));
  return { client, tables: TABLES, close: embedded.close };
};

/** The tables in memory, without a server: for tests that play many syncs. */
export const startMemory = async (paging?: Paging): Promise<Engine> => ({
  client: memoryEngine(paging).client,
  tables: TABLES,
  close: () => Promise.resolve(),
});

const freePort = async (): Promise<number> => {
  const server = createServer();
  const port = Number(new URL(await listenOnLoopback(server)).port);
  await closeServer(server);
  return port;
};

const startProcess = async (
  command: string,
  args: (port: number) => readonly string[],
  cwd?: string,
): Promise<Engine> => {
  const port = await freePort();
  const child = spawn(command, args(port), { stdio: "ignore", ...(cwd !== undefined && { cwd }) });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  return engineAt(`http://127.0.0.1:${port}`, stop);
};

const dynoxideBinary = (): string | undefined => {
  try {
    return join(
      createRequire(import.meta.url).resolve("@dynoxide/linux-x64/package.json"),
      "..",
      "dynoxide",
    );
  } catch {
    return undefined;
  }
};

/**
 * Folder with the jars of DynamoDB Local and its native library, as `mvn
 * dependency:copy-dependencies` leaves them.
 */
const LOCAL_VARIABLE = "DYNAMODB_LOCAL_LIB";
const localFolder = process.env[LOCAL_VARIABLE];

export const isLocalThere = localFolder !== undefined && existsSync(localFolder);

/** AWS's own engine, in memory. */
export const startLocal = (): Promise<Engine> => {
  const folder = localFolder ?? "";
  const jvm = [
    "-Xmx256m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    `-Djava.library.path=${folder}`,
    "-cp",
    `${folder}/*`,
  ];
  const main = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner";
  return startProcess(
    "java",
    (port) => [...jvm, main, "-port", String(port), "-inMemory", "-sharedDb", "-disableTelemetry"],
    folder,
  );
};

const binary = dynoxideBinary();

/** Every engine that the suite knows, most embedded first. */
export const ENGINES: readonly EngineChoice[] = [
  { name: "memory", start: () => startMemory(), missing: undefined },
  { name: "dynalite", start: startDynalite, missing: undefined },
  { name: "dynalite in this process", start: startInProcess, missing: undefined },
  {
    name: "dynoxide",
    start: () => startProcess(binary ?? "", (port) => ["serve", "--port", String(port)]),
    missing: binary ? undefined : "needs @dynoxide/linux-x64, which is for Linux on x64",
  },
  {
    name: "DynamoDB Local",
    start: startLocal,
    missing: isLocalThere
      ? undefined
      : `needs Java and ${LOCAL_VARIABLE}, the folder of its jars (docs/proofs.md, "Real parts")`,
  },
];
