import type { SourceClient } from "../../../lib/stack/source-client/source-client.ts";
import { MEASURED, type PlantedBug } from "./planted.ts";

const asZero = ({ ask, close }: SourceClient): SourceClient => ({
  ask: async (...asked) =>
    new Map(
      [...(await ask(...asked))].map(([key, answer]) => [
        key,
        answer.kind === "failed"
          ? { kind: "answered", items: [{ milli: 0n, timestampMs: 0 }] }
          : answer,
      ]),
    ),
  close,
});

/** What a source did not say is read as nothing waiting, as KEDA reads it by default. */
const missingAsZero: PlantedBug = {
  leftOut: "a missing metric where a source does not answer, or not with a measurement (it is 0)",
  seed: 5,
  caughtBy: [MEASURED],
  ports: (ports) => {
    const { sources } = ports;
    return sources ? { ...ports, sources: async () => asZero(await sources()) } : ports;
  },
};

export const SOURCE_BUGS: readonly PlantedBug[] = [missingAsZero];
