import { readFile } from "node:fs/promises";
import { PAGE_FILES } from "./routes.ts";

/** The files of the page by their name. */
export type PageFiles = (file: string) => Promise<Uint8Array>;

/** True in a checkout, which runs the TypeScript; the package has the page built. */
const IS_CHECKOUT = import.meta.url.endsWith(".ts");

interface Builder {
  /** Builds the page with esbuild, without a file written, in less than a second. */
  readonly buildDashboard: () => Promise<ReadonlyMap<string, Uint8Array>>;
}

/** The page, which is built or read when it is first asked for: few runs are looked at. */
export const pageFiles = (): PageFiles => {
  let files: Promise<ReadonlyMap<string, Uint8Array>> | undefined;
  return async (file) => {
    files ??= (IS_CHECKOUT ? built() : read()).catch((error: unknown) => {
      // The next request tries again: in a checkout a person may just have mended the source.
      files = undefined;
      throw error;
    });
    const content = (await files).get(file);
    if (!content) throw new RangeError(`The page has no file "${file}"`);
    return content;
  };
};

/** By a name that no bundler follows: the package has no builder. */
const built = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
  const builder = new URL("../../../build/dashboard.ts", import.meta.url);
  const { buildDashboard }: Builder = await import(builder.href);
  return buildDashboard();
};

const read = async (): Promise<ReadonlyMap<string, Uint8Array>> => {
  const files = [...PAGE_FILES.values()].map(async ({ file }) => {
    const content: Uint8Array = await readFile(new URL(`../page/${file}`, import.meta.url));
    return [file, content] as const;
  });
  return new Map(await Promise.all(files));
};
