import { describe, expect, it } from "vitest";
import { AUTOSCALERS_A_TURN, inTurns, mapYielding } from "../../lib/stack/cluster/map-yielding.ts";

describe("mapYielding()", () => {
  it("gives each result in the order of the items, and never does more than a part of them in one turn of the event loop", async () => {
    let turn = 0;
    const count = (): void => {
      turn++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    const turns = await mapYielding(
      Array.from({ length: 1_050 }, (_, at) => at),
      (at) => ({ at, turn }),
    );
    clearImmediate(timer);
    expect(turns.map(({ at }) => at)).toEqual(Array.from({ length: 1_050 }, (_, at) => at));
    const itemsOfTurn = [...Map.groupBy(turns, (result) => result.turn).values()].map(
      ({ length }) => length,
    );
    expect(itemsOfTurn).toEqual([...Array.from({ length: 10 }, () => AUTOSCALERS_A_TURN), 50]);
  });

  it("maps a list of one part at once, without a turn", () => {
    const seen: number[] = [];
    void mapYielding([1, 2, 3], (item) => seen.push(item));
    expect(seen).toEqual([1, 2, 3]);
  });

  it("rejects where an item throws, and goes no further", async () => {
    const seen: number[] = [];
    const failing = mapYielding(
      [1, 2, 3],
      (item) => {
        seen.push(item);
        if (item === 2) throw new RangeError("two");
      },
      1,
    );
    await expect(failing).rejects.toThrow("two");
    expect(seen).toEqual([1, 2]);
  });
});

describe("inTurns()", () => {
  it("gives every item in order, and never more than a part of those that come at once in one turn of the event loop", async () => {
    let turn = 0;
    const count = (): void => {
      turn++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);
    async function* answer(): AsyncGenerator<number> {
      yield* Array.from({ length: 45 }, (_, at) => at);
    }
    const seen: { readonly at: number; readonly turn: number }[] = [];
    for await (const at of inTurns(answer(), 20)) seen.push({ at, turn });
    clearImmediate(timer);
    expect(seen.map(({ at }) => at)).toEqual(Array.from({ length: 45 }, (_, at) => at));
    expect(
      [...Map.groupBy(seen, (item) => item.turn).values()].map(({ length }) => length),
    ).toEqual([20, 20, 5]);
  });
});
