import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Duplex } from "node:stream";
import { asSocket } from "../simulation/sockets/connections.ts";
import type { VirtualTime } from "./time.ts";

export interface LinkSpeed {
  /** From one end to the other. */
  readonly latencyMs: number;
  /** Of all connections together, towards the client. */
  readonly bytesPerMs: number;
  /** What the client computes for each byte that it gets. */
  readonly cpuMsPerByte: number;
}

/** Connections take turns in pieces of this size. */
const PIECE_BYTES = 64 * 1024;

/**
 * Connections in memory to an HTTP server over a link of a given speed, in virtual time. The
 * parsers of Node and every byte between them are real.
 */
export const linkTo = (
  time: VirtualTime,
  { latencyMs, bytesPerMs, cpuMsPerByte }: LinkSpeed,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): { readonly connect: () => Duplex } => {
  const server = createServer(handle);
  let freeAtMs = 0;
  const carry = (bytes: number, arrived: () => void): void => {
    freeAtMs = Math.max(freeAtMs, time.nowMs()) + bytes / bytesPerMs;
    time.after(freeAtMs - time.nowMs(), arrived);
  };
  const connect = (): Duplex => {
    const client = asSocket(
      new Duplex({
        read: () => undefined,
        write: (chunk: Buffer, _encoding, done) => {
          time.after(latencyMs, () => peer.push(chunk));
          done();
        },
        destroy: (error, done) => {
          peer.destroy();
          done(error);
        },
      }),
    );
    const carryAll = (chunk: Buffer, done: () => void): void => {
      if (chunk.length === 0 || client.destroyed) {
        done();
        return;
      }
      const piece = chunk.subarray(0, PIECE_BYTES);
      carry(piece.length, () => {
        time.spend(client.destroyed ? 0 : piece.length * cpuMsPerByte);
        time.after(latencyMs, () => client.destroyed || client.push(piece));
        carryAll(chunk.subarray(PIECE_BYTES), done);
      });
    };
    const peer: Duplex = asSocket(
      new Duplex({
        read: () => undefined,
        write: (chunk: Buffer, _encoding, done) => carryAll(Buffer.from(chunk), done),
      }),
    );
    // A connection stands after a way there and back.
    time.after(2 * latencyMs, () => {
      server.emit("connection", peer);
      client.emit("connect");
    });
    return client;
  };
  return { connect };
};
