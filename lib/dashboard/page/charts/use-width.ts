import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The width of an element in pixels, as it changes; 0 until it is drawn. */
export const useWidth = (): {
  readonly element: { current: HTMLDivElement | null };
  readonly width: number;
} => {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const seen = new ResizeObserver(() => setWidth(current.clientWidth));
    seen.observe(current);
    setWidth(current.clientWidth);
    return () => seen.disconnect();
  }, []);
  return { element, width };
};
