import { isDeepStrictEqual } from "node:util";
import type { Decision } from "../../../lib/rules/model/decision.ts";
import type { PurePart } from "../../../lib/stack/sync/pure-part.ts";
import type { Decided } from "../invocation.ts";
import type { Ledger } from "./ledger.ts";

/** Each decision by a forecast, held against the one without it. */
export const watchForecast = (
  ledger: Ledger,
  rules: PurePart,
  { uid, input, decision }: Pick<Decided, "uid" | "input" | "decision">,
): void => {
  if (!input.forecast) return;
  const { forecast: _advice, ...without } = input;
  const other = rules.decide(without);
  const [count, least] = [countOf(decision), countOf(other)];
  if (count < least || !isDeepStrictEqual(decision.windows.memory, other.windows.memory))
    ledger.violate(
      "a forecast takes no pod away, and changes no window",
      `"${uid}" is decided to have ${count} with its forecast, and ${least} without`,
    );
};

const countOf = (decision: Decision): number =>
  decision.kind === "scale" ? decision.to : (decision.from ?? 0);
