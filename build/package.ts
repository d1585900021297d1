import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { pageFiles } from "../lib/dashboard/serve/page-files.ts";
import { PAGE_FILES } from "../lib/dashboard/serve/routes.ts";
import { OPTIONAL_PARTS } from "../lib/embedded/host/missing-part.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/**
 * The rooms that programs import: they compute, load no package and see no clock. Types of the
 * others are left out of the package.
 */
const TYPED_ROOMS = ["model", "manifest", "policy"] as const;

/** What the package holds beside its code, as it stands in the repository. */
const AS_IT_IS = ["examples", "LICENSE", "NOTICE", "CHANGELOG.md"] as const;

const TRACES = "lib/embedded/traces";

const isPart = (name: string): boolean => OPTIONAL_PARTS.includes(name);

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly dev?: boolean;
}
type Packages = Readonly<Record<string, Locked>>;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const read = <Value>(file: string): Value => JSON.parse(readFileSync(join(ROOT, file), "utf8"));

/**
 * Path in the lockfile of the package that `name` means for the package at `path`: beside it, or in
 * the nearest folder above.
 */
const lockedPath = (packages: Packages, path: string, name: string): string | undefined => {
  for (
    let above = path;
    ;
    above = above.slice(0, Math.max(0, above.lastIndexOf("/node_modules/")))
  ) {
    const candidate = `${above === "" ? "" : `${above}/`}node_modules/${name}`;
    if (packages[candidate] !== undefined) return candidate;
    if (above === "") return undefined;
  }
};

/**
 * The part of the lockfile that these dependencies reach. People then get the versions that the
 * tests ran with.
 */
export const lockedPart = (
  packages: Packages,
  dependencies: Readonly<Record<string, string>>,
): Packages => {
  const reached = new Set<string>();
  const waiting = Object.keys(dependencies).map((name) => ({ path: "", name }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = lockedPath(packages, next.path, next.name);
    if (path === undefined || reached.has(path)) continue;
    reached.add(path);
    const { dependencies: own, optionalDependencies, peerDependencies } = packages[path] ?? {};
    for (const name of Object.keys({ ...own, ...optionalDependencies, ...peerDependencies }))
      waiting.push({ path, name });
  }
  return Object.fromEntries([...reached].sort().map((path) => [path, packages[path] ?? {}]));
};

/**
 * The package.json of the package: without the pinned Node, which only the clone needs. What only a
 * run on this machine, kubeconfigs and assistants need is left to the person who wants it: most of
 * the packages are of these parts.
 */
export const packageManifest = ({
  name,
  version,
  description,
  license,
  dependencies,
}: Manifest) => ({
  name,
  version,
  description,
  license,
  type: "module",
  engines: { node: ">=24" },
  bin: {
    tidemark: "bin/tidemark.js",
    "kubectl-tidemark": "bin/tidemark.js",
    "kubectl_complete-tidemark": "bin/kubectl-complete.js",
  },
  exports: {
    ...Object.fromEntries(
      TYPED_ROOMS.map((room) => [
        `./${room}/*`,
        { types: `./lib/rules/${room}/*.d.ts`, default: `./lib/rules/${room}/*.js` },
      ]),
    ),
    "./package.json": "./package.json",
  },
  dependencies: withNames(dependencies, (dependency) => !isPart(dependency)),
  peerDependencies: withNames(dependencies, isPart),
  peerDependenciesMeta: Object.fromEntries(
    OPTIONAL_PARTS.map((part) => [part, { optional: true }]),
  ),
});

const withNames = (
  dependencies: Readonly<Record<string, string>>,
  isWanted: (name: string) => boolean,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(dependencies).filter(([name]) => isWanted(name)));

const compile = async (outDir: string): Promise<void> => {
  // Of the development dependencies: `bin/tsc` of the package starts the compiler of this platform.
  const tsc = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");
  await promisify(execFile)(process.execPath, [
    tsc,
    "-p",
    join(ROOT, "build/tsconfig.package.json"),
    "--outDir",
    outDir,
  ]);
};

/** True for what the package holds of the compiled files. */
const isShipped = (path: string): boolean =>
  !path.endsWith(".d.ts") || TYPED_ROOMS.some((room) => path.startsWith(`lib/rules/${room}/`));

/** The page as a checkout serves it, where the server of the package looks for it. */
const writePage = async (dir: string): Promise<void> => {
  const contentOf = pageFiles();
  mkdirSync(dir, { recursive: true });
  for (const { file } of PAGE_FILES.values()) writeFileSync(join(dir, file), await contentOf(file));
};

/**
 * Emits the package that people install into `outDir`, emptied first: `npm pack` makes the archive
 * of it.
 */
export const buildPackage = async (outDir: string): Promise<void> => {
  const emitted = `${outDir}-emitted`;
  for (const folder of [outDir, emitted]) rmSync(folder, { recursive: true, force: true });
  mkdirSync(outDir, { recursive: true });
  try {
    await compile(emitted);
    cpSync(emitted, outDir, {
      recursive: true,
      filter: (from) => isShipped(relative(emitted, from)),
    });
  } finally {
    rmSync(emitted, { recursive: true, force: true });
  }
  for (const path of AS_IT_IS) cpSync(join(ROOT, path), join(outDir, path), { recursive: true });
  cpSync(join(ROOT, TRACES), join(outDir, TRACES), {
    recursive: true,
    filter: (from) => !from.endsWith(".ts"),
  });
  await writePage(join(outDir, "lib/dashboard/page"));
  cpSync(join(ROOT, "docs/package.md"), join(outDir, "README.md"));
  const manifest = packageManifest(read<Manifest>("package.json"));
  writeFileSync(join(outDir, "package.json"), json(manifest));
  const { packages } = read<{ readonly packages: Packages }>("package-lock.json");
  const { name, version } = manifest;
  const locked = { "": manifest, ...lockedPart(packages, manifest.dependencies) };
  writeFileSync(
    join(outDir, "npm-shrinkwrap.json"),
    json({ name, version, lockfileVersion: 3, requires: true, packages: locked }),
  );
};
