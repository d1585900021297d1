import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Item } from "./watch/head.ts";

/** What is stored and cannot be read any more, and how a person mends it. */
export type Damage =
  | { readonly kind: "page"; readonly partition: string; readonly page: number }
  | { readonly kind: "intent"; readonly partition: string; readonly id: string }
  | { readonly kind: "record"; readonly name: string };

export type DamageKind = Damage["kind"];

/** Damage waits for something to damage: an intent is open for some milliseconds as a rule. */
const LOOK_MS = 5;
const PATIENCE_MS = 90_000;
/** A person notices it after a while. */
const NOTICED_MS: readonly [from: number, to: number] = [5_000, 40_000];

/** Told of the damage. `restore` puts back what was there, unless it was written since. */
export type Damaged = (damage: Damage, restore: () => void, mendAtMs: number) => void;

interface Stored {
  /** Every item of the state table. */
  readonly items: () => Iterable<Item>;
  readonly replace: (before: Item, after: Item) => void;
}

/**
 * In a third of the seeds one stored item is damaged, at an instant of the seed, and a person mends
 * it.
 */
export const planDamage = (
  scheduler: Pick<Scheduler, "at" | "nowMs">,
  random: Random,
  world: { readonly stored: Stored; readonly startMs: number; readonly damaged: Damaged },
): void => {
  if (!random.chance(1 / 3)) return;
  const kind = random.pick<DamageKind>(["page", "intent", "intent", "record"]);
  const share = random.real();
  const atMs = world.startMs + random.int(40_000, 130_000);
  const noticedMs = random.int(...NOTICED_MS);
  const attempt = (): void => {
    const struck = strike(kind, share, [...world.stored.items()]);
    if (struck) {
      world.stored.replace(struck.before, struck.after);
      world.damaged(
        struck.damage,
        () => world.stored.replace(struck.after, struck.before),
        scheduler.nowMs() + noticedMs,
      );
    } else if (scheduler.nowMs() < atMs + PATIENCE_MS)
      scheduler.at(scheduler.nowMs() + LOOK_MS, attempt);
  };
  scheduler.at(atMs, attempt);
};

interface Struck {
  readonly damage: Damage;
  readonly before: Item;
  readonly after: Item;
}

const strike = (kind: DamageKind, share: number, items: readonly Item[]): Struck | undefined => {
  const fitting = items.filter((item) => isOf(kind, item));
  const item = fitting[Math.floor(share * fitting.length)];
  if (!item) return undefined;
  const [, cluster = "", partition = ""] = (item["pk"]?.S ?? "").split("#");
  const path = `${cluster}/${partition}`;
  switch (kind) {
    case "page": {
      const damage = {
        kind,
        partition: path,
        page: Number((item["sk"]?.S ?? "").split("#").at(-1)),
      };
      return { damage, before: item, after: { ...item, body: { B: halfOf(item["body"]?.B) } } };
    }
    case "intent": {
      const intents = item["intents"]?.M ?? {};
      const [[id, body] = ["", undefined]] = Object.entries(intents);
      return {
        damage: { kind, partition: path, id },
        before: item,
        after: { ...item, intents: { M: { ...intents, [id]: { B: halfOf(body?.B) } } } },
      };
    }
    case "record": {
      const { uid: _uid, manifest: _manifest, ...rest } = item;
      return {
        damage: { kind, name: (item["sk"]?.S ?? "").split("#")[1] ?? "" },
        before: item,
        after: rest,
      };
    }
  }
};

/** The form stays that of its first byte, and the rest does not fit it. */
const halfOf = (body: Uint8Array = new Uint8Array()): Uint8Array =>
  body.slice(0, Math.max(1, body.length >> 1));

const isOf = (kind: DamageKind, item: Item): boolean => {
  const [pk, sk] = [item["pk"]?.S ?? "", item["sk"]?.S ?? ""];
  switch (kind) {
    case "page":
      return sk.startsWith("page#");
    case "intent":
      return sk === "head" && Object.keys(item["intents"]?.M ?? {}).length > 0;
    case "record":
      return (
        pk.startsWith("autoscalers#") &&
        item["deletedMs"] === undefined &&
        item["uid"] !== undefined
      );
  }
};
