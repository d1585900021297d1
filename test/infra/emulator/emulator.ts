import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { EMULATOR_PACKAGES, pythonPrograms } from "../check/tools.ts";
import { freePort } from "../lambda/dynoxide.ts";

const START_TIMEOUT_MS = 120_000;

export interface Emulator {
  /** What a program needs in its environment to talk to the emulator in place of AWS. */
  readonly environment: Readonly<Record<string, string>>;
  /** The folder of the AWS command line. */
  readonly programs: string;
  readonly stop: () => Promise<void>;
}

/**
 * An AWS account in memory, behind one port of loopback. The emulator and the AWS command line are
 * installed on the first call.
 */
export const startEmulator = async (say: (line: string) => void): Promise<Emulator> => {
  const programs = await pythonPrograms(EMULATOR_PACKAGES, say);
  const port = String(await freePort());
  const child = spawn(
    join(programs, "python3"),
    [join(import.meta.dirname, "launch.py"), "-H", "127.0.0.1", "-p", port],
    { stdio: "ignore" },
  );
  // Also where the check fails before it can stop the emulator.
  process.once("exit", () => child.kill("SIGKILL"));
  const endpoint = `http://127.0.0.1:${port}`;
  await answering(child, `${endpoint}/moto-api/`);
  return {
    environment: {
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: "emulator",
      AWS_SECRET_ACCESS_KEY: "emulator",
      AWS_REGION: "eu-central-1",
    },
    programs,
    stop: async () => {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
};

const answering = async (child: ChildProcess, url: string): Promise<void> => {
  for (const deadline = Date.now() + START_TIMEOUT_MS; Date.now() < deadline; await wait(200)) {
    if (child.exitCode !== null)
      throw new Error(`Cannot start the emulator of AWS: it ended with ${child.exitCode}`);
    const answered = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (answered) return;
  }
  child.kill("SIGKILL");
  throw new Error(
    `Cannot start the emulator of AWS: it did not answer within ${START_TIMEOUT_MS / 1_000} s`,
  );
};
