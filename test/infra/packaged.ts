import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Bundle, bundleAll } from "../../build.ts";
import { ROOT } from "../architecture/source.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface Resource {
  readonly Type: string;
  readonly DeletionPolicy?: string;
  readonly Properties: { readonly [key: string]: Json };
}

export interface Packaged {
  readonly bundles: readonly Bundle[];
  readonly resources: Readonly<Record<string, Resource>>;
  /** The compiled template as text, to look for what must not be in it. */
  readonly text: string;
}

/**
 * Packages the stack in a folder of its own as `npm run package` does: with an empty home and no AWS settings, so that anything asked of the machine or of AWS fails here.
 * The folder holds the bundles afterwards; `done` removes it.
 */
export const packageStack = async (): Promise<{ readonly folder: string; readonly packaged: Packaged; readonly done: () => Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-stack-"));
  const done = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const bundles = await bundleAll(join(folder, "dist"));
    await Promise.all(["serverless.yml", "infra"].map((path) => cp(join(ROOT, path), join(folder, path), { recursive: true })));
    const env = {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: join(folder, "home"),
      SLS_TELEMETRY_DISABLED: "1",
      SLS_NOTIFICATIONS_MODE: "off",
    };
    const osls = join(ROOT, "node_modules/osls/bin/serverless.js");
    await promisify(execFile)(process.execPath, [osls, "package"], { cwd: folder, env });
    const text = await readFile(join(folder, ".serverless/cloudformation-template-update-stack.json"), "utf8");
    const template: { readonly Resources: Packaged["resources"] } = JSON.parse(text);
    return { folder, packaged: { bundles, resources: template.Resources, text }, done };
  } catch (error) {
    await done();
    throw error;
  }
};
