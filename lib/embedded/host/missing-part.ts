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

/** What `tidemark mcp` needs beside the rest: few people have an assistant. */
const PARTS_FOR_ASSISTANTS: readonly string[] = ["@modelcontextprotocol/server"];

const OPTIONAL = [
  { parts: PARTS_OF_A_RUN, use: "a run on this machine and kubeconfigs need" },
  { parts: PARTS_FOR_ASSISTANTS, use: "tidemark mcp needs" },
] as const;

/** All packages that an installation brings only where a person wants them. */
export const OPTIONAL_PARTS: readonly string[] = OPTIONAL.flatMap(({ parts }) => parts);

const MISSING = /Cannot find package '([^']+)'/;

/** What to install for a package that is not there; undefined for every other error. */
export const missingPartText = (error: unknown): string | undefined => {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND")
    return undefined;
  const name = MISSING.exec(error.message)?.[1] ?? "";
  const found = OPTIONAL.find(({ parts }) => parts.includes(name));
  return (
    found &&
    `Cannot run this here: the package "${name}" is not installed, which ${found.use}; install it with npm install ${installed(found.parts).join(" ")}`
  );
};

/** The parts in the versions that this release was tested with. */
const installed = (parts: readonly string[]): readonly string[] => {
  const { dependencies, peerDependencies }: Record<string, Record<string, string> | undefined> =
    JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  const versions = { ...dependencies, ...peerDependencies };
  return parts.map((part) => `${part}@${versions[part] ?? "latest"}`);
};
