import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { ROOT } from "../../architecture/source.ts";

const BINARY = join(ROOT, "node_modules/@dynoxide/linux-x64/dynoxide");
/** It comes as an optional package for one platform. */
export const HAS_DYNOXIDE = existsSync(BINARY);
const START_TIMEOUT_MS = 10_000;

export const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
};

/** A table engine that knows PartiQL, in memory, as a process of its own. */
export const startDynoxide = async (): Promise<{
  readonly endpoint: string;
  readonly stop: () => Promise<void>;
}> => {
  const port = await freePort();
  const child = spawn(BINARY, ["serve", "--port", String(port)], { stdio: "ignore" });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + START_TIMEOUT_MS; ; await wait(20)) {
    const answered = await fetch(endpoint).then(
      () => true,
      () => false,
    );
    if (answered) break;
    if (Date.now() > deadline) throw new Error("Cannot start dynoxide: it does not answer");
  }
  const stop = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
  };
  return { endpoint, stop };
};
