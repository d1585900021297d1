import type { TriggerSources } from "../../rules/manifest/import/keda/native-scaled-object.ts";
import { repeatable } from "../options/command-options.ts";
import { usage } from "../usage-error.ts";

/** The option `--source` of commands that read ScaledObjects. */
export const TRIGGER_SOURCE = [
  "--source <trigger=name>",
  "the registered source of a trigger of a ScaledObject, by the name of the trigger, of its authentication, or its type; auto: the name that source discover gives; repeatable",
  repeatable,
] as const;

const PAIR = /^([^=]+)=([^=]+)$/;

const DISCOVERED = "auto";

/** Reads `TRIGGER=NAME` and `auto`. Throws usage errors. */
export const triggerSources = (texts: readonly string[]): TriggerSources => ({
  named: Object.fromEntries(texts.filter((text) => text !== DISCOVERED).map(pairIn)),
  discovered: texts.includes(DISCOVERED),
});

const pairIn = (text: string): readonly [trigger: string, name: string] => {
  const [, trigger, name] = PAIR.exec(text) ?? [];
  if (trigger === undefined || name === undefined)
    throw usage(
      `Cannot read --source "${text}": give TRIGGER=NAME, such as prometheus=main, or auto`,
    );
  return [trigger, name];
};
