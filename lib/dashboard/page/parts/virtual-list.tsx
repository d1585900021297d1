import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

const OVERSCAN = 8;
/** Before the list has a size: a screenful. */
const FIRST_RECT = { width: 1_000, height: 600 };

/**
 * Only what is on the screen of a long list is in the document. `onShown` gets the first and last
 * index that a person sees.
 */
export const VirtualList = ({
  count,
  rowHeight,
  onShown,
  children,
}: {
  readonly count: number;
  readonly rowHeight: number;
  readonly onShown: (first: number, last: number) => void;
  readonly children: (index: number, top: number) => ComponentChildren;
}) => {
  const box = useRef<HTMLDivElement>(null);
  const [, draw] = useReducer((turn: number) => turn + 1, 0);
  const options = {
    count,
    estimateSize: () => rowHeight,
    getScrollElement: () => box.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    overscan: OVERSCAN,
    initialRect: FIRST_RECT,
    onChange: () => draw(undefined),
  };
  const [list] = useState(() => new Virtualizer<HTMLDivElement, HTMLElement>(options));
  list.setOptions(options);
  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => list._willUpdate());
  useLayoutEffect(() => list.measure(), [list, rowHeight]);
  const items = list.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useLayoutEffect(() => onShown(first, last), [first, last, count]);
  return (
    <div
      class="scroll"
      ref={box}
      role="rowgroup"
      tabIndex={-1}
      style={{ maxHeight: `${count * rowHeight + 1}px` }}
    >
      <div class="inner" role="presentation" style={{ height: `${list.getTotalSize()}px` }}>
        {items.map(({ index, start }) => children(index, start))}
      </div>
    </div>
  );
};
