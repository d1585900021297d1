import type { SourceClient } from "../../../lib/stack/source-client/source-client.ts";
import { hasSources } from "../sources/plan-sources.ts";
import { MEASURED, type PlantedBug } from "./planted.ts";

type Answers = Awaited<ReturnType<SourceClient["ask"]>>;
type Answered = Answers extends ReadonlyMap<unknown, infer One> ? One : never;

const zero = (answer: Answered): Answered =>
  answer.kind === "failed" ? { kind: "answered", items: [{ milli: 0n, timestampMs: 0 }] } : answer;

/** Each answer is given as it comes, and all of them at the end. */
const asZero = ({ ask, close }: SourceClient): SourceClient => ({
  ask: async (source, queries, { onAnswer, ...context }) => {
    const answers = await ask(source, queries, {
      ...context,
      ...(onAnswer && { onAnswer: (key, answer) => onAnswer(key, zero(answer)) }),
    });
    return new Map([...answers].map(([key, answer]) => [key, zero(answer)]));
  },
  close,
});

/** What a source did not say is read as nothing waiting, as KEDA reads it by default. */
const missingAsZero: PlantedBug = {
  leftOut: "a missing metric where a source does not answer, or not with a measurement (it is 0)",
  seed: 5,
  where: hasSources,
  caughtBy: [MEASURED],
  ports: (ports) => {
    const { sources } = ports;
    return sources ? { ...ports, sources: async () => asZero(await sources()) } : ports;
  },
};

export const SOURCE_BUGS: readonly PlantedBug[] = [missingAsZero];
