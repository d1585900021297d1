import { expect, test } from "vitest";
import { WIDTH_MAX, writeWidth } from "../../lib/stack/sync/scale/pace.ts";

interface Server {
  /** The first answer of each new connection comes this much later. */
  readonly handshakeMs: number;
  /** How long one answer takes, without a queue. */
  readonly answerMs: number;
  /** The server answers no more than this, however many writes are under way. */
  readonly mostPerMs: number;
}

/** Plays `answers` writes against a server, and returns the widths in their order. */
const widths = (
  { handshakeMs, answerMs, mostPerMs }: Server,
  answers: number,
): readonly number[] => {
  let nowMs = 0;
  let connections = 0;
  const width = writeWidth(() => nowMs);
  const seen = [width.now()];
  for (let n = 0; n < answers; n++) {
    const now = width.now();
    if (connections < now) {
      nowMs += handshakeMs;
      connections++;
    }
    const perMs = Math.min(mostPerMs, now / answerMs);
    nowMs += 1 / perMs;
    const next = width.answered(false, n === 0 ? answerMs : now / perMs);
    if (next !== now) seen.push(next);
  }
  return seen;
};

test("a server that is busy at sixteen writes keeps sixteen, although its first answers waited for new connections", () => {
  expect(widths({ handshakeMs: 5, answerMs: 15, mostPerMs: 0.6 }, 400)).toEqual([16, 32, 16]);
});

test("a server whose answers wait for each other at sixteen writes gets no more connections", () => {
  expect(widths({ handshakeMs: 5, answerMs: 4, mostPerMs: 0.6 }, 400)).toEqual([16]);
});

test("a distant server gets as many writes at once as make its answers come faster", () => {
  expect(widths({ handshakeMs: 5, answerMs: 50, mostPerMs: 2 }, 2_000).at(-1)).toBe(WIDTH_MAX);
});

test("a refused write for too many requests halves the width, and it stays there", () => {
  const width = writeWidth(() => 0);
  expect(width.answered(true, 1)).toBe(8);
  for (let n = 0; n < 200; n++) width.answered(false, 1);
  expect(width.now()).toBe(8);
});
