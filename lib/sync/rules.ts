import { specOf } from "../manifest/admit.ts";
import { isTidemarkError } from "../model/errors.ts";
import { afterWrite, withScale } from "../policy/after-write.ts";
import { decide } from "../policy/decide.ts";
import type { Rules } from "./ports.ts";

/** The rules of every sync outside of tests. A stored manifest that no longer converts stops its own autoscaler, with the words of the refusal. */
export const RULES: Rules = {
  specOf: (manifest) => {
    try {
      return { kind: "spec", spec: specOf(manifest) };
    } catch (error) {
      if (isTidemarkError(error, "manifest")) return { kind: "invalid", message: error.message };
      throw error;
    }
  },
  decide,
  afterWrite,
  withScale,
};
