import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import type { Io, Session } from "../../lib/command/io.ts";
import { liveView } from "../../lib/embedded/view/live.ts";
import { plainView } from "../../lib/embedded/view/plain-view.ts";
import { TidemarkError } from "../../lib/rules/model/errors.ts";
import type { Service } from "../../lib/answers/service/service.ts";
import { type StandIn, standIn } from "../cluster/stand-in/server.ts";
import { SHIPPED } from "../manifest/shipped.ts";
import { NOON } from "../noon.ts";
import { CALLS, KUBECONFIG, OTHER } from "./every-command.ts";
import { type Folder, type Said, openHere, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

/**
 * A title of the window, a colour, C1 and DEL, an override of the direction, line separators, zero
 * width, a tag, half a surrogate pair, and a line of its own.
 */
const HOSTILE =
  "\u001b]0;x\u0007\u001b[31m\u009b2J\u007f\u202e\u2066\u2028\u2029\u200b\u{e0041}\ud800\t\r\nforged line";

const ESCAPE = "\u001b";

/** What must not be seen in any output. Line ends are checked by `forged`. */
const RAW = /[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Members that choose words of ours, so that no other text ever stands in them. */
const CHOOSING = new Set([
  "state",
  "outcome",
  "result",
  "kind",
  "type",
  "direction",
  "scope",
  "status",
  "step",
  "apiVersion",
  "specsFromCluster",
]);
const OURS = /^\d{4}-\d\d-\d\dT|^\d+$/;

/** Every text of a value with a hostile end. */
const poisoned = (value: unknown, key = ""): unknown => {
  if (typeof value === "string")
    return CHOOSING.has(key) || OURS.test(value) ? value : value + HOSTILE;
  if (Array.isArray(value)) return value.map((item: unknown) => poisoned(item, key));
  if (typeof value !== "object" || value === null) return value;
  const isSelector = key === "labels" || key === "annotations";
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      isSelector ? name + HOSTILE : name,
      poisoned(member, name),
    ]),
  );
};

const cleaned = (value: unknown): unknown => {
  if (typeof value === "string") return value.replaceAll(HOSTILE, "");
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === "function" ? member : cleaned(member),
    ]),
  );
};

const WHERE = { cluster: "eu-1", namespace: "shop", name: "web", partition: "all" };
const CHECKS = [{ check: "server", result: "failed", message: "m", fix: "f" }];
/** Answers of edits, which would otherwise change what the next command reads. */
const EDITED: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    ["delete", "pause", "resume", "takeOver", "handBack", "thaw"].map((name) => [
      name,
      { ...WHERE, changed: true },
    ]),
  ),
  ...Object.fromEntries(
    ["addCluster", "replaceCluster", "pauseCluster", "resumeCluster", "removeCluster"].map(
      (name) => [name, { name: "eu-1", checks: CHECKS }],
    ),
  ),
  ...Object.fromEntries(
    ["resetWindows", "resetIntent", "resetTime"].map((name) => [
      name,
      { ...WHERE, autoscalers: ["a"], kept: { bytes: 1, pk: "p", sk: "s" } },
    ]),
  ),
  fleet: { frozen: { at: "2026-03-01T12:00:00.000Z", by: "ada", reason: "r" } },
  shadow: {
    ...WHERE,
    ...{
      since: "2026-03-01T11:00:00.000Z",
      until: "2026-03-01T12:00:00.000Z",
      syncs: 2,
      agreed: 0,
      undecided: 0,
      rivals: [{ kind: "K", name: "=k" }],
    },
    ...{
      replicaHours: { own: 1, rival: 1 },
      reactions: [{ at: "2026-03-01T11:00:00.000Z", from: 1, to: 2, ownSeconds: 3 }],
    },
    stretches: [
      {
        at: "2026-03-01T11:00:00.000Z",
        until: "2026-03-01T12:00:00.000Z",
        syncs: 2,
        own: 1,
        rival: 2,
        reason: "=1",
        message: "-m",
        rivalReason: "@r",
        rivalMessage: "+m",
      },
    ],
  },
  freeze: { changed: false, frozen: { at: "2026-03-01T12:00:00.000Z", by: "ada", reason: "r" } },
  checkCluster: { usable: false, checks: CHECKS },
  calendars: [{ name: "c", dates: ["2026-12-25"] }],
  sources: [
    {
      name: "s",
      kind: "http",
      url: "https://h.example",
      clusters: ["*"],
      namespaces: ["*"],
      updatedAt: "2026-03-01T12:00:00.000Z",
      updatedBy: "ada",
    },
  ],
};

