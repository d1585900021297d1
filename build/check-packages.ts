import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Licences under which code may be shipped in a bundle with its notice alone. */
export const SHIPPABLE: ReadonlySet<string> = new Set([
  "MIT",
  "MIT-0",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "(MIT OR Apache-2.0)",
  "MIT OR Apache-2.0",
  "Unlicense",
  "PSF-2.0",
  "Python-2.0",
]);
/** Licences of tools: nothing of them is shipped or changed. */
const FOR_TOOLS: ReadonlySet<string> = new Set([...SHIPPABLE, "MPL-2.0"]);

export interface Locked {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly link?: boolean;
}

/**
 * One sentence for each package of a lockfile whose licence is not known to be good for its use.
 */
export const licenceProblems = (packages: Readonly<Record<string, Locked>>): readonly string[] =>
  Object.entries(packages).flatMap(
    ([path, { version = "", license, dev = false, link = false }]) => {
      const isOwn = link || !path.includes("node_modules/");
      if (isOwn || (license !== undefined && (dev ? FOR_TOOLS : SHIPPABLE).has(license))) return [];
      const named = license === undefined ? "no licence" : `the licence ${license}`;
      return [
        `${path.replace(/^.*node_modules\//, "")}@${version} has ${named}: look whether it may be ${dev ? "used as a tool" : "shipped"}, and add the licence to build/check-packages.ts or remove the package`,
      ];
    },
  );

export interface Audited {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}
/** "unknown": nothing was found out about any package, because the keys could not be reached. */
export type Verdict =
  | { readonly kind: "verified" }
  | { readonly kind: "refused" | "unknown"; readonly why: string };

/**
 * Errors of npm that say nothing of a package: no network beyond the registry, a proxy that refuses
 * (E403, E502), or a registry that publishes no keys.
 */
const NO_ANSWER =
  /\b(?:E[45]\d\d|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|FETCH_ERROR)\b|found no dependencies to audit/;

/**
 * What `npm audit signatures --json` has found. On doubt, refused: only a failure that is known to
 * be of the network is none of the packages.
 */
export const verdictOf = ({ code, stdout, stderr }: Audited): Verdict => {
  const { invalid, missing, error } = reportIn(stdout);
  const named = [
    ...invalid.map((each) => `${each} has an invalid signature`),
    ...missing.map((each) => `${each} has no signature`),
  ];
  if (named.length > 0) return { kind: "refused", why: named.join("\n") };
  if (code === 0) return { kind: "verified" };
  const said = [error, stderr].filter((text) => text !== "").join("\n");
  if (code === null)
    return { kind: "unknown", why: `npm did not end within ${AUDIT_END_MS / 1_000} s` };
  const noAnswer = NO_ANSWER.exec(said)?.[0];
  return noAnswer === undefined
    ? { kind: "refused", why: said }
    : { kind: "unknown", why: noAnswer };
};

const reportIn = (
  stdout: string,
): {
  readonly invalid: readonly string[];
  readonly missing: readonly string[];
  readonly error: string;
} => {
  const {
    invalid = [],
    missing = [],
    error,
  } = stdout.trim().startsWith("{") ? JSON.parse(stdout) : {};
  const names = (
    found: readonly { readonly name: string; readonly version: string }[],
  ): readonly string[] => found.map(({ name, version }) => `${name}@${version}`);
  return {
    invalid: names(invalid),
    missing: names(missing),
    error: error === undefined ? "" : JSON.stringify(error),
  };
};

/** npm reads the signatures of some 500 packages in half a minute. */
const AUDIT_END_MS = 180_000;

const audited = (): Audited => {
  const { status, stdout, stderr } = spawnSync(
    "npm",
    ["audit", "signatures", "--json", "--fetch-retries=0"],
    {
      encoding: "utf8",
      timeout: AUDIT_END_MS,
    },
  );
  return { code: status, stdout, stderr };
};

const say = (line: string): void => void process.stdout.write(`${line}\n`);

const main = (): void => {
  const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync(new URL("../package-lock.json", import.meta.url), "utf8"),
  );
  const problems = licenceProblems(packages);
  say(
    problems.length > 0
      ? problems.join("\n")
      : `licences: ${Object.keys(packages).length - 1} packages, all known`,
  );
  const verdict = verdictOf(audited());
  if (verdict.kind === "verified") say("signatures: npm has verified those of all packages");
  else if (verdict.kind === "refused")
    say(
      `signatures: refused\n${verdict.why}\nDo not use what was installed: compare package-lock.json with the last commit, and install again from another network`,
    );
  else
    say(
      `signatures: NOT CHECKED (${verdict.why}): npm needs the registry, its keys, and the trust root of Sigstore. The lockfile pins each archive all the same. SIGNATURES=required makes this a failure`,
    );
  const isMissing = verdict.kind === "unknown" && process.env["SIGNATURES"] === "required";
  if (problems.length > 0 || verdict.kind === "refused" || isMissing) process.exitCode = 1;
};

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
