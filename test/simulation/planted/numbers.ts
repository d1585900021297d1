import { STEP } from "../watch/model-steps.ts";
import { type ConditionalWrite, mutated } from "./clauses.ts";
import type { PlantedBug } from "./planted.ts";

/**
 * A holder's write without its write number: a copy that lands late is executed once more. The copy
 * says what is there already, so that the model alone tells of it.
 */
const withoutNumber = (leftOut: string, write: ConditionalWrite, seed: number): PlantedBug => ({
  leftOut,
  seed,
  caughtBy: [STEP],
  sent: (command) => mutated(command, { write, clause: "writeNumber = :seen", becomes: "true" }),
});

export const NUMBER_BUGS: readonly PlantedBug[] = [
  withoutNumber("the write number in the condition of a release", "release", 11),
  withoutNumber(
    "the write number in the condition under which intents are stored",
    "store intents",
    3,
  ),
];
