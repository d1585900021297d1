import { dirname, posix } from "node:path";
import { partOf, PARTS, ROOMS, roomOf } from "../../test/architecture/rooms.ts";
import type { SourceFile } from "../../test/architecture/source.ts";
import { type LayeredArrow, placed } from "./layers.ts";

/** A room, or a part of a room: its files and lines. */
export interface Box {
  readonly name: string;
  readonly files: number;
  readonly lines: number;
}

/** Imports of one box from another. `upward`: against the order of the list. */
export interface Arrow extends LayeredArrow {
  readonly count: number;
  readonly upward: boolean;
}

export interface Plan {
  readonly title: string;
  /** In the order of the list: each may import only boxes before it. */
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
  /** The storey of a box; all are of one where this is absent. */
  readonly storeyOf?: (name: string) => string;
}

/** The drawings, by the name of their file in docs/images. */
export const DRAWN = {
  rooms: undefined,
  "rooms-sync": "lib/stack/sync",
  "rooms-service": "lib/answers/service",
  "rooms-embedded": "lib/embedded",
} as const satisfies Readonly<Record<string, keyof typeof PARTS | undefined>>;

/** What the imports of files say of a room's parts, or of all rooms where `room` is absent. */
export const planOf = (files: readonly SourceFile[], room?: string): Plan => {
  const order = room === undefined ? Object.keys(ROOMS) : (PARTS[room] ?? []);
  const nameOf = (path: string): string | undefined => {
    if (room === undefined) return roomOf(path);
    return path.startsWith(`${room}/`) ? partOf(room, path) : undefined;
  };
  return {
    title: room ?? "lib",
    boxes: order.map((name) => {
      const own = files.filter(({ path }) => nameOf(path) === name);
      return {
        name,
        files: own.length,
        lines: own.reduce((sum, { text }) => sum + linesIn(text), 0),
      };
    }),
    arrows: importsBetween(files, nameOf).map(({ from, to, count }) => ({
      from,
      to,
      count,
      upward: order.indexOf(from) < order.indexOf(to),
    })),
    ...(room === undefined && { storeyOf }),
  };
};

/** How often files of one name import files of another; files without a name count nowhere. */
const importsBetween = (
  files: readonly SourceFile[],
  nameOf: (path: string) => string | undefined,
): readonly Omit<Arrow, "upward">[] => {
  const pairs = files.flatMap(({ path, imports }) =>
    imports
      .filter(({ specifier }) => specifier.startsWith("."))
      .map(({ specifier }) => ({
        from: nameOf(path),
        to: nameOf(posix.join(dirname(path), specifier)),
      })),
  );
  const named = pairs.flatMap(({ from, to }) =>
    from === undefined || to === undefined || from === to ? [] : [{ from, to }],
  );
  return [...Map.groupBy(named, ({ from, to }) => `${from} ${to}`).values()].flatMap((same) =>
    same.slice(0, 1).map((pair) => ({ ...pair, count: same.length })),
  );
};

const linesIn = (text: string): number => text.trimEnd().split("\n").length;

const storeyOf = (name: string): string => name.split("/").slice(0, 2).join("/");

/**
 * The arrows that a drawing has: an arrow is left out where a path over other boxes says the same.
 * Those that point up are all drawn.
 */
export const drawnArrows = (arrows: readonly Arrow[]): readonly Arrow[] => {
  const down = arrows.filter(({ upward }) => !upward);
  const next = Map.groupBy(down, ({ from }) => from);
  const reaches = (from: string, to: string): boolean =>
    (next.get(from) ?? []).some((arrow) => arrow.to === to || reaches(arrow.to, to));
  return arrows.filter(
    ({ from, to, upward }) =>
      upward || !(next.get(from) ?? []).some((step) => step.to !== to && reaches(step.to, to)),
  );
};

/** Layers from the top: a box stands below all boxes that import it, and storeys do not mix. */
const layersOf = ({ boxes, arrows, storeyOf: storey = () => "" }: Plan) => {
  const down = arrows.filter(({ upward }) => !upward);
  const storeys = [...new Set(boxes.map(({ name }) => storey(name)))].toReversed();
  const layers = new Map<string, number>();
  const bands: { readonly storey: string; readonly first: number; readonly last: number }[] = [];
  for (const one of storeys) {
    const first = (bands.at(-1)?.last ?? -1) + 1;
    const own = boxes.filter(({ name }) => storey(name) === one).toReversed();
    for (const { name } of own) {
      const above = down.filter(({ from, to }) => to === name && storey(from) === one);
      layers.set(
        name,
        above.reduce((most, { from }) => Math.max(most, (layers.get(from) ?? 0) + 1), first),
      );
    }
    bands.push({
      storey: one,
      first,
      last: Math.max(...own.map(({ name }) => layers.get(name) ?? 0)),
    });
  }
  return { layers, bands };
};

const LAYER_HEIGHT = 84;
const BOX_HEIGHT = 40;
/** Widths of letters, wide enough for the fonts of most machines. */
const CHARACTER = 8;
const SMALL_CHARACTER = 5.9;
const MARGIN = 24;
const HEAD = 64;
const INK = "#1b2733";
const QUIET = "#5b6b7a";
const ARROW = "#8aa4bd";
const UPWARD = "#c62828";
const BANDS = ["#f4f7fa", "#e9eff5"];

