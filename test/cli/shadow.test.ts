import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Io, Session } from "../../lib/command/io.ts";
import type { Service, ShadowQuery } from "../../lib/answers/service/service.ts";
import type { ShadowStretch, ShadowView } from "../../lib/answers/views/over-time.ts";
import { type Folder, openHere, shopInMemory } from "./folder.ts";
import { inside } from "./inside.ts";

let folder: Folder;
beforeAll(async () => {
  folder = await shopInMemory();
});
afterAll(() => folder.remove());

const SINCE = "2026-03-01T10:00:00.000Z";
const UNTIL = "2026-03-01T12:00:00.000Z";
const SYNCS = 480;
const stretch = (more: Partial<ShadowStretch>): ShadowStretch => ({
  ...{
    at: SINCE,
    until: UNTIL,
    syncs: SYNCS,
    current: 4,
    own: 4,
    rival: 4,
    reason: "WithinTolerance",
    message: "m",
    ...more,
  },
});

const withoutOwn = ({ own: _none, ...rest }: ShadowStretch): ShadowStretch => ({ ...rest });

/** What each of the three was found to do beside its HPA. */
const FOUND: Readonly<Record<string, readonly ShadowStretch[]>> = {
  alike: [stretch({})],
  other: [
    stretch({ until: "2026-03-01T11:00:00.000Z", syncs: 240 }),
    stretch({ at: "2026-03-01T11:00:00.000Z", syncs: 240, own: 6, difference: "rule" }),
  ],
  young: [stretch({ at: "2026-03-01T11:50:00.000Z", syncs: 40 })],
};

/** Autoscalers that fail: one of them beside an HPA. */
const FAILING: Readonly<Record<string, boolean>> = { broken: true, lonely: false };

const viewOf = ({ cluster = "eu-1", namespace = "shop", name }: ShadowQuery): ShadowView => {
  const undecided = stretch({});
  const stretches = FOUND[name] ?? (FAILING[name] ? [withoutOwn(undecided)] : []);
  const agreed = stretches
    .filter(({ own, rival }) => own === rival)
    .reduce((sum, { syncs }) => sum + syncs, 0);
  const syncs = stretches.reduce((sum, each) => sum + each.syncs, 0);
  const rivals = FAILING[name] === false ? [] : [{ kind: "HorizontalPodAutoscaler", name }];
  const counted = {
    syncs,
    agreed,
    agreedWithinPeriod: agreed,
    undecided: FAILING[name] ? SYNCS : 0,
    replicaHours: { own: 8, rival: 8 },
  };
  return {
    cluster,
    namespace,
    name,
    since: SINCE,
    until: UNTIL,
    rivals,
    ...counted,
    stretches,
    reactions: [],
  };
};

/** The service of the folder with three autoscalers in the state shadow and one that is not. */
const withShadows: Io["open"] = async (target, by): Promise<Session> => {
  const session = await openHere(target, by);
  const rows: Service["rows"] = async function* () {
    const states: Readonly<Record<string, "active" | "failing" | "shadow">> = {
      active: "active",
      broken: "failing",
      lonely: "failing",
      ...Object.fromEntries(Object.keys(FOUND).map((name) => [name, "shadow" as const])),
    };
    const rest = { generation: 1, kind: "HorizontalPodAutoscaler", targets: [], createdAt: SINCE };
    const listed = Object.entries(states).map(([name, state]) => ({
      namespace: "shop",
      name,
      uid: name,
      state,
      ...rest,
    }));
    yield { cluster: "eu-1", partitions: [], rows: listed };
  };
  return {
    ...session,
    service: { ...session.service, rows, shadow: async (query: ShadowQuery) => viewOf(query) },
  };
};
const run = (...args: readonly string[]) =>
  inside([...args, "--data", folder.data], { open: withShadows });

describe("tidemark shadow -A", () => {
  it("has a line with a verdict for each autoscaler beside another controller, and counts the verdicts below", async () => {
    const { code, out, err } = await run("shadow", "-A");
    expect([code, err]).toEqual([0, ""]);
    const [headers = "", ...lines] = out.trimEnd().split("\n");
    expect(headers).toMatch(/^CLUSTER +NAMESPACE +NAME +RIVAL +SYNCS +AGREE .* VERDICT$/);
    const rows = lines.slice(0, -2).map((line) => line.split(/ {2,}/));
    expect(
      rows.map(([, , name, , syncs, agree, , , , verdict]) => [name, syncs, agree, verdict]),
    ).toEqual([
      ["broken", "480", "0%", "look at: in 480 of 960 syncs one of them did not decide"],
      ["alike", "480", "100%", "ready"],
      ["other", "480", "50%", "look at: 240 of 480 syncs differ by a rule"],
      ["young", "40", "100%", "too early: less than an hour was compared"],
    ]);
    expect(lines.slice(-2)).toEqual(["", "ready: 1, look at: 2, too early: 1"]);
  });

  it("gives the verdicts as a document, and says so where nothing is beside another controller", async () => {
    const { items } = JSON.parse((await run("shadow", "-A", "-o", "json")).out);
    expect(
      items.map(
        ({ name, verdict }: { readonly name: string; readonly verdict: string }) =>
          `${name} ${verdict}`,
      ),
    ).toEqual(["broken look at", "alike ready", "other look at", "young too early"]);
    expect((await run("shadow", "-A", "-o", "jsonpath={.items[*].verdict}")).out).toBe(
      "look at ready look at too early",
    );
    expect(
      (
        await run(
          "shadow",
          "other",
          "-n",
          "shop",
          "--cluster",
          "eu-1",
          "-o",
          "jsonpath={.name} {.verdict}",
        )
      ).out,
    ).toBe("other look at");
    expect((await inside(["shadow", "-A", "--data", folder.data])).out).toBe(
      "No autoscaler is in the state shadow\n",
    );
  });
});
