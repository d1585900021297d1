import { isUtf8 } from "node:buffer";
import { closeSync, openSync, readSync } from "node:fs";
import { TidemarkError } from "../../rules/model/errors.ts";

/** Memory for one read. */
const CHUNK_BYTES = 64 * 1024;

/**
 * The text of a file of a person, read only up to `mostBytes`. Throws `local.unreadable` with the
 * reason.
 */
export const textOfFile = (file: string, mostBytes: number): string => {
  try {
    return textOfBytes(file, readUpTo(file, mostBytes), mostBytes);
  } catch (cause) {
    if (cause instanceof TidemarkError) throw cause;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    throw unreadable(file, WORDS[code] ?? String(cause), cause);
  }
};

/** The text of a stream of bytes, such as standard input, in the same way. */
export const textOfStream = async (
  name: string,
  stream: AsyncIterable<Buffer | string>,
  mostBytes: number,
): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    length += bytes.length;
    // Stops reading an endless input.
    if (length > mostBytes) break;
  }
  return textOfBytes(name, Buffer.concat(chunks), mostBytes);
};

/**
 * The text of bytes that were read up to a limit. Throws `local.unreadable` above it, and for bytes
 * that are not UTF-8, which would otherwise be replaced silently.
 */
const textOfBytes = (name: string, bytes: Buffer, mostBytes: number): string => {
  if (bytes.length > mostBytes)
    throw unreadable(name, `it has more than ${mostBytes} bytes; cut it into several files`);
  if (!isUtf8(bytes))
    throw unreadable(name, `line ${lineOfFault(bytes)} is not UTF-8; save the file as UTF-8`);
  return new TextDecoder().decode(bytes);
};

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "it may not be read",
};

const unreadable = (file: string, why: string, cause?: unknown): TidemarkError =>
  new TidemarkError("local.unreadable", `Cannot read "${file}": ${why}`, { file }, { cause });

/** Devices and pipes have no size, so they are read up to the limit. */
const readUpTo = (file: string, mostBytes: number): Buffer => {
  const descriptor = openSync(file, "r");
  try {
    const chunks: Buffer[] = [];
    for (let length = 0; length <= mostBytes; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const read = readSync(descriptor, chunk);
      if (read === 0) break;
      chunks.push(chunk.subarray(0, read));
      length += read;
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(descriptor);
  }
};

const LINE_BREAK = 10;

const lineOfFault = (bytes: Buffer): number => {
  let line = 1;
  for (let from = 0; ; line++) {
    const end = bytes.indexOf(LINE_BREAK, from);
    if (end === -1 || !isUtf8(bytes.subarray(from, end))) return line;
    from = end + 1;
  }
};
