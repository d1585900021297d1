import { open, readdir } from "node:fs/promises";
import type { RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { groupCommit } from "../folder/json-lines.ts";
import { isMissing, syncFolder } from "../folder/whole-file.ts";

/** Targets of requests that write nothing. */
export const READS = /\.(?:GetItem|BatchGetItem|Query|Scan|DescribeTable|ListTables)$/;

/*
 *  write a ── engine ✓ ──┐
 *  write b ── engine ✓ ──┴ fdatasync ── answer a, answer b
 *  write c ──── engine ✓ ──────┘ (under way: c may not be in it) ── fdatasync ── answer c
 */

/**
 * A listener that answers a write only once it also survives a loss of power. Writes that arrive together share one fdatasync. On doubt, refuse: after one that failed the kernel may have dropped
 * what was written, so that every later write is answered by an error of the service, and the run says so.
 */
export const withDurableWrites = (listener: RequestListener, sync: () => Promise<void>): RequestListener => {
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
 * Makes durable what LevelDB has written to its logs. Tables of its own it syncs itself before it deletes a log, so that a log that is gone meanwhile is no loss. The engine offers no synchronous
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
