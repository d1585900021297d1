import type { ComponentChildren } from "preact";
import type { Failure } from "../data/request.ts";

const TITLES: Readonly<Record<Failure["kind"], string>> = {
  offline: "The server of this page does not answer",
  starting: "The run is starting",
  token: "This tab has no token of the server",
  "no right": "No right to this",
  "not found": "There is no such thing",
  refused: "The request was refused",
  failed: "The answer failed",
};

const NEXT: Readonly<Record<Failure["kind"], string>> = {
  offline: "Is the command that printed the address still running? The page asks again by itself.",
  starting: "The page asks again by itself.",
  token: "Each start of the server has a token of its own. Open the address that it printed.",
  "no right":
    "Ask for a grant: tidemark access grant. What you see otherwise is all that your grants show.",
  "not found": "It may have been deleted or renamed. The changes of the fleet say by whom.",
  refused: "",
  failed: "The log of the stack has the error. The page asks again by itself.",
};

/**
 * In place of what could not be shown: what happened, the words of the server, what to do: `next`,
 * or what is true of everything that is asked again each period.
 */
export const FailureNotice = ({
  failure: { kind, message },
  next = NEXT[kind],
}: {
  readonly failure: Failure;
  readonly next?: string;
}) => (
  <Notice title={TITLES[kind]} tone={kind === "starting" ? "quiet" : "bad"}>
    {message !== "" && kind !== "offline" && kind !== "starting" && <p class="said">{message}</p>}
    {next !== "" && <p>{next}</p>}
  </Notice>
);

/** In place of a part that has nothing to show. */
export const Notice = ({
  title,
  tone = "quiet",
  children,
}: {
  readonly title: string;
  readonly tone?: "quiet" | "bad";
  readonly children?: ComponentChildren;
}) => (
  <section class={`notice ${tone}`} role={tone === "bad" ? "alert" : undefined}>
    <h2>{title}</h2>
    {children}
  </section>
);

/** Grey lines in the form of what comes. */
export const Loading = ({ lines = 6 }: { readonly lines?: number }) => (
  <div class="loading" role="status">
    <span class="unseen">Loading</span>
    {Array.from({ length: lines }, (_, at) => (
      <div key={at} class="line" />
    ))}
  </div>
);
