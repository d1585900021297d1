const BARS = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"] as const;

/** A series as bars, newest last, scaled from zero to its highest value. Where more samples than cells come, the highest of each cell counts: a peak must not vanish. With `top`, several series have one scale. */
export const sparkline = (values: readonly number[], width: number, top?: number): string => {
  if (values.length === 0 || width <= 0) return "";
  const perCell = Math.max(1, Math.ceil(values.length / width));
  const cells: number[] = [];
  // Cells are filled from the newest sample backwards, so that the newest cell is full and the others do not flicker.
  for (let end = values.length; end > 0; end -= perCell) cells.unshift(Math.max(...values.slice(Math.max(0, end - perCell), end)));
  const highest = top ?? Math.max(...cells);
  return cells.map((value) => BARS[highest > 0 ? Math.min(BARS.length - 1, Math.floor((value / highest) * BARS.length)) : 0]).join("");
};
