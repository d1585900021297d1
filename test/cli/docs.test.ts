import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { program } from "../../lib/command/program.ts";
import { NOON } from "../noon.ts";
import { auditLine, HPA_CONTROLLER, OURS } from "./audit-line.ts";
import { type Folder, openHere, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

const ROOT = join(import.meta.dirname, "../..");
const page = readFileSync(join(ROOT, "docs/cli.md"), "utf8");
/** Commands of one block, and the block of text that follows it. */
const examples = [...page.matchAll(/^```sh\n(.*?)^```\n\n```text\n(.*?)^```/gms)].map(
  ([, commands = "", output = ""]) => ({
    commands: commands.trim().split("\n"),
    output,
  }),
);

const OPENS_NOTHING: ReadonlySet<string> = new Set(["explain-reason"]);

let folder: Folder;
/** Where the examples write files, and read a log. */
let written: string;
const AUDIT_LOG = "audit.log";

/** What an example needs that none before it makes. */
const BEFORE: Readonly<Record<string, () => Promise<void>>> = {
  // The HPA controller writes until shop/web is taken over, and Tidemark from then on.
  writers: async () => {
    const session = await openHere({ kind: "folder", dir: folder.data, from: "--data" }, "ada");
    const rival = {
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      metadata: { name: "web", namespace: "shop" },
      spec: {},
    };
    await session.service.takeOver({ cluster: "eu-1", namespace: "shop", name: "web", rival });
    await session.close();
    const writes = [-3_600, -1_200, -30].map((seconds) => ({
      atMs: NOON + seconds * 1_000,
      by: HPA_CONTROLLER,
    }));
    const own = [15, 300].map((seconds) => ({ atMs: NOON + seconds * 1_000, by: OURS }));
    writeFileSync(join(written, AUDIT_LOG), `${[...writes, ...own].map(auditLine).join("\n")}\n`);
  },
};
beforeAll(async () => {
  folder = await shopInMemory();
  written = mkdtempSync(join(tmpdir(), "tidemark-docs-"));
});
afterAll(() => {
  folder.remove();
  rmSync(written, { recursive: true, force: true });
});

describe("docs/cli.md", () => {
  it("shows the output of every block of commands", () => {
    expect(examples.length).toBeGreaterThan(10);
    expect([...page.matchAll(/^```sh$/gm)]).toHaveLength(examples.length);
  });

  // In the order of the page: later examples see what earlier ones have done.
  it.each(examples)("prints what it says: $commands", async ({ commands, output }) => {
    let printed = "";
    for (const command of commands) {
      const [npx, tidemark, ...args] = command.split(" ");
      expect([npx, tidemark]).toEqual(["npx", "tidemark"]);
      await BEFORE[args[0] ?? ""]?.();
      const { code, out, err } = await inside([
        ...args.map((arg) =>
          arg === "audit" || arg === AUDIT_LOG ? join(written, arg) : inRoot(arg),
        ),
        ...(OPENS_NOTHING.has(args[0] ?? "") ? [] : ["--data", folder.data]),
      ]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      printed += out.replaceAll(`${written}/`, "");
    }
    expect(printed).toBe(output);
  });

  it("names every command and every option there is", () => {
    const leaves = (
      command: Command,
      path: string,
    ): readonly { readonly path: string; readonly command: Command }[] =>
      command.commands.length === 0
        ? [{ path, command }]
        : command.commands.flatMap((sub) => leaves(sub, `${path} ${sub.name()}`.trim()));
    const all = leaves(
      program(async () => {}, inert()),
      "",
    );
    expect(all.length).toBeGreaterThan(10);
    // `__complete` is what the scripts of the shells call.
    expect(
      all
        .filter(
          ({ path }) =>
            path !== "__complete" && !page.includes(`\`${path}`) && !page.includes(`${path} `),
        )
        .map(({ path }) => path),
    ).toEqual([]);
    const options = new Set(
      all.flatMap(({ command }) => command.options.map(({ long }) => long ?? "")),
    );
    expect(
      [...options].filter((option) => option !== "--filename" && !page.includes(option)),
    ).toEqual([]);
    const [, starting = ""] = /^### `start`$(.*?)^## /ms.exec(page) ?? [];
    const named = [...starting.matchAll(/`(--[\w-]+)`/g)].map(([, option]) => option);
    expect(named.toSorted()).toEqual(
      (all.find(({ path }) => path === "start")?.command.options ?? [])
        .map(({ long }) => long ?? "")
        .toSorted(),
    );
  });
});

const inRoot = (arg: string): string => (arg.startsWith("examples/") ? join(ROOT, arg) : arg);

const inert = (): Parameters<typeof program>[1] => ({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  colours: false,
  by: "ada",
  open: () => Promise.reject(new Error("nothing is opened to list commands")),
});
