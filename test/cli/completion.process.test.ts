import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderLayout } from "../../lib/embedded/layout.ts";
import { startTables } from "../../lib/embedded/tables/embedded-tables.ts";
import {
  autoscalerName,
  autoscalerUid,
  clusterName,
  namespace,
} from "../../lib/rules/model/ids.ts";
import { getAutoscaler, putAutoscaler } from "../../lib/stack/store/records/autoscalers.ts";
import { tablesOn } from "../service/world/context.ts";
import { type Folder, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

const BIN = join(import.meta.dirname, "../../bin");

let folder: Folder;
/** A folder of the PATH with the commands as npm links them, on the Node of the tests. */
let path: string;
beforeAll(async () => {
  folder = await shopFolder();
  path = mkdtempSync(join(tmpdir(), "tidemark-path-"));
  mkdirSync(join(path, "empty"));
  symlinkSync(process.execPath, join(path, "node"));
  for (const [name, file] of Object.entries({
    tidemark: "tidemark.js",
    "kubectl-tidemark": "tidemark.js",
    "kubectl_complete-tidemark": "kubectl-complete.js",
  }))
    symlinkSync(join(BIN, file), join(path, name));
});
afterAll(() => {
  folder.remove();
  rmSync(path, { recursive: true, force: true });
});

/** A folder whose tables hold a name that Kubernetes does not allow, written past every check. */
const hostileFolder = async (): Promise<Folder> => {
  const hostile = await shopFolder();
  const engine = await startTables(folderLayout(hostile.data).tables);
  const tables = tablesOn(engine.endpoint);
  const web = await getAutoscaler(tables, {
    cluster: clusterName("eu-1"),
    namespace: namespace("shop"),
    name: autoscalerName("web"),
  });
  if (!web) throw new Error("the shop has no web");
  for (const [at, name] of ["zap$(touch X)", "yak`touch X`", "xu;touch X", "--all"].entries())
    await putAutoscaler(
      tables,
      { ...web, name: autoscalerName(name), uid: autoscalerUid(`strange-${at}`) },
      undefined,
    );
  await engine.close();
  return hostile;
};

/** The words that can follow, and the directive for files. */
const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
  const { code, out, err } = await inside(["__complete", ...words]);
  expect([code, err]).toEqual([0, ""]);
  return out
    .trimEnd()
    .split("\n")
    .map((line) => line.split("\t")[0] ?? "");
};
const data = (): readonly string[] => ["--data", folder.data];

describe("the words that can follow", () => {
  it.each([
    [["des"], ["describe", ":4"]],
    [
      ["cluster", "re"],
      ["resume", "remove", ":4"],
    ],
    [
      ["get", "--show"],
      ["--show-labels", ":4"],
    ],
    [
      ["get", "-o", "json"],
      ["json", "jsonpath=", "jsonpath-file=", ":4"],
    ],
    [
      ["describe", "--da"],
      ["--data", ":4"],
    ],
    [
      ["delete", "--s"],
      ["--stack", "--stage", "--selector", ":4"],
    ],
    [
      ["--data", "x", "start", "--sp"],
      ["--speed", "--specs", ":4"],
    ],
    [["start", "--sta"], [":4"]],
    [
      ["get", "--w"],
      ["--watch", "--watch-only", ":4"],
    ],
    [
      ["get", "-o", "w"],
      ["wide", ":4"],
    ],
    [
      ["-n", "shop", "get", "--no-h"],
      ["--no-headers", ":4"],
    ],
    [
      ["completion", ""],
      ["bash", "zsh", "fish", ":4"],
    ],
    [
      ["help", "conv"],
      ["convert", ":4"],
    ],
    [["apply", "-f", ""], [":0"]],
    [["nothing", "x"], [":4"]],
  ])("of commands and options after %j", async (words, wanted) => {
    expect(await complete(...words)).toEqual(wanted);
  });

  it("of names come from the fleet", async () => {
    expect(await complete(...data(), "get", "jo")).toEqual(["jobs", ":4"]);
    expect(await complete("describe", ...data(), "shop/")).toEqual([
      "shop/api",
      "shop/late",
      "shop/web",
      ":4",
    ]);
    expect(await complete("pause", ...data(), "hpa/w")).toEqual(["hpa/web", ":4"]);
    expect(await complete("pause", ...data(), "eu-1/s")).toEqual([
      "eu-1/shop/api",
      "eu-1/shop/late",
      "eu-1/shop/web",
      ":4",
    ]);
    expect(await complete("get", ...data(), "-n", "")).toEqual(["batch", "infra", "shop", ":4"]);
    expect(await complete("get", ...data(), "--cluster", "=", "u")).toEqual(["us-1", ":4"]);
    expect(await complete("cluster", "describe", ...data(), "e")).toEqual(["eu-1", ":4"]);
    expect(await complete("partition", "describe", ...data(), "u")).toEqual(["us-1/default", ":4"]);
  });

  it("are plain words: a name that a shell would run is not offered, however it was stored", async () => {
    const hostile = await hostileFolder();
    expect(await complete("get", "--data", hostile.data, "")).toEqual(
      expect.arrayContaining(["web", "shop/web"]),
    );
    const offered = await complete("get", "--data", hostile.data, "");
    expect(offered.filter((word) => !/^(?::4|[A-Za-z0-9][A-Za-z0-9._/-]*)$/.test(word))).toEqual(
      [],
    );
    expect(await complete("get", "--data", hostile.data, "zap")).toEqual([":4"]);
    hostile.remove();
  });

  it("are none, without an error, where nothing can be opened", async () => {
    expect(await complete("get", "--data", "/nowhere", "w")).toEqual(["wpa", ":4"]);
  });
});

