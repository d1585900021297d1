import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { commandsMarkdown } from "../../docs/figures/cli-page.ts";
import { withTable } from "../../docs/figures/page-table.ts";
import { NOTES } from "../../lib/command/notes.ts";
import { commandWords, withSubcommands } from "../../lib/command/options/word-order.ts";
import { program } from "../../lib/command/program.ts";
import { NOON } from "../noon.ts";
import { auditLine, HPA_CONTROLLER, OURS } from "./audit-line.ts";
import { type Folder, openHere, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** Pages whose examples are run, and what they show of blocks of commands without an output. */
const PAGES: Readonly<Record<string, "all" | "some">> = {
  "docs/output.md": "all",
  "docs/editing.md": "all",
  "docs/overrides.md": "all",
  "docs/import.md": "all",
  "docs/clusters.md": "some",
  "docs/api.md": "some",
};

/** Commands of one block, and the block of text that follows it. */
const examplesOf = (page: string) =>
  [...page.matchAll(/^```sh\n([^`]*?)^```\n\n```text\n(.*?)^```/gms)].map(
    ([, commands = "", output = ""]) => ({ commands: commands.trim().split("\n"), output }),
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

describe.each(Object.entries(PAGES))("the examples of %s", (path, shown) => {
  const page = read(path);
  const examples = examplesOf(page);
  beforeAll(async () => {
    folder = await shopInMemory();
    written = mkdtempSync(join(tmpdir(), "tidemark-docs-"));
  });
  afterAll(() => {
    folder.remove();
    rmSync(written, { recursive: true, force: true });
  });

  it("were seen, with their outputs", () => {
    expect(examples.length).toBeGreaterThan(0);
    if (shown === "all") expect([...page.matchAll(/^```sh$/gm)]).toHaveLength(examples.length);
  });

  // In the order of the page: later examples see what earlier ones have done.
  it.each(examples)("print what the page says: $commands", async ({ commands, output }) => {
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
});

describe("docs/cli.md", () => {
  const page = read("docs/cli.md");
  const root = program(async () => {}, inert());
  const leaves = withSubcommands(root).filter(
    (command) => command.commands.length === 0 && command.name() !== "__complete",
  );

  it("has every command as it is defined", () => {
    const same = withTable(page, "commands", commandsMarkdown()) === page;
    expect(same, "a command is defined otherwise now: run `npm run docs -- cli`").toBe(true);
  });

  it("names every command and every option there is", () => {
    expect(leaves.length).toBeGreaterThan(40);
    expect(
      leaves.filter((leaf) => !page.includes(`### ${commandWords(leaf)}\n`)).map(commandWords),
    ).toEqual([]);
    const options = leaves
      .flatMap(({ options: defined }) => defined)
      .filter((option) => !option.hidden);
    expect(
      options.filter(({ flags }) => !page.includes(`| \`${flags}\` |`)).map(({ flags }) => flags),
    ).toEqual([]);
  });

  it("has a note only for a command that there is, of sentences that name pages that there are", () => {
    const paths = leaves.map(commandWords);
    expect(Object.keys(NOTES).filter((path) => !paths.includes(path))).toEqual([]);
    const named = Object.values(NOTES).flatMap((note) => note.match(/docs\/[\w-]+\.md/g) ?? []);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

const inRoot = (arg: string): string => (arg.startsWith("examples/") ? join(ROOT, arg) : arg);

function inert(): Parameters<typeof program>[1] {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    colours: false,
    by: "ada",
    open: () => Promise.reject(new Error("nothing is opened to list commands")),
  };
}
