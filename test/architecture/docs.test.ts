import { existsSync, readFileSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { Readable, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { CommandTarget } from "../../lib/command/select/command-target.ts";
import { EXIT, main } from "../../lib/command/main.ts";
import { type RunOptions, startCommand } from "../../lib/embedded/run/options.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import { clusterName, WHOLE_CLUSTER } from "../../lib/rules/model/ids.ts";
import { FLEET_PROBLEM_KINDS, problemMetrics } from "../../lib/stack/report/problems.ts";
import { syncMetrics, type CompletedSync } from "../../lib/stack/report/sync-report.ts";
import { inside } from "../cli/inside.ts";
import { filesBelow, ROOT } from "./source.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...filesBelow("docs", ".md")].map(
  (path) => ({ path, text: read(path) }),
);
const { scripts }: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
  read("package.json"),
);

const blocksOf = (language: string): readonly { readonly page: string; readonly code: string }[] =>
  pages.flatMap(({ path, text }) =>
    [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
      ([, code = ""]) => ({ page: path, code }),
    ),
  );

const headings = (text: string): readonly string[] =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
const anchors = (text: string): readonly string[] =>
  headings(text).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );

describe("the pages", () => {
  it("were seen, with their code", () => {
    expect(pages.map(({ path }) => path)).toEqual(
      expect.arrayContaining([
        "README.md",
        "docs/architecture.md",
        "docs/operations.md",
        "docs/security.md",
      ]),
    );
    expect(blocksOf("sh").length).toBeGreaterThan(4);
    expect(blocksOf("yaml").length).toBeGreaterThan(0);
  });

  it("link to what exists, sections included", () => {
    const broken = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:)([^)#]*)(#[^)]*)?\)/g)].flatMap(
        ([link, file = "", anchor]) => {
          const target = file === "" ? path : posix.join(posix.dirname(path), file);
          const found =
            existsSync(join(ROOT, target)) &&
            (anchor === undefined || anchors(read(target)).includes(anchor.slice(1)));
          return found ? [] : [`${path}: ${link}`];
        },
      ),
    );
    expect(broken).toEqual([]);
  });

  it("show the pictures of the page, which are small", () => {
    const shown = [
      ["README.md", "docs/images/dashboard-autoscaler.png"],
      ["docs/dashboard.md", "images/dashboard-autoscaler.png"],
      ["docs/dashboard.md", "images/dashboard-fleet.png"],
    ] as const;
    for (const [path, picture] of shown) {
      expect(read(path)).toMatch(new RegExp(`!\\[.+\\]\\(${picture}\\)`));
      const file = join(ROOT, posix.dirname(path), picture);
      expect(statSync(file).size, picture).toBeLessThan(150 * 1_024);
    }
  });

  it("name files and folders that exist", () => {
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`((?:lib|functions|infra|test|docs)\/[\w./-]+)`/g)].map(
        ([, file = ""]) => ({ path, file }),
      ),
    );
    expect(named.length).toBeGreaterThan(20);
    expect(
      named
        .filter(({ file }) => !existsSync(join(ROOT, file)))
        .map(({ path, file }) => `${path}: ${file}`),
    ).toEqual([]);
  });

  it("show YAML that is a file of the repository, word for word, or that a test of the page takes from it", () => {
    const files = ["examples", "infra"].flatMap((folder) => [
      ...filesBelow(folder, ".yaml"),
      ...filesBelow(folder, ".yml"),
    ]);
    const texts = new Set(files.map(read));
    expect(texts.size).toBeGreaterThan(4);
    const tests = filesBelow("test", ".test.ts").filter(
      (path) => !path.startsWith("test/architecture/"),
    );
    const readByTest = (page: string): boolean => tests.some((path) => read(path).includes(page));
    expect(
      blocksOf("yaml").filter(({ page, code }) => !texts.has(code) && !readByTest(page)),
    ).toEqual([]);
  });
});