type Method = (...args: readonly unknown[]) => unknown;

async function* poisonedEach(all: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  for await (const each of all) yield poisoned(each);
}

/** The names of families and labels are checked, and a wrong one is an error. */
const poisonedLabels = (families: Awaited<ReturnType<Service["series"]>>) =>
  families.map(({ samples, ...family }) => ({
    ...family,
    samples: samples.map(({ labels, value }) => ({
      value,
      labels: Object.fromEntries(
        Object.entries(labels).map(([name, text]) => [name, text + HOSTILE]),
      ),
    })),
  }));

/** A service of a stranger: each text of each answer is hostile. */
const hostileService = (service: Service): Service =>
  new Proxy(service, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...given: readonly unknown[]) => {
        if (Object.hasOwn(EDITED, name)) return Promise.resolve(poisoned(EDITED[String(name)]));
        const args = given.map(cleaned);
        if (name === "apply")
          return Promise.resolve(
            poisoned([{ ...WHERE, kind: "K", outcome: "created", warnings: ["w"] }]),
          );
        const answer = (method as Method).apply(target, args);
        if (name === "series")
          return (answer as ReturnType<Service["series"]>).then(poisonedLabels);
        if (answer instanceof Promise) return answer.then((value) => poisoned(value));
        return poisonedEach(answer as AsyncIterable<unknown>);
      };
    },
  });

const failingService = (): Service =>
  new Proxy({} as Service, {
    get: () => () => {
      throw new TidemarkError("remote.answer", `Cannot read it: ${HOSTILE}`, {});
    },
  });

let folder: Folder;
let kubeconfig: string;

/** An API server of a stranger: objects with hostile texts in every field, and one refusal. */
let stranger: StandIn;
const answer: StandIn["answer"] = ({ url }, response) => {
  const scaled = {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
    maxReplicas: 3,
    minReplicas: 1,
  };
  const trigger = {
    type: "kafka",
    metadata: { topic: "t", lagThreshold: "5" },
    authenticationRef: { name: "a" },
  };
  const items = [
    {
      metadata: { name: "web", namespace: "shop", labels: { app: "web" } },
      spec: { ...scaled, triggers: [trigger], more: { x: "y" } },
    },
  ];
  const refusal = {
    kind: "Status",
    status: "Failure",
    reason: "Forbidden",
    message: `no${HOSTILE}`,
    code: 403,
  };
  const refused = url.pathname.includes("watermark");
  response.writeHead(refused ? 403 : 200, { "content-type": "application/json" });
  response.end(
    JSON.stringify(refused ? refusal : { kind: "List", metadata: {}, items: poisoned(items) }),
  );
};

beforeAll(async () => {
  folder = await shopInMemory();
  stranger = await standIn();
  stranger.answer = answer;
  const cluster = {
    server: stranger.url,
    "certificate-authority-data": Buffer.from(stranger.ca).toString("base64"),
  };
  const config = {
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
  };
  kubeconfig = folder.write(
    "kubeconfig",
    JSON.stringify({ apiVersion: "v1", kind: "Config", "current-context": "x", ...config }),
  );
});
afterAll(async () => {
  await stranger.close();
  folder.remove();
});

const opened =
  (hostile: (service: Service) => Service): Io["open"] =>
  async (target, by): Promise<Session> => {
    const session = await openHere(target, by);
    return { ...session, service: hostile(session.service) };
  };

