import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import Table from "cli-table3";
import {
  type BuildOptions,
  build,
  type Metafile,
  type Plugin,
  type TransformOptions,
  transform,
} from "esbuild";
import { compileBundles, runtimeNode, writeStart } from "./compiled-code.ts";
import { buildPackage } from "./package.ts";
import { writeSbom } from "./sbom.ts";
import { MAIN_FILE } from "./start/code-file.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Each is bundled from `functions/<name>.ts` into a folder of its own, which becomes its zip. */
export const FUNCTIONS = [
  "schedule",
  "sync",
  "api",
  "connect",
  "view",
  "wake",
  "events",
  "audit",
] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

export interface Bundle {
  readonly function: FunctionName;
  readonly file: string;
  /** Loaded with `index.js`. Any other file is loaded when the code first asks for it. */
  readonly atStart: boolean;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** `module` first saves a third of the AWS SDK, whose CommonJS build cannot be shaken. */
const BUNDLE = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  target: "node24",
  mainFields: ["module", "main"],
  minify: true,
  legalComments: "none",
  alias: { "@aws-sdk/credential-provider-node": join(ROOT, "lib/lambda/role-credentials.ts") },
  logLevel: "warning",
} as const satisfies BuildOptions;

/**
 * CommonJS starts 11 to 16 ms faster than ESM, and esbuild divides only ESM. So each file is turned
 * into CommonJS after the division.
 */
const TO_COMMONJS = {
  format: "cjs",
  platform: "node",
  target: "node24",
  minify: true,
  sourcemap: true,
  sourcesContent: false,
  // `import()` of a CommonJS file by Node itself finds no names in a minified one; as `require()`
  // it gives all of them.
  supported: { "dynamic-import": false },
} as const satisfies TransformOptions;

const bundleFunction = async (
  name: FunctionName,
  outDir: string,
  inputs: Set<string>,
): Promise<readonly Bundle[]> => {
  const folder = join(outDir, name);
  const main = join(ROOT, "functions", `${name}.ts`);
  const files = await bundleEntry(main, folder, { file: MAIN_FILE, inputs });
  await writeStart(folder);
  return [{ file: "index.js", atStart: true }, ...files].map(({ file, atStart }) => {
    const contents = readFileSync(join(folder, file));
    return {
      function: name,
      file,
      atStart,
      bytes: contents.length,
      gzipBytes: gzipSync(contents).length,
    };
  });
};

/**
 * A package that is loaded by `import()` becomes a file of its own under its name. Most packages
 * are CommonJS: in ESM, into which esbuild divides, only their default would be left of such a
 * file.
 */
const lazyPackages = (found: Map<string, string>): Plugin => ({
  name: "lazy-packages",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^.]/ }, ({ kind, path, importer }) => {
      if (
        kind !== "dynamic-import" ||
        path.startsWith("node:") ||
        importer.includes("node_modules")
      )
        return undefined;
      const file = `${path.replaceAll(/[^a-z0-9]+/gi, "-").replace(/^-|-js$/g, "")}.js`;
      found.set(path, file);
      return { path: `./${file}`, external: true };
    });
  },
});

/**
 * Bundles one file and all it imports into `file` of the folder and files beside it, as functions are bundled. Each `import()` begins a file that is loaded when that line first runs, so
 * that what few clusters need (a role of another account, the YAML parser) costs the others nothing
 * at start. What two files of ours share is a file of its own: no module of ours exists twice, so
 * `instanceof` holds. Returns the files of code, and adds the files that they hold to `inputs`.
 */
export const bundleEntry = async (
  entry: string,
  folder: string,
  { file: main = "index.js", inputs = new Set<string>() } = {},
): Promise<readonly Pick<Bundle, "file" | "atStart">[]> => {
  mkdirSync(folder, { recursive: true });
  // The bundles are CommonJS wherever they lie, whatever a package.json above them says.
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
  const packages = new Map<string, string>();
  const { outputFiles, metafile } = await build({
    ...BUNDLE,
    splitting: true,
    format: "esm",
    sourcemap: "inline",
    sourcesContent: false,
    entryPoints: { [basename(main, ".js")]: entry },
    outdir: folder,
    chunkNames: "[name]-[hash]",
    plugins: [lazyPackages(packages)],
    metafile: true,
    write: false,
  });
  await Promise.all(outputFiles.map(({ path, text }) => writeCommonJs(path, text)));
  for (const [name, file] of packages) {
    const lazy = await build({
      ...BUNDLE,
      metafile: true,
      format: "cjs",
      stdin: { contents: `export * from ${JSON.stringify(name)};`, resolveDir: ROOT },
      outfile: join(folder, file),
    });
    for (const input of Object.keys(lazy.metafile.inputs)) inputs.add(input);
  }
  for (const input of Object.keys(metafile.inputs)) inputs.add(input);
  const atStart = loadedBy(main, importsIn(metafile));
  const files = [...outputFiles.map(({ path }) => basename(path)), ...packages.values()];
  return files.map((file) => ({ file, atStart: atStart.has(file) }));
};

