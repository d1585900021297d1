import { Option } from "commander";
import { readScalableKind, SCALABLE_KIND_WORDS } from "../cluster/rights/scalable-kind.ts";
import { repeatable } from "./repeatable.ts";
import { usage } from "./usage-error.ts";

/** `--kind` of the commands about the rights in a cluster. A kind that cannot be read is refused before anything is opened. */
export const scaledKind = (): Option =>
  new Option("--kind <group/plural>", "a custom resource that is scaled too, such as argoproj.io/rollouts; repeatable").argParser(
    (text: string, before: readonly string[] | undefined) => {
      if (!readScalableKind(text)) throw usage(`Cannot read --kind "${text}": ${SCALABLE_KIND_WORDS}`);
      return repeatable(text, before);
    },
  );
