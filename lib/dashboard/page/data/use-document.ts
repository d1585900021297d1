import { createContext } from "preact";
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { Api, Failure, Outcome, Parameters } from "./request.ts";

/** What all pages know of their server. */
export interface Source {
  readonly api: Api;
  readonly refreshMs: number;
}

/** Set by the shell before any page is drawn. */
export const SourceContext = createContext<Source | undefined>(undefined);

export const useSource = (): Source => {
  const source = useContext(SourceContext);
  if (!source) throw new TypeError("The page has no source yet");
  return source;
};

/** A document as a page has it: the newest answer stays while a later question fails. */
export interface Known<Value> {
  readonly value?: Value;
  readonly failure?: Failure;
}

/** Called at each turn; undefined for nothing new. */
export type Ask<Value> = (
  before: Value | undefined,
  signal: AbortSignal,
) => Promise<Outcome<Value>>;

/**
 * Asks at once, each period, and when the page is shown again; a hidden page asks nothing. `key`
 * names the question: another key forgets the answer.
 */
export const usePolled = <Value>(
  key: string,
  ask: Ask<Value>,
  everyMs: number | undefined,
): Known<Value> & { readonly again: () => void } => {
  const [known, setKnown] = useState<Known<Value> & { readonly key: string }>({ key });
  // Another period is no other question: the answer stays.
  const newest = useRef<{ readonly key: string; readonly value?: Value }>({ key });
  const asking = useRef(ask);
  asking.current = ask;
  const polling = useRef<Polling | undefined>(undefined);
  useEffect(() => {
    if (newest.current.key !== key) newest.current = { key };
    const begun = beginPolling(async (signal) => {
      const outcome = await asking.current(newest.current.value, signal);
      if (signal.aborted) return false;
      if (outcome.kind === "answer") newest.current = { key, value: outcome.value };
      setKnown(knownAfter(key, newest.current.value, outcome));
      return outcome.kind === "answer" && outcome.isPart === true;
    }, everyMs);
    polling.current = begun;
    return begun.end;
  }, [key, everyMs]);
  const again = (): void => polling.current?.again();
  return known.key === key ? { ...known, again } : { again };
};

const EDITED = "tidemark-edited";

/** Asks for every document anew, after an edit. */
export const reloadDocuments = (): void => void document.dispatchEvent(new Event(EDITED));

interface Polling {
  readonly again: () => void;
  readonly end: () => void;
}

/** One question at a time. A turn that answers true is followed by the next at once. */
const beginPolling = (
  turn: (signal: AbortSignal) => Promise<boolean>,
  everyMs: number | undefined,
): Polling => {
  const ended = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isBusy = false;
  // What is under way may answer from before an edit.
  let isOld = false;
  const again = async (): Promise<void> => {
    clearTimeout(timer);
    if (isBusy || document.hidden) return;
    isBusy = true;
    let goesOn: boolean;
    do {
      isOld = false;
      goesOn = await turn(ended.signal);
    } while ((isOld || goesOn) && !ended.signal.aborted);
    isBusy = false;
    if (everyMs !== undefined && !ended.signal.aborted) timer = setTimeout(onTurn, everyMs);
  };
  const onTurn = (): void => void again();
  const onEdited = (): void => {
    isOld = true;
    onTurn();
  };
  document.addEventListener("visibilitychange", onTurn);
  document.addEventListener(EDITED, onEdited);
  onTurn();
  return {
    again: onTurn,
    end: () => {
      ended.abort();
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onTurn);
      document.removeEventListener(EDITED, onEdited);
    },
  };
};

const knownAfter = <Value>(
  key: string,
  value: Value | undefined,
  outcome: Outcome<Value>,
): Known<Value> & { readonly key: string } => ({
  key,
  ...(value !== undefined && { value }),
  ...(outcome.kind === "failure" && { failure: outcome.failure }),
});

/** One document of the API. A question that is undefined is not asked. */
export const useDocument = <Value>(
  path: string | undefined,
  parameters: Parameters = {},
  { once = false }: { readonly once?: boolean } = {},
): Known<Value> & { readonly again: () => void } => {
  const { api, refreshMs } = useSource();
  const tag = useRef<string | undefined>(undefined);
  const key = `${path}?${JSON.stringify(parameters)}`;
  const ask: Ask<Value> = async (before, signal) => {
    if (path === undefined) return { kind: "unchanged" };
    const outcome = await api.get<Value>(path, parameters, {
      signal,
      tag: before === undefined ? undefined : tag.current,
    });
    if (outcome.kind === "answer") tag.current = outcome.tag;
    return outcome;
  };
  return usePolled(key, ask, once || path === undefined ? undefined : refreshMs);
};
