import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bundle, bundleAll, FUNCTIONS, sizeAtStart } from "../../build/build.ts";

const BYTES_PER_KIB = 1_024;
/** Sizes change a little with every edit of the code; the page says them to five. */
const STEP_KIB = 5;

const rounded = (bytes: number): number => Math.round(bytes / BYTES_PER_KIB / STEP_KIB) * STEP_KIB;

export interface SizeRow {
  readonly name: string;
  readonly kib: number;
  readonly packedKib: number;
}

/** The size of what each function loads at start, of these bundles. */
export const sizeRowsOf = (bundles: readonly Bundle[]): readonly SizeRow[] =>
  FUNCTIONS.map((name) => {
    const { bytes, gzipBytes } = sizeAtStart(bundles, name);
    return { name, kib: rounded(bytes), packedKib: rounded(gzipBytes) };
  });

/** The same, measured by bundling into a folder that is removed again. */
export const sizeRows = async (): Promise<readonly SizeRow[]> => {
  const folder = mkdtempSync(join(tmpdir(), "tidemark-sizes-"));
  try {
    return sizeRowsOf(await bundleAll(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

export const sizesMarkdown = (rows: readonly SizeRow[]): string =>
  [
    "| function | KiB | packed |",
    "|---|---|---|",
    ...rows.map(({ name, kib, packedKib }) => `| ${name} | ${kib} | ${packedKib} |`),
  ].join("\n");
