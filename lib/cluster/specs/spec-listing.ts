import type { Namespace } from "../../model/ids.ts";
import type { ApiFailure } from "../../model/observation.ts";
import type { SpecKind } from "../../model/spec-kinds.ts";

/** Which autoscalers to read. */
export interface SpecRequest {
  readonly kinds: readonly SpecKind[];
  /** One LIST of the whole cluster, or one for each namespace. */
  readonly namespaces: readonly Namespace[] | "all";
  readonly knownVersion: (uid: string) => string | undefined;
  /** Wall time for all calls together. */
  readonly budgetMs: number;
}

/** The answer of one LIST. A failure says nothing of the objects: they may be there, changed or gone. */
export interface SpecListing {
  readonly kind: SpecKind;
  /** Absent: the whole cluster. */
  readonly namespace?: Namespace;
  /** The namespaces that a LIST of the whole cluster leaves out. It says nothing of their objects. */
  readonly without?: ReadonlySet<string>;
  readonly outcome:
    | { readonly kind: "listed"; readonly objects: readonly SpecObject[]; readonly unread?: readonly UnreadObject[] }
    | { readonly kind: "failed"; readonly failure: ApiFailure };
}

/** An object that is in the cluster and could not be read, while the others of its LIST could. */
export interface UnreadObject {
  readonly namespace: string;
  readonly name: string;
  readonly message: string;
}

export interface ListedSpecs {
  readonly listings: readonly SpecListing[];
  readonly calls: number;
  readonly bytes: number;
}

/** An object that holds the spec of an autoscaler, as a LIST has it. */
export interface SpecObject extends SeenObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** 0 for an object without one. */
  readonly generation: number;
  /** True while a finalizer keeps a deleted object. */
  readonly deleting: boolean;
  /** The field manager of the last change beside the status. */
  readonly changedBy?: string;
  /** Of a PodAutoscaler: the last other program or person that wrote its status. No controller follows it. */
  readonly statusEdit?: { readonly manager: string; readonly atMs: number };
  /** As the LIST has it; absent where the object has none. It is not remembered. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** The manifest as JSON text, without what the API server adds. Absent where the object has the resourceVersion that the caller knows. */
  readonly manifest?: string;
}

/** What a sync remembers of an object that it has read. */
export interface SeenObject {
  readonly resourceVersion: string;
  /** The last other program that wrote the status: a controller that follows this object. */
  readonly statusBy?: { readonly manager: string; readonly atMs: number };
}
