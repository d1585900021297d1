import { readFileSync } from "node:fs";

/**
 * Packages that the installed command leaves out (build/package.ts): the tables and certificates of
 * a run on this machine, and what reads kubeconfigs. They are two thirds of all packages.
 */
export const PARTS_OF_A_RUN: readonly string[] = [
  "@kubernetes/client-node",
  "@peculiar/x509",
  "dynalite",
  "reflect-metadata",
];

const MISSING = /Cannot find package '([^']+)'/;

/** What to install for a package that is not there; undefined for every other error. */
export const missingPartText = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND")
    return undefined;
  const name = MISSING.exec(error.message)?.[1];
  if (name === undefined || !PARTS_OF_A_RUN.includes(name)) return undefined;
  return `Cannot run this here: the package "${name}" is not installed, which a run on this machine and kubeconfigs need; install it with npm install ${installed().join(" ")}`;
};

/** The parts in the versions that this release was tested with. */
const installed = (): readonly string[] => {
  const { dependencies, peerDependencies }: Record<string, Record<string, string> | undefined> =
    JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  const versions = { ...dependencies, ...peerDependencies };
  return PARTS_OF_A_RUN.map((part) => `${part}@${versions[part] ?? "latest"}`);
};
