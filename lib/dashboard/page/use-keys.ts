import { useEffect, useRef } from "preact/hooks";

const TYPED_INTO = new Set(["INPUT", "TEXTAREA", "SELECT"]);

/**
 * Single keys of a page. They are letters where a person types, and of the browser with Ctrl. What
 * is behind a dialog has no keys.
 */
export const useKeys = (keys: Readonly<Record<string, (event: KeyboardEvent) => void>>): void => {
  const newest = useRef(keys);
  newest.current = keys;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      if (ctrlKey || metaKey || altKey || document.querySelector("dialog[open]")) return;
      if (target instanceof Element && TYPED_INTO.has(target.tagName)) return;
      if (!Object.hasOwn(newest.current, key)) return;
      event.preventDefault();
      newest.current[key]?.(event);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
};
