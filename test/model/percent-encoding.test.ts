import { expect, it } from "vitest";
import { percentEncoded } from "../../lib/rules/model/foreign-text.ts";

it("all but letters, digits and -._~ is percent-encoded, in upper case, as RFC 3986 and SigV4 require", () => {
  expect(percentEncoded("AZaz09-._~")).toBe("AZaz09-._~");
  expect(percentEncoded("!'()*")).toBe("%21%27%28%29%2A");
  expect(percentEncoded("a b/c?d=é&*")).toBe("a%20b%2Fc%3Fd%3D%C3%A9%26%2A");
});
