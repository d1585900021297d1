import type { TokenLife } from "../../rules/model/summary.ts";
import type { AutoscalerName, AutoscalerUid, Namespace } from "../../rules/model/ids.ts";
import type { SourceService } from "../../rules/model/metric-source.ts";
import type {
  Answer,
  ApiFailure,
  Observation,
  RecommenderReply,
  ScaleReading,
  Rival,
  RivalLook,
} from "../../rules/model/observation.ts";
import type { Questions } from "../../rules/model/query.ts";
import type { AutoscalerSpec, SpecKind } from "../../rules/model/spec.ts";
import type { TargetRef } from "../../rules/model/spec-common.ts";
import type { Recommender } from "../../rules/model/spec-watermark.ts";

/**
 * Everything that a sync can do with one cluster. Authentication, connections and API paths are
 * details of this room.
 */
export interface ClusterClient {
  /** When the token of the connection ends, where it says so. */
  readonly tokenLife?: (() => TokenLife | undefined) | undefined;
  /**
   * Reads what the watched autoscalers need. The number of LIST calls does not depend on the number
   * of autoscalers. A call that fails or gets no answer is a failure value inside the observations,
   * never an exception. No answer may come from a cache that is older than this call.
   */
  observe(watched: readonly Watched[], limits: ObserveLimits): Promise<ObservedCluster>;
  /**
   * Lists the objects that hold specs. A LIST that fails is a failure value. No answer may come
   * from a cache that is older than this call.
   */
  listSpecs(request: SpecRequest): Promise<ListedSpecs>;
  /** Sends one PUT, which the transport never repeats. */
  putScale(write: ScaleWrite, timeoutMs: number): Promise<ScaleAnswer>;
  readScale(namespace: Namespace, target: TargetRef, timeoutMs: number): Promise<ScaleReading>;
  /** Asks an external recommender once (watermark.md 2.16). Every error is a failure value. */
  recommend(
    recommender: Recommender,
    request: unknown,
    timeoutMs: number,
  ): Promise<Answer<RecommenderReply>>;
  /**
   * Sends one GET to a service of the cluster, through the `proxy` subresource of its API server.
   * It follows no redirect. Absent in a stand-in whose cluster has no services.
   */
  getFromService?(
    request: ServiceRequest,
    limits: { readonly timeoutMs: number; readonly maxBytes: number },
  ): Promise<ServiceAnswer>;
  /**
   * Writes statuses and Events back to the objects of autoscalers. A failure is only counted.
   * Absent in a stand-in whose objects have no status.
   */
  writeBack?(updates: readonly ObjectUpdate[], limits: WriteBackLimits): Promise<WriteBackCounts>;
  /**
   * One call that reads nothing: its answer shows the clock of the API server to `onDated`. Never
   * rejects.
   */
  look?(timeoutMs: number): Promise<void>;
  close(): void;
}

