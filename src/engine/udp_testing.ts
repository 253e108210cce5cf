/**
 * UDP sockets for tests.
 *
 * @module
 */

import { createSocket, type Socket } from "node:dgram";

/** A UDP socket on 127.0.0.1 that keeps what arrives. */
export class UdpSocket implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #arrived: Uint8Array[] = [];
  #wake: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (message) => {
      this.#arrived.push(new Uint8Array(message));
      this.#wake();
    });
  }

  /** A socket on a port that was free. */
  static async open(): Promise<UdpSocket> {
    const socket = createSocket("udp4");
    const bound = Promise.withResolvers<void>();
    socket.once("listening", () => bound.resolve());
    socket.once("error", bound.reject);
    socket.bind(0, "127.0.0.1");
    await bound.promise;
    return new UdpSocket(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** Sends one datagram to a port of this machine. */
  send(payload: Uint8Array, port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#socket.send(payload, port, "127.0.0.1", (error) => error ? reject(error) : resolve());
    return promise;
  }

  /** The next datagram; rejects when none comes in time. */
  async receive(timeoutMs = 5000): Promise<Uint8Array> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      late.reject(new Error(`no datagram within ${timeoutMs} ms`));
    }, timeoutMs);
    try {
      while (this.#arrived.length === 0) {
        const arrival = Promise.withResolvers<void>();
        this.#wake = arrival.resolve;
        await Promise.race([arrival.promise, late.promise]);
      }
    } finally {
      clearTimeout(timer);
    }
    const [first = new Uint8Array()] = this.#arrived.splice(0, 1);
    return first;
  }

  /** How many datagrams wait to be received. */
  get waiting(): number {
    return this.#arrived.length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#socket.close(() => closed.resolve());
    await closed.promise;
  }
}

/**
 * A port that nothing else is given: below those that the system hands out (32768 and up), and no
 * two times the same one. A probe would not do: the runtime closes its sockets a little later.
 */
export function freePort(): number {
  nextPort = nextPort < 32_700 ? nextPort + 1 : firstPort;
  return nextPort;
}

const firstPort = 20_000;
let nextPort = firstPort + Math.floor(Math.random() * 12_000);