/** A plan as SVG text. Each arrow carries its count, also in its attributes for the test. */
export const roomsPicture = (plan: Plan): string => {
  const { layers, bands } = layersOf(plan);
  const short = (name: string): string => name.split("/").at(-1) ?? name;
  const boxes = plan.boxes.map((box) => ({
    ...box,
    label: short(box.name),
    layer: layers.get(box.name) ?? 0,
    width: Math.round(
      Math.max(short(box.name).length * CHARACTER, sizeOf(box).length * SMALL_CHARACTER) + 24,
    ),
  }));
  const arrows = drawnArrows(plan.arrows);
  const { middles, ways, width } = placed(boxes, arrows);
  const left = MARGIN + (plan.storeyOf ? 96 : 0);
  const whole = {
    width: Math.max(620, left + width + MARGIN),
    height: HEAD + (1 + Math.max(...layers.values())) * LAYER_HEIGHT + 12,
  };
  const xOf = (x: number): number => Math.round(left + x);
  const topOf = (layer: number): number =>
    HEAD + layer * LAYER_HEIGHT + (LAYER_HEIGHT - BOX_HEIGHT) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${whole.width}" height="${whole.height}" viewBox="0 0 ${whole.width} ${whole.height}" font-family="system-ui, sans-serif" font-size="13">`,
    `<title>${plan.title}: its parts, and which imports which</title>`,
    `<defs>${[ARROW, UPWARD].map(marker).join("")}</defs>`,
    `<rect width="100%" height="100%" fill="white"/>`,
    `<text x="${MARGIN}" y="26" fill="${INK}" font-size="16" font-weight="600">${plan.title}</text>`,
    `<text x="${MARGIN}" y="46" fill="${QUIET}" font-size="12">An arrow: what imports what, and how often. Arrows that a path of others implies are left out.</text>`,
    ...(plan.storeyOf ? bands.map((band, at) => bandOf(band, at, whole.width)) : []),
    ...arrows.map((arrow, at) =>
      arrowOf(arrow, { xs: (ways[at] ?? []).map(xOf), layer: layers.get(arrow.from) ?? 0, topOf }),
    ),
    ...boxes.map((box) => boxOf(box, xOf(middles.get(box.name) ?? 0), topOf(box.layer))),
    "</svg>\n",
  ].join("\n");
};

const marker = (colour: string): string =>
  `<marker id="head-${colour.slice(1)}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,1 L10,5 L0,9 z" fill="${colour}"/></marker>`;

const bandOf = (
  {
    storey,
    first,
    last,
  }: { readonly storey: string; readonly first: number; readonly last: number },
  at: number,
  width: number,
): string => {
  const [y, height] = [HEAD + first * LAYER_HEIGHT, (last - first + 1) * LAYER_HEIGHT];
  return [
    `<rect x="0" y="${y}" width="${width}" height="${height}" fill="${BANDS[at % BANDS.length]}"/>`,
    `<text x="${MARGIN}" y="${y + height / 2 + 4}" fill="${QUIET}" font-weight="600">${storey}</text>`,
  ].join("\n");
};

/** Lines of a folder in hundreds, so that a drawing stays right for a while. */
const sizeOf = ({ name, files, lines }: Box): string =>
  name.endsWith(".ts")
    ? `${Math.max(10, Math.round(lines / 10) * 10)} lines`
    : `${files} ${files === 1 ? "file" : "files"}, ${(Math.round(lines / 100) * 100).toLocaleString("en")} lines`;

const boxOf = (
  { label, width, ...box }: Box & { readonly label: string; readonly width: number },
  x: number,
  y: number,
): string => {
  return [
    `<g data-box="${box.name}">`,
    `<rect x="${x - width / 2}" y="${y}" width="${width}" height="${BOX_HEIGHT}" rx="6" fill="white" stroke="${INK}"/>`,
    `<text x="${x}" y="${y + 17}" text-anchor="middle" fill="${INK}" font-weight="600">${label}</text>`,
    `<text x="${x}" y="${y + 32}" text-anchor="middle" fill="${QUIET}" font-size="10">${sizeOf(box)}</text>`,
    "</g>",
  ].join("");
};

const arrowOf = (
  { from, to, count, upward }: Arrow,
  {
    xs,
    layer,
    topOf,
  }: {
    readonly xs: readonly number[];
    readonly layer: number;
    readonly topOf: (layer: number) => number;
  },
): string => {
  const colour = upward ? UPWARD : ARROW;
  const way = upward ? -1 : 1;
  const out = upward ? 0 : BOX_HEIGHT;
  const last = xs.length - 1;
  const points = xs.map((x, at) => ({
    x,
    y: topOf(layer + way * at) + (at === 0 ? out : at === last ? BOX_HEIGHT - out : BOX_HEIGHT / 2),
  }));
  const [start = { x: 0, y: 0 }, ...rest] = points;
  const path = rest.map(({ x, y }, at) => {
    const before = points[at] ?? start;
    const half = (y - before.y) / 2;
    return `C${before.x},${before.y + half} ${x},${y - half} ${x},${y}`;
  });
  const end = rest[0] ?? start;
  const [labelX, labelY] = [(start.x + end.x) / 2, (start.y + end.y) / 2 + 3];
  return [
    `<g data-from="${from}" data-to="${to}" data-count="${count}">`,
    `<path d="M${start.x},${start.y} ${path.join(" ")}" fill="none" stroke="${colour}" stroke-width="${(0.8 + Math.log2(count) / 3).toFixed(1)}" marker-end="url(#head-${colour.slice(1)})"/>`,
    `<text x="${labelX}" y="${labelY}" text-anchor="middle" fill="${upward ? UPWARD : INK}" font-size="10" stroke="white" stroke-width="3" paint-order="stroke">${count}</text>`,
    "</g>",
  ].join("");
};
