/** What the page must know of the server that it is of: the answer of `GET /v1/dashboard`. */
export interface DashboardFacts {
  readonly version: string;
  /** Where answers come from, in the words of a command's head: "stack tidemark-prod in eu-west-1". */
  readonly place: string;
  /** The options with which a command works on the same place: "--stack tidemark-prod". */
  readonly target: string;
  /** Who asks: the ARN that signs, or the user of this machine. */
  readonly caller: string;
  /** True with --allow-edits. Grants may refuse an edit even so. */
  readonly edits: boolean;
  /** The time (RFC 3339) by the clock that all times are of: a simulated run has its own. */
  readonly now: string;
  /** How often the page asks again. */
  readonly refreshSeconds: number;
}
