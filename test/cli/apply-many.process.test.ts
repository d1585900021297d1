import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { PassThrough, Readable, type Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../lib/command/main.ts";
import { openTarget } from "../../lib/command/session.ts";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

const TIDEMARK = join(import.meta.dirname, "../../bin/tidemark.js");
const MANY = 400;
const name = (index: number): string => `many-${String(index).padStart(3, "0")}`;
const many = (target: string): string =>
  documents(...Array.from({ length: MANY }, (_, index) => hpa(name(index), { namespace: target })));

let folder: Folder;
let file = "";
beforeAll(async () => {
  folder = await shopFolder();
  file = folder.write("many.yaml", many("lab"));
});
afterAll(() => folder.remove());

const storedIn = async (namespace: string): Promise<readonly string[]> => {
  const { out } = await inside(["get", "-n", namespace, "-o", "json", "--data", folder.data]);
  return JSON.parse(out).items.map(
    ({ metadata }: { readonly metadata: { readonly name: string } }) => metadata.name,
  );
};

/** The line that says where they are stored. */
const HEAD_LINES = 1;

const atFirstStored = (
  child: ChildProcessByStdio<Writable, Readable, Readable>,
  signal: NodeJS.Signals,
): void => {
  child.stdout.on("data", (chunk: Buffer) =>
    chunk.includes(" created") && !child.killed ? child.kill(signal) : undefined,
  );
};

describe("tidemark apply of many documents", () => {
  it("ends in good order at Ctrl-C: it printed what it stored, says how many, and the same again stores the rest", async () => {
    const args = ["apply", "-f", file, "--cluster", "us-1", "--data", folder.data];
    const child = spawn(process.execPath, [TIDEMARK, ...args]);
    const [out, err] = [text(child.stdout), text(child.stderr)];
    atFirstStored(child, "SIGINT");
    const [code] = await once(child, "close");
    const printed = (await out).trimEnd().split("\n").slice(HEAD_LINES);
    expect(code).toBe(1);
    expect(await err).toBe(
      `error: Cannot finish: the command was interrupted; ${printed.length} of ${MANY} documents are stored; apply the same files again to store the rest\n`,
    );
    expect(await storedIn("lab")).toEqual(
      Array.from({ length: printed.length }, (_, index) => name(index)),
    );
    const again = await inside(args);
    expect(again.out.match(/ unchanged$/gm)).toHaveLength(printed.length);
    expect(again.out.match(/ created$/gm)).toHaveLength(MANY - printed.length);
  });

  it("leaves nothing that applying the same again does not mend, when it is killed", async () => {
    const args = [
      "apply",
      "-f",
      folder.write("killed.yaml", many("yard")),
      "--cluster",
      "us-1",
      "--data",
      folder.data,
    ];
    const child = spawn(process.execPath, [TIDEMARK, ...args]);
    const out = text(child.stdout);
    atFirstStored(child, "SIGKILL");
    await once(child, "close");
    const printed = (await out).split("\n").length - 1 - HEAD_LINES;
    expect((await storedIn("yard")).length).toBeGreaterThanOrEqual(printed);
    const again = await inside(args);
    expect([
      again.code,
      again.out.match(/ (created|unchanged)$/gm)?.length,
      (await storedIn("yard")).length,
    ]).toEqual([0, MANY, MANY]);
  });

  it("tells a terminal how far it is, on a line that is gone at the end", async () => {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const [out, err] = [text(stdout), text(stderr)];
    const io = {
      stdin: Readable.from([many("port")]),
      stdout,
      stderr,
      colours: false,
      terminal: true,
      by: "ada",
      open: openTarget,
    };
    expect(await main(["apply", "-f", "-", "--cluster", "us-1", "--data", folder.data], io)).toBe(
      0,
    );
    stdout.end();
    stderr.end();
    expect((await out).trimEnd().split("\n")).toHaveLength(HEAD_LINES + MANY);
    const shown = (await err).split("\r\u001b[2K");
    expect(shown.filter((line) => line !== "")).toEqual([
      "Checking the manifests",
      ...Array.from(
        { length: MANY / 100 - 1 },
        (_, group) => `Applied ${(group + 1) * 100} of ${MANY}`,
      ),
    ]);
    expect(shown.at(-1)).toBe("");
  });
});
