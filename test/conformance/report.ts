import { relative } from "node:path";
import Table from "cli-table3";
import { type CaseResult, runFile } from "./registry.ts";
import {
  filesBelow,
  isPassedOver,
  type PassedOver,
  readVectorFile,
  type VectorFile,
} from "./vector-file.ts";

const CASES_SHOWN = 10;
const FIELDS_SHOWN = 12;

interface FileResult {
  readonly file: VectorFile;
  readonly failed: readonly CaseResult[];
}

type Say = (text: string) => void;

const shortPath = (path: string): string => {
  const short = relative(process.cwd(), path);
  return short.startsWith("..") ? path : short;
};

/**
 * Runs every vector file below the paths; says a table, the first differences, and last of all "N
 * passed, N failed". Gives false if any case failed or none ran.
 */
export const report = (paths: readonly string[], say: Say): boolean => {
  const read = paths.flatMap(filesBelow).map(readVectorFile);
  const results = read
    .filter((file): file is VectorFile => !isPassedOver(file))
    .map((file) => ({ file, failed: failuresOf(file) }));
  say(tableOf(results));
  for (const { path, why } of read.filter((file): file is PassedOver => isPassedOver(file)))
    say(`passed over ${shortPath(path)}: ${why}`);
  sayDifferences(results, say);
  const failed = results.reduce((sum, result) => sum + result.failed.length, 0);
  const ran = results.reduce((sum, { file }) => sum + file.cases.length, 0);
  say(`${ran - failed} passed, ${failed} failed`);
  return failed === 0 && ran > 0;
};

const failuresOf = (file: VectorFile): readonly CaseResult[] =>
  runFile(file).filter(({ differences }) => differences.length > 0);

const tableOf = (results: readonly FileResult[]): string => {
  const table = new Table({
    head: ["file", "dialect", "kind", "passed", "failed"],
    style: { head: [], border: [] },
    colAligns: ["left", "left", "left", "right", "right"],
  });
  for (const { file, failed } of results)
    table.push([
      shortPath(file.path),
      file.dialect,
      file.kind,
      String(file.cases.length - failed.length),
      String(failed.length),
    ]);
  return table.toString();
};

const sayDifferences = (results: readonly FileResult[], say: Say): void => {
  const failed = results.flatMap(({ file, failed: cases }) =>
    cases.map((result) => ({ file, result })),
  );
  for (const { file, result } of failed.slice(0, CASES_SHOWN)) {
    say(`\n${shortPath(file.path)} ${result.id}`);
    for (const { field, expected, actual } of result.differences.slice(0, FIELDS_SHOWN))
      say(`  ${field}\n    expected ${shown(expected)}\n    actual   ${shown(actual)}`);
    if (result.differences.length > FIELDS_SHOWN)
      say(`  and ${result.differences.length - FIELDS_SHOWN} more fields`);
  }
  if (failed.length > CASES_SHOWN) say(`\nand ${failed.length - CASES_SHOWN} more cases:`);
  for (const { file, result } of failed.slice(CASES_SHOWN))
    say(`${shortPath(file.path)} ${result.id}: ${result.differences[0]?.field}`);
};

const shown = (value: unknown): string =>
  value === undefined
    ? "nothing"
    : JSON.stringify(value, (_, inner: unknown) =>
        typeof inner === "bigint" ? inner.toString() : inner,
      );
