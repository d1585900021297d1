/** What an audit is made of, in the order in which it stands there. */
export type AuditKind = "audit" | "total" | "scale" | "edit" | "gap" | "end";

/**
 * One line of an audit. Each has the same fields, so that one table holds all of them; a field that
 * says nothing is absent.
 */
export interface AuditRecord {
  readonly kind: AuditKind;
  readonly at?: string;
  /** Of a gap, and of the audit itself: its end. */
  readonly until?: string;
  readonly cluster?: string;
  readonly namespace?: string;
  /** The autoscaler; of another edit the cluster, partition, source, or wake. */
  readonly name?: string;
  /** The scope of an edit and its verb; of a total what is counted. */
  readonly what?: string;
  /** Who edited; of a scale that Tidemark did not make, who made it. */
  readonly by?: string;
  /** The grant that allowed an edit. */
  readonly grant?: string;
  readonly from?: number;
  readonly to?: number;
  readonly reason?: string;
  readonly outcome?: string;
  /** Of a scale: the generation of the spec that decided. Of an edit: the one that it made. */
  readonly generation?: number;
  /** The edit that made the generation, its editor and its time. */
  readonly edit?: string;
  readonly editedBy?: string;
  readonly editedAt?: string;
  readonly count?: number;
  /** What is not known here, and why. */
  readonly hole?: string;
  readonly message?: string;
  readonly id?: string;
}

/** The fields in the order of a line. */
export const AUDIT_FIELDS = [
  ...(["kind", "at", "until", "cluster", "namespace", "name", "what", "by", "grant"] as const),
  ...(["from", "to", "reason", "outcome", "generation", "edit", "editedBy", "editedAt"] as const),
  ...(["count", "hole", "message", "id"] as const),
] as const satisfies readonly (keyof AuditRecord)[];

/** A field that is missing in the order above does not compile. */
type Missing = Exclude<keyof AuditRecord, (typeof AUDIT_FIELDS)[number]>;
export const hasAllFields: Missing extends never ? true : never = true;

/** How records stand in a file: one line each, and fixed lines between them. */
export interface AuditFormat {
  /** The line of a record without its hash. */
  readonly textOf: (record: AuditRecord) => string;
  readonly withHash: (text: string, hash: string) => string;
  /** Undefined for a line that is no record. */
  readonly read: (line: string) => ReadLine | undefined;
  /** The lines after a record of one kind and before one of the next; none: an edge of the file. */
  readonly frame: (last: AuditKind | undefined, next: AuditKind | undefined) => readonly string[];
}

export interface ReadLine {
  readonly kind: AuditKind;
  readonly text: string;
  readonly hash: string;
}
