/** The view of a run, for people. */
export interface View {
  /** Shows a failure at once. */
  readonly say: (line: string) => void;
  /** Reads and shows the newest state. It is called periodically during the run. */
  readonly refresh: () => Promise<void>;
  /** Shows the last state and leaves the terminal as it was. */
  readonly end: () => Promise<void>;
}
