/** Closes resources in the reverse order of their opening. */
export interface Closing {
  readonly add: (close: () => unknown) => void;
  /**
   * Adds what lets requests in. It is closed before everything else, however early it was opened,
   * so that no request meets what is closed already.
   */
  readonly addDoor: (close: () => unknown) => void;
  /** Closes all of them, also when one fails, and then throws the first failure. */
  readonly closeAll: () => Promise<void>;
}

export const closing = (): Closing => {
  const steps: (() => unknown)[] = [];
  const doors: (() => unknown)[] = [];
  return {
    add: (close) => steps.push(close),
    addDoor: (close) => doors.push(close),
    closeAll: async () => {
      const failures: unknown[] = [];
      for (const close of [...steps.splice(0), ...doors.splice(0)].reverse()) {
        try {
          await close();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
};