const inHere = (word: string): string =>
  word === KUBECONFIG ? kubeconfig : word === OTHER ? HOSTILE : word;

const clean = ({ out, err }: Said, isTemplate: boolean): void => {
  expect({ out: RAW.exec(out)?.[0], err: RAW.exec(err)?.[0] }).toEqual({
    out: undefined,
    err: undefined,
  });
  // A template prints for shells, which get line ends as they are.
  if (!isTemplate)
    expect(`${out}${err}`.split("\n").filter((line) => line.startsWith("forged"))).toEqual([]);
};

const isByTemplate = (words: readonly string[]): boolean => words.join(" ").includes("jsonpath");

const hostileManifest = `apiVersion: v1\nkind: List\nitems: [{apiVersion: ${JSON.stringify(HOSTILE)}, kind: ${JSON.stringify(HOSTILE)}}, {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: ${JSON.stringify(HOSTILE)}}}]`;

/** Ctrl-C comes at once. */
const interruptible: NonNullable<Io["interruptible"]> = (work) => work(AbortSignal.abort());

describe("no text of a stranger reaches the terminal, a pipe or a file as a control character", () => {
  it("in any command of the program, in any of its formats", async () => {
    expect(CALLS.length).toBeGreaterThan(60);
    let hostile = 0;
    for (const { words, takesTarget } of CALLS) {
      const more = {
        open: opened(hostileService),
        stdin: hostileManifest,
        editFile: async (file: string) => writeFileSync(file, hostileManifest),
      };
      const said = await inside(
        [...words.map(inHere), ...(takesTarget ? ["--data", folder.data] : [])],
        { ...more, interruptible },
      );
      clean(said, isByTemplate(words));
      hostile +=
        said.out.includes("\\u{1b}") ||
        said.out.includes("\\u001b") ||
        said.out.includes("\\e") ||
        said.err.includes("\\u{1b}")
          ? 1
          : 0;
    }
    // The others print only words of ours: help, versions, scripts, costs, the name that was given,
    // and empty lists.
    expect(hostile / CALLS.length).toBeGreaterThan(0.6);
  }, 120_000);

  it("in any error", async () => {
    for (const { words } of CALLS.filter((call) => call.takesTarget)) {
      const said = await inside([...words.map(inHere), "--data", folder.data], {
        open: opened(failingService),
        stdin: hostileManifest,
        interruptible,
      });
      // `import` prints what it read of the cluster: it asks nothing of the service.
      clean(said, isByTemplate(words));
    }
  }, 120_000);

  it("and JSON and YAML hold every character of it, for a parser", async () => {
    for (const format of ["json", "yaml"]) {
      const { out } = await inside(["describe", "shop/web", "-o", format, "--data", folder.data], {
        open: opened(hostileService),
      });
      const read: unknown = format === "json" ? JSON.parse(out) : parseYaml(out);
      expect(read).toMatchObject({ metadata: { name: `web${HOSTILE}` } });
    }
  });

  it("in the view of a run, as lines and as a picture", async () => {
    const session = await opened(hostileService)(
      { kind: "folder", dir: folder.data, from: "--data" },
      "ada",
    );
    const [all, events] = [
      await Array.fromAsync(session.service.autoscalers({})),
      await Array.fromAsync(session.service.events({ sinceMs: 0 })),
    ];
    await session.close();
    const reader = {
      autoscalers: async () => all,
      newEvents: async () => events,
      total: () => all.length,
      eventsSince: async () => [],
      seen: () => events,
    };
    const clock = {
      now: () => NOON,
      until: async () => {},
      pace: () => ({ wanted: 1, reached: 1, behind: false }),
    };
    const lines: string[] = [];
    const plain = plainView({ write: (text) => void lines.push(text.written()), reader, clock });
    plain.say(HOSTILE);
    await plain.refresh();
    clean({ code: 0, out: lines.join(""), err: "" }, false);
    expect(lines.join("")).toContain("\\u{1b}");
    const chunks: string[] = [];
    const stream = {
      columns: 150,
      rows: 50,
      write: (text: string) => void chunks.push(text),
    } as unknown as NodeJS.WriteStream;
    const live = liveView({ stream, reader, clock, startMs: NOON, dataOption: "" });
    live.say(HOSTILE);
    await live.refresh();
    const drawn = chunks.join("");
    expect(drawn).toContain("\\u{1b}");
    // Only our own sequences are left: colours, and those that move the cursor.
    expect(
      drawn
        .replace(new RegExp(`${ESCAPE}\\[(\\?2026[hl]|\\d*[ABJK]|\\d*m)`, "g"), "")
        .replaceAll("\r", ""),
    ).not.toMatch(RAW);
  });
});

