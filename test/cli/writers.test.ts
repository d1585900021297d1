import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openService } from "../../lib/answers/service/open.ts";
import { NOON } from "../noon.ts";
import { type ServiceWorld, serviceWorld } from "../service/world/context.ts";
import { fillShop } from "../service/world/shop.ts";
import { type AuditedWrite, auditLine, HPA_CONTROLLER as HPA, OURS } from "./audit-line.ts";
import { inside } from "./inside.ts";

const MINUTE_MS = 60_000;

let world: ServiceWorld;
let dir: string;
beforeAll(async () => {
  world = await serviceWorld();
  await fillShop(world);
  dir = mkdtempSync(join(tmpdir(), "tidemark-audit-"));
  world.set(NOON - 30 * MINUTE_MS);
  const rival = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "shop" },
    spec: {},
  };
  await openService(world.context).takeOver({
    cluster: "eu-1",
    namespace: "shop",
    name: "web",
    rival,
  });
  world.set(NOON);
});
afterAll(async () => {
  await world.close();
  rmSync(dir, { recursive: true, force: true });
});

/** A write so many minutes before noon. */
type Line = Omit<AuditedWrite, "atMs"> & { readonly minutesAgo: number };
const event = ({ minutesAgo, ...line }: Line): string =>
  auditLine({ ...line, atMs: NOON - minutesAgo * MINUTE_MS });

const run = (events: readonly Line[], ...more: readonly string[]) =>
  runOn(`${events.map(event).join("\n")}\n`, ...more);

const runOn = (text: string, ...more: readonly string[]) => {
  const file = join(dir, "audit.log");
  writeFileSync(file, text);
  const open = async () => ({
    service: openService(world.context),
    place: "a test",
    nowMs: NOON,
    clock: () => NOON,
    close: async () => {},
  });
  return inside(["writers", "--audit-log", file, "--cluster", "eu-1", ...more], { open });
};

const MOVED: readonly Line[] = [
  { minutesAgo: 60, by: HPA },
  { minutesAgo: 40, by: HPA },
  { minutesAgo: 29, by: OURS },
  { minutesAgo: 15, by: OURS },
];

describe("tidemark writers", () => {
  it("shows one writer after the other, and the takeover between them", async () => {
    const { code, out } = await run(MOVED);
    expect(code).toBe(0);
    expect(out).toContain(`${HPA} -> ${OURS}@tidemark`);
    expect(out).toMatch(/takeover by ada\n/);
    expect(out).toMatch(
      /^1 workload, 4 writes from .*: no workload had a second writer outside of a takeover or handback$/m,
    );
  });

  it("fails where another controller writes after the takeover, and names the workload", async () => {
    const { code, out, err } = await run([
      ...MOVED,
      { minutesAgo: 10, by: HPA },
      { minutesAgo: 9, by: OURS },
    ]);
    expect(code).toBe(1);
    expect(out.match(/NOT EXPLAINED/g)).toHaveLength(2);
    expect(err).toContain(
      "1 of 1 workloads had a second writer without a takeover or handback: shop/web",
    );
  });

  it("fails where another user writes under the field manager of Tidemark, and names both users", async () => {
    const forged = { minutesAgo: 10, by: OURS, user: "mallory" };
    const { code, out, err } = await run([...MOVED, forged]);
    expect(code).toBe(1);
    expect(out).toContain(`${HPA} -> ${OURS}@tidemark -> ${OURS}@mallory`);
    expect(out.match(/NOT EXPLAINED/g)).toHaveLength(1);
    expect(err).toContain("had a second writer without a takeover or handback: shop/web");
  });

  it("fails where a person or a pipeline patches the replicas of a workload", async () => {
    const patch = {
      minutesAgo: 5,
      by: "ada@example.com",
      verb: "patch",
      subresource: null,
      body: { spec: { replicas: 9 } },
    };
    expect((await run([...MOVED, patch])).code).toBe(1);
    expect(
      (await run([...MOVED, { ...patch, body: { metadata: { labels: { a: "b" } } } }])).code,
    ).toBe(0);
  });

  it("reads a log at the level Metadata, which has no bodies", async () => {
    const { code, out } = await run(MOVED.map((line) => ({ ...line, body: null })));
    expect([code, out.includes("1 workload, 4 writes")]).toEqual([0, true]);
  });

  it("counts neither dry runs nor refusals", async () => {
    const { code, out } = await run(
      [
        ...MOVED,
        { minutesAgo: 5, by: HPA, code: 409 },
        { minutesAgo: 4, by: HPA, query: "dryRun=All" },
      ],
      "-o",
      "json",
    );
    expect([code, JSON.parse(out).workloads[0].writes, JSON.parse(out).secondWriters]).toEqual([
      0, 4, 0,
    ]);
  });

  it("leaves out a last line that the API server is still writing, and refuses every other line that is no JSON", async () => {
    const half = '{"kind":"Event","apiVer';
    const unfinished = await runOn(`${MOVED.map(event).join("\n")}\n${half}`);
    expect(unfinished).toMatchObject({
      code: 0,
      err: expect.stringMatching(
        /note: the last line of ".*" is not whole yet, and was left out$/m,
      ),
    });
    expect(unfinished.out).toContain("1 workload, 4 writes");
    for (const text of [`${half}\n`, `${half}\n${MOVED.map(event).join("\n")}\n`])
      expect(await runOn(text)).toMatchObject({
        code: 1,
        err: expect.stringMatching(/^error: Cannot read audit log ".*", line 1: it is no JSON/m),
      });
  });

  it("needs a log", async () => {
    expect(await inside(["writers"])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: Required option "--audit-log <file>" not specified$/m),
    });
  });

  it("refuses a log without any write of a count, because it proves nothing", async () => {
    const { code, err } = await run([{ minutesAgo: 5, by: HPA, verb: "get" }]);
    expect(code).toBe(1);
    expect(err).toContain("its audit policy must log update and patch of */scale");
  });
});
