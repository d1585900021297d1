import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * As far as it is used here: its packages, and with them its types, are installed by `npm run prove
 * -- mutation` alone.
 */
interface Core {
  readonly Stryker: new (options: Options) => { readonly runMutationTest: () => Promise<unknown> };
}

interface Options {
  readonly configFile?: string;
  readonly mutate: readonly string[];
  readonly ignoreStatic?: boolean;
  readonly incremental?: boolean;
  readonly incrementalFile?: string;
  readonly jsonReporter: { readonly fileName: string };
}

const CONFIG = fileURLToPath(new URL("./stryker.config.json", import.meta.url));
const TOOLS = new URL("./tools/package.json", import.meta.url);

/** Changes the files and runs the tests, with stryker.config.json for all that is not given. */
export const stryker = async (options: Options): Promise<void> => {
  const { Stryker }: Core = await import(
    pathToFileURL(createRequire(TOOLS).resolve("@stryker-mutator/core")).href
  );
  await new Stryker({ configFile: CONFIG, ...options }).runMutationTest();
};
