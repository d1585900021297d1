/** Closes resources in the reverse order of their opening. */
export interface Closing {
  readonly add: (close: () => unknown) => void;
  /** Closes all of them, also when one fails, and then throws the first failure. */
  readonly closeAll: () => Promise<void>;
}

export const closing = (): Closing => {
  const steps: (() => unknown)[] = [];
  return {
    add: (close) => steps.push(close),
    closeAll: async () => {
      const failures: unknown[] = [];
      for (const close of steps.splice(0).reverse()) {
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
