import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { absentPrograms, KUBERNETES_VERSION, type ProgramName } from "./binaries.ts";

/** The modules with their checksums: `go.mod` and `go.sum`. */
const MODULE = join(import.meta.dirname, "kube");
const [MAJOR, MINOR] = KUBERNETES_VERSION.split(".");
const VERSION_PACKAGE = "k8s.io/component-base/version";
/** Without these, `/version` tells another one. */
const KUBERNETES_FLAGS = `-s -w -X ${VERSION_PACKAGE}.gitVersion=v${KUBERNETES_VERSION} -X ${VERSION_PACKAGE}.gitMajor=${MAJOR} -X ${VERSION_PACKAGE}.gitMinor=${MINOR}`;
const SOURCES: Readonly<
  Record<ProgramName, { readonly path: string; readonly linkerFlags: string }>
> = {
  etcd: { path: "go.etcd.io/etcd/server/v3", linkerFlags: "-s -w" },
  "kube-apiserver": { path: "k8s.io/kubernetes/cmd/kube-apiserver", linkerFlags: KUBERNETES_FLAGS },
  "kube-controller-manager": {
    path: "k8s.io/kubernetes/cmd/kube-controller-manager",
    linkerFlags: KUBERNETES_FLAGS,
  },
};

const PROGRESS_MS = 10_000;
const ERROR_LINES_MAX = 20;
const NO_GO =
  "Cannot build the control plane: there is no go; install Go 1.26 or newer, or set KUBEBUILDER_ASSETS to a folder that has the programs";

/** Says one line of progress. */
export type Say = (line: string) => void;

/**
 * Builds the programs that the folder lacks. Throws an Error with the last lines of the compiler,
 * or one line where there is no Go.
 */
export const buildControlPlane = async (folder: string, say: Say): Promise<void> => {
  const absent = absentPrograms(folder);
  if (absent.length === 0) return;
  if (spawnSync("go", ["version"]).error !== undefined) throw new Error(NO_GO);
  say(
    `Building ${absent.join(", ")} into "${folder}": about 10 minutes on two cores, one minute where Go's cache has the parts`,
  );
  mkdirSync(folder, { recursive: true });
  for (const name of absent) await build(name, folder, say);
};

/** Builds beside the final name, so that an interrupted build leaves no half program there. */
const build = async (name: ProgramName, folder: string, say: Say): Promise<void> => {
  const { path, linkerFlags } = SOURCES[name];
  const partial = join(folder, `.${name}.${process.pid}`);
  const startedMs = performance.now();
  const child = spawn(
    "go",
    ["build", "-v", "-mod=readonly", "-trimpath", "-ldflags", linkerFlags, "-o", partial, path],
    {
      cwd: MODULE,
      env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off" },
      stdio: ["ignore", "ignore", "pipe"],
    },
  );
  const seconds = (): string => `${((performance.now() - startedMs) / 1_000).toFixed(0)} s`;
  const output = readOutput(child);
  const timer = setInterval(
    () =>
      say(
        `  ${name}: ${output.packages} packages compiled, ${output.downloads} downloaded, ${seconds()}`,
      ),
    PROGRESS_MS,
  );
  try {
    const code = await ended(child);
    if (code !== 0)
      throw new Error(
        `Cannot build ${name}: go build ended with ${code}\n${output.others.slice(-ERROR_LINES_MAX).join("\n")}`,
      );
    renameSync(partial, join(folder, name));
    say(`  ${name}: built in ${seconds()}`);
  } finally {
    clearInterval(timer);
    rmSync(partial, { force: true });
  }
};

interface Output {
  packages: number;
  downloads: number;
  readonly others: string[];
}

/** The compiler names each package that it compiles, on a line of its own. */
const readOutput = (child: ChildProcess): Output => {
  const output: Output = { packages: 0, downloads: 0, others: [] };
  if (!child.stderr) return output;
  createInterface({ input: child.stderr }).on("line", (line) => {
    if (line.startsWith("go: downloading ")) output.downloads++;
    else if (/^[\w./~-]+$/.test(line)) output.packages++;
    else output.others.push(line);
  });
  return output;
};

const ended = async (child: ChildProcess): Promise<number | null> => {
  await once(child, "spawn");
  // The linker takes all cores for half a minute. Other work comes first.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  const [code] = (await once(child, "close")) as [number | null];
  return code;
};
