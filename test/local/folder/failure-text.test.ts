import { describe, expect, it } from "vitest";
import { failureText } from "../../../lib/embedded/host/failure-text.ts";

const levelError = (message: string, code: string): Error =>
  Object.assign(new Error(message), { code });

describe("the text of an operating failure", () => {
  it.each([
    ["Iterator is not open: cannot call next() after close()", "LEVEL_ITERATOR_NOT_OPEN"],
    ["Database is not open", "LEVEL_DATABASE_NOT_OPEN"],
  ])("says that a write failed before, where LevelDB only says %s", (message, code) => {
    expect(failureText(levelError(message, code), "/data")).toBe(
      'Cannot use the tables in "/data": they closed after a write failed; look whether the disk is full',
    );
  });

  it("keeps what LevelDB says of a file on one line", () => {
    expect(
      failureText(levelError("IO error: 3.log:\n No space left on device", "LEVEL_IO_ERROR")),
    ).toBe("Cannot use the embedded tables: IO error: 3.log: No space left on device");
  });

  it("is absent for a programmer's mistake", () =>
    expect(failureText(new TypeError("x is not a function"))).toBeUndefined());
});
