import { Console } from "node:console";
import { createWriteStream, renameSync, statSync, type WriteStream } from "node:fs";
import { Writable } from "node:stream";
import { Metrics } from "@aws-lambda-powertools/metrics";
import { newLogger, powertoolsReporter, type Reporter } from "../../stack/report/reporter.ts";
import { isMissing, openOwn } from "../host/whole-file.ts";

export interface LogFile {
  readonly reporter: Reporter;
  /** Takes the lines of a function in another thread. */
  readonly write: (lines: string) => void;
  readonly close: () => Promise<void>;
}

/**
 * Above this size a new file begins, also while a run lasts, and the previous one is kept as
 * `log.jsonl.1`: a log takes twice as much at most.
 */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * The functions' own lines and embedded metrics, as CloudWatch would receive them, in a file of the
 * data folder: the terminal belongs to the view. Powertools prints to a console of its own that it
 * keeps private, so it is replaced from outside.
 */
export const openLogFile = (path: string): LogFile => {
  const file = rotatingFile(path, MAX_BYTES);
  return {
    reporter: reporterTo(file),
    write: (lines) => void file.write(lines),
    close: () =>
      new Promise((resolve, reject) =>
        file.end((error: unknown) => (error ? reject(error) : resolve())),
      ),
  };
};

/** A reporter whose lines go into a stream. */
export const reporterTo = (stream: Writable): Reporter => {
  const console = new Console({ stdout: stream, stderr: stream });
  const logger = newLogger({ serviceName: "tidemark", logLevel: "DEBUG" });
  const metrics = new Metrics({ namespace: "Tidemark", serviceName: "tidemark" });
  for (const tool of [logger, metrics]) Reflect.set(tool, "console", console);
  return powertoolsReporter({ logger, metrics, extent: "all" });
};

/**
 * Appends to a file of at most so many bytes. A chunk that would pass them begins a new file; what
 * is still to be written of the previous one goes to its new name. A chunk is never divided.
 */
export const rotatingFile = (path: string, maxBytes: number): Writable => {
  let bytes = sizeOf(path);
  let file = openFile(path);
  const rotate = (stream: Writable): void => {
    const previous = file;
    renameSync(path, `${path}.1`);
    file = openFile(path);
    bytes = 0;
    previous.on("error", (error) => stream.destroy(error)).end();
  };
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        if (bytes > 0 && bytes + chunk.length > maxBytes) rotate(this);
      } catch (error) {
        done(error as Error);
        return;
      }
      bytes += chunk.length;
      file.write(chunk, done);
    },
    final(done) {
      file.end(done);
    },
  });
};

const openFile = (path: string): WriteStream =>
  createWriteStream(path, { fd: openOwn(path, "append") });

const sizeOf = (path: string): number => {
  try {
    return statSync(path).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
};