/** Each place of a text in a document. */
const leavesOf = (
  value: unknown,
  path: readonly (string | number)[] = [],
): readonly (readonly (string | number)[])[] => {
  if (typeof value === "string") return [path];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    leavesOf(member, [...path, Array.isArray(value) ? Number(key) : key]),
  );
};

const replaced = (value: unknown, [step, ...rest]: readonly (string | number)[]): unknown => {
  if (step === undefined) return `${String(value)}${HOSTILE}`;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? replaced(item, rest) : item));
  return Object.fromEntries(
    Object.entries(value as object).map(([key, member]) => [
      key,
      key === step ? replaced(member, rest) : member,
    ]),
  );
};

describe("a hostile text in any field of any kind of manifest", () => {
  const kinds = [
    ...Map.groupBy(
      SHIPPED.filter(({ document }) => Object.hasOwn(Object(document), "kind")),
      ({ document }) =>
        `${Reflect.get(document as object, "apiVersion")} ${Reflect.get(document as object, "kind")}`,
    ),
  ];

  it.each(kinds)(
    "is refused or stored as it is, and every output escapes it: %s",
    async (kind, manifests) => {
      // Each field once, of the first manifest that has it.
      const places = manifests.flatMap(({ document }) =>
        leavesOf(document).map((path) => ({ path, document: replaced(document, path) })),
      );
      const variants = [...Map.groupBy(places, ({ path }) => path.join("."))].flatMap(
        ([, [first]]) => first ?? [],
      );
      expect(variants.length).toBeGreaterThan(5);
      const stored: string[] = [];
      for (const [index, variant] of variants.entries())
        if (await isStored(kind, `h${index}`, variant)) stored.push(`h${index}`);
      for (const command of [
        ["get", "-o", "wide"],
        ["get", "-o", "yaml"],
        ["describe", "pa,hpa,wpa"],
        ["changes", "-A"],
        ["series"],
        ["status"],
      ])
        clean(await inside([...command, "--data", folder.data]), false);
      for (const name of stored)
        clean(await inside(["explain", name, "--cluster", "eu-1", "--data", folder.data]), false);
      await inside(["delete", "--all", "-A", "--cluster", "eu-1", "--data", folder.data]);
    },
    120_000,
  );
});

interface Variant {
  readonly path: readonly (string | number)[];
  readonly document: unknown;
}

/** True for a manifest that was accepted. One of ours is always refused. */
const isStored = async (
  kind: string,
  name: string,
  { path, document }: Variant,
): Promise<boolean> => {
  const own = path.join(".") === "metadata.name" ? document : withName(document, name);
  const said = await inside(
    ["apply", "-f", "-", "--cluster", "eu-1", "--validate", "warn", "--data", folder.data],
    { stdin: JSON.stringify(own) },
  );
  clean(said, false);
  if (kind.startsWith("tidemark.dev") && path[0] === "spec")
    expect({ path, code: said.code }).toEqual({ path, code: 1 });
  return said.code === 0;
};

const withName = (document: unknown, name: string): unknown => {
  const { metadata, ...rest } = document as { readonly metadata: object };
  return { ...rest, metadata: { ...metadata, name, namespace: "hostile" } };
};
