import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse as parseCsv } from "csv-parse/sync";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUDIT_FIELDS, type AuditRecord } from "../../lib/answers/audit/record.ts";
import { openStack } from "../../lib/command/stack-session.ts";
import type { Session } from "../../lib/command/io.ts";
import { NOON } from "../noon.ts";
import { callerOf, type RemoteWorld, remoteWorld } from "../remote/world.ts";
import { type Folder, type Said, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

const FORMATS = ["csv", "json", "html"] as const;
type Format = (typeof FORMATS)[number];

let folder: Folder;
const run = (...args: readonly string[]): Promise<Said> =>
  inside([...args, "--data", folder.data], { by: "ada" });
const audit = (format: Format, ...args: readonly string[]): Promise<Said> =>
  run("audit", "--since", "61d", "-o", format, ...args);
const verify = (file: string, ...args: readonly string[]): Promise<Said> =>
  inside(["audit", "--verify", file, ...args]);

const recordsOf = (out: string): readonly AuditRecord[] => JSON.parse(out).records;
const HEAD = /^Head of the chain of (\d+) lines: ([0-9a-f]{64})$/m;
const headIn = (err: string): string => HEAD.exec(err)?.[2] ?? "none";

/** The audit of the shop in each format, and its head. */
const printed = new Map<Format, { readonly out: string; readonly head: string }>();

beforeAll(async () => {
  folder = await shopInMemory();
  // A text of a person that is markup, a formula and a line of its own.
  await run("override", "set", "shop/web", "--hold", "--until", "1h", "--reason", HOSTILE);
  for (const format of FORMATS) {
    const { code, out, err } = await audit(format);
    expect(code).toBe(0);
    printed.set(format, { out, head: headIn(err) });
  }
});
afterAll(() => folder.remove());

const HOSTILE = '=1+1<script>alert(1)</script><img src=x onerror="x">';

const textIn = (format: Format): string => printed.get(format)?.out ?? "";
const linesIn = (format: Format): readonly string[] => textIn(format).split("\n").slice(0, -1);
const verifyLines = (format: Format, lines: readonly string[]): Promise<Said> =>
  verify(folder.write(`changed.${format}`, `${lines.join("\n")}\n`));

describe("tidemark audit", () => {
  it("has every scale with its reason and the edit whose spec decided it", () => {
    const scales = recordsOf(textIn("json")).filter(({ kind }) => kind === "scale");
    expect(scales).toHaveLength(4);
    expect(scales[0]).toMatchObject({
      cluster: "eu-1",
      namespace: "shop",
      name: "web",
      ...{ from: 2, to: 4, reason: "ScaleUp", outcome: "applied", generation: 1 },
      editedBy: "ada",
      editedAt: new Date(NOON - 3_600_000).toISOString(),
    });
    const edits = recordsOf(textIn("json")).filter(({ kind }) => kind === "edit");
    expect(edits.map(({ id }) => id)).toContain(scales[0]?.edit);
  });

  it("has every edit that `changes` lists, with its editor and its fields", async () => {
    const { items } = JSON.parse((await run("changes", "--all", "-o", "json")).out);
    const edits = recordsOf(textIn("json")).filter(({ kind }) => kind === "edit");
    expect(edits.map(({ id }) => id).toSorted()).toEqual(
      items.map(({ id }: { readonly id: string }) => id).toSorted(),
    );
    expect(edits.find(({ what }) => what === "autoscaler override")).toMatchObject({
      by: "ada",
      outcome: "made",
      message: expect.stringContaining("+ overrides."),
    });
  });

  it("is in order of time", () => {
    const times = recordsOf(textIn("json"))
      .filter(({ kind }) => ["scale", "edit", "gap"].includes(kind))
      .map(({ at = "" }) => Date.parse(at));
    expect(times.length).toBeGreaterThan(8);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
  });

  it("names what is not known", () => {
    const holes = recordsOf(textIn("json")).filter(({ hole }) => hole !== undefined);
    expect(holes.find(({ kind }) => kind === "scale")).toMatchObject({
      cluster: "us-1",
      outcome: "unknown",
      hole: expect.stringContaining("no answer came"),
    });
    // The shop has been synced only in its last minute.
    expect(holes.find(({ what }) => what === "no sync")).toMatchObject({
      kind: "gap",
      cluster: "eu-1",
      name: "default",
      at: new Date(NOON - 3_600_000).toISOString(),
    });
  });

  it("says that a part of a period is not kept any more", async () => {
    const { out } = await audit("json", "--since", "500d");
    expect(recordsOf(out).find(({ what }) => what === "not kept")).toMatchObject({
      at: new Date(NOON - 500 * 86_400_000).toISOString(),
      until: new Date(NOON - 396 * 86_400_000).toISOString(),
      hole: "scales and edits are kept for 396 days",
    });
  });

  it("has at its top how many lines of each kind it has", () => {
    const records = recordsOf(textIn("json"));
    const total = (wanted: string): number | undefined =>
      records.find(({ kind, what }) => kind === "total" && what === wanted)?.count;
    const ofKind = (wanted: Partial<AuditRecord>): number =>
      records.filter((record) =>
        Object.entries(wanted).every(([field, value]) => Reflect.get(record, field) === value),
      ).length;
    expect(records[0]).toMatchObject({ kind: "audit", what: "tidemark-audit/1" });
    expect(total("scales that were made")).toBe(ofKind({ kind: "scale", outcome: "applied" }));
    expect(total("scales that the cluster refused")).toBe(1);
    expect(total("scales without an answer")).toBe(1);
    expect(total("edits")).toBe(ofKind({ kind: "edit" }));
    expect(total("holes")).toBe(records.filter(({ hole }) => hole !== undefined).length);
    expect(records.at(-1)).toMatchObject({ kind: "end", count: records.length - 1 });
  });

  it("has the same records in all of its formats", () => {
    const json = recordsOf(textIn("json"));
    const csv: readonly Readonly<Record<string, string>>[] = parseCsv(textIn("csv"), {
      columns: true,
    });
    expect(csv.map(({ kind, id, at }) => [kind, id, at])).toEqual(
      json.map(({ kind, id = "", at = "" }) => [kind, id, at]),
    );
    expect(Object.keys(csv[0] ?? {})).toEqual([...AUDIT_FIELDS, "hash"]);
    for (const { id } of json) if (id !== undefined) expect(textIn("html")).toContain(id);
  });

  it("is of one namespace, or of one cluster, where that is wanted", async () => {
    const shop = recordsOf((await audit("json", "-n", "shop")).out).filter(
      ({ kind }) => kind === "scale" || kind === "edit",
    );
    expect(shop.length).toBeGreaterThan(4);
    expect(new Set(shop.map(({ namespace }) => namespace))).toEqual(new Set(["shop"]));
    const us = recordsOf((await audit("json", "--cluster", "us-1")).out);
    expect(us.filter(({ kind }) => kind === "scale")).toHaveLength(1);
  });

  it("is as HTML one file without a script or an address, with texts that stay texts", () => {
    const html = textIn("html");
    expect(html).toContain("&lt;script&gt;");
    expect(html).not.toMatch(/<(script|img|link|iframe|a|form|svg)\b|https?:/i);
    expect(html).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
  });

  it("is as CSV no formula of a spreadsheet", () => {
    const csv: readonly Readonly<Record<string, string>>[] = parseCsv(textIn("csv"), {
      columns: true,
    });
    const cells = csv.flatMap((row) => Object.values(row));
    expect(cells.filter((cell) => /^[=@+]/.test(cell))).toEqual([]);
  });
});

describe("an audit of a cluster that is removed", () => {
  it("has its scales, who decided them, and its edits", async () => {
    const gone = await shopInMemory();
    const inGone = (...args: readonly string[]): Promise<Said> =>
      inside([...args, "--data", gone.data], { by: "ada" });
    const recorded = async (...args: readonly string[]): Promise<readonly AuditRecord[]> => {
      const { code, out, err } = await inGone("audit", "--since", "61d", "-o", "json", ...args);
      expect({ code, err }).toMatchObject({ code: 0 });
      return recordsOf(out).filter(({ kind }) => kind === "scale" || kind === "edit");
    };
    const before = await recorded("--cluster", "us-1");
    for (const words of ["delete jobs -n batch --cluster us-1", "cluster remove us-1"])
      expect(await inGone(...words.split(" "))).toMatchObject({ code: 0, err: expect.anything() });
    const after = await recorded();
    const ofCluster = after.filter(({ cluster }) => cluster === "us-1");
    expect(ofCluster.slice(0, before.length).map(({ id, editedBy }) => [id, editedBy])).toEqual(
      before.map(({ id, editedBy }) => [id, editedBy]),
    );
    expect(ofCluster.filter(({ kind }) => kind === "scale")).toHaveLength(1);
    expect(ofCluster).toContainEqual(
      expect.objectContaining({ what: "cluster remove", by: "ada" }),
    );
    expect((await recorded("--cluster", "us-1")).map(({ id }) => id)).toEqual(
      ofCluster.map(({ id }) => id),
    );
    gone.remove();
  });
});

describe.each(FORMATS)("the chain of an audit as %s", (format) => {
  it("is whole as it was printed, with the head on standard error", async () => {
    const { out, head } = printed.get(format) ?? { out: "", head: "" };
    expect(head).toMatch(/^[0-9a-f]{64}$/);
    const file = folder.write(`audit.${format}`, out);
    expect(await verify(file, "--head", head)).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        new RegExp(`^The chain of .* is whole: \\d+ lines, head ${head}\n$`),
      ),
    });
  });

  it("is never whole without one of its lines", async () => {
    const lines = linesIn(format);
    expect(lines.length).toBeGreaterThan(15);
    for (let at = 0; at < lines.length; at++) {
      const { code, err } = await verifyLines(format, lines.toSpliced(at, 1));
      expect({ code, at }).toEqual({ code: 1, at });
      expect(err).toMatch(/^error: Cannot verify ".*": line \d+: /);
    }
  });

  it("is never whole with a line twice, or with two lines in another order", async () => {
    const lines = linesIn(format);
    for (let at = 0; at < lines.length; at++) {
      const twice = lines.toSpliced(at, 0, lines[at] ?? "");
      expect({ at, code: (await verifyLines(format, twice)).code }).toEqual({ at, code: 1 });
      const [one = "", other = ""] = [lines[at], lines[at + 1]];
      if (one === other || at + 1 === lines.length) continue;
      const turned = lines.toSpliced(at, 2, other, one);
      expect({ at, code: (await verifyLines(format, turned)).code }).toEqual({ at, code: 1 });
    }
  });

  it("is never whole with another character in it", async () => {
    const text = textIn(format);
    await fc.assert(
      fc.asyncProperty(
        fc.nat(text.length - 2),
        fc.constantFrom("0", "x", " ", "<", '"', ",", "\n"),
        async (at, character) => {
          fc.pre(text[at] !== character);
          const changed = text.slice(0, at) + character + text.slice(at + 1);
          const { code } = await verify(folder.write(`changed.${format}`, changed));
          expect(code).toBe(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("says in which line it breaks", async () => {
    const lines = linesIn(format);
    const at = lines.findIndex((line) => line.includes("ScaleUp"));
    const changed = lines.with(at, (lines[at] ?? "").replace("ScaleUp", "ScaleUp2"));
    const { err } = await verifyLines(format, changed);
    expect(err).toContain(`line ${at + 1}: its hash is `);
  });

  it("says that the end is cut off", async () => {
    const lines = linesIn(format);
    const last = lines.findLastIndex((line) => /[0-9a-f]{64}/.test(line));
    const { err } = await verifyLines(format, lines.slice(0, last));
    expect(err).toContain("the audit is cut off here");
  });

  it("says that a file is empty", async () => {
    const { code, err } = await verify(folder.write(`empty.${format}`, ""));
    expect([code, err]).toEqual([1, expect.stringContaining("the file is empty")]);
  });

  it("is another one where an audit was made anew with less in it: the head says so", async () => {
    const { err, out } = await audit(format, "--cluster", "us-1");
    const file = folder.write(`less.${format}`, out);
    expect((await verify(file)).code).toBe(0);
    expect(headIn(err)).not.toBe(printed.get(format)?.head);
    expect(await verify(file, "--head", printed.get(format)?.head ?? "")).toMatchObject({
      code: 1,
      err: expect.stringContaining("and --head says"),
    });
  });
});

describe("docs/audit.md", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/audit.md"), "utf8");

  it("says how a line of CSV is hashed without this program", () => {
    let before = "0".repeat(64);
    for (const line of linesIn("csv").slice(1)) {
      const [text = "", stated = ""] = [line.slice(0, -65), line.slice(-64)];
      before = hash("sha256", `${before}\n${text}`);
      expect(before).toBe(stated);
    }
    expect(page).toContain("64 zeros");
  });

  it("has every field of a line", () => {
    expect(AUDIT_FIELDS.filter((field) => !page.includes(`\`${field}\``))).toEqual([]);
  });
});

describe("what an audit refuses", () => {
  it.each([
    [["--head", "1f"], "Cannot use --head without --verify"],
    [["--verify", "a.csv", "--since", "7d"], 'Cannot use --verify together with --since "7d"'],
    [["--since", "1h", "--until", "2h"], 'Cannot use --until "2h" with --since "1h"'],
    [["-o", "xml"], "is invalid. Allowed choices are csv, json, html"],
  ])("%j", async (args, words) => {
    const { code, out, err } = await run("audit", ...args);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(words);
  });

  it("a file that is no audit, or is not there", async () => {
    const file = folder.write("other.txt", "hello\n");
    expect(await verify(file)).toMatchObject({
      code: 1,
      err: expect.stringContaining("line 1: it begins no audit"),
    });
    expect(await verify(`${file}.gone`)).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no such file"),
    });
  });
});

describe("an audit of a stack", () => {
  let world: RemoteWorld;
  const AUDITORS = "arn:aws:sts::123456789012:assumed-role/Ops/*";
  const ofStack = (key: "ADA" | "GRACE", ...args: readonly string[]): Promise<Said> => {
    const open = (): Promise<Session> =>
      Promise.resolve(
        openStack(
          { url: world.url.url, from: "--stack" },
          () => callerOf(key),
          () => NOON,
        ),
      );
    return inside(["audit", "--since", "61d", ...args, "--stack", world.url.url], { open, by: "" });
  };
  beforeAll(async () => {
    world = await remoteWorld();
    await world
      .remote("ADA")
      .grantAccess({ arn: AUDITORS, role: "view", cluster: "eu-1", namespace: "shop" });
  });
  afterAll(() => world.close());

  it("has what the audit of a folder has", async () => {
    const { code, out } = await ofStack("ADA", "-o", "json");
    expect(code).toBe(0);
    expect(recordsOf(out).filter(({ kind }) => kind === "scale")).toHaveLength(4);
  });

  it("shows a caller with a grant on one namespace only this namespace", async () => {
    const { code, out } = await ofStack("GRACE", "-o", "json");
    expect(code).toBe(0);
    const seen = recordsOf(out).filter(({ kind }) => kind === "scale" || kind === "edit");
    expect(seen.length).toBeGreaterThan(4);
    expect(new Set(seen.map(({ cluster, namespace }) => `${cluster}/${namespace}`))).toEqual(
      new Set(["eu-1/shop"]),
    );
    expect(out).not.toContain("us-1");
    expect(out).not.toContain("infra");
  });
});
