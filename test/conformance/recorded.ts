import { join, relative } from "node:path";
import { filesBelow, isPassedOver, readVectorFile, type VectorFile } from "./vector-file.ts";

const ROOT = join(import.meta.dirname, "vectors");

/** Names of the vector files of a dialect: reading them is left to the test that runs them. */
export const recordedPaths = (dialect: string): readonly string[] =>
  filesBelow(join(ROOT, dialect))
    .filter((path) => path.endsWith(".json"))
    .map((path) => relative(ROOT, path));

export const recordedFile = (path: string): VectorFile => {
  const file = readVectorFile(join(ROOT, path));
  if (isPassedOver(file)) throw new RangeError(`${file.path}: ${file.why}`);
  return file;
};
