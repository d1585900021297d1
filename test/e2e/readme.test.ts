import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRun, tidemark } from "./start-process.ts";

const read = (path: string): string =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const page = read("docs/embedded-run.md");
const firstRun = page.slice(page.indexOf("## The first run"), page.indexOf("## Your own cluster"));
/**
 * Lines of the shell blocks that call the command: those of README.md, and those of the first run
 * in docs/embedded-run.md.
 */
const commands = [...`${read("README.md")}\n${firstRun}`.matchAll(/```sh\n([\s\S]*?)```/g)]
  .flatMap(([, block = ""]) => block.trim().split("\n"))
  .filter((line) => line.startsWith("npx tidemark "))
  .map((line) => line.slice("npx tidemark ".length));

let data: string;
beforeAll(async () => {
  data = mkdtempSync(join(tmpdir(), "tidemark-readme-"));
  const { code } = await startRun(["--data", data, "--for", "5m", "--speed", "100000"]).ended;
  expect(code).toBe(0);
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

describe("the commands of README.md and of the first run", { timeout: 60_000 }, () => {
  it("are found on both pages", () => expect(commands.length).toBeGreaterThanOrEqual(4));

  it.each(commands)("do what they say: npx tidemark %s", async (command) => {
    const { code, out, err } = await tidemark([...command.split(" "), "--data", data]);
    expect(code).toBe(0);
    // A table has its place on standard error.
    expect(err).toMatch(/^(In folder .*, no run is alive:\n)?$/);
    expect(out).toContain(command.startsWith("replay ") ? "replica-hours" : "daily");
  });
});
