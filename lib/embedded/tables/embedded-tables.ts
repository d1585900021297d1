import { open, readdir } from "node:fs/promises";
import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
} from "@aws-sdk/client-dynamodb";
import dynalite from "dynalite";
import { TidemarkError } from "../../rules/model/errors.ts";
import { groupCommit } from "../host/json-lines.ts";
import { isMissing, syncFolder } from "../host/whole-file.ts";
import { closeServer, listenForOwnUser } from "../host/loopback.ts";
import {
  withInsertStatements,
  callListener,
  type CallTables,
  inProcessClient,
} from "./tables-client.ts";

const TABLE_POLL_MS = 5;
/**
 * A table is made within milliseconds. A table whose engine died while it was made never becomes
 * ready.
 */
const TABLE_PATIENCE_MS = 10_000;

export interface EmbeddedTables {
  /**
   * Where other processes of this user reach the tables, on loopback, with the secret of this run.
   */
  readonly endpoint: string;
  /** A new client for this thread. */
  readonly client: () => DynamoDBClient;
  /** A way to the tables for another thread; absent where they are in the thread of the run. */
  readonly port?: () => Promise<MessagePort>;
  /** Write requests answered so far, also of other processes. */
  readonly writes: () => number;
  /** Gives the disk free that overwritten and deleted items took, while requests go on. */
  readonly compact: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface TablesOptions {
  /** Answers a write only once it survives a loss of power, not only the death of the process. */
  readonly durable?: boolean;
  /** Makes durable what the engine has written. */
  readonly sync?: () => Promise<void>;
}

/** Every key begins with the name of what it belongs to, in ASCII. */
const [FIRST_KEY, LAST_KEY] = ["\u0000", "\uffff"];

/** The engine of the tables, in the thread that serves it. */
export interface Engine extends Pick<EmbeddedTables, "endpoint" | "compact" | "close"> {
  /** Answers a request without a socket. */
  readonly call: CallTables;
}

/**
 * Starts the embedded DynamoDB on a LevelDB folder, or in memory, on a free port of 127.0.0.1. The
 * caller must hold the data folder: LevelDB admits one process.
 */
export const startTables = async (
  path?: string,
  options: TablesOptions = {},
): Promise<EmbeddedTables> => {
  let writes = 0;
  const { call, ...engine } = await startEngine(path, options, () => {
    writes++;
  });
  return { ...engine, client: () => inProcessClient(call), writes: () => writes };
};

/** `onWrite`: called after each write was answered, of any client. */
export const startEngine = async (
  path: string | undefined,
  { durable = false, sync }: TablesOptions,
  onWrite: () => void,
): Promise<Engine> => {
  const { server, store } = openEngine(path);
  const [engine] = server.listeners("request") as RequestListener[];
  if (!engine) throw new TypeError("the embedded engine has no request listener");
  const statements = withInsertStatements(engine);
  const listener =
    path !== undefined && durable
      ? withDurableWrites(statements, sync ?? logsOf(path))
      : statements;
  server.removeAllListeners("request").on("request", listener);
  countWrites(server, onWrite);
  const endpoint = await listenForOwnUser(server);
  let isClosed = false;
  return {
    endpoint,
    call: async (headers, body) => {
      // The engine throws this where nothing can catch it.
      if (isClosed) throw new Error("the embedded tables are closed");
      const answer = await callListener(listener, headers, body);
      if (!READS.test(headers["x-amz-target"] ?? "")) onWrite();
      return answer;
    },
    compact: async () => store.compactRange?.(FIRST_KEY, LAST_KEY),
    close: () => {
      isClosed = true;
      return closeServer(server);
    },
  };
};

/** Counts after the answer was sent: a reader that sees the count also sees what was written. */
const countWrites = (server: Server, onWrite: () => void): void => {
  server.on("request", ({ headers }: IncomingMessage, response: ServerResponse) => {
    if (!READS.test(String(headers["x-amz-target"]))) response.once("finish", onWrite);
  });
};

/** Creates the tables that are not there yet and waits until all answer. */
export const ensureTables = async (
  client: DynamoDBClient,
  definitions: readonly CreateTableCommandInput[],
): Promise<void> => {
  for (const definition of definitions) {
    try {
      await client.send(new CreateTableCommand(definition));
    } catch (error) {
      // The table is there already: the folder was used before.
      if (!(error instanceof ResourceInUseException)) throw error;
    }
    await untilActive(client, definition.TableName);
  }
};

const untilActive = async (
  client: DynamoDBClient,
  TableName: string | undefined,
): Promise<void> => {
  const giveUpAt = performance.now() + TABLE_PATIENCE_MS;
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    if (Table?.TableStatus === "ACTIVE") return;
    if (performance.now() > giveUpAt)
      throw new TidemarkError(
        "local.table-not-ready",
        `Cannot make table "${TableName}": it is still ${Table?.TableStatus} after ${TABLE_PATIENCE_MS / 1_000} s, because the run that began to make it died; nothing is stored yet: remove the data folder and start again`,
        { TableName },
      );
    await wait(TABLE_POLL_MS);
  }
};

/** The LevelDB of an engine, as far as it is used here. */
interface EngineStore {
  /**
   * Rewrites what lies between two keys without what was overwritten or deleted. LevelDB does it in
   * a thread of its own. Absent in memory.
   */
  compactRange?(from: string, to: string): Promise<void>;
}

type Described = (error: unknown, table?: { readonly TableStatus?: string }) => void;