const has = (shell: string): boolean => spawnSync("sh", ["-c", `command -v ${shell}`]).status === 0;
const run = (shell: string, args: readonly string[]): string =>
  execFileSync(shell, args, {
    encoding: "utf8",
    cwd: join(path, "empty"),
    env: { ...process.env, PATH: `${path}:${process.env["PATH"]}`, HOME: path },
  });

/** TAB, TAB and Enter, as a person presses them, in a bash with a terminal of its own. */
const pressed = (...typed: readonly string[]): string =>
  execFileSync("script", ["-qc", "bash --norc --noprofile -i", "/dev/null"], {
    encoding: "utf8",
    cwd: join(path, "empty"),
    input: `source <(tidemark completion bash)\n${typed.map((line) => `${line}\t\t\n`).join("")}exit\n`,
    env: { ...process.env, PATH: `${path}:${process.env["PATH"]}`, HOME: path, TERM: "dumb" },
  });

describe("the script of a shell", () => {
  it.skipIf(!has("script"))("runs nothing of a name on TAB and Enter, in a real bash", async () => {
    const hostile = await hostileFolder();
    const command = `tidemark describe --data ${hostile.data}`;
    const screen = pressed(...["za", "ya", "xu", "job"].map((start) => `${command} ${start}`));
    expect(readdirSync(join(path, "empty"))).toEqual([]);
    // The same keys complete and run a plain name.
    expect(screen).toContain("Deployment replicas:");
    hostile.remove();
  });

  it("completes in bash", () => {
    const words = `tidemark --data ${folder.data} describe shop/`;
    const script = `source <(tidemark completion bash); COMP_WORDS=(${words}); COMP_CWORD=4; _tidemark; echo "\${COMPREPLY[@]}"; complete -p tidemark`;
    expect(run("bash", ["-c", script])).toBe(
      "shop/api shop/late shop/web\ncomplete -F _tidemark tidemark\n",
    );
  });

  it.skipIf(!has("fish"))("completes in fish", () => {
    const script = `tidemark completion fish | source; complete -C 'tidemark cluster re'; complete -C 'tidemark --data ${folder.data} get jo'`;
    expect(run("fish", ["--no-config", "-c", script])).toBe(
      "remove\tremove a cluster that has no autoscalers\nresume\tresume a paused cluster\njobs\n",
    );
  });

  it.skipIf(!has("zsh"))("completes in zsh", () => {
    const stub = `compdef() { :; }; _describe() { print -l -- "\${(@P)2}"; }; source <(tidemark completion zsh);`;
    const at = `words=(tidemark --data ${folder.data} cluster describe ""); CURRENT=\${#words}; _tidemark; words=(tidemark cluster res); CURRENT=3; _tidemark`;
    expect(run("zsh", ["-fc", `${stub} ${at}`])).toBe(
      "eu-1\nus-1\nresume:resume a paused cluster\n",
    );
  });
});

describe("the plugin of kubectl", () => {
  it.skipIf(!has("kubectl"))("is found and run by kubectl, and completed by it", () => {
    expect(run("kubectl", ["tidemark", "get", "-o", "name", "--data", folder.data])).toContain(
      "eu-1/shop/web\n",
    );
    expect(run("kubectl", ["__complete", "tidemark", "cluster", "res"])).toContain(
      "resume\tresume a paused cluster\n",
    );
  });

  it("has its two files beside the command", () => {
    expect(run("kubectl-tidemark", ["get", "jobs", "-o", "name", "--data", folder.data])).toBe(
      "us-1/batch/jobs\n",
    );
    expect(run("kubectl_complete-tidemark", ["cluster", "res"])).toBe(
      "resume\tresume a paused cluster\n:4\n",
    );
  });
});
