import type { ComponentChildren } from "preact";

/** The heading of a page, which is there in each of its states. */
export const PageHead = ({
  title,
  count,
  children,
}: {
  readonly title: string;
  readonly count?: string;
  readonly children?: ComponentChildren;
}) => (
  <div class="head">
    <h1>{title}</h1>
    {count !== undefined && <span class="count">{count}</span>}
    {children}
  </div>
);
