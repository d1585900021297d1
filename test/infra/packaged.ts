import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { type Bundle, bundleAll } from "../../build/build.ts";
import { ROOT } from "../architecture/source.ts";
import { type ParameterValues, settleConditions } from "./settle-conditions.ts";

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json };

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

export type Parameters = Readonly<Record<string, string>>;

export interface Compiled {
  readonly resources: Packaged["resources"];
  readonly text: string;
}

export interface Stack {
  readonly folder: string;
  readonly packaged: Packaged;
  /** Compiles the template again with these parameters, from the same bundles. */
  readonly compile: (parameters: Parameters) => Promise<Compiled>;
  readonly done: () => Promise<void>;
}

/** The resources of a template for these values of its parameters. */
export const resourcesOf = (text: string, values: ParameterValues): Packaged["resources"] => {
  const { Resources } = settleConditions(JSON.parse(text), values) as unknown as {
    readonly Resources: Packaged["resources"];
  };
  return Resources;
};

/** What the deployment gives to CloudFormation. */
const sentParameters = async (folder: string): Promise<ParameterValues> => {
  const state: {
    readonly service: {
      readonly provider: {
        readonly stackParameters: readonly {
          readonly ParameterKey: string;
          readonly ParameterValue: string;
        }[];
      };
    };
  } = JSON.parse(await readFile(join(folder, ".serverless/serverless-state.json"), "utf8"));
  return Object.fromEntries(
    state.service.provider.stackParameters.map(({ ParameterKey, ParameterValue }) => [
      ParameterKey,
      String(ParameterValue),
    ]),
  );
};

/**
 * Runs `osls package` with an empty home and no AWS settings, so that a question to the machine or
 * to AWS fails here.
 */
const compileIn = async (folder: string, parameters: Parameters): Promise<Compiled> => {
  const env = {
    PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
    HOME: join(folder, "home"),
    // The folder is no work tree of git, so the time of the source is given.
    SOURCE_DATE_EPOCH: "1700000000",
    SLS_TELEMETRY_DISABLED: "1",
    SLS_NOTIFICATIONS_MODE: "off",
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  };
  const osls = join(ROOT, "node_modules/osls/bin/serverless.js");
  const values = Object.entries(parameters).map(([name, value]) => `--param=${name}=${value}`);
  await promisify(execFile)(process.execPath, [osls, "package", ...values], { cwd: folder, env });
  const text = await readFile(
    join(folder, ".serverless/cloudformation-template-update-stack.json"),
    "utf8",
  );
  return { resources: resourcesOf(text, await sentParameters(folder)), text };
};

/** The stack that was packaged in a folder; `done` removes the folder. */
export const stackIn = (folder: string, packaged: Packaged): Stack => ({
  folder,
  packaged,
  compile: (parameters) => compileIn(folder, parameters),
  done: () => rm(folder, { recursive: true, force: true }),
});

/**
 * Packages the stack in a folder of its own as `npm run package` does. The folder holds the bundles
 * afterwards.
 */
export const packageStack = async (): Promise<Stack> => {
  const folder = await mkdtemp(join(tmpdir(), "tidemark-stack-"));
  try {
    // The functions of tests run on this Node.
    const bundles = await bundleAll(join(folder, "dist"), [process.execPath]);
    await Promise.all(
      ["serverless.yml", "infra"].map((path) =>
        cp(join(ROOT, path), join(folder, path), { recursive: true }),
      ),
    );
    const compiled = await compileIn(folder, {});
    return stackIn(folder, { bundles, ...compiled });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
};
