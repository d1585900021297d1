import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { program } from "../../lib/command/program.ts";
import { commandWords, withSubcommands } from "../../lib/command/options/word-order.ts";
import { inside } from "./inside.ts";

const root = program(async () => {}, {
  ...{
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    colours: false,
    by: "ada",
  },
  open: () => Promise.reject(new Error("nothing is opened")),
});
const paths = withSubcommands(root)
  .filter((command) => command.commands.length === 0 && command.name() !== "__complete")
  .map(commandWords);

describe("the help of a command", () => {
  it("exists for every command", () => {
    expect(paths.length).toBeGreaterThan(30);
  });

  it.each(paths)("has examples of: tidemark %s", async (path) => {
    const { code, out, err } = await inside([...path.split(" "), "--help"]);
    expect([code, err]).toEqual([0, ""]);
    const examples = /\nExamples?:\n((?: {2}.+\n?)+)/.exec(out)?.[1] ?? "";
    expect(examples.split("\n").some((line) => line.includes(`tidemark ${path}`))).toBe(true);
  });

  it.each(paths)(
    "gives no option twice and no example that the command does not know: tidemark %s",
    async (path) => {
      const { out } = await inside([...path.split(" "), "--help"]);
      const known = [...out.matchAll(/^ {2}(?:(-\w), )?(--[\w-]+)/gm)].flatMap(
        ([, short, long]) => [short, long],
      );
      const long = known.filter((flag) => flag?.startsWith("--"));
      expect(new Set(long).size).toBe(long.length);
      const own = [...out.matchAll(new RegExp(`^ {2}.*tidemark ${path}( .*)?$`, "gm"))].map(
        ([, words = ""]) => words.split(" | ")[0] ?? "",
      );
      const used = own.flatMap((words) =>
        [...words.replaceAll(/'[^']*'/g, "").matchAll(/ (--?[a-z][\w-]*)/gi)].map(
          ([, flag]) => flag,
        ),
      );
      expect(used.filter((flag) => !known.includes(flag))).toEqual([]);
    },
  );

  it("lists every command in a group, what one looks at first", async () => {
    const { out } = await inside(["--help"]);
    const [, listed = ""] = out.split(/\n(?=Look:\n)/);
    const headings = [...listed.matchAll(/^(\S.*:)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      "Look:",
      "Edit:",
      "Migrate:",
      "Clusters and fleet:",
      "Deploy and run here:",
      "Reference:",
    ]);
    const named = [...listed.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name]) => name);
    expect(named.toSorted()).toEqual(
      root.commands
        .map((command) => command.name())
        .filter((name) => name !== "__complete")
        .toSorted(),
    );
  });
});

describe("words of kubectl", () => {
  it.each([
    [
      ["scale", "web", "--replicas", "3"],
      'Unknown command "scale"',
      "tidemark override set NAME --pin COUNT",
    ],
    [
      ["get", "-o", "go-template={{.metadata.name}}"],
      "Cannot use --output",
      "-o jsonpath='{range .items[*]}",
    ],
    [["list"], 'Unknown command "list"\nnote:', "tidemark get lists autoscalers"],
    [["hpa", "web"], 'Unknown command "hpa"\nnote:', "tidemark get hpa"],
    [["why", "web"], 'Unknown command "why"', "tidemark explain NAME --at TIME"],
    [
      ["explain", "hpa.spec.behavior"],
      "Cannot explain the field",
      "kubectl explain hpa.spec.behavior",
    ],
  ])("that are none here name what to call: %j", async (args, error, hint) => {
    const { code, err } = await inside(args);
    expect(code).toBe(1);
    expect(err).toContain(error);
    expect(err).toContain(hint);
  });

  it("take a field of the schema as explain-schema knows it", async () => {
    const field = await inside(["explain-schema", "spec.scaleUp"]);
    expect(field.code).toBe(0);
    expect(await inside(["explain", "pa.spec.scaleUp"])).toEqual(field);
    expect((await inside(["explain", "podautoscaler.spec.scaleUpp"])).err).toContain(
      'did you mean "scaleUp"',
    );
  });
});

describe("a finding of the doctor", () => {
  const rules = join(import.meta.dirname, "../../lib/rules/doctor");
  const text = globSync(join(rules, "**/*.ts"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  const named = [...text.matchAll(/tidemark ([a-z-]+(?: [A-Za-z-]+)*)/g)].map(([, words = ""]) =>
    words.split(" "),
  );
  const leaves = withSubcommands(root).filter(({ commands }) => commands.length === 0);

  it("names only commands that there are, with their options", () => {
    expect(named.length).toBeGreaterThan(4);
    const unknown = named.filter((words) => {
      const calls = [words.slice(0, 2).join(" "), words[0]];
      const command = leaves.find((leaf) => calls.includes(commandWords(leaf)));
      const options = words.filter((word) => word.startsWith("--"));
      return (
        !options.every((flag) => command?.options.some(({ long }) => long === flag)) || !command
      );
    });
    expect(unknown.map((words) => words.join(" "))).toEqual([]);
  });
});
