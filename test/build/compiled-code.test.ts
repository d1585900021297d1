import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compileBundles, runtimeNode, writeStart } from "../../build/compiled-code.ts";
import { CODE_FILE, readCodeFile } from "../../build/start/code-file.ts";

const own = mkdtempSync(join(tmpdir(), "tidemark-compiled-"));
afterAll(() => rmSync(own, { recursive: true, force: true }));

const MAIN = `const { twice } = require("./chunk.js"); exports.handler = () => twice(1); exports.handler.at = () => new Error("here").stack;`;
const CHUNK = "exports.twice = (value) => value * 2;";
let folder: string;

beforeAll(async () => {
  folder = join(own, "sync");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), '{ "type": "commonjs" }\n');
  writeFileSync(join(folder, "main.js"), MAIN);
  writeFileSync(join(folder, "chunk.js"), CHUNK);
  await writeStart(folder);
  await compileBundles([process.execPath], [folder]);
});

/** The folder under another name, so that a test may change it. */
const copy = (name: string): string => {
  const to = join(own, name);
  cpSync(folder, to, { recursive: true });
  return to;
};

/** What a new process says that loads the folder as Lambda does and calls the handler. */
const called = (of: string, ...options: readonly string[]): string => {
  const script = `const { handler } = require(${JSON.stringify(join(of, "index.js"))}); process.stdout.write("answer " + handler() + " " + handler.at().split("\\n")[1])`;
  const { stdout, stderr, status } = spawnSync(process.execPath, [...options, "-e", script], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
};

describe("compiled code beside a bundle", () => {
  it("is taken by a process of the same Node, with the options that functions have, and names the files in stack traces", () => {
    const answer = /^answer 2 .*\(?.*\/sync\/main\.js:1:\d+\)?$/;
    expect(called(folder)).toMatch(answer);
    expect(called(folder, "--max-semi-space-size=8")).toMatch(answer);
  });

  it("has no path of the machine that compiled, and is byte for byte the same for the same source", async () => {
    const again = copy("again/sync");
    rmSync(join(again, CODE_FILE));
    await compileBundles([process.execPath], [again]);
    const bytes = readFileSync(join(folder, CODE_FILE));
    expect(readFileSync(join(again, CODE_FILE)).equals(bytes)).toBe(true);
    expect(bytes.includes(own)).toBe(false);
  });

  it("is refused by a Node with another hash of flags: the function works, and the log says once what to do", () => {
    const said = called(folder, "--hash-seed=2");
    const [line = "", answer] = said.split("\n");
    expect(JSON.parse(line)).toEqual({
      level: "INFO",
      message: expect.stringMatching(
        /^The compiled code of this package was made by Node v24\S+ \w+, and Node v24\S+ \w+ refuses it, so that a start takes longer: package it with the Node of the function$/,
      ),
    });
    expect(answer).toMatch(/^answer 2 /);
  });

  it("is not used for a source that was changed, also where its length is the same", () => {
    const changed = copy("changed");
    writeFileSync(join(changed, "chunk.js"), CHUNK.replace("2", "3"));
    expect(called(changed)).toMatch(/^answer 3 /);
  });

  it("is not used for code that is cut off or damaged", () => {
    for (const [name, damage] of [
      ["cut", (bytes: Buffer) => bytes.subarray(0, bytes.length - 200)],
      ["zeros", (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 300), Buffer.alloc(4_000)])],
    ] as const) {
      const damaged = copy(name);
      writeFileSync(join(damaged, CODE_FILE), damage(readFileSync(join(folder, CODE_FILE))));
      expect(called(damaged), name).toMatch(/answer 2 /);
    }
  });

  it("is left aside with source maps, which Node reads only of what it loads itself", () => {
    const broken = copy("maps");
    writeFileSync(join(broken, CODE_FILE), "no code at all");
    expect(called(broken, "--enable-source-maps")).toMatch(/^answer 2 /);
  });

  it("holds what functions compiled that ran while the bundle was loaded", () => {
    const { codeOf, node } = readCodeFile(readFileSync(join(folder, CODE_FILE)));
    expect(node).toBe(`${process.version} ${process.arch}`);
    expect(codeOf("chunk.js", CHUNK)?.length).toBeGreaterThan(100);
    expect(codeOf("chunk.js", `${CHUNK} `)).toBeUndefined();
    expect(codeOf("other.js", CHUNK)).toBeUndefined();
  });

  it("a command that is no Node fails with what it said", async () => {
    await expect(compileBundles(["/bin/false"], [folder])).rejects.toThrow(
      'Cannot compile the bundles by "/bin/false": it ended with 1',
    );
    await expect(compileBundles(["/no/such/node"], [folder])).rejects.toThrow(/ENOENT/);
  });
});

describe("runtimeNode()", () => {
  const here = { platform: "linux", arch: "x64", execPath: "/node", version: "v24.0.0" };
  it.each([
    ["this Node on arm64", undefined, { ...here, arch: "arm64" }, ["/node"]],
    ["no Node elsewhere", undefined, here, undefined],
    ["no Node for an empty name", " ", here, undefined],
    [
      "the given command",
      "qemu-aarch64 -L /arm /arm/node",
      here,
      ["qemu-aarch64", "-L", "/arm", "/arm/node"],
    ],
  ])("is %s", (_name, given, machine, command) => {
    expect(runtimeNode(given, machine).command).toEqual(command);
  });

  it("says what the packages lack, and what to do", () => {
    expect(runtimeNode(undefined, here).words).toBe(
      'The packages have no compiled code: the functions run on linux arm64, and this machine is linux x64; TIDEMARK_RUNTIME_NODE names a command that runs a Node of theirs (docs/operations.md, "A faster start")',
    );
  });
});
