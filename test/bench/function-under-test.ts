import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { bundleEntry } from "../../build/build.ts";
import { LOOPBACK_CREDENTIALS, LOOPBACK_REGION } from "../../lib/embedded/host/loopback.ts";
import type { Engine } from "../contracts/engines.ts";
import type { ControlPlane } from "../control-plane/start.ts";
import type { Measured } from "./function-process.ts";

export interface FunctionUnderTest {
  /** One sync; throws where it did not complete. */
  readonly sync: (message: object) => Promise<Measured>;
  readonly stop: () => Promise<void>;
}

/** How a process is started. */
export interface Started {
  /** Options of Node, divided by spaces. */
  readonly options: string;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * The heap that V8 gives itself on the 512 MB of the function, half of the memory; this machine has
 * more.
 */
export const AS_512_MB = "--max-heap-size=259";
/** The options and variables that serverless.yml gives to `sync`. */
export const AS_DEPLOYED: Started = {
  options: `${AS_512_MB} --max-semi-space-size=8`,
  variables: { MALLOC_ARENA_MAX: "1" },
};

/**
 * Bundles and starts it with the plane as its cluster. BENCH_NODE_OPTIONS gives other options of
 * Node, such as `--cpu-prof`.
 */
export const startFunction = async (
  plane: ControlPlane,
  engine: Engine,
  dir: string,
  { options, variables }: Started = {
    ...AS_DEPLOYED,
    options: process.env["BENCH_NODE_OPTIONS"] ?? AS_DEPLOYED.options,
  },
): Promise<FunctionUnderTest> => {
  const folder = join(dir, "function");
  await bundleEntry(join(import.meta.dirname, "function-process.ts"), folder);
  const child = fork(join(folder, "index.js"), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    execArgv: options.split(" ").filter((option) => option !== ""),
    env: {
      ...variables,
      PATH: process.env["PATH"],
      AWS_REGION: LOOPBACK_REGION,
      AWS_ACCESS_KEY_ID: LOOPBACK_CREDENTIALS.accessKeyId,
      AWS_SECRET_ACCESS_KEY: LOOPBACK_CREDENTIALS.secretAccessKey,
      AWS_ENDPOINT_URL_DYNAMODB: await endpointOf(engine),
      BENCH_STATE_TABLE: engine.tables.stateTable,
      BENCH_HISTORY_TABLE: engine.tables.historyTable,
      BENCH_SERVER: plane.url,
      BENCH_CA: plane.ca,
      BENCH_TOKEN: plane.token,
    },
  });
  const ended = once(child, "exit").then(([code]): never => {
    throw new Error(`the function ended with ${code}`);
  });
  // A waiting sync is told; afterwards the end is expected.
  ended.catch(() => undefined);
  const answerOf = async (): Promise<unknown> =>
    (await Promise.race([once(child, "message"), ended]))[0];
  await answerOf();
  return {
    sync: async (message) => {
      const answer = answerOf();
      child.send(JSON.stringify(message));
      const result = (await answer) as Measured | { readonly failed: string };
      if ("failed" in result) throw new Error(result.failed);
      return result;
    },
    stop: async () => {
      child.disconnect();
      if (child.exitCode === null) await once(child, "exit");
    },
  };
};

const endpointOf = async ({ client }: Engine): Promise<string> => {
  const { config } = client as unknown as {
    readonly config: { readonly endpoint?: () => Promise<{ hostname: string; port?: number }> };
  };
  const endpoint = await config.endpoint?.();
  if (!endpoint)
    throw new Error(
      "the tables are in this process; the bench needs dynoxide, which is for Linux on x64",
    );
  return `http://${endpoint.hostname}:${endpoint.port}`;
};
