import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Io } from "../../lib/command/io.ts";
import { openTarget } from "../../lib/command/session.ts";
import { openNamedStack, openStack } from "../../lib/command/stack-session.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { CALLS, KUBECONFIG } from "./every-command.ts";
import { type Folder, shopFolder } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await shopFolder();
});
afterAll(() => folder.remove());

/** Commands without a format that print what programs read. */
const DOCUMENTS = new Set(["series", "cluster rbac", "import", "mcp"]);
/** Commands that print a table for line tools. */
const TABLES = new Set(["table", "wide"]);
const LINES = new Set(["diff", "changes"]);

const headOf = ({ path, format }: (typeof CALLS)[number]): "out" | "err" | "none" => {
  if (DOCUMENTS.has(path)) return "none";
  if (format === undefined) return LINES.has(path) ? "err" : "out";
  if (format === "text") return LINES.has(path) ? "err" : "out";
  return TABLES.has(format) ? "err" : "none";
};

describe("where an output was made", () => {
  it("is the first line of every edit and every sheet, stands on standard error before every table, and nowhere else", async () => {
    const session = await openTarget({ kind: "folder", dir: folder.data, from: "--data" }, "ada");
    const refusing: Io["open"] = async () => {
      // The head comes before the work, which is of no interest here.
      const service = new Proxy({} as Service, {
        get: () => () => {
          throw new Error("nothing is done");
        },
      });
      return { ...session, service, close: async () => {} };
    };
    const head = `In folder ${folder.data}, no run is alive:\n`;
    const places = new Map<string, number>();
    // What only reads files, prints words of its own or asks for more than the names says nothing
    // of a place; `status` draws its head in each picture.
    for (const call of CALLS.filter(
      ({ takesTarget, path }) => takesTarget && path !== "status" && path !== "start",
    )) {
      const words = call.words.map((word) => (word === KUBECONFIG ? import.meta.filename : word));
      const { out, err } = await inside([...words, "--data", folder.data], {
        open: refusing,
        stdin: MANIFEST,
        head: true,
        interruptible: (work) => work(AbortSignal.abort()),
      });
      const found = out.startsWith(head) ? "out" : err.startsWith(head) ? "err" : "none";
      expect({ words, found }).toEqual({ words, found: headOf(call) });
      places.set(found, (places.get(found) ?? 0) + 1);
    }
    await session.close();
    expect(Math.min(...places.values())).toBeGreaterThan(3);
    expect(places.size).toBe(3);
  }, 60_000);

  it("is a stack with its region, or a folder and whether its run is alive", async () => {
    const caller = () =>
      ({
        region: "eu-central-1",
        credentials: async () => ({ accessKeyId: "a", secretAccessKey: "s" }),
      }) as never;
    expect(
      openStack({ url: "https://abc.lambda-url.eu-central-1.on.aws", from: "--stack" }, caller)
        .place,
    ).toBe("the stack at https://abc.lambda-url.eu-central-1.on.aws");
    expect(openNamedStack.length).toBeGreaterThan(0);
    const session = await openTarget({ kind: "folder", dir: folder.data, from: "--data" }, "ada");
    expect([session.place, session.ended]).toEqual([
      `folder ${folder.data}, no run is alive`,
      true,
    ]);
    await session.close();
  });
});

const MANIFEST = JSON.stringify({
  apiVersion: "autoscaling/v2",
  kind: "HorizontalPodAutoscaler",
  metadata: { name: "web", namespace: "shop" },
  spec: {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 3,
  },
});

describe("a folder whose run is dead", () => {
  it("is never healthy: status says it first, says what to do, and exits with 1", async () => {
    const said = await inside(["status", "--data", folder.data], { head: true });
    expect(said.code).toBe(1);
    expect(said.out).toMatch(/^In folder .*, no run is alive:\nStatus: +unhealthy\n/);
    expect(said.out).toContain(
      `Problems:\n  No run is alive on the data folder "${folder.data}": nothing is synced or scaled, and all else here is as of the end of the last run\n`,
    );
    expect(said.out).toContain(`  next: npm start -- --data ${folder.data}\n`);
    const document = JSON.parse(
      (await inside(["status", "-o", "json", "--data", folder.data])).out,
    );
    expect(document).toMatchObject({ healthy: false, problems: [{ kind: "no run" }, {}] });
  });

  it("shows no age in get, because its clock stands", async () => {
    const { out, err } = await inside(["get", "shop/web", "--data", folder.data], { head: true });
    expect(err).toBe(`In folder ${folder.data}, no run is alive:\n`);
    expect(out).toMatch(/ no run\n$/);
  });
});

describe("an edit that names no target", () => {
  const inFolder = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const dir = mkdtempSync(join(tmpdir(), "tidemark-head-"));
    mkdirSync(join(dir, ".tidemark"));
    const before = process.cwd();
    process.chdir(dir);
    try {
      return await work();
    } finally {
      process.chdir(before);
      rmSync(dir, { recursive: true, force: true });
    }
  };
  const opened: unknown[] = [];
  const open: Io["open"] = async (target) => {
    opened.push(target);
    throw new Error("opened");
  };
  const freeze = ["fleet", "freeze", "--reason", "x"];

  it("is refused in a checkout that has a data folder and works on stacks too, and says what to do", async () => {
    await inFolder(async () => {
      const said = await inside(freeze, { open, stackSign: "AWS_PROFILE is set" });
      expect(said).toEqual({
        code: 1,
        out: "",
        err: 'error: Cannot choose between the data folder ".tidemark" and a deployed stack: AWS_PROFILE is set; name one with --data .tidemark, --stack NAME, or the variable TIDEMARK_STACK\n',
      });
      expect(opened).toEqual([]);
    });
  });

  it("goes to the stack of TIDEMARK_STACK, and to the folder where there is no sign of a stack or the folder is named; a query is never refused", async () => {
    await inFolder(async () => {
      const sign = { open, stackSign: "AWS_PROFILE is set" };
      opened.length = 0;
      await inside(freeze, { ...sign, stackName: "tidemark-prod" });
      await inside(freeze, { open });
      await inside([...freeze, "--data", ".tidemark"], sign);
      await inside(["get"], sign);
      expect(opened).toMatchObject([
        { kind: "named stack" },
        { kind: "folder" },
        { kind: "folder", from: "--data" },
        { kind: "folder", from: "default" },
      ]);
    });
  });
});

describe("docs/operations.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/operations.md"), "utf8");
  const TARGET = /--stack |--data |--params |export TIDEMARK_STACK=/;

  it("names a target before the first command, so that no command is without one", () => {
    const first = page.search(/npx tidemark [a-z]/);
    expect(page.slice(0, first)).toMatch(/^export TIDEMARK_STACK=tidemark-prod /m);
  });

  it("names the target again in each block that is copied by itself, and at the head of the runbooks", () => {
    const [, runbooks = ""] = /\n## Runbooks\n(.*?)\n## /s.exec(page) ?? [];
    const blocks = (text: string): readonly string[] =>
      [...text.matchAll(/```(?:sh|bash)\n(.*?)```/gs)].map(([, block = ""]) => block);
    expect(blocks(runbooks)[0]).toContain('export TIDEMARK_STACK="tidemark-$stage"');
    const alone = blocks(page.replace(runbooks, "")).flatMap((block) =>
      block.split("\n").filter((line) => /\btidemark [a-z]/.test(line)),
    );
    expect(alone.length).toBeGreaterThan(3);
    expect(alone.filter((line) => !TARGET.test(line))).toEqual([]);
  });
});
