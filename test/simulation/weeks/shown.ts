/** What readers must never be shown, by the name that a violation carries. */
export type Shown =
  | "nothing breaks"
  | "no reader is shown what was true at no moment since its request"
  | "a 304 is given only where nothing that the caller may see has changed"
  | "what was shown once is shown until it expires"
  | "counts are the sums of the events"
  | "what one autoscaler is said to have decided, a sync has decided"
  | "every step of a history is what a sync has decided"
  | "every edit is among the changes that are shown";

export interface WeekViolation {
  readonly invariant: Shown;
  readonly message: string;
}
