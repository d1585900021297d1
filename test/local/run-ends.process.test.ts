import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Started, startRun } from "../e2e/start-process.ts";

/** A run that has printed its summary has this long to end; its machine may have other work. */
const ENDS_MS = 20_000;
const CLIENTS = 2;
/** Between two requests of a client, so that the run has its turn too. */
const PAUSE_MS = 5;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-run-ends-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Where the servers of a run are, as it prints them. */
interface Addresses {
  readonly page: string;
  readonly token: string;
  readonly series: string;
  readonly wakes: string;
}

/** The addresses of a run, and when it has printed its summary. */
const followed = (run: Started) => {
  const [addresses, played] = [Promise.withResolvers<Addresses>(), Promise.withResolvers<void>()];
  let out = "";
  run.child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk.toString("utf8");
    const [, page = "", token = ""] = /(http:\/\/127[^ ]*)\/#token=([\w-]+)/.exec(out) ?? [];
    const [, series = ""] = /^Series for Prometheus at (\S+)\n/m.exec(out) ?? [];
    const [, wakes = ""] = /^Wakes are taken at (\S+)\n/m.exec(out) ?? [];
    if (wakes !== "") addresses.resolve({ page, token, series, wakes });
    if (/^played +/m.test(out)) played.resolve();
  });
  return { addresses: addresses.promise, played: played.promise };
};

/** Asks one server again and again until it is gone; how often it answered. */
const asks = async (ask: () => Promise<Response>): Promise<number> => {
  for (let answers = 0; ; answers++) {
    const text = await ask().then(
      (response) => response.text(),
      () => undefined,
    );
    if (text === undefined) return answers;
    await wait(PAUSE_MS);
  }
};

describe("a run that is asked to its last moment", { timeout: 240_000 }, () => {
  it.each([
    { of: "one cluster", words: [] },
    { of: "clusters in threads", words: ["--clusters", "2", "--autoscalers", "8"] },
  ])("of $of ends by itself", async ({ of, words }) => {
    const run = startRun([
      ...["--data", join(dir, of), "--for", "2m", "--speed", "600", "--seed", "5"],
      ...["--wake-port", "0", ...words],
    ]);
    const { addresses, played } = followed(run);
    const { page, token, series, wakes } = await addresses;
    const headers = { "x-tidemark-token": token };
    const wake = { cluster: words.length === 0 ? "local" : "local-1", reason: "a test" };
    const clients = Array.from({ length: CLIENTS }, () => [
      asks(() => fetch(`${page}/v1/rows`, { headers })),
      asks(() => fetch(series)),
      asks(() =>
        fetch(wakes, {
          ...{ method: "POST", headers: { "content-type": "application/json" } },
          body: JSON.stringify(wake),
        }),
      ),
    ]).flat();
    await played;
    const ended = await Promise.race([run.ended, wait(ENDS_MS, undefined, { ref: false })]);
    if (!ended) run.child.kill("SIGKILL");
    expect(ended).toMatchObject({ code: 0, signal: null, err: "" });
    for (const answers of await Promise.all(clients)) expect(answers).toBeGreaterThan(0);
  });
});
