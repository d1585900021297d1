/** A small change of the code around the rules, and the test that must notice it. */
export interface PromisedMutant {
  /** What the change breaks. */
  readonly breaks: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly test: string;
  /** The name of the test that notices it, or the beginning. */
  readonly noticedBy: string;
}

/** True where the code still has the changed place once. */
export const isApplicable = (code: string, { from }: PromisedMutant): boolean =>
  code.split(from).length === 2;