/** What the engine's actions work on. */
interface EngineParts {
  readonly db: EngineStore;
  /** Where the descriptions of the tables are kept. */
  readonly tableDb: Record<"put" | "del", (name: string, ...rest: unknown[]) => unknown>;
  /**
   * `getTable(name, described)` for requests to items, `getTable(name, false, described)` for
   * requests to the table itself.
   */
  getTable: (name: string, ...rest: readonly [Described] | readonly [boolean, Described]) => void;
}

interface EngineModule {
  create: (options: unknown) => EngineParts;
}

interface LevelClass {
  readonly prototype: Record<"keys" | "values", (this: unknown, ...args: unknown[]) => Closable>;
}

interface Closable {
  close: () => Promise<void>;
  return?: () => Promise<void>;
}

const requireOfEngine = createRequire(createRequire(import.meta.url).resolve("dynalite"));
const engine: EngineModule = requireOfEngine("./db/index.js");

/**
 * The engine ends the iterator of each Query and Scan by its method `return`, which iterators of
 * this version of LevelDB's binding do not have, and so never ends one. An open iterator holds a
 * snapshot: nothing that was overwritten or deleted since is ever given free. A week of three
 * autoscalers left 416 MB on the disk in place of 6, and each read some memory. So iterators get
 * that method.
 */
const endsIterators = ({ prototype }: LevelClass): void => {
  for (const name of ["keys", "values"] as const) {
    const original = prototype[name];
    prototype[name] = function (...args) {
      const iterator = original.apply(this, args);
      iterator.return = () => iterator.close();
      return iterator;
    };
  }
};
endsIterators(requireOfEngine("level").Level);
endsIterators(requireOfEngine("memory-level").MemoryLevel);

/**
 * The engine reads and parses the description of a table for each request to its items: a sixth of
 * the CPU time of a request. It is kept until the description is written.
 */
const keepsDescriptions = (parts: EngineParts): void => {
  const { getTable, tableDb } = parts;
  const known = new Map<string, Parameters<Described>[1]>();
  let written = 0;
  for (const name of ["put", "del"] as const) {
    const original = tableDb[name];
    tableDb[name] = (table, ...rest) => {
      known.delete(table);
      written++;
      return original(table, ...rest);
    };
  }
  parts.getTable = (name, ...rest) => {
    const [described] = rest;
    if (typeof described !== "function") return getTable(name, ...rest);
    const table = known.get(name);
    if (table) return process.nextTick(described, null, table);
    const before = written;
    return getTable(name, (error, read) => {
      if (read?.TableStatus === "ACTIVE" && written === before) known.set(name, read);
      described(error, read);
    });
  };
};

/** An engine on a LevelDB folder, or in memory, and its store, which the engine keeps to itself. */
const openEngine = (
  path: string | undefined,
): { readonly server: Server; readonly store: EngineStore } => {
  const { create } = engine;
  let store: EngineStore | undefined;
  engine.create = (options) => {
    const made = create(options);
    keepsDescriptions(made);
    store = made.db;
    return made;
  };
  try {
    const server = dynalite({
      ...(path !== undefined && { path }),
      createTableMs: 0,
      deleteTableMs: 0,
      updateTableMs: 0,
    });
    if (!store) throw new TypeError("the embedded engine has opened no store");
    return { server, store };
  } finally {
    engine.create = create;
  }
};

/** Targets of requests that write nothing. */
const READS = /\.(?:GetItem|BatchGetItem|Query|Scan|DescribeTable|ListTables)$/;

/*
 *  write a ── engine ✓ ──┐
 *  write b ── engine ✓ ──┴ fdatasync ── answer a, answer b
 *  write c ──── engine ✓ ──────┘ (under way: c may not be in it) ── fdatasync ── answer c
 */

/**
 * A listener that answers a write only once it also survives a loss of power. Writes that arrive
 * together share one fdatasync. On doubt, refuse: after one that failed the kernel may have dropped
 * what was written, so that every later write is answered by an error of the service, and the run
 * says so.
 */
const withDurableWrites = (
  listener: RequestListener,
  sync: () => Promise<void>,
): RequestListener => {
  const durable = groupCommit(sync);
  return (request, response) => {
    if (READS.test(String(request.headers["x-amz-target"]))) return listener(request, response);
    const end = response.end.bind(response);
    const answer = (body: unknown): void => {
      durable().then(
        () => end(body),
        (error: unknown) => refuse(response, end, error),
      );
    };
    return listener(request, Object.assign(response, { end: answer }) as ServerResponse);
  };
};

const refuse = (response: ServerResponse, end: (body: unknown) => void, error: unknown): void => {
  const why = error instanceof Error ? error.message : String(error);
  const body = JSON.stringify({
    __type: "com.amazonaws.dynamodb.v20120810#InternalServerError",
    message: `the tables cannot be kept on the disk: ${why}`,
  });
  response.statusCode = 500;
  response.setHeader("Content-Length", Buffer.byteLength(body));
  end(body);
};

/**
 * Makes durable what LevelDB has written to its logs. Tables of its own it syncs itself before it
 * deletes a log, so that a log that is gone meanwhile is no loss. The engine offers no synchronous
 * writes (its batches have no options).
 */
export const logsOf = (folder: string): (() => Promise<void>) => {
  let known = "";
  return async () => {
    const logs = (await readdir(folder)).filter((name) => name.endsWith(".log")).toSorted();
    await Promise.all(logs.map((name) => syncLog(join(folder, name))));
    if (logs.join() !== known) syncFolder(folder);
    known = logs.join();
  };
};

const syncLog = async (path: string): Promise<void> => {
  const file = await open(path, "r").catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  try {
    await file?.datasync();
  } finally {
    await file?.close();
  }
};
