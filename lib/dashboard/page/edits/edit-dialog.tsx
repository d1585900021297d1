import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useFacts, useNow } from "../data/facts.ts";
import type { Failure } from "../data/request.ts";
import { reloadDocuments, useSource } from "../data/use-document.ts";
import { FailureNotice } from "../parts/notice.tsx";
import { bodyOf, commandOf, type Edit, type Field, type Texts } from "./edit.ts";

/** Asks again before an edit: what it does, what it needs, and the command that does the same. */
export const EditDialog = ({
  edit,
  onClose,
}: {
  readonly edit: Edit;
  readonly onClose: () => void;
}) => {
  const { title, effect, subject, fields, typed = "" } = edit;
  const dialog = useRef<HTMLDialogElement>(null);
  const [texts, setTexts] = useState<Texts>({});
  const [confirmed, setConfirmed] = useState("");
  const { send, isSending, failure } = useSend(edit, texts, () => dialog.current?.close());
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog
      ref={dialog}
      class="help ask"
      aria-label={`${title} ${subject}`}
      onClose={onClose}
      onCancel={(event) => isSending && event.preventDefault()}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <h2>
          {title} {subject}
        </h2>
        <p>{effect}</p>
        {fields.map((field) => (
          <Input
            key={field.name}
            field={field}
            text={texts[field.name] ?? ""}
            onText={(text) => setTexts({ ...texts, [field.name]: text })}
          />
        ))}
        {typed !== "" && (
          <label>
            Type “{typed}” to confirm
            <input
              value={confirmed}
              autocomplete="off"
              onInput={({ currentTarget }) => setConfirmed(currentTarget.value)}
            />
          </label>
        )}
        <Command line={commandOf(edit, texts, useFacts().target)} />
        {failure && <EditFailure failure={failure} />}
        <div class="answers">
          <button
            type="button"
            class="button"
            disabled={isSending}
            onClick={() => dialog.current?.close()}
          >
            Cancel
          </button>
          <button type="submit" class="button strong" disabled={isSending || confirmed !== typed}>
            {title}
          </button>
        </div>
      </form>
    </dialog>
  );
};

interface Request {
  readonly texts: Texts;
  readonly body: object;
  readonly key: string;
}

/** Sends the edit. What may have been made without an answer is repeated as the same request. */
const useSend = (edit: Edit, texts: Texts, onDone: () => void) => {
  const { api } = useSource();
  const nowMs = useNow();
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  const unclear = useRef<Request | undefined>(undefined);
  const send = async (): Promise<void> => {
    if (isSending) return;
    setSending(true);
    const request =
      unclear.current?.texts === texts
        ? unclear.current
        : { texts, body: bodyOf(edit, texts, nowMs), key: crypto.randomUUID() };
    const outcome = await api.post(edit.path, request.body, request.key);
    setSending(false);
    const failed = outcome.kind === "failure" ? outcome.failure : undefined;
    // A repeat that is refused says only that the first request was not forgotten.
    const isRepeat = request === unclear.current;
    unclear.current = failed && (isRepeat || isUnclear(failed)) ? request : undefined;
    setFailure(failed);
    reloadDocuments();
    if (!failed) onDone();
  };
  return { send, isSending, failure };
};

const isUnclear = ({ kind }: Failure): boolean => kind === "offline" || kind === "failed";

const EditFailure = ({ failure }: { readonly failure: Failure }) => (
  <FailureNotice
    failure={failure}
    {...(isUnclear(failure) && {
      next: "It is not known whether the edit was made. Press again: it is made once.",
    })}
  />
);

const Input = ({
  field: { label, must, isRequired = false, read },
  text,
  onText,
}: {
  readonly field: Field;
  readonly text: string;
  readonly onText: (text: string) => void;
}) => (
  <label>
    {label}
    <input
      value={text}
      required={isRequired}
      autocomplete="off"
      onInput={({ currentTarget }) => {
        const written = currentTarget.value.trim();
        const isNone = written === "" ? isRequired : read(written, 0) === undefined;
        currentTarget.setCustomValidity(isNone ? `Must be ${must}` : "");
        onText(currentTarget.value);
      }}
    />
  </label>
);

const Command = ({ line }: { readonly line: string }) => {
  const [copied, setCopied] = useState<{ readonly line: string; readonly words: string }>();
  const copy = async (): Promise<void> => {
    const words = await navigator.clipboard.writeText(line).then(
      () => "Copied",
      () => "Not allowed here",
    );
    setCopied({ line, words });
  };
  return (
    <div class="command">
      <code>{line}</code>
      <button type="button" class="button" onClick={() => void copy()}>
        {copied?.line === line ? copied.words : "Copy"}
      </button>
    </div>
  );
};
