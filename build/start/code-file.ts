import { crc32 } from "node:zlib";

/**
 * The file with the compiled code of a folder: a line of JSON, then the code of each entry in its
 * order.
 */
export const CODE_FILE = "compiled-code";
/** The file of the bundle that `index.js` loads. */
export const MAIN_FILE = "main.js";

interface Entry {
  readonly file: string;
  /**
   * CRC-32 of the source. V8 compares only its length, and would run the code of a source that was
   * changed in its place.
   */
  readonly sourceCrc: number;
  /** CRC-32 of the code: V8 does not look, and ends the process at damaged code. */
  readonly codeCrc: number;
  readonly bytes: number;
}

export interface Code {
  readonly file: string;
  readonly source: string;
  readonly data: Buffer;
}

/** `node` is the version and the architecture of the process that compiled. */
export const codeFileOf = (node: string, codes: readonly Code[]): Buffer => {
  const entries = codes.map(
    ({ file, source, data }): Entry => ({
      file,
      sourceCrc: crc32(source),
      codeCrc: crc32(data),
      bytes: data.length,
    }),
  );
  return Buffer.concat([
    Buffer.from(`${JSON.stringify({ node, entries })}\n`),
    ...codes.map(({ data }) => data),
  ]);
};

export interface CodeFile {
  readonly node: string;
  readonly codeOf: (file: string, source: string) => Buffer | undefined;
}

export const readCodeFile = (bytes: Buffer): CodeFile => {
  let at = bytes.indexOf("\n") + 1;
  const { node, entries }: { readonly node: string; readonly entries: readonly Entry[] } =
    JSON.parse(bytes.toString("utf8", 0, at));
  const codes = new Map<string, Entry & { readonly data: Buffer }>();
  for (const entry of entries) {
    codes.set(entry.file, { ...entry, data: bytes.subarray(at, at + entry.bytes) });
    at += entry.bytes;
  }
  return {
    node,
    codeOf: (file, source) => {
      const code = codes.get(file);
      return code?.sourceCrc === crc32(source) && code.codeCrc === crc32(code.data)
        ? code.data
        : undefined;
    },
  };
};

/** This process, as a code file names it. */
export const NODE_HERE = `${process.version} ${process.arch}`;
