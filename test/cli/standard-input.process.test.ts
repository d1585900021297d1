import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readSources } from "../../lib/command/select/read-sources.ts";
import { hpa } from "../service/world/manifests.ts";
import { type Folder, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

const ROOT = join(import.meta.dirname, "../..");

let folder: Folder;
beforeAll(async () => {
  folder = await shopFolder();
});
afterAll(() => folder.remove());

describe("tidemark apply -f -", () => {
  it("reads all of its input before it opens the data folder: what writes the input may be a command on the same folder", async () => {
    const stdin = new PassThrough();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const opened: string[] = [];
    const { main } = await import("../../lib/command/main.ts");
    const { openTarget: openPlace } = await import("../../lib/command/session.ts");
    const ended = main(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data], {
      stdin,
      stdout,
      stderr,
      colours: false,
      by: "ada",
      open: (place, by) => {
        opened.push(stdin.readableEnded ? "after the input" : "before the end of the input");
        return openPlace(place, by);
      },
    });
    stdin.write(hpa("first"));
    // The folder is free meanwhile.
    expect((await inside(["get", "shop/web", "--data", folder.data])).code).toBe(0);
    stdin.end(`---\n${hpa("second")}`);
    expect([await ended, opened]).toEqual([0, ["after the input"]]);
  });

  it("works behind a command on the same folder in one pipe, each a process of its own", async () => {
    const tidemark = `"${process.execPath}" bin/tidemark.js`;
    const place = `--cluster us-1 --data "${folder.data}"`;
    const yaml = `{ ${tidemark} get ${place} > /dev/null; printf '%s' "$MANIFEST"; }`;
    const shell = spawn("sh", ["-c", `${yaml} | ${tidemark} apply -f - ${place}`], {
      cwd: ROOT,
      env: { ...process.env, MANIFEST: hpa("piped") },
    });
    const [out, err, [code]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, "close"),
    ]);
    expect({ code, out, err }).toEqual({
      code: 0,
      out: `In folder ${folder.data}, no run is alive:\nHorizontalPodAutoscaler "piped" in namespace "default" of cluster "us-1" created\n`,
      err: `In folder ${folder.data}, no run is alive:\n`,
    });
  });
});

describe("readSources()", () => {
  it("keeps letters whole that come in two pieces", async () => {
    const bytes = Buffer.from("a: ö\n");
    expect(
      await readSources(
        { filename: ["-"] },
        Readable.from([bytes.subarray(0, 4), bytes.subarray(4)]),
      ),
    ).toEqual([{ file: "standard input", text: "a: ö\n" }]);
  });

  it("refuses an input that is not UTF-8, and one without an end", async () => {
    await expect(
      readSources({ filename: ["-"] }, Readable.from([Buffer.from("a: ö\n", "latin1")])),
    ).rejects.toThrow('Cannot read "standard input": line 1 is not UTF-8; save the file as UTF-8');
    const endless = async function* () {
      for (;;) yield Buffer.alloc(65_536, "x");
    };
    await expect(readSources({ filename: ["-"] }, Readable.from(endless()))).rejects.toThrow(
      /^Cannot read "standard input": it has more than 2097152 bytes; /,
    );
  });
});
