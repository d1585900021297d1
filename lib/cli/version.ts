import { readFileSync } from "node:fs";

/** Version of this Tidemark, from the package.json above `lib`: the clone's, or the installed package's. */
export const version = (): string => {
  const { version: stated }: { readonly version: string } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return stated;
};
