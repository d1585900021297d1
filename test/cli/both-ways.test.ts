import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Io } from "../../lib/cli/io.ts";
import { openTarget } from "../../lib/cli/session.ts";
import { openStack } from "../../lib/cli/stack-session.ts";
import { TidemarkError } from "../../lib/model/errors.ts";
import { NOON } from "../noon.ts";
import { ADA, callerOf, type RemoteWorld, remoteWorld } from "../remote/world.ts";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

/** The same autoscalers, clusters and events twice: in a data folder, and in the tables of a stack behind a function URL. */
let folder: Folder;
let world: RemoteWorld;
let dir: string;
beforeAll(async () => {
  [folder, world] = await Promise.all([shopFolder(), remoteWorld()]);
  dir = mkdtempSync(join(tmpdir(), "tidemark-both-"));
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(dir, name), content);
});
afterAll(async () => {
  await world.close();
  folder.remove();
  rmSync(dir, { recursive: true, force: true });
});

const FILES = {
  "one.yaml": hpa("one", { namespace: "lab" }),
  "more.yaml": documents(hpa("one", { namespace: "lab", max: 12 }), hpa("two", { namespace: "lab" })),
  "bad.yaml": documents(hpa("three"), hpa("bad", { max: 1 })),
  "odd.yaml": hpa("odd", { namespace: "lab" }).replace("minReplicas", "minReplica"),
};

const open: Io["open"] = async (place, by) =>
  place.kind === "stack"
    ? openStack(
        place,
        () => callerOf("ADA"),
        () => NOON,
      )
    : openTarget(place, by);
const ofFolder = (args: readonly string[]): Promise<Said> => inside([...args, "--data", folder.data], { by: "ada" });
const ofStack = (args: readonly string[]): Promise<Said> => inside([...args, "--stack", world.url.url], { open });

const NOTE = /^note: the stack at http:\/\/127\.0\.0\.1:\d+ answered \(from --stack\)\n/gm;
/** Without what differs between two of a kind: the caller's name, and the uids that were made up. */
const withoutNames = ({ code, out, err }: Said): Said => ({
  code,
  out: out
    .replaceAll(ADA, "ada")
    .replace(/(UID: +).*/, "$1uid")
    .replaceAll(/(uid"?: "?)[\w-]+/g, "$1uid"),
  err: err.replace(NOTE, ""),
});

/** In this order: later commands see what earlier ones have done. */
const COMMANDS: readonly string[] = [
  "get",
  "get -n shop",
  "get -n nowhere",
  "get shop/web -o json",
  "get -o yaml",
  "describe shop/web",
  "describe jobs -o json",
  "explain shop/web",
  "explain shop/web --at 20s",
  "explain jobs",
  "events --all --since 1h",
  "events --all --since 3h -o jsonl",
  "events --all --since 3h -o json -n shop",
  "events shop/web -o csv",
  "events api",
  "events -n shop --until 30s -o yaml",
  "events --clusters eu-* --no-headers",
  "get --clusters * -o jsonpath={.items[*].metadata.name}",
  "get --clusters x-*",
  "describe web --clusters eu-* -n shop",
  "events absent",
  "events",
  "series",
  "cluster list",
  "cluster describe eu-1",
  "cluster describe eu-9",
  "partition describe eu-1",
  "partition describe eu-1/nothing",
  "partition reset-windows eu-1 --page 0 --yes",
  "fleet describe",
  "apply -f one.yaml",
  "apply -f one.yaml --cluster eu-1 --dry-run",
  "apply -f one.yaml --cluster eu-1",
  "apply -f one.yaml --cluster eu-1",
  "apply -f more.yaml --cluster eu-1",
  "apply -f bad.yaml --cluster eu-1",
  "apply -f odd.yaml --cluster eu-1",
  "apply -f odd.yaml --cluster eu-1 --validate=warn",
  "apply -f none.yaml --cluster eu-1",
  "describe lab/one",
  "pause lab/one --until 2h",
  "pause lab/one --until 2h",
  "pause lab/one --until 2020-01-01T00:00:00Z",
  "get lab/one",
  "resume lab/one",
  "resume lab/one",
  "delete lab/oen",
  "delete lab/one",
  "delete web",
  "cluster add new --secret prod/new --period 30s --partition shop=shop,cart --partition rest --tolerance 0.2 --force",
  "cluster add new --secret prod/new",
  "cluster add odd --secret prod/odd --period 1h",
  "cluster add new --eks c --endpoint https://c --ca-data Q0E= --region eu-central-1 --replace --force",
  "cluster check nwe",
  "cluster check new --kind Rollout",
  "cluster pause new --until 1h",
  "cluster describe new",
  "cluster resume new",
  "cluster remove new",
  "cluster remove eu-1",
  "fleet freeze --reason drill",
  "fleet describe",
  "get",
  "fleet thaw",
];

