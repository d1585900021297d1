import { useRef } from "preact/hooks";
import { useKeys } from "./use-keys.ts";

const KEYS = [
  ["/", "search"],
  ["j k", "next and previous autoscaler"],
  ["Enter", "open it"],
  ["← →", "instant before and after, on the charts"],
  ["e", "pause, override or freeze, with --allow-edits"],
  ["?", "this help"],
] as const;

/** The keys of the page. */
export const Help = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  const show = (): void => dialog.current?.showModal();
  useKeys({ "?": show });
  return (
    <>
      <button type="button" class="button" onClick={show} aria-label="Keys">
        ?
      </button>
      <dialog ref={dialog} class="help" aria-label="Keys">
        <h2>Keys</h2>
        <dl>
          {KEYS.map(([keys, words]) => (
            <>
              <dt key={keys}>
                {keys.split(" ").map((each) => (
                  <kbd key={each}>{each}</kbd>
                ))}
              </dt>
              <dd>{words}</dd>
            </>
          ))}
        </dl>
        <button type="button" class="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </dialog>
    </>
  );
};
