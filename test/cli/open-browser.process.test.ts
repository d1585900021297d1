import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { openBrowser } from "../../lib/command/run-program.ts";

const URL_WITH_TOKEN = "http://127.0.0.1:1234/#token=abc_DEF-123";

it("the browser gets a file of this user only, which leads to the address: no other user can read the token", async () => {
  const dir = mkdtempSync(join(tmpdir(), "tidemark-browser-"));
  const opened = join(dir, "opened");
  writeFileSync(
    join(dir, "xdg-open"),
    `#!/bin/sh\necho "$@" > ${opened}.part\nmv ${opened}.part ${opened}\n`,
  );
  chmodSync(join(dir, "xdg-open"), 0o700);
  vi.stubEnv("PATH", `${dir}:${process.env["PATH"]}`);
  await openBrowser(URL_WITH_TOKEN);
  await vi.waitFor(() => statSync(opened), { timeout: 10_000, interval: 20 });
  const words = readFileSync(opened, "utf8").trim();
  expect(words).toMatch(/^file:\/\/\S+\.html$/);
  expect(words).not.toContain("abc_DEF-123");
  const file = fileURLToPath(words);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8")).toContain(`url=${URL_WITH_TOKEN}"`);

  vi.stubEnv("PATH", join(dir, "nothing"));
  await expect(openBrowser(URL_WITH_TOKEN)).rejects.toMatchObject({ code: "cli.browser" });
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});