const NOTHING_ASKED: ReadonlySet<string> = new Set([
  "events",
  "cluster check new --kind Rollout",
  "apply -f none.yaml --cluster eu-1",
  "pause lab/one --until 2020-01-01T00:00:00Z",
]);

describe("a command says and does the same on a data folder and on a deployed stack", () => {
  it.each(COMMANDS.map((command, at) => [at, command] as const))("%i: tidemark %s", async (_at, command) => {
    const args = command.split(" ").map((arg) => (arg.endsWith(".yaml") ? join(dir, arg) : arg));
    const said = await ofFolder(args);
    const remote = await ofStack(args);
    expect(withoutNames(remote)).toEqual(withoutNames(said));
    // Every refusal says where it comes from, unless the command was called wrongly or its files could not be read: then nothing was asked.
    expect([...remote.err.matchAll(NOTE)].length).toBe(said.code === 1 && !NOTHING_ASKED.has(command) ? 1 : 0);
  });

  it("in commands of every kind and outcome", () => {
    expect(new Set(COMMANDS.map((command) => command.split(" ")[0])).size).toBeGreaterThan(10);
    expect(world.url.events.length).toBeGreaterThan(COMMANDS.length / 2);
  });
});

describe("what a command works on", () => {
  it("is chosen by --data and --stack before the name of the command as well as after it", async () => {
    const opened: unknown[] = [];
    const open: Io["open"] = async (target) => {
      opened.push(target);
      throw new Error("opened");
    };
    await inside(["--data", "there", "get"], { open });
    await inside(["--data=there", "cluster", "list"], { open });
    await inside(["cluster", "--data", "there", "list"], { open });
    await inside(["--stack", "http://127.0.0.1:1", "fleet", "describe"], { open });
    await inside(["--data", "there", "get", "--data", "here"], { open });
    const there = { kind: "folder", dir: "there", from: "--data" };
    expect(opened).toEqual([
      there,
      there,
      there,
      { kind: "stack", url: "http://127.0.0.1:1", from: "--stack" },
      { kind: "folder", dir: "here", from: "--data" },
    ]);
    const both = await inside(["--data", "there", "get", "--stack", "http://127.0.0.1:1"], { open });
    expect([both.code, both.err]).toEqual([1, "error: Cannot use --data and --stack together: one names a folder, the other a deployed stack\n"]);
  });

  it("is the folder that --data names, the stack that --stack or TIDEMARK_URL names, else the default folder", async () => {
    const opened: unknown[] = [];
    const remember: Io["open"] = async (place) => {
      opened.push(place);
      throw new Error("opened");
    };
    const stackUrl = "https://abc.lambda-url.eu-central-1.on.aws";
    const run = (args: readonly string[], more: object = {}) => inside(["get", ...args], { open: remember, ...more });
    await run([]);
    await run(["--data", "there"], { stackUrl });
    await run(["--stack", "http://127.0.0.1:1"], { stackUrl });
    await run([], { stackUrl });
    await run([], { stackUrl: "" });
    expect(opened).toEqual([
      { kind: "folder", dir: ".tidemark", from: "default" },
      { kind: "folder", dir: "there", from: "--data" },
      { kind: "stack", url: "http://127.0.0.1:1", from: "--stack" },
      { kind: "stack", url: stackUrl, from: "TIDEMARK_URL" },
      { kind: "folder", dir: ".tidemark", from: "default" },
    ]);
    expect(await run(["--data", "a", "--stack", "b"])).toEqual({
      code: 1,
      out: "",
      err: "error: Cannot use --data and --stack together: one names a folder, the other a deployed stack\n",
    });
  });

  it("is named below an error where the command line does not name it", async () => {
    const { code, err } = await inside(["get", "shop/wbe"], { open, stackUrl: world.url.url });
    expect([code, err]).toEqual([
      1,
      `error: Cannot find autoscaler "wbe" in namespace "shop": the nearest name is "web"\nnote: the stack at ${world.url.url} answered (from TIDEMARK_URL)\n`,
    ]);
    expect(await inside(["get"], { open, stackUrl: "https://example.com" })).toEqual({
      code: 1,
      out: "",
      err: 'error: Cannot use TIDEMARK_URL "https://example.com": wanted the function URL of a stack, such as "https://abc123.lambda-url.eu-central-1.on.aws"\n',
    });
  });

  it("is named, too, where there is no data and no folder was given", async () => {
    const noData: Io["open"] = async () => {
      throw new TidemarkError("local.no-data", 'No data in ".tidemark": start a run first', {});
    };
    expect((await inside(["get"], { open: noData })).err).toBe(
      'error: No data in ".tidemark": start a run first\nnote: this is the default data folder; choose another with --data, or a deployed stack with --stack or TIDEMARK_URL\n',
    );
    expect((await inside(["get", "--data", ".tidemark"], { open: noData })).err).toBe('error: No data in ".tidemark": start a run first\n');
  });

  it("cannot be a kubeconfig file where a function would have to read it", async () => {
    const { code, err } = await ofStack(["cluster", "add", "x", "--kubeconfig", import.meta.filename]);
    expect([code, err.split("\n")[0]]).toEqual([
      1,
      'error: Cannot read the request: "connection.kind" must be "secret" or "eks": a deployed stack cannot read a kubeconfig file',
    ]);
  });
});