describe("the commands that the pages give", () => {
  const commands = blocksOf("sh").flatMap(({ page, code }) =>
    code
      .trim()
      .split(/\n| && /)
      // Where the output goes is a matter of the shell.
      .map((command) => ({ page, command: command.split(" > ")[0] ?? "" })),
  );
  /** As a shell takes them apart: what stands in double quotes is one word. */
  const wordsOf = (command: string): readonly string[] =>
    [...command.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const ofTool = (prefix: string): readonly string[] =>
    commands
      .filter(({ command }) => command.startsWith(`${prefix} `))
      .map(({ command }) => command.slice(prefix.length + 1));

  it("are of tools that are there, and of scripts that package.json has", () => {
    // What only an account or a cluster can answer is not run here.
    const elsewhere = ["export", "aws", "curl", "kubectl"];
    const ofNpm = (verb: string, name: string): boolean => {
      if (verb === "run") return scripts[name] !== undefined;
      return (
        verb === "ci" || (verb === "install" && name === "tidemark") || scripts[verb] !== undefined
      );
    };
    const known = (command: string): boolean => {
      const [tool = "", verb = "", name = ""] = command.split(/\s+/);
      if (tool === "npx") return ["tidemark", "osls"].includes(verb);
      return elsewhere.includes(tool) || (tool === "npm" && ofNpm(verb, name));
    };
    expect(
      commands
        .filter(({ command }) => !known(command))
        .map(({ page, command }) => `${page}: ${command}`),
    ).toEqual([]);
  });

  const onTables = ofTool("npx tidemark").filter(
    (command) =>
      !/^(start|explain-reason|stack|source discover)\b|^autoscale .*--dry-run -o yaml|^(?:forecast|replay|tune) .*--trace |^audit --verify /.test(
        command,
      ),
  );
  const onFiles = ofTool("npx tidemark").filter((command) => /^stack\b/.test(command));
  const starts = [...ofTool("npm start --"), ...ofTool("npx tidemark start")];

  it.each(onTables)("tidemark understands: %s", async (command) => {
    const opened: string[] = [];
    const open = (place: CommandTarget): never => {
      opened.push(
        place.kind === "folder" ? place.dir : place.kind === "stack" ? place.url : place.name,
      );
      throw new TidemarkError(
        "docs.understood",
        "Cannot open the folder: this is only about the words",
        {},
      );
    };
    const sink = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
    const io = {
      stdin: Readable.from([]),
      stdout: sink(),
      stderr: sink(),
      colours: false,
      by: "reader",
      open: async (place: CommandTarget) => open(place),
    };
    const refused = /^(?:diff|replay) /.test(command) ? EXIT.notCompared : EXIT.failed;
    expect(await main(wordsOf(command), io)).toBe(refused);
    expect(opened).toEqual([/--stack (\S+)/.exec(command)?.[1] ?? ".tidemark"]);
  });

  it.each(onFiles)("tidemark understands, up to its file: %s", async (command) => {
    const { code, err } = await inside(wordsOf(command));
    expect([code, err]).toEqual([
      EXIT.failed,
      'error: Cannot read "prod.yaml": there is no such file\n',
    ]);
  });

  it.each(starts)("a start understands: %s", async (words) => {
    const asked: RunOptions[] = [];
    await startCommand(async (options) => void asked.push(options))
      .exitOverride()
      .parseAsync(wordsOf(words), { from: "user" });
    expect(asked.length).toBe(1);
  });

  it("were seen", () => {
    expect(onTables.length).toBeGreaterThan(3);
    expect(starts.length).toBeGreaterThan(0);
  });
});

describe("the metrics", () => {
  it("are all in the operations page, and no others", () => {
    const base = {
      cluster: clusterName("eu-1"),
      partition: WHOLE_CLUSTER,
      dueMs: 0,
      startMs: 0,
      endMs: 0,
    };
    const nothing = {
      autoscalers: 0,
      evaluated: 0,
      failed: 0,
      unreachable: false,
      openIntents: 0,
      calls: 0,
      bytes: 0,
      pagesWritten: 0,
      journalPages: 0,
      heldBack: 0,
      overShare: [],
      projections: [],
    };
    const completed: CompletedSync = {
      ...base,
      ...nothing,
      kind: "completed",
      epoch: 1,
      events: [],
      outside: [],
      unreadable: [],
      ruleFailures: [],
      changed: [],
      phasesMs: {},
    };
    const dropped = { ...base, kind: "dropped", why: "stale" } as const;
    const problems = problemMetrics({
      ...{ all: [], risen: [], sent: new Set(FLEET_PROBLEM_KINDS) },
      decided: { quarter: 90, day: 99 },
    }).map(({ name }) => name);
    const ofFunctions = ["FailedSyncs", ...problems];
    const sent = [
      ...ofFunctions,
      ...[...syncMetrics(completed, "all"), ...syncMetrics(dropped, "all")].map(({ name }) => name),
    ];
    const table = /\| metric \| says \|\n(.*?)\n\n/s.exec(read("docs/monitoring.md"))?.[1] ?? "";
    const told = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
    );
    expect(told.toSorted()).toEqual([...new Set(sent)].sort());
  });
});

describe("the comments", () => {
  const code = [...filesBelow("lib"), ...filesBelow("functions"), ...filesBelow("test")];

  it("that send the reader to a page name one that exists, and its section", () => {
    const sent = code.flatMap((path) =>
      [...read(path).matchAll(/\b(docs\/[\w-]+\.md)(?:, "([^"]+)")?/g)].map(
        ([, page = "", section]) => ({ path, page, section }),
      ),
    );
    expect(sent.length).toBeGreaterThan(0);
    const lost = sent.filter(
      ({ page, section }) =>
        !existsSync(join(ROOT, page)) ||
        (section !== undefined && !headings(read(page)).includes(section)),
    );
    expect(lost.map(({ path, page, section }) => `${path}: ${page}, "${section ?? ""}"`)).toEqual(
      [],
    );
  });
});
