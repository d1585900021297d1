import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** A vector file as read: what it says of itself, and its cases. */
export interface VectorFile {
  readonly path: string;
  readonly dialect: string;
  readonly kind: string;
  /** Members of the file beside its cases: conventions that hold for all of them. */
  readonly head: VectorHead;
  readonly cases: readonly VectorCase[];
}

export interface VectorHead {
  readonly standardMessages?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

export interface VectorCase {
  readonly id: string;
  readonly [member: string]: unknown;
}

/** A file that is not for this runner, and why. */
export interface PassedOver {
  readonly path: string;
  readonly why: string;
}

export const isPassedOver = (file: VectorFile | PassedOver): file is PassedOver => "why" in file;

/** Every file below the paths, in order of name. */
export const filesBelow = (path: string): readonly string[] =>
  statSync(path).isDirectory()
    ? readdirSync(path)
        .sort()
        .flatMap((name) => filesBelow(join(path, name)))
    : [path];

/** Reads one file; anything but the two formats is passed over. */
export const readVectorFile = (path: string): VectorFile | PassedOver => {
  if (!path.endsWith(".json")) return { path, why: "not a JSON file" };
  const document = parsed(path);
  if (document === undefined) return { path, why: "not JSON" };
  const { cases, ...head } = document;
  if (!Array.isArray(cases)) return { path, why: "no cases" };
  if (head["format"] === "tidemark-conformance/1")
    return { path, dialect: String(head["dialect"]), kind: String(head["kind"]), head, cases };
  // The older format belongs to the one autoscaler that it was made for.
  if (head["format"] === "wpa-vectors/1")
    return { path, dialect: "watermark", kind: String(head["kind"]), head, cases };
  return { path, why: `format ${JSON.stringify(head["format"])}` };
};

const parsed = (path: string): Record<string, unknown> | undefined => {
  try {
    const document: unknown = JSON.parse(readFileSync(path, "utf8"));
    return typeof document === "object" && document !== null && !Array.isArray(document)
      ? { ...document }
      : {};
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
};
