import type { Because } from "./decision.ts";

/** Another controller of a workload: an HPA, a ScaledObject or a WatermarkPodAutoscaler, with what its status says. */
export interface Rival {
  readonly kind: string;
  readonly name: string;
  /** The uid of the object; absent where only the HPA of a ScaledObject was listed, and in journals of earlier releases. */
  readonly uid?: string;
  /** The count that it wants; absent while it has not decided, or where the status is not of this sync. */
  readonly desiredReplicas?: number;
  readonly lastScaleMs?: number;
  /** The condition that says most about its count. */
  readonly because?: Because;
}

/** As much of another controller as is kept between two syncs. */
export type KnownRival = Pick<Rival, "kind" | "name" | "uid">;

/**
 * What the looks for other controllers of one workload have shown so far. Without it a sync in a new process takes a 403 or 404 for "there is none", though an earlier sync has seen one.
 */
export interface KnownRivals {
  /** The connection that was asked (ClusterRecord.connectionVersion). What an earlier connection showed counts no more. */
  readonly connection: number;
  /** For each kind of which a LIST was answered, the controllers of the workload in the last one. */
  readonly looks: readonly (readonly [kind: string, rivals: readonly KnownRival[]])[];
}

/**
 * How one look for other controllers of a workload ended: a LIST of one kind. `refused` is a 403 or 404, or an API group that is not served: the kind may not exist, or Tidemark may no longer see it.
 * A look that failed in any other way is not here.
 */
export type RivalLook =
  | { readonly kind: string; readonly outcome: "answered"; readonly rivals: readonly Rival[] }
  | {
      readonly kind: string;
      readonly outcome: "refused";
      readonly message: string;
      /** True where the refusal is about the whole cluster, and not about one namespace. */
      readonly everywhere: boolean;
      /** True where this client was answered there before. */
      readonly lost: boolean;
    };
