import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const WATCHDOG = fileURLToPath(
  new URL("../../../lib/embedded/run/run-activities.ts", import.meta.url),
);

const runWith = async (work: string) => {
  const script = `import { startWatchdog } from ${JSON.stringify(WATCHDOG)};\nconst dog = startWatchdog(300);\n${work}`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const said = text(child.stderr);
  const [code, signal] = await once(child, "exit");
  return { code, signal, said: await said };
};

describe("startWatchdog()", () => {
  it("ends a process whose event loop is stuck in a piece of work, and says why", async () => {
    const { signal, said } = await runWith(
      "await new Promise((r) => setTimeout(r, 200)); dog.watch(); for (;;);",
    );
    expect(signal).toBe("SIGKILL");
    expect(said).toMatch(
      /^Ended the run: a sync has been at work for \d+ s, and may take 0.3 s at most$/m,
    );
  });

  it("leaves work alone that ends in time, and keeps no process alive", async () => {
    const { code, signal } = await runWith(
      "const done = dog.watch(); setTimeout(done, 50); setTimeout(() => {}, 1200);",
    );
    expect([code, signal]).toEqual([0, null]);
  });
});
