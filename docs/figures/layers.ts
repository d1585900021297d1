/** A box of a drawing in layers. Its layer is the row in which it stands, 0 at the top. */
export interface LayeredBox {
  readonly name: string;
  readonly layer: number;
  readonly width: number;
}

export interface LayeredArrow {
  readonly from: string;
  readonly to: string;
}

export interface Placed {
  /** Middle of each box, by its name. */
  readonly middles: ReadonlyMap<string, number>;
  /** For each arrow the middles that it passes, one in each layer from its first to its last. */
  readonly ways: readonly (readonly number[])[];
  readonly width: number;
}

interface Slot {
  readonly key: string;
  readonly width: number;
  readonly up: string[];
  readonly down: string[];
  x: number;
}

const GAP = 18;
/** An arrow that passes a layer needs a place there, as a narrow box does. */
const PASSING_WIDTH = 14;
const SWEEPS = 40;

/**
 * Places boxes in their layers so that few arrows cross and most are short: the order of a layer
 * follows the means of its neighbours, layer after layer, and then each slot moves to the mean of
 * its neighbours as far as the slots beside it allow. The same input gives the same drawing.
 */
export const placed = (boxes: readonly LayeredBox[], arrows: readonly LayeredArrow[]): Placed => {
  const { layers, slots, chains } = slotsOf(boxes, arrows);
  const xOf = (key: string): number => slots.get(key)?.x ?? 0;
  const meanBeside = (slot: Slot, keys: readonly string[]): number =>
    meanOf(keys.map(xOf)) ?? slot.x;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isDownward = sweep % 2 === 0;
    for (const layer of isDownward ? layers : layers.toReversed()) {
      const wishes = new Map(
        layer.map((slot) => [slot, meanBeside(slot, isDownward ? slot.up : slot.down)]),
      );
      layer.sort((a, b) => (wishes.get(a) ?? 0) - (wishes.get(b) ?? 0));
      spread(
        layer,
        layer.map((slot) => wishes.get(slot) ?? 0),
      );
    }
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++)
    for (const layer of layers)
      spread(
        layer,
        layer.map((slot) => meanBeside(slot, [...slot.up, ...slot.down])),
      );
  const all = [...slots.values()];
  const left = Math.min(...all.map(({ x, width }) => x - width / 2));
  for (const slot of all) slot.x = Math.round(slot.x - left);
  return {
    middles: new Map(boxes.map(({ name }) => [name, xOf(name)])),
    ways: chains.map((chain) => chain.map(xOf)),
    width: Math.max(...all.map(({ x, width }) => x + width / 2)),
  };
};

/** The slots of all layers, and for each arrow the keys of the slots that it passes. */
const slotsOf = (boxes: readonly LayeredBox[], arrows: readonly LayeredArrow[]) => {
  const layerOf = new Map(boxes.map(({ name, layer }) => [name, layer]));
  const layers: Slot[][] = [];
  const slots = new Map<string, Slot>();
  const add = (key: string, layer: number, width: number): void => {
    while (layers.length <= layer) layers.push([]);
    const place = layers[layer] ?? [];
    const slot: Slot = { key, width, up: [], down: [], x: place.length };
    slots.set(key, slot);
    place.push(slot);
  };
  for (const { name, layer, width } of boxes) add(name, layer, width);
  const chains = arrows.map(({ from, to }) => {
    const [first, last] = [layerOf.get(from) ?? 0, layerOf.get(to) ?? 0];
    const step = Math.sign(last - first);
    const passed = Array.from({ length: Math.max(0, Math.abs(last - first) - 1) }, (_, at) => {
      const layer = first + step * (at + 1);
      const key = `${from} ${to} ${layer}`;
      add(key, layer, PASSING_WIDTH);
      return key;
    });
    const chain = [from, ...passed, to];
    const fromTop = step < 0 ? chain.toReversed() : chain;
    for (const [at, key] of fromTop.slice(0, -1).entries())
      link(slots, key, fromTop[at + 1] ?? key);
    return chain;
  });
  return { layers, slots, chains };
};

const link = (slots: ReadonlyMap<string, Slot>, above: string, below: string): void => {
  slots.get(above)?.down.push(below);
  slots.get(below)?.up.push(above);
};

const meanOf = (values: readonly number[]): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

/**
 * Gives the slots of a layer the places that are nearest to the wanted ones, in their order and
 * without overlap: slots that would overlap stand side by side around the mean of their wishes.
 */
const spread = (layer: readonly Slot[], wanted: readonly number[]): void => {
  const groups: { slots: Slot[]; start: number; width: number; wishes: number[] }[] = [];
  for (const [at, slot] of layer.entries()) {
    const width = slot.width + GAP;
    const wish = (wanted[at] ?? 0) - width / 2;
    groups.push({ slots: [slot], start: wish, width, wishes: [wish] });
    for (;;) {
      const [before, last] = groups.slice(-2);
      if (!before || !last || before.start + before.width <= last.start) break;
      const wishes = [...before.wishes, ...last.wishes.map((one) => one - before.width)];
      const joined = {
        slots: [...before.slots, ...last.slots],
        start: meanOf(wishes) ?? 0,
        width: before.width + last.width,
        wishes,
      };
      groups.splice(-2, 2, joined);
    }
  }
  for (const { slots, start } of groups) {
    let x = start;
    for (const slot of slots) {
      slot.x = x + (slot.width + GAP) / 2;
      x += slot.width + GAP;
    }
  }
};
