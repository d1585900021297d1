import { type AttributeValue, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { describe, expect, it } from "vitest";
import { autoscalerUid } from "../../lib/rules/model/ids.ts";
import {
  decodePage,
  encodePage,
  METRICS_CHARS_MAX,
  SELECTOR_CHARS_MAX,
} from "../../lib/stack/store/pages/codec.ts";
import { readPage } from "../../lib/stack/store/pages/pages.ts";
import { PAGE_BYTES_MAX, PAGE_BYTES_NEVER_ABOVE } from "../../lib/stack/store/pages/plan.ts";
import { startDynalite } from "../contracts/engines.ts";
import type { TableClient } from "../contracts/faults.ts";
import { demandRules } from "../sync/demand-rules.ts";
import { newWorld } from "../sync/world.ts";
import { fullEntry, fullWindows } from "./full-windows.ts";

/** What an item of DynamoDB may weigh, names included. */
const ITEM_BYTES_MAX = 400 * 1_024;
const AUTOSCALERS = 16;
const FULL = autoscalerUid("0b0cf6ee-57de-4a07-8d6e-000000000000");

const weight = (item: Readonly<Record<string, AttributeValue>>): number =>
  Object.entries(item).reduce(
    (sum, [name, { S, N, B }]) => sum + name.length + (S?.length ?? N?.length ?? B?.length ?? 0),
    0,
  );

/** Notes the weight of every item that is put. */
const weighing = (client: TableClient) => {
  const weights: number[] = [];
  const send = client.send.bind(client) as (command: object) => Promise<unknown>;
  const noting = (command: object): Promise<unknown> => {
    if (command instanceof PutItemCommand) weights.push(weight(command.input.Item ?? {}));
    return send(command);
  };
  return { weights, client: { send: noting as TableClient["send"] } };
};

describe("a windows page with every field at its legal maximum", () => {
  it("holds two autoscalers, and an item four", () => {
    const bytes = encodePage([fullEntry(1, FULL)]).length;
    // docs/storage.md, "Bytes", gives these figures.
    expect(bytes).toBeGreaterThan(80_000);
    expect(bytes).toBeLessThan(86_000);
    expect(Math.floor(PAGE_BYTES_MAX / bytes)).toBe(2);
    expect(Math.floor(PAGE_BYTES_NEVER_ABOVE / bytes)).toBe(4);
  });

  it("is divided by the sync that fills it, so that each item stays below 400 KB and nothing is lost", async () => {
    const engine = await startDynalite();
    const names = Array.from({ length: AUTOSCALERS }, (_, at) => `app-${at}`);
    const world = await newWorld(
      engine.client,
      engine.tables,
      Object.fromEntries(names.map((name) => [name, 3])),
    );
    const { weights, client } = weighing(engine.client);
    const tables = { ...world.tables, client };
    const full = new Map(names.map((name, at) => [name, fullWindows(at, `uid-${name}`)]));
    const rules = demandRules(world.cluster);
    const decide: typeof rules.decide = (input) => ({
      ...rules.decide(input),
      kind: "hold",
      failed: false,
      windows: full.get(input.name) ?? input.windows,
    });
    expect(await world.sync(world.worker({ tables, rules: { ...rules, decide } }))).toMatchObject({
      kind: "completed",
      evaluated: AUTOSCALERS,
    });
    expect(Math.max(...weights)).toBeLessThan(ITEM_BYTES_MAX);
    const { pages, pageGeneration } = await world.head();
    const stored = await Promise.all(
      pages.map((_, index) =>
        readPage(world.tables, { partition: world.partition, generation: pageGeneration, index }),
      ),
    );
    const entries = stored.flatMap((page) => {
      const decoded = page && decodePage(page.body);
      return decoded?.kind === "read" ? [...decoded.entries.values()] : [];
    });
    expect(entries).toHaveLength(AUTOSCALERS);
    for (const { uid, windows } of entries)
      expect(windows).toEqual(full.get(uid.slice("uid-".length)));
    // On one page they would weigh a megabyte.
    expect(pages.length).toBeGreaterThan(AUTOSCALERS / 4);
    await engine.close();
  });
});

describe("what a cluster or a manifest makes longer than fits", () => {
  const windows = fullWindows(1, FULL);
  const stored = (memory: object, status: object) => {
    const decoded = decodePage(
      encodePage([
        {
          uid: FULL,
          open: true,
          windows: {
            memory: { ...windows.memory, ...memory },
            status: { ...windows.status, ...status },
          },
        },
      ]),
    );
    return decoded.kind === "read" ? decoded.entries.get(FULL)?.windows : undefined;
  };
  const metrics = (chars: number) => [{ type: "x".repeat(chars - '[{"type":""}]'.length) }];

  it.each([
    [SELECTOR_CHARS_MAX, true],
    [SELECTOR_CHARS_MAX + 1, false],
  ])("a selector of %d characters is kept: %s", (chars, kept) => {
    const selector = "a".repeat(chars);
    expect(stored({ selector }, {})?.memory.selector).toBe(kept ? selector : undefined);
  });

  it.each([
    [METRICS_CHARS_MAX, true],
    [METRICS_CHARS_MAX + 1, false],
  ])("metrics of %d characters are kept: %s", (chars, kept) => {
    const currentMetrics = metrics(chars);
    expect(stored({}, { currentMetrics })?.status.currentMetrics).toEqual(
      kept ? currentMetrics : null,
    );
  });
});
