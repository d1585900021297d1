import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const COMMAND = join(ROOT, "bin/tidemark.js");
/** Prints every file that the process loads, one line each, on standard error. */
const TRACE = `import { registerHooks } from "node:module";
registerHooks({ load: (url, context, next) => (url.startsWith("file:") && process.stderr.write(url + "\\n"), next(url, context)) });`;

const loadedBy = (...args: readonly string[]): readonly string[] => {
  const { stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(TRACE)}`, COMMAND, ...args],
    {
      encoding: "utf8",
    },
  );
  return stderr.split("\n").filter((line) => line.startsWith("file:"));
};

describe("the start of tidemark", () => {
  it.each([["--help"], ["version"], ["get", "--help"]])(
    "loads no code of a command for: tidemark %s",
    (...args) => {
      const loaded = loadedBy(...args);
      expect(loaded.some((url) => url.endsWith("/lib/command/program.ts"))).toBe(true);
      expect(
        loaded.filter((url) =>
          /lib\/command\/commands\/|node_modules\/(zod|yaml|@aws-sdk)\//.test(url),
        ),
      ).toEqual([]);
      expect(loaded.length).toBeLessThan(75);
    },
  );

  it("loads no TypeScript compiler once its code is cached", () => {
    const shown = `data:text/javascript,${encodeURIComponent('process.on("exit", () => process.stderr.write(process.moduleLoadList.join("\\n")))')}`;
    // The cache of the command itself, and not the one that these tests have.
    const { NODE_COMPILE_CACHE: _, ...env } = process.env;
    const start = () =>
      spawnSync(process.execPath, ["--import", shown, COMMAND, "version"], {
        encoding: "utf8",
        env,
      });
    start();
    const { stderr, status } = start();
    expect(status).toBe(0);
    expect(stderr).toContain("Internal Binding builtins");
    expect(stderr).not.toContain("amaro");
  });

  it("prints the version of package.json", () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    for (const words of [["--version"], ["version"], ["--data", "nowhere", "--version"]]) {
      const { stdout, status } = spawnSync(process.execPath, [COMMAND, ...words], {
        encoding: "utf8",
      });
      expect([words, stdout, status]).toEqual([words, `${version}\n`, 0]);
    }
  });

  it("loads one module for --version, since nothing else is faster", () => {
    expect(loadedBy("--version").map((url) => url.slice(url.lastIndexOf("/") + 1))).toEqual([
      "tidemark.js",
    ]);
  });

  it("starts a run also where its options stand before the command", () => {
    const started = spawnSync(process.execPath, [COMMAND, "--data", "", "start"], {
      encoding: "utf8",
    });
    expect([started.status, started.stderr.split("\n")[0]]).toEqual([
      1,
      expect.stringContaining("--data"),
    ]);
    expect(started.stderr).toContain("(--help shows all options)");
  });

  it("works through a link in another folder, which is how npm offers the command", () => {
    const folder = mkdtempSync(join(tmpdir(), "tidemark-linked-"));
    try {
      symlinkSync(COMMAND, join(folder, "tidemark"));
      const { stdout, status } = spawnSync(
        process.execPath,
        [join(folder, "tidemark"), "--version"],
        { encoding: "utf8" },
      );
      expect([stdout.trim(), status]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/), 0]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
