import type { Json } from "./json.ts";

/** A rule as the API server of a cluster checks it (`tidemark crd`). Without `cel` the expression is made from the condition of the JSON Schema. */
export interface ServerRule {
  /** What the server answers. Absent where it cannot check the rule, or checks it elsewhere. */
  readonly says?: string;
  /** About `self`, the object. */
  readonly cel?: string;
  /** The condition of the JSON Schema; absent where JSON Schema cannot express the rule. */
  readonly schema?: Json;
}
