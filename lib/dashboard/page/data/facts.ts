import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { DashboardFacts } from "../../serve/facts.ts";

/** The facts of the server, as of its newest answer. */
export const FactsContext = createContext<DashboardFacts | undefined>(undefined);

export const useFacts = (): DashboardFacts => {
  const facts = useContext(FactsContext);
  if (!facts) throw new TypeError("The page has no facts yet");
  return facts;
};

/** The clock of the stack, which is virtual in a simulated run. Ages are counted by it. */
export const useNow = (): number => Date.parse(useFacts().now);
