const KEY = "tidemark-token";
const PARAMETER = "token";
/** How long a tab that was opened from another one waits for its token. */
const OTHERS_MS = 300;

/**
 * The token of this start: from the fragment of the address that was printed, from this tab, or
 * from another tab of the same server. A browser gives a tab that a person opens with a modified
 * click no storage of the first one. The fragment is sent to no server, and is taken out of the
 * address, so that neither the history nor a copied link has the token.
 */
export const findToken = async (): Promise<string | undefined> => {
  const given = new URLSearchParams(location.hash.replace(/^#\/?/, "")).get(PARAMETER);
  if (given !== null && !location.hash.startsWith("#/")) {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", "#/");
  }
  const token = sessionStorage.getItem(KEY) ?? (await tokenOfOthers());
  if (token === undefined) return undefined;
  sessionStorage.setItem(KEY, token);
  answerOthers(token);
  return token;
};

interface Message {
  readonly ask?: true;
  readonly token?: string;
}

/** Only pages of this origin hear it, and they have the token or may have it. */
const CHANNEL = "tidemark-dashboard";

const tokenOfOthers = (): Promise<string | undefined> =>
  new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    const end = (token?: string): void => {
      channel.close();
      resolve(token);
    };
    setTimeout(end, OTHERS_MS);
    channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
      if (data.token !== undefined) end(data.token);
    });
    channel.postMessage({ ask: true } satisfies Message);
  });

const answerOthers = (token: string): void => {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }: MessageEvent<Message>) => {
    if (data.ask) channel.postMessage({ token } satisfies Message);
  });
};
