import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");
const START = join(ROOT, "lib/embedded/start.ts");
const TIDEMARK = join(ROOT, "bin/tidemark.js");

/** The page that was played: its text with the outputs of its commands, and its pictures by name. */
export interface PlayedPage {
  readonly page: string;
  readonly pictures: Readonly<Record<string, string>>;
}

/**
 * Plays a page of docs in a folder of its own: runs each line of its shell blocks, one after
 * the other, and puts what the block printed into the text block that follows. The clock of the
 * folder is virtual, so the same code prints the same page. Throws where a command fails.
 */
export const playedPage = (page: string): PlayedPage => {
  const data = mkdtempSync(join(tmpdir(), "tidemark-first-hour-"));
  const pictures: Record<string, string> = {};
  try {
    const played = page.replaceAll(
      /^```sh\n([^`]*?)^```(?:\n\n```text\n[^`]*?^```)?/gm,
      (_block, commands: string) => {
        const printed = commands
          .trim()
          .split("\n")
          .map((command) => {
            const [words = "", picture] = command.split(" > ");
            const out = printedBy(words, data);
            if (picture === undefined) return out;
            pictures[picture] = out;
            return "";
          })
          .join("");
        const block = `\`\`\`sh\n${commands}\`\`\``;
        return printed === "" ? block : `${block}\n\n\`\`\`text\n${printed}\`\`\``;
      },
    );
    return { page: played, pictures };
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
};

/** Plays a page of docs and writes it, with its pictures, in the place of the one before. */
export const writePage = (name: string): void => {
  const docs = join(ROOT, "docs");
  const { page, pictures } = playedPage(readFileSync(join(docs, name), "utf8"));
  writeFileSync(join(docs, name), page);
  for (const [picture, svg] of Object.entries(pictures))
    writeFileSync(join(docs, "images", picture), svg);
  process.stdout.write(
    `docs/${name} is written, and ${Object.keys(pictures).join(" and ")} in docs/images\n`,
  );
};

/** A difference is what `diff` is asked for. */
const EXPECTED: Readonly<Record<string, number>> = { diff: 1 };

const printedBy = (command: string, data: string): string => {
  const [file, words] = command.startsWith("npm start -- ")
    ? [START, command.slice("npm start -- ".length)]
    : [TIDEMARK, command.slice("npx tidemark ".length)];
  const args = words.split(" ");
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, ...args, "--data", data], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, TZ: "UTC", NO_COLOR: "1" },
  });
  if (status !== (EXPECTED[args[0] ?? ""] ?? 0))
    throw new Error(`Cannot play "${command}": it ended with ${status}: ${stderr}`);
  // What a run prints has times of this machine, and the editor is the person at it.
  return file === START ? "" : stdout.replace(HEAD, "").replaceAll(EDITOR, "$1ada");
};

const HEAD = /^In folder .*:\n/;
const EDITOR = new RegExp(`(\\bby |Z \\([^)]*\\) )${userInfo().username}\\b`, "g");
