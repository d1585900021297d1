import { curveLinear, curveStepAfter, line } from "d3-shape";

/** A value at an instant. */
export interface Dot {
  readonly atMs: number;
  readonly value: number | undefined;
}

/** Nothing is drawn over a silence: nobody knows what was there. */
const SILENCE_MS = 180_000;

export const silenceOf = (stepMs: number): number => Math.max(SILENCE_MS, 2 * stepMs);

/** Points in order of time, divided where none came for longer than a silence. */
export const unbroken = <Point extends { readonly atMs: number }>(
  points: readonly Point[],
  silenceMs: number,
): readonly (readonly Point[])[] => {
  const parts: Point[][] = [];
  let last: number | undefined;
  for (const point of points) {
    if (last === undefined || point.atMs - last > silenceMs) parts.push([]);
    parts.at(-1)?.push(point);
    last = point.atMs;
  }
  return parts;
};

/** The path of a curve, or of steps that last until the next value. */
export const pathOf = (
  parts: readonly (readonly Dot[])[],
  {
    x,
    y,
    steps,
  }: {
    readonly x: (ms: number) => number;
    readonly y: (value: number) => number;
    readonly steps: boolean;
  },
): string => {
  const drawn = line<Dot>()
    .defined(({ value }) => value !== undefined)
    .x(({ atMs }) => x(atMs))
    .y(({ value }) => y(value ?? 0))
    .curve(steps ? curveStepAfter : curveLinear);
  return parts.map((part) => drawn([...part]) ?? "").join("");
};

export interface Held<Kind> {
  readonly kind: Kind;
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** The stretches in which one kind lasted: from a point with it to the next one without it. */
export const heldStretches = <Kind extends string>(
  parts: readonly (readonly { readonly atMs: number; readonly kind: Kind | undefined }[])[],
  stepMs: number,
): readonly Held<Kind>[] =>
  parts.flatMap((part) => {
    const held: Held<Kind>[] = [];
    for (const [at, { atMs, kind }] of part.entries()) {
      const untilMs = part[at + 1]?.atMs ?? atMs + stepMs;
      const last = held.at(-1);
      if (kind === undefined) continue;
      if (last?.kind === kind && last.untilMs === atMs) held.splice(-1, 1, { ...last, untilMs });
      else held.push({ kind, sinceMs: atMs, untilMs });
    }
    return held;
  });
