import { Console } from "node:console";
import { createWriteStream, renameSync, statSync, type WriteStream } from "node:fs";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { newLogger, powertoolsReporter, type Reporter } from "../../report/reporter.ts";
import { isMissing } from "../folder/whole-file.ts";

export interface LogFile {
  readonly reporter: Reporter;
  readonly close: () => Promise<void>;
}

/** Above this size a run begins a new file and keeps the previous one. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * The functions' own lines and embedded metrics, as CloudWatch would receive them, in a file of the data folder: the terminal belongs to the view. Powertools prints to a
 * console of its own that it keeps private, so it is replaced from outside.
 */
export const openLogFile = (path: string): LogFile => {
  if (sizeOf(path) > MAX_BYTES) renameSync(path, `${path}.1`);
  const stream: WriteStream = createWriteStream(path, { flags: "a" });
  const console = new Console({ stdout: stream, stderr: stream });
  const logger = newLogger({ serviceName: "tidemark", logLevel: "DEBUG" });
  const metrics = new Metrics({ namespace: "Tidemark", serviceName: "tidemark" });
  for (const tool of [logger, metrics]) Reflect.set(tool, "console", console);
  return {
    reporter: powertoolsReporter({ logger, metrics, extent: "all" }),
    close: () => new Promise((resolve, reject) => stream.end((error: unknown) => (error ? reject(error) : resolve()))),
  };
};

const sizeOf = (path: string): number => {
  try {
    return statSync(path).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
};
