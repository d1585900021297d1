import type { Json } from "../../model/json.ts";
import type { Detail } from "./finding.ts";
import { lost } from "./schedules/timed.ts";

/** The paths of the values of an object that no conversion has looked at. */
type Unread = Set<string>;

/** What is of the API server and of tools, and says nothing of how a workload is scaled. */
const OF_THE_SERVER =
  /^(?:apiVersion|kind|status\b.*|metadata\.(?!annotations\b).*|metadata\.annotations\["(?!(?:autoscaling|scaledobject|validations)\.keda\.sh\/|downscaler\/).*)$/;

const PLAIN_KEY = /^[\w-]+$/;

const placeOf = (path: string, key: string): string => {
  if (!PLAIN_KEY.test(key)) return `${path}[${JSON.stringify(key)}]`;
  return path === "" ? key : `${path}.${key}`;
};

/** A copy of the value whose paths are crossed out as its values are read. */
const watched = (value: unknown, path: string, unread: Unread): unknown => {
  if (typeof value !== "object" || value === null) return value;
  const isList = Array.isArray(value);
  const copy: object = isList ? [] : {};
  for (const [key, inner] of Object.entries(value)) {
    const at = isList ? `${path}[${key}]` : placeOf(path, key);
    const seen = watched(inner, at, unread);
    const isValue = seen === inner && inner !== null && inner !== undefined;
    if (isValue) unread.add(at);
    Object.defineProperty(copy, key, {
      enumerable: true,
      configurable: true,
      get: () => {
        unread.delete(at);
        return seen;
      },
    });
  }
  return copy;
};

/** What no conversion looks at, and what need not be looked at. */
interface Elsewhere {
  /** Places that go on as they are, outside of Tidemark. */
  stays?(path: string): boolean;
  /** The note of a place that the former controller does not read either. */
  unread?(path: string): Detail | undefined;
}

/**
 * A conversion in which every value of its object is accounted for: what was neither carried over
 * nor looked at is lost by its name. What the conversion looks at, it has to carry over, note or
 * refuse itself; a test changes each field of each kind, and sees that the outcome changes. An
 * object that is refused anyway is not searched: what comes after a refusal was not looked at.
 */
export const accounted = <Result extends { readonly details: readonly Detail[] }>(
  raw: Json,
  convert: (watchedRaw: Json) => Result,
  { stays = () => false, unread: unreadBy = () => undefined }: Elsewhere = {},
): Result => {
  const unread: Unread = new Set();
  const seen = watched(raw, "", unread) as Json;
  // The copy reads whatever the outcome has of the object.
  const result = structuredClone(convert(seen));
  if (result.details.some(({ severity }) => severity === "lost")) return result;
  const forgotten = [...unread].filter((path) => !OF_THE_SERVER.test(path) && !stays(path));
  if (forgotten.length === 0) return result;
  const found = forgotten.map((path) => unreadBy(path) ?? unknownField(path));
  const details = [...result.details, ...found];
  if (found.every(({ severity }) => severity !== "lost")) return { ...result, details };
  // On doubt, no document: what it would lack may keep pods alive.
  return { ...result, details, ...("document" in result && { document: undefined }) };
};

/** Crosses out a part of the object that was said to have no effect as a whole. */
export const passOver = (part: unknown): void => void structuredClone(part);

const unknownField = (path: string): Detail =>
  lost(path, "Tidemark does not know what it means here; remove it, or write its effect by hand");
