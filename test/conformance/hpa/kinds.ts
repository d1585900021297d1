import type { CaseRunner } from "../registry.ts";
import { runAdmission } from "./admission.ts";
import { runNormalize } from "./normalize.ts";
import { runQuantity } from "./quantity.ts";
import { runReplicas } from "./replicas.ts";
import { runSequence } from "./sync-sequence.ts";

/** Kinds of vectors of the `hpa` dialect, as their README describes them. */
export const HPA_KINDS: Readonly<Record<string, CaseRunner>> = {
  "sync-sequence": runSequence,
  replicas: runReplicas,
  normalize: runNormalize,
  admission: runAdmission,
  quantity: runQuantity,
};
