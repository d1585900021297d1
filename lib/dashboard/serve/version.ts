import { readFileSync } from "node:fs";

/** The version in the package.json above `lib`, of the clone or of the installed package. */
export const packageVersion = (): string => {
  const { version: stated }: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../../../package.json", import.meta.url), "utf8"),
  );
  return stated;
};