describe("the command as a process, on a stack", () => {
  const TIDEMARK = join(import.meta.dirname, "../../bin/tidemark.js");
  const run = async (args: readonly string[], env: Readonly<Record<string, string>>): Promise<Said> => {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, [TIDEMARK, ...args], { env: { PATH, HOME: HOME ?? "/", AWS_EC2_METADATA_DISABLED: "true", ...env } });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    return { code, out, err };
  };

  it("signs with what the environment has, and says what is missing without it", async () => {
    world.url.nowMs = Date.now;
    const keys = { AWS_ACCESS_KEY_ID: "ADA", AWS_SECRET_ACCESS_KEY: "ada's secret" };
    const good = await run(["get", "shop/web", "-o", "json"], { ...keys, TIDEMARK_URL: world.url.url });
    expect([good.code, good.err, JSON.parse(good.out).status.currentReplicas]).toEqual([0, "", 9]);
    const wrong = await run(["fleet", "describe", "--stack", world.url.url], { ...keys, AWS_SECRET_ACCESS_KEY: "x" });
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining("the signature does not match")]);
    const none = await run(["fleet", "describe", "--stack", world.url.url], { AWS_CONFIG_FILE: dir, AWS_SHARED_CREDENTIALS_FILE: dir });
    expect([none.code, none.err]).toEqual([
      1,
      expect.stringMatching(/^error: Cannot sign requests: no AWS credentials were found; set AWS_PROFILE or sign in /),
    ]);
  });
});
