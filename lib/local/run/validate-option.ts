import { InvalidArgumentError, Option } from "commander";
import { VALIDATION_WORDS, validationOf } from "../../manifest/validation.ts";

/** `--validate`, with the words of kubectl. */
export const validateOption = (): Option =>
  new Option(
    "--validate [mode]",
    "unknown fields and fields that are written twice: strict refuses them, warn names them, ignore drops them silently",
  )
    .preset("strict")
    .default("strict")
    .argParser((word: string) => {
      const validation = validationOf(word);
      if (validation === undefined) throw new InvalidArgumentError(`Wanted one of ${VALIDATION_WORDS}`);
      return validation;
    });
