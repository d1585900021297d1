import type { BoundsView } from "../../answers/views/holds.ts";
import { boundsRows } from "../../answers/words/bounds-words.ts";
import type { Printed } from "../../stack/report/printed.ts";
import { aligned } from "./text-table.ts";

/** The block "Bounds" of a sheet. */
export const boundsLines = (bounds: BoundsView, nowMs: number): readonly Printed[] =>
  aligned(boundsRows(bounds, nowMs));