/** A GET of a path of a service of the cluster. */
export interface ServiceRequest {
  readonly service: SourceService;
  /** Below the path of the service: "/api/v1/query". */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * `bytes` are the unpacked body. Any status is an answer: it may come from the API server or from
 * the service.
 */
export type ServiceAnswer =
  | { readonly kind: "answered"; readonly status: number; readonly bytes: Buffer }
  | { readonly kind: "failed"; readonly failure: ApiFailure };

export interface ObserveLimits {
  /** Wall time for all calls together. */
  readonly budgetMs: number;
  /** The whole cluster, or the namespaces of a partition. */
  readonly namespaces: readonly Namespace[] | "all";
  /**
   * True for a caller that decides what is read while the rest is still asked for (`later`).
   * Otherwise everything is waited for.
   */
  readonly inRounds?: boolean;
  /**
   * The number of the sync (lib/stack/turns/turns.ts): what has no room in one is asked first in
   * another, the same in all environments.
   */
  readonly round?: number;
  /**
   * Kinds whose objects are autoscalers of this cluster themselves, and so are no other
   * controllers.
   */
  readonly ownKinds?: readonly string[];
  /**
   * Kinds of other controllers whose LIST was answered before. One that is refused now is asked for
   * again in every sync, so that a right that comes back ends the hold.
   */
  readonly knownRivalKinds?: ReadonlySet<string>;
}

export interface Watched {
  readonly uid: AutoscalerUid;
  readonly namespace: Namespace;
  readonly name: AutoscalerName;
  readonly spec: AutoscalerSpec;
  /** What its rules must ask, once its scale was read. */
  readonly questions: (scale: ScaleReading) => Questions;
  /** True where a monitor of the same name may stop all scaling. */
  readonly asksMonitor: boolean;
  /** Selector of its last sync, for the check of overlap with others. */
  readonly selector?: string;
}

export interface ObservedCluster {
  readonly observations: ReadonlyMap<AutoscalerUid, Observed>;
  /**
   * Waits for those that are missing in `observations`, because their namespace takes longer than
   * the others; some of them at least. Absent where none is missing.
   */
  readonly later?: () => Promise<ObservedCluster>;
  /** Calls made and bytes received so far, for the log line and the bench. */
  readonly calls: number;
  readonly bytes: number;
}

export interface Observed {
  readonly observation: Observation;
  /**
   * Other controllers in the cluster that scale the same target: an HPA, a ScaledObject, a
   * WatermarkPodAutoscaler. Tidemark holds beside them.
   */
  readonly rivals: readonly Rival[];
  /**
   * How the looks for them ended, in this sync or in the last one whose answer still counts. Absent
   * where nothing was looked for.
   */
  readonly looks?: readonly RivalLook[];
  /**
   * Why there may be other controllers that were not found; the autoscaler then holds. Absent where
   * all were looked for, or looking is not allowed.
   */
  readonly rivalsUnknown?: string;
  /**
   * Why something that its rules ask for was not asked for or not answered: its namespace has used
   * its share of the sync.
   */
  readonly overShare?: string;
  /**
   * Another stack that has scaled the target since this one did, by its field manager and ours.
   * Tidemark holds for some minutes.
   */
  readonly otherStack?: { readonly manager: string; readonly own: string };
}

export interface ScaleWrite {
  readonly namespace: Namespace;
  readonly target: TargetRef;
  readonly targetUid: string;
  readonly resourceVersion: string;
  readonly replicas: number;
}

/**
 * `conflict` is a 409. `refused` is any other 4xx: the request that was answered was not executed.
 * `unsent` means that no request left this machine. `unclear` is a timeout, a reset, 408 or 5xx:
 * the write may have taken effect, or may still do so.
 */
export type ScaleAnswer =
  | { readonly kind: "applied"; readonly resourceVersion: string; readonly generation?: number }
  | { readonly kind: "conflict" | "refused"; readonly failure: ApiFailure }
  | { readonly kind: "unsent" | "unclear"; readonly failure: ApiFailure };

/** Which autoscalers to read. */
export interface SpecRequest {
  readonly kinds: readonly SpecKind[];
  /** One LIST of the whole cluster, or one for each namespace. */
  readonly namespaces: readonly Namespace[] | "all";
  readonly knownVersion: (uid: string) => string | undefined;
  /** Wall time for all calls together. */
  readonly budgetMs: number;
}

/**
 * The answer of one LIST. A failure says nothing of the objects: they may be there, changed or
 * gone.
 */
export interface SpecListing {
  readonly kind: SpecKind;
  /** Absent: the whole cluster. */
  readonly namespace?: Namespace;
  /**
   * The namespaces that a LIST of the whole cluster leaves out. It says nothing of their objects.
   */
  readonly without?: ReadonlySet<string>;
  readonly outcome:
    | {
        readonly kind: "listed";
        readonly objects: readonly SpecObject[];
        readonly unread?: readonly UnreadObject[];
      }
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
  /**
   * Of a PodAutoscaler: the last other program or person that wrote its status. No controller
   * follows it.
   */
  readonly statusEdit?: { readonly manager: string; readonly atMs: number };
  /** As the LIST has it; absent where the object has none. It is not remembered. */
  readonly status?: Readonly<Record<string, unknown>>;
  /**
   * The manifest as JSON text, without what the API server adds. Absent where the object has the
   * resourceVersion that the caller knows.
   */
  readonly manifest?: string;
}

/** What a sync remembers of an object that it has read. */
export interface SeenObject {
  readonly resourceVersion: string;
  /** The last other program that wrote the status: a controller that follows this object. */
  readonly statusBy?: { readonly manager: string; readonly atMs: number };
}

/** The object whose status is written, or that an Event is about. */
export interface UpdatedObject {
  readonly of: SpecKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** As the LIST has it. */
  readonly resourceVersion: string;
}

/** What is written back to a cluster for people to read. No decision depends on it. */
export type ObjectUpdate =
  | {
      readonly kind: "status";
      readonly about: UpdatedObject;
      readonly status: Readonly<Record<string, unknown>>;
      /** Fields of the status that the definition of an earlier release does not have. */
      readonly newer?: readonly string[];
    }
  | { readonly kind: "event"; readonly about: UpdatedObject; readonly event: NewEvent };

export interface NewEvent {
  /** Its name is made from it. */
  readonly id: string;
  /** Another text for each time that it happened; the same text when it is sent again. */
  readonly occurrence: string;
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly atMs: number;
}

export interface WriteBackLimits {
  /** Wall time of all updates together. */
  readonly budgetMs: number;
  /** Most requests. */
  readonly callsMax: number;
}

/** How many updates were written, failed, or were left out for want of time, room or rights. */
export interface WriteBackCounts {
  readonly written: number;
  readonly failed: number;
  readonly left: number;
}
