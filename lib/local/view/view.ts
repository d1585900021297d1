/** What shows a run to people. */
export interface View {
  /** Something went wrong that people should know of at once. */
  readonly say: (line: string) => void;
  /** Reads and shows the newest state; called again and again while the run goes on. */
  readonly refresh: () => Promise<void>;
  /** Shows the last state and leaves the terminal as it was. */
  readonly end: () => Promise<void>;
}
