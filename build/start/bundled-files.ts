import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Script } from "node:vm";

/** The parameters that Node gives to the code of each CommonJS file. */
const WRAPPER = ["(function(exports,require,module,__filename,__dirname){", "\n})"] as const;

type Exports = Readonly<Record<string, unknown>>;

export interface Compiled {
  readonly file: string;
  readonly source: string;
  readonly script: Script;
}

/** What an earlier process compiled of the source of a file; undefined where there is nothing. */
export type CachedCode = (file: string, source: string) => Buffer | undefined;

/**
 * Loads CommonJS files of one folder as `require` does, but compiles each with the code that is
 * cached for it. `compiled` hears of each file once, after it was compiled and before it runs.
 * `nameOf` gives the name that its code has in stack traces.
 */
export const requireIn = (
  folder: string,
  cachedCode: CachedCode,
  compiled: (compiled: Compiled) => void,
  nameOf: (path: string) => string = (path) => path,
): ((file: string) => Exports) => {
  const require = createRequire(join(folder, "index.js"));
  const modules = new Map<string, { exports: Exports }>();
  const load = (file: string): Exports => {
    const known = modules.get(file);
    if (known) return known.exports;
    const path = join(folder, file);
    const source = readFileSync(path, "utf8");
    const cachedData = cachedCode(file, source);
    const script = new Script(WRAPPER.join(source), {
      filename: nameOf(path),
      ...(cachedData && { cachedData }),
    });
    compiled({ file, source, script });
    const module = { exports: {} as Exports };
    modules.set(file, module);
    try {
      script.runInThisContext()(module.exports, requireFrom, module, path, folder);
    } catch (error) {
      // The next one who asks for it tries anew, as with Node's own `require`.
      modules.delete(file);
      throw error;
    }
    return module.exports;
  };
  const requireFrom = (id: string): unknown =>
    id.startsWith("./") ? load(id.slice(2)) : require(id);
  return load;
};
