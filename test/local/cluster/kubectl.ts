import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { binariesFolder } from "../../control-plane/binaries.ts";

/**
 * The real kubectl, beside the programs of the control plane or on the path of this process.
 * Undefined where there is none.
 */
export const kubectlPath = (): string | undefined =>
  [binariesFolder(), ...(process.env["PATH"] ?? "").split(delimiter)]
    .map((folder) => join(folder, "kubectl"))
    .find((path) => existsSync(path));

export interface KubectlResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface KubectlOptions {
  readonly kubeconfig: string;
  /** Where it keeps its cache. */
  readonly home: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs kubectl as a person does. */
export const kubectl = (
  path: string,
  args: readonly string[],
  { kubeconfig, home, input = "", env = {} }: KubectlOptions,
): Promise<KubectlResult> =>
  new Promise((resolve) => {
    const options = {
      env: { PATH: process.env["PATH"] ?? "", HOME: home, KUBECONFIG: kubeconfig, ...env },
      timeout: 30_000,
    };
    const child = execFile(path, args, options, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
    child.stdin?.end(input);
  });
