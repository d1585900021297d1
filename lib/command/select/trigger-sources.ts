import type { TriggerSources } from "../../rules/manifest/import/keda/native-scaled-object.ts";
import { repeatable } from "../options/command-options.ts";
import { usage } from "../usage-error.ts";

/** The option `--source` of commands that read ScaledObjects. */
export const TRIGGER_SOURCE = [
  "--source <trigger=name>",
  "the registered source of a trigger of a ScaledObject, by the name of the trigger, of its authentication, or its type; repeatable",
  repeatable,
] as const;

const PAIR = /^([^=]+)=([^=]+)$/;

/** Reads `TRIGGER=NAME`; undefined where none is given. Throws usage errors. */
export const triggerSources = (texts: readonly string[] | undefined): TriggerSources | undefined =>
  texts &&
  Object.fromEntries(
    texts.map((text) => {
      const [, trigger, name] = PAIR.exec(text) ?? [];
      if (trigger === undefined || name === undefined)
        throw usage(`Cannot read --source "${text}": give TRIGGER=NAME, such as prometheus=main`);
      return [trigger, name];
    }),
  );
