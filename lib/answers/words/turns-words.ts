import type { MetricOutcome, Turn } from "../../rules/model/decision.ts";

type Turning = Pick<Extract<MetricOutcome, { readonly kind: "measured" }>, "turns" | "proposal">;

/**
 * The values at which the rules themselves would ask for another count: "from 95% it would ask for
 * more than 17, below 50.2% for fewer". Undefined where none would.
 */
export const turnsText = ({ turns, proposal }: Turning, from: number): string | undefined => {
  const { above, below } = turns ?? {};
  const asks = (turn: Turn): string => asksText(turn, { proposal, from });
  if (above && below) {
    const fewer = below.asks === "same" ? asks(below) : below.asks;
    return `from ${above.value} it would ask for ${asks(above)}, below ${below.value} for ${fewer}`;
  }
  if (above) return `from ${above.value} it would ask for ${asks(above)}`;
  return below && `below ${below.value} it would ask for ${asks(below)}`;
};

const asksText = (
  { asks }: Turn,
  { proposal, from }: { readonly proposal: number; readonly from: number },
): string => {
  if (asks !== "same") return `${asks} than ${from}`;
  return `no ${proposal > from ? "more" : "fewer"} than ${from}`;
};
