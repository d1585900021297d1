import { describe, expect, it } from "vitest";
import { program } from "../../lib/command/program.ts";
import { startArgs } from "../../lib/command/program.ts";
import { wordsInOrder, withSubcommands } from "../../lib/command/options/word-order.ts";
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

const ordered = (line: string): string => wordsInOrder(root, line.split(" ")).join(" ");

describe("the words of a command line", () => {
  it.each([
    ["-n shop get web", "get -n shop web"],
    ["-o yaml get -n shop", "get -o yaml -n shop"],
    ["-o=yaml get", "get -o yaml"],
    ["get -w=false", "get"],
    ["get --watch=true -o=wide", "get --watch -o wide"],
    ["apply --dry-run=client", "apply --dry-run=client"],
    ["--namespace=shop -w get", "get --namespace=shop -w"],
    ["--stack x get", "--stack x get"],
    ["--data d -A get hpa", "--data d get -A hpa"],
    ["--region r cluster add x --region s", "--region r cluster add x --region s"],
    ["cluster -o json list", "cluster list -o json"],
    ["-o json cluster list", "cluster list -o json"],
    ["-f - apply --dry-run", "apply -f - --dry-run=server"],
    ["delete -- -n", "delete -- -n"],
    ["-nshop get", "get -nshop"],
    ["get web -n shop", "get web -n shop"],
    // Without a command the message is about the words as they were written.
    ["-n shop gett", "-n shop gett"],
    ["--version", "--version"],
  ])("are read in any order: %s", (line, wanted) => {
    expect(ordered(line)).toBe(wanted);
  });

  it("take the same form of an option with every command, so that its value is known before the command is", () => {
    const options = withSubcommands(root).flatMap((command) => command.options);
    const flags = options.flatMap(({ short, long, required }) =>
      [short, long].flatMap((flag) => (flag ? [{ flag, required }] : [])),
    );
    const forms = Map.groupBy(flags, ({ flag }) => flag);
    expect(forms.size).toBeGreaterThan(40);
    expect(
      [...forms]
        .filter(([, uses]) => new Set(uses.map(({ required }) => required)).size > 1)
        .map(([flag]) => flag),
    ).toEqual([]);
  });

  it.each([
    ["--data d start --speed 9", "--data d --speed 9"],
    ["--data=d start", "--data=d"],
    ["start --for 1h", "--for 1h"],
    ["--speed 9 start --data d", "--speed 9 --data d"],
    ["get start", undefined],
    ["-n start get", undefined],
    ["describe -- start", undefined],
    ["help start", undefined],
  ])("start a run wherever its options stand: %s", (line, wanted) => {
    expect(startArgs(line.split(" "))?.join(" ")).toBe(wanted);
  });

  it("name the command that was meant", async () => {
    expect(await inside(["-n", "shop", "gett"])).toMatchObject({ code: 1, out: "" });
    expect((await inside(["gett"])).err).toBe(
      'error: Unknown command "gett", did you mean "get"?\n',
    );
    for (const [word, wanted] of [
      ["freeze", "tidemark fleet freeze"],
      ["thaw", "tidemark fleet thaw"],
      ["unpause", "tidemark resume NAME"],
      ["uncordon", "tidemark cluster resume NAME"],
      ["stop", "tidemark pause NAME"],
      ["cluster-info", "tidemark status"],
    ] as const)
      expect((await inside([word])).err).toContain(`note: ${wanted}`);
  });
});
