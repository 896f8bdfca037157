import type { EventEmitter } from 'node:events';
import SrfClass from 'drachtio-srf';
import type { ServerAddress } from '../../../runtime/config/config.ts';

/** drachtio-srf's actual interface: its own declarations omit some callback arguments. */
export interface Message {
  readonly method: string;
  readonly uri: string;
  readonly body: string;
  readonly raw: string;
  readonly protocol: string;
  readonly source_address: string;
  readonly source_port: number;
  get(name: string): string | undefined;
  has(name: string): boolean;
  getParsedHeader(name: string): { uri: string; params: Record<string, string> };
}

export interface Request extends Message, EventEmitter {
  cancel(callback?: (err: unknown) => void): void;
}

export interface IncomingResponse extends Message {
  readonly status: number;
  readonly reason: string;
}

type Headers = Record<string, string>;

export interface Response {
  send(status: number, options?: { headers?: Headers; body?: string }, callback?: (err: unknown) => void): void;
}

export interface Dialog extends EventEmitter {
  readonly id: string;
  readonly sip: { callId: string; localTag: string; remoteTag: string };
  readonly local: { sdp: string };
  readonly remote: { sdp: string; uri: string };
  destroy(options?: { headers?: Headers }): Promise<Message>;
  modify(sdp: string): Promise<string>;
  request(options: { method: string; headers?: Headers; body?: string }): Promise<IncomingResponse>;
}

export interface UacOptions {
  method?: string;
  localSdp?: string;
  headers?: Headers;
  proxy?: string;
  callingNumber?: string;
  noAck?: boolean;
  followRedirects?: boolean;
  auth?: { username: string; password: string };
}

export interface UacCallbacks {
  cbRequest?(err: unknown, request: Request): void;
  cbProvisional?(response: IncomingResponse): void;
}

export type Handler = (request: Request, response: Response) => void;

export interface Srf extends EventEmitter {
  connect(address: { host: string; port: number; secret: string }): void;
  disconnect(): void;
  use(method: string, handler: Handler): void;
  createUAS(
    request: Request,
    response: Response,
    options: { localSdp: string | (() => Promise<string>); headers?: Headers },
  ): Promise<Dialog>;
  createUAC(uri: string, options: UacOptions, callbacks?: UacCallbacks): Promise<Dialog>;
  createB2BUA(
    request: Request,
    response: Response,
    uri: string,
    options?: object,
  ): Promise<{ uas: Dialog; uac: Dialog }>;
  proxyRequest(request: Request, destination: string | readonly string[], options?: object): Promise<unknown>;
  request(uri: string, options: { method: string; headers?: Headers; body?: string }): Promise<Request>;
}

export const Srf = SrfClass as unknown as new (tags?: string | string[]) => Srf;

/** A connected drachtio-srf application. */
export interface App {
  readonly srf: Srf;
  /** `ip:port` of the server's SIP over UDP, and over TCP. */
  readonly sip: string;
  readonly tcp: string;
  /** `ip:port` of its listener of another transport, `tls` for example; undefined when it has none. */
  listener(protocol: string, ipv6?: boolean): string | undefined;
  close(): void;
}

/**
 * Connects an application; routes must be registered in `prepare`, before the server asks for them.
 * @throws Error when the server refuses the secret
 */
export async function connectApp(address: ServerAddress, prepare: (srf: Srf) => void = () => {}): Promise<App> {
  const srf = new Srf();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  srf.on('connect', (err: Error | null, hostPorts: string) => {
    if (err) reject(err);
    else resolve(hostPorts);
  });
  srf.on('error', reject);
  prepare(srf);
  srf.connect({ host: address.host, port: address.port, secret: address.secret });
  let hostPorts: string;
  try {
    hostPorts = await promise;
  } catch (error) {
    // It would reconnect.
    srf.disconnect();
    throw error;
  }
  const listener = (protocol: string, ipv6 = false): string | undefined =>
    hostPorts
      .split(',')
      .find((part) => part.startsWith(`${protocol}/`) && part.includes('[') === ipv6)
      ?.slice(protocol.length + 1);
  const at = (protocol: string): string => {
    const found = listener(protocol);
    if (found === undefined) throw new Error(`the server takes no SIP by ${protocol}: ${hostPorts}`);
    return found;
  };
  return { srf, sip: at('udp'), tcp: at('tcp'), listener, close: () => srf.disconnect() };
}