/** Writes one file and its source map, which leads back to the sources. */
const writeCommonJs = async (path: string, text: string): Promise<void> => {
  const { code, map } = await transform(text, { ...TO_COMMONJS, sourcefile: basename(path) });
  writeFileSync(path, `${code}//# sourceMappingURL=${basename(path)}.map\n`);
  writeFileSync(`${path}.map`, map);
};

/** The files that each file imports statically, by name. */
const importsIn = ({ outputs }: Metafile): ReadonlyMap<string, readonly string[]> =>
  new Map(
    Object.entries(outputs).map(([path, { imports }]) => [
      basename(path),
      imports
        .filter(({ kind, external }) => kind === "import-statement" && !external)
        .map((imported) => basename(imported.path)),
    ]),
  );

/** The files that Node loads with this one. */
const loadedBy = (
  file: string,
  imports: ReadonlyMap<string, readonly string[]>,
  found: Set<string> = new Set(),
): ReadonlySet<string> => {
  found.add(file);
  for (const next of imports.get(file) ?? []) if (!found.has(next)) loadedBy(next, imports, found);
  return found;
};

/**
 * Bundles every function into `<outDir>/<function>/`, emptied first, and writes what they hold
 * beside them. With the command of a Node of the functions, each has its compiled code too.
 */
export const bundleAll = async (
  outDir: string,
  node?: readonly string[],
): Promise<readonly Bundle[]> => {
  rmSync(outDir, { recursive: true, force: true });
  const inputs = new Map(FUNCTIONS.map((name) => [name, new Set<string>()]));
  const bundles = await Promise.all(
    FUNCTIONS.map((name) => bundleFunction(name, outDir, inputs.get(name) ?? new Set())),
  );
  if (node !== undefined)
    await compileBundles(
      node,
      FUNCTIONS.map((name) => join(outDir, name)),
    );
  writeSbom(outDir, inputs);
  // An output of the stack: it names the version of what was packaged, also where the checkout has
  // moved since.
  const { version }: { readonly version: string } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  );
  writeFileSync(join(outDir, "version.json"), `${JSON.stringify({ version })}\n`);
  return bundles.flat();
};

/** What a function loads at start, of these bundles. */
export const sizeAtStart = (
  bundles: readonly Bundle[],
  name: FunctionName,
): Pick<Bundle, "bytes" | "gzipBytes"> => {
  const loaded = bundles.filter((bundle) => bundle.function === name && bundle.atStart);
  const sum = (of: "bytes" | "gzipBytes"): number =>
    loaded.reduce((total, bundle) => total + bundle[of], 0);
  return { bytes: sum("bytes"), gzipBytes: sum("gzipBytes") };
};

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;

/** Sizes as a table; what is loaded at start first. */
export const sizesTable = (bundles: readonly Bundle[]): string => {
  const table = new Table({
    head: ["function", "file", "minified", "gzip", "loaded"],
    style: { head: [], border: [] },
    colAligns: ["left", "left", "right", "right", "left"],
  });
  for (const { function: name, file, atStart, bytes, gzipBytes } of bundles) {
    table.push([name, file, kib(bytes), kib(gzipBytes), atStart ? "at start" : "when asked for"]);
  }
  return table.toString();
};

if (import.meta.main) {
  const dist = join(ROOT, "dist");
  const { command, words } = runtimeNode(process.env["TIDEMARK_RUNTIME_NODE"], process);
  const bundles = await bundleAll(dist, command);
  await buildPackage(join(dist, "package"));
  process.stdout.write(`${sizesTable(bundles)}\n${words}\n`);
}
