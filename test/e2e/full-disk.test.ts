import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { treeOf } from "../local/folder/starting.ts";
import { type Ended, startRun, tidemark } from "./start-process.ts";

/** A few megabytes that can be filled without filling the machine's disk. */
const SIZE = "4m";
let dir: string;
let closed: string;
const disk = () => join(dir, "disk");
const data = () => join(disk(), "data");
const mount = (...options: readonly string[]) =>
  spawnSync("mount", [...options, "-t", "tmpfs", "tmpfs", disk()]).status === 0;
const unmount = () => spawnSync("umount", ["-l", disk()]);

const mayMount = (() => {
  const probe = mkdtempSync(join(tmpdir(), "tidemark-mount-"));
  const may = spawnSync("mount", ["-o", "size=64k", "-t", "tmpfs", "tmpfs", probe]).status === 0;
  if (may) spawnSync("umount", ["-l", probe]);
  rmSync(probe, { recursive: true });
  return may;
})();

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "tidemark-full-"));
  mkdirSync(disk());
  closed = join(dir, "closed");
  const { code } = await startRun(["--data", closed, "--for", "1m", "--speed", "100000"]).ended;
  expect(code).toBe(0);
}, 120_000);
afterEach(() => unmount());
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Leaves so many KiB free. */
const fill = (leftKib: number) => {
  const { bavail, bsize } = statfsSync(disk());
  writeFileSync(join(disk(), "fill"), Buffer.alloc(bavail * bsize - leftKib * 1024));
};

const LIMIT_MS = 60_000;
/** One line on standard error, exit code 1, and well before a person gives up. */
const inOneLine = async (ended: Promise<Ended>, words: RegExp) => {
  const startedAt = performance.now();
  const { code, err } = await ended;
  expect(err).toMatch(words);
  expect([code, err.trimEnd().split("\n").length]).toEqual([1, 1]);
  expect(performance.now() - startedAt).toBeLessThan(LIMIT_MS);
};
const FULL =
  /^error: Cannot .*(?:no space is left on the device \(ENOSPC\)|No space left on device)$/m;

describe.skipIf(!mayMount)(
  "on a full disk (skipped where nothing can be mounted)",
  { timeout: 180_000 },
  () => {
    it.each([0, 4])(
      "`get` says that the disk is full with %i KiB free, and works again when there is space",
      async (leftKib) => {
        mount("-o", `size=${SIZE}`);
        cpSync(closed, data(), { recursive: true, preserveTimestamps: true });
        fill(leftKib);
        await inOneLine(tidemark(["get", "--data", data()]), FULL);
        expect(readdirSync(join(data(), "locks"))).toEqual([]);
        rmSync(join(disk(), "fill"));
        expect((await tidemark(["get", "--data", data()])).code).toBe(0);
      },
    );

    it.each([0, 8, 40])(
      "a first start with %i KiB free says that the disk is full, and leaves nothing",
      async (leftKib) => {
        mount("-o", `size=${SIZE}`);
        fill(leftKib);
        await inOneLine(
          startRun(["--data", data(), "--for", "9h", "--speed", "100000"]).ended,
          FULL,
        );
        expect(existsSync(data())).toBe(false);
      },
    );

    it("a run that fills the disk ends, and goes on where it was when there is space", async () => {
      mount("-o", `size=${SIZE}`);
      cpSync(closed, data(), { recursive: true, preserveTimestamps: true });
      fill(120);
      await inOneLine(startRun(["--data", data(), "--for", "9h", "--speed", "100000"]).ended, FULL);
      rmSync(join(disk(), "fill"));
      const { code, out } = await startRun(["--data", data(), "--for", "1m", "--speed", "100000"])
        .ended;
      expect([code, out]).toEqual([0, expect.stringMatching(/^Resumed at /m)]);
    });

    it("a folder that can only be read is refused by a start and by a command, and stays as it is", async () => {
      mount("-o", `size=${SIZE}`);
      cpSync(closed, data(), { recursive: true, preserveTimestamps: true });
      const before = treeOf(data());
      mount("-o", "remount,ro");
      const words = /^error: Cannot .*: the file system is read-only \(EROFS\)$/m;
      await inOneLine(tidemark(["get", "--data", data()]), words);
      await inOneLine(startRun(["--data", data()]).ended, words);
      await inOneLine(startRun(["--data", join(disk(), "new")]).ended, words);
      expect(treeOf(data())).toEqual(before);
    });
  },
);

describe("where no folder can be made", { timeout: 120_000 }, () => {
  it("`npm start` and `get` say so and end: in /proc a folder can never be made", async () => {
    await inOneLine(
      startRun(["--data", "/proc/self/tidemark/a"]).ended,
      /^error: Cannot use "\/proc\/self\/tidemark\/a": no folder can be made there$/m,
    );
    await inOneLine(
      tidemark(["get", "--data", "/proc/self/tidemark"]),
      /^error: No data in "\/proc\/self\/tidemark": start a run first$/m,
    );
    await inOneLine(
      tidemark(["get", "--data", "/proc/self"]),
      /^error: Cannot use "\/proc\/self": it holds ".*" and is no data folder of Tidemark/m,
    );
  });
});

/** An unprivileged user of every Linux. */
const OTHER_USER = 65_534;
describe.skipIf(process.getuid?.() !== 0)(
  "as another user (skipped without root, who alone can become one)",
  { timeout: 120_000 },
  () => {
    it("a folder that belongs to another user is refused untouched", async () => {
      const foreign = mkdtempSync(join(tmpdir(), "tidemark-foreign-"));
      cpSync(closed, join(foreign, "data"), { recursive: true, preserveTimestamps: true });
      for (const path of [foreign, join(foreign, "data")]) spawnSync("chmod", ["777", path]);
      const before = treeOf(foreign);
      const asOther = (program: string, ...args: readonly string[]) => {
        const { status, stderr } = spawnSync(process.execPath, [program, ...args], {
          uid: OTHER_USER,
          encoding: "utf8",
          timeout: LIMIT_MS,
        });
        return [status, stderr];
      };
      const words = `error: Cannot use "${join(foreign, "data")}": it belongs to the user with id 0, and this process runs as ${OTHER_USER}; name a folder of your own with --data\n`;
      expect(asOther("lib/embedded/start.ts", "--data", join(foreign, "data"))).toEqual([1, words]);
      expect(asOther("bin/tidemark.js", "get", "--data", join(foreign, "data"))).toEqual([
        1,
        words,
      ]);
      spawnSync("chmod", ["700", join(foreign, "data")]);
      expect(asOther("lib/embedded/start.ts", "--data", join(foreign, "data"))).toEqual([
        1,
        `error: Cannot use "${join(foreign, "data")}": permission is denied (EACCES)\n`,
      ]);
      spawnSync("chmod", ["777", join(foreign, "data")]);
      expect(treeOf(foreign)).toEqual(before);
      rmSync(foreign, { recursive: true });
    });
  },
);
