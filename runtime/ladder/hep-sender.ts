/** Sends SIP messages to the capture server Homer. */
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { rawHeader, readWireFrame } from '../signalling/index.ts';
import { hepPacket, type HepAgent } from './hep.ts';
import { masked } from './masked.ts';

export interface HepOptions extends HepAgent {
  readonly host: string;
  readonly port: number;
  /** Id of the call of a leg, if it is known. */
  readonly callOf: (callid: string) => string | undefined;
  readonly log: { warn(details: object, message: string): void };
}

/** Problems are logged at most this often, ms. */
const WARN_MS = 60_000;
/** Milliseconds after which an unknown host is looked up again. */
const RETRY_MS = 10_000;

/** A UDP socket to the capture server. Packets that it does not take are lost; calls never wait for it. */
export class HepSender {
  readonly #options: HepOptions;
  readonly #socket: Socket;
  #isConnected = false;
  #retry: NodeJS.Timeout | undefined;
  #warned = Number.NEGATIVE_INFINITY;

  constructor(options: HepOptions) {
    this.#options = options;
    this.#socket = createSocket(isIPv6(options.host) ? 'udp6' : 'udp4');
    this.#socket.unref();
    this.#socket.on('error', (err) => this.#failed(err));
    this.#connect();
  }

  /** Sends the message of a frame of a SIP server. */
  send(frame: string, hostports: string): void {
    if (!this.#isConnected) return;
    const message = readWireFrame(frame, hostports, Date.now());
    if (message === undefined || message.isLocal) return;
    const callid = rawHeader(message.text, 'Call-ID', 'i') ?? '';
    const packet = hepPacket(
      { ...message, text: masked(message.text), correlation: this.#options.callOf(callid) },
      this.#options,
    );
    if (packet === undefined) return;
    this.#socket.send(packet, (err) => {
      if (err !== null) this.#failed(err);
    });
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#isConnected = false;
    this.#socket.close();
  }

  #connect(): void {
    const { host, port } = this.#options;
    this.#socket.connect(port, host, (err?: Error) => {
      this.#isConnected = err === undefined || err === null;
      if (this.#isConnected) return;
      this.#failed(err);
      this.#retry = setTimeout(() => this.#connect(), RETRY_MS).unref();
    });
  }

  #failed(err: unknown): void {
    const now = performance.now();
    if (now - this.#warned < WARN_MS) return;
    this.#warned = now;
    const { host, port, log } = this.#options;
    log.warn({ err, host, port }, 'SIP messages cannot be sent to the capture server (RINGMASTER_HEP)');
  }
}
