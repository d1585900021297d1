import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import Table from "cli-table3";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { buildPackage } from "./build-package.ts";

const ROOT = fileURLToPath(new URL(".", import.meta.url));

/** Each is bundled from `functions/<name>.ts` into a folder of its own, which becomes its zip. */
export const FUNCTIONS = ["schedule", "sync", "api", "connect", "view"] as const;
export type FunctionName = (typeof FUNCTIONS)[number];

export interface Bundle {
  readonly function: FunctionName;
  /** `index.js` is loaded at start; any other file only when the code asks for it. */
  readonly file: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** CommonJS starts 11 to 16 ms faster than ESM; `module` first saves a third of the AWS SDK, whose CommonJS build cannot be shaken. */
const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: "node",
  target: "node24",
  format: "cjs",
  mainFields: ["module", "main"],
  minify: true,
  legalComments: "none",
  alias: { "@aws-sdk/credential-provider-node": join(ROOT, "functions/role-credentials.ts") },
  logLevel: "warning",
} as const satisfies BuildOptions;

/**
 * `import("package")` becomes a file of its own beside the bundle, loaded when that line first runs. So what few clusters need (the YAML parser, for kubeconfigs in secrets)
 * costs the others nothing at start. Only packages: a file of ours in two bundles would exist twice, and `instanceof` would miss.
 */
const lazyPackages = (found: Map<string, string>): Plugin => ({
  name: "lazy-packages",
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^.]/ }, ({ kind, path, importer }) => {
      if (kind !== "dynamic-import" || path.startsWith("node:") || importer.includes("node_modules")) return undefined;
      const file = `${path.replaceAll(/[^a-z0-9]+/gi, "-").replace(/^-|-js$/g, "")}.js`;
      found.set(path, file);
      return { path: `./${file}`, external: true };
    });
  },
});

const bundleFunction = async (name: FunctionName, outDir: string): Promise<readonly Bundle[]> => {
  const folder = join(outDir, name);
  const files = await bundleEntry(join(ROOT, "functions", `${name}.ts`), folder);
  return files.map((file) => {
    const contents = readFileSync(join(folder, file));
    return { function: name, file, bytes: contents.length, gzipBytes: gzipSync(contents).length };
  });
};

/** Bundles one file and all it imports into `index.js` of the folder, as functions are bundled. The names of the files that were written. */
export const bundleEntry = async (entry: string, folder: string): Promise<readonly string[]> => {
  mkdirSync(folder, { recursive: true });
  // The bundles are CommonJS wherever they lie, whatever a package.json above them says.
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
  const lazy = new Map<string, string>();
  await build({
    ...OPTIONS,
    entryPoints: [entry],
    outfile: join(folder, "index.js"),
    sourcemap: "linked",
    sourcesContent: false,
    plugins: [lazyPackages(lazy)],
    // `import()` of a CommonJS file by Node itself finds no names in a minified one; as `require()` it gives all of them.
    supported: { "dynamic-import": false },
  });
  for (const [path, file] of lazy) {
    await build({ ...OPTIONS, stdin: { contents: `export * from ${JSON.stringify(path)};`, resolveDir: ROOT }, outfile: join(folder, file) });
  }
  return ["index.js", ...lazy.values()];
};

/** Bundles every function into `<outDir>/<function>/`, emptied first. */
export const bundleAll = async (outDir: string): Promise<readonly Bundle[]> => {
  rmSync(outDir, { recursive: true, force: true });
  return (await Promise.all(FUNCTIONS.map((name) => bundleFunction(name, outDir)))).flat();
};

const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;

/** Sizes as a table; what is loaded at start first. */
export const sizesTable = (bundles: readonly Bundle[]): string => {
  const table = new Table({
    head: ["function", "file", "minified", "gzip", "loaded"],
    style: { head: [], border: [] },
    colAligns: ["left", "left", "right", "right", "left"],
  });
  for (const { function: name, file, bytes, gzipBytes } of bundles) {
    table.push([name, file, kib(bytes), kib(gzipBytes), file === "index.js" ? "at start" : "when asked for"]);
  }
  return table.toString();
};

if (process.argv[1] !== undefined && basename(process.argv[1]) === "build.ts") {
  const dist = join(ROOT, "dist");
  const bundles = await bundleAll(dist);
  await buildPackage(join(dist, "package"));
  process.stdout.write(`${sizesTable(bundles)}\n`);
}
