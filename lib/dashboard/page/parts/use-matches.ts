import { useEffect, useMemo, useState } from "preact/hooks";

/** Whether a media query holds, also after the window was made smaller or turned. */
export const useMatches = (query: string): boolean => {
  const media = useMemo(() => matchMedia(query), [query]);
  const [matches, setMatches] = useState(media.matches);
  useEffect(() => {
    const onChange = (): void => setMatches(media.matches);
    media.addEventListener("change", onChange);
    return () => media.removeEventListener("change", onChange);
  }, [media]);
  return matches;
};
