import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { QUERY_PATHS } from "../../lib/answers/api/paths.ts";
import type { Io, Session } from "../../lib/command/io.ts";
import { openTarget } from "../../lib/command/session.ts";
import { openStack } from "../../lib/command/stack-session.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import { NOON } from "../noon.ts";
import { ADA, callerOf, type RemoteWorld, remoteWorld } from "../remote/world.ts";
import { documents, hpa } from "../service/world/manifests.ts";
import { type Folder, type Said, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

/**
 * The same autoscalers, clusters and events twice: in a data folder, and in the tables of a stack
 * behind a function URL.
 */
let folder: Folder;
/**
 * Open to the end, because the opening of a folder takes most commands longer than all that they do
 * then.
 */
let inFolder: Session;
let world: RemoteWorld;
let dir: string;
beforeAll(async () => {
  [folder, world] = await Promise.all([shopFolder(), remoteWorld()]);
  inFolder = await openTarget({ kind: "folder", dir: folder.data, from: "--data" }, "ada");
  dir = mkdtempSync(join(tmpdir(), "tidemark-both-"));
  for (const [name, content] of Object.entries(FILES)) writeFileSync(join(dir, name), content);
});
afterAll(async () => {
  await world.close();
  await inFolder.close();
  folder.remove();
  rmSync(dir, { recursive: true, force: true });
});

const FILES = {
  "one.yaml": hpa("one", { namespace: "lab" }),
  "more.yaml": documents(
    hpa("one", { namespace: "lab", max: 12 }),
    hpa("two", { namespace: "lab" }),
  ),
  "bad.yaml": documents(hpa("three"), hpa("bad", { max: 1 })),
  "mine.yaml": documents(
    hpa("mine", { namespace: "lab" }),
    hpa("yours", { namespace: "lab" }),
  ).replaceAll("metadata:", "metadata:\n  labels: { team: red }"),
  "less.yaml": hpa("mine", { namespace: "lab", max: 15 }).replace(
    "metadata:",
    "metadata:\n  labels: { team: red }",
  ),
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
/** An editor that doubles maxReplicas. */
const editFile = async (file: string): Promise<void> =>
  writeFileSync(file, readFileSync(file, "utf8").replace(/maxReplicas: (\d+)/, "maxReplicas: 2$1"));
/** Ctrl-C comes with the first look. */
const once: NonNullable<Io["interruptible"]> = (work) => work(AbortSignal.abort());
const withHands = (args: readonly string[]) => ({
  editFile,
  ...(args.includes("-w") && { interruptible: once }),
});
const ofFolder = (args: readonly string[]): Promise<Said> =>
  inside([...args, "--data", folder.data], {
    open: async () => ({ ...inFolder, close: async () => {} }),
    by: "ada",
    ...withHands(args),
  });
const ofStack = (args: readonly string[]): Promise<Said> =>
  inside([...args, "--stack", world.url.url], { open, ...withHands(args) });

const NOTE = /^note: the stack at http:\/\/127\.0\.0\.1:\d+ answered \(from --stack\)\n/gm;
/**
 * Why the cluster could not be asked for the workload: a folder and a stack reach it in different
 * ways, and here neither does.
 */
const NOT_ASKED = /(is not known: ).*/g;
/**
 * Without what differs between two of a kind: the caller's name, the uids that were made up, and
 * how the cluster was asked.
 */
const withoutNames = ({ code, out, err }: Said): Said => ({
  code,
  out: out
    .replaceAll(ADA, "ada")
    .replace(/(UID: +).*/, "$1uid")
    .replaceAll(/(uid"?: "?)[\w-]+/g, "$1uid"),
  err: err.replace(NOTE, "").replaceAll(NOT_ASKED, "$1why"),
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
  "doctor shop/web",
  "doctor -A -o table",
  "doctor -n shop -o json",
  "events --all --since 1h",
  "events --all --by month",
  "events shop/web --by month -o csv",
  "events absent --by month",
  "events -n shop --by month -o yaml",
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
  "partition reset eu-1",
  "partition reset eu-1 --yes",
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
  "diff -f one.yaml --cluster eu-1",
  "diff -f more.yaml --cluster eu-1",
  "edit hpa/one -n lab",
  "edit lab/none",
  "get lab/one -o jsonpath={.spec.maxReplicas}",
  "apply -f mine.yaml --cluster eu-1",
  "get -w -n lab -l team=red -o name",
  "get -w -n lab --output-watch-events --no-headers",
  "events -w shop/web -o jsonl",
  "pause -l team=red -n lab",
  "pause -l team=red",
  "resume hpa --all -n lab --cluster eu-1",
  "describe -l team=red -n lab -o jsonpath={.items[*].status.state}",
  "apply -f less.yaml --cluster eu-1 --prune -l team=red --dry-run=server",
  "apply -f less.yaml --cluster eu-1 --prune -l team=red",
  "changes lab/yours --cluster eu-1 -o jsonpath={.items[*].verb}",
  "delete -l team=red -n lab --clusters * --dry-run",
  "delete -l team=red -n lab --clusters *",
  "autoscale deployment/auto -n lab --cluster eu-1 --min 2 --max 5 --cpu 70%",
  "autoscale deployment/auto -n lab --cluster eu-1 --max 6",
  "get lab/auto -o yaml",
  "delete hpa/auto -n lab",
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
  "pause -l team=red",
]);
/** Exit code 1 without an error. */
const DIFFERS: ReadonlySet<string> = new Set([
  "diff -f one.yaml --cluster eu-1",
  "diff -f more.yaml --cluster eu-1",
  "doctor -A -o table",
  "doctor -n shop -o json",
]);

describe("a command says and does the same on a data folder and on a deployed stack", () => {
  it.each(COMMANDS.map((command, at) => [at, command] as const))(
    "%i: tidemark %s",
    async (_at, command) => {
      const args = command.split(" ").map((arg) => (arg.endsWith(".yaml") ? join(dir, arg) : arg));
      const said = await ofFolder(args);
      const remote = await ofStack(args);
      // On a folder whose run has ended, get shows no age.
      const ageless = {
        ...remote,
        out: args[0] === "get" ? remote.out.replace(/\d+s ago$/gm, "no run") : remote.out,
      };
      expect(withoutNames(ageless)).toEqual(withoutNames(said));
      // Every refusal says where it comes from, unless the command was called wrongly or its files
      // could not be read: then nothing was asked.
      expect([...remote.err.matchAll(NOTE)].length).toBe(
        said.code === 1 && !DIFFERS.has(command) && !NOTHING_ASKED.has(command) ? 1 : 0,
      );
    },
  );

  it("in a watch that sees what is new, changed and deleted", async () => {
    const place = { kind: "stack", url: world.url.url, from: "--stack" } as const;
    const stop = new AbortController();
    const edits = [
      () => ofStack(["apply", "-f", join(dir, "less.yaml"), "--cluster", "us-1"]),
      () => ofStack(["pause", "lab/mine"]),
      () => ofStack(["delete", "lab/mine"]),
    ];
    const watchedStack: Io["open"] = async (_place, by) => {
      const session = await open(place, by);
      const { service } = session;
      let looks = 0;
      return {
        ...session,
        service: {
          ...service,
          async *rows(...query) {
            expect((await edits[looks - 1]?.())?.code ?? 0).toBe(0);
            if (looks++ === edits.length) stop.abort();
            yield* service.rows(...query);
          },
        },
      };
    };
    const { code, out } = await inside(
      ["get", "-w", "-l", "team=red", "--output-watch-events", "-o", "name"],
      {
        open: watchedStack,
        interruptible: (work) => work(stop.signal),
      },
    );
    expect([code, out]).toEqual([
      0,
      "ADDED   us-1/lab/mine\nMODIFIED   us-1/lab/mine\nDELETED   us-1/lab/mine\n",
    ]);
  });

  it("in commands of every kind and outcome", () => {
    expect(new Set(COMMANDS.map((command) => command.split(" ")[0])).size).toBeGreaterThan(10);
    expect(world.url.events.length).toBeGreaterThan(COMMANDS.length / 2);
  });
});

describe("what a command works on", () => {
  it("asks for names without the rest of their rows", async () => {
    const before = world.url.events.length;
    await ofStack(["get", "-o", "name"]);
    const asked = world.url.events
      .slice(before)
      .map(({ rawPath, rawQueryString }) => `${rawPath}?${rawQueryString}`);
    expect(asked).toEqual([`${QUERY_PATHS.rows}?fields=kind`]);
  });

  it("is chosen by --data and --stack before the name of the command as well as after it", async () => {
    const opened: unknown[] = [];
    const openCounted: Io["open"] = async (target) => {
      opened.push(target);
      throw new Error("opened");
    };
    await inside(["--data", "there", "get"], { open: openCounted });
    await inside(["--data=there", "cluster", "list"], { open: openCounted });
    await inside(["cluster", "--data", "there", "list"], { open: openCounted });
    await inside(["--stack", "http://127.0.0.1:1", "fleet", "describe"], { open: openCounted });
    await inside(["--data", "there", "get", "--data", "here"], { open: openCounted });
    const there = { kind: "folder", dir: "there", from: "--data" };
    expect(opened).toEqual([
      there,
      there,
      there,
      { kind: "stack", url: "http://127.0.0.1:1", from: "--stack" },
      { kind: "folder", dir: "here", from: "--data" },
    ]);
    const both = await inside(["--data", "there", "get", "--stack", "http://127.0.0.1:1"], {
      open: openCounted,
    });
    expect([both.code, both.err]).toEqual([
      1,
      "error: Cannot use --data and --stack together: one names a folder, the other a deployed stack\n",
    ]);
  });

  it("is the folder that --data names, the stack that --stack, TIDEMARK_STACK or TIDEMARK_URL names, else the default folder", async () => {
    const opened: unknown[] = [];
    const remember: Io["open"] = async (place) => {
      opened.push(place);
      throw new Error("opened");
    };
    const stackUrl = "https://abc.lambda-url.eu-central-1.on.aws";
    const run = (args: readonly string[], more: object = {}) =>
      inside(["get", ...args], { open: remember, ...more });
    await run([]);
    await run(["--data", "there"], { stackUrl });
    await run(["--stack", "http://127.0.0.1:1"], { stackUrl });
    await run([], { stackUrl });
    await run([], { stackUrl, stackName: "tidemark-prod" });
    await run(["--region", "eu-west-1"], { stackName: "tidemark-prod" });
    await run(["--data", "there"], { stackName: "tidemark-prod" });
    await run([], { stackUrl: "", stackName: "" });
    expect(opened).toEqual([
      { kind: "folder", dir: ".tidemark", from: "default" },
      { kind: "folder", dir: "there", from: "--data" },
      { kind: "stack", url: "http://127.0.0.1:1", from: "--stack" },
      { kind: "stack", url: stackUrl, from: "TIDEMARK_URL" },
      { kind: "named stack", name: "tidemark-prod", from: "TIDEMARK_STACK" },
      { kind: "named stack", name: "tidemark-prod", region: "eu-west-1", from: "TIDEMARK_STACK" },
      { kind: "folder", dir: "there", from: "--data" },
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
      'error: No data in ".tidemark": start a run first\nnote: this is the default data folder; choose another with --data, or a deployed stack with --stack or TIDEMARK_STACK\n',
    );
    expect((await inside(["get", "--data", ".tidemark"], { open: noData })).err).toBe(
      'error: No data in ".tidemark": start a run first\n',
    );
  });

  it("cannot be a kubeconfig file where a function would have to read it", async () => {
    const { code, err } = await ofStack([
      "cluster",
      "add",
      "x",
      "--kubeconfig",
      import.meta.filename,
    ]);
    expect([code, err.split("\n")[0]]).toEqual([
      1,
      'error: Cannot read the request: "connection.kind" must be "secret" or "eks": a deployed stack cannot read a kubeconfig file',
    ]);
  });
});
