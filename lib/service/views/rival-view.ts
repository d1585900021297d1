import type { Rival } from "../../model/rival-state.ts";
import type { RivalView } from "./autoscaler-view.ts";
import { timeText } from "./time-text.ts";

export const rivalView = ({ lastScaleMs, because, ...rival }: Rival): RivalView => ({
  ...rival,
  ...(lastScaleMs !== undefined && { lastScaleAt: timeText(lastScaleMs) }),
  ...because,
});
