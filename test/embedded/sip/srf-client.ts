import Srf from 'drachtio-srf';
import { type EmbeddedServer, startSipServer } from '../../../runtime/embedded/index.ts';
import type { SipServerOptions, SipServerStats } from '../../../runtime/embedded/sip/options.ts';

export const SDP =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 20000 RTP/AVP 0\r\n';

/** The part of drachtio-srf used here; its own declarations lack the promise forms and several options. */
export interface SipMsg {
  readonly method: string;
  readonly uri: string;
  readonly body: string;
  readonly protocol: string;
  readonly status: number;
  get(name: string): string;
  has(name: string): boolean;
  getParsedHeader(name: string): { uri: string };
}
export interface SrfRequest extends SipMsg {
  on(event: string, listener: (message: SrfResponse & SipMsg) => void): void;
  cancel(options: object, callback: () => void): void;
}
export interface SrfResponse extends SipMsg {
  send(status: number, ...rest: unknown[]): void;
}
export type Handler = (req: SrfRequest, res: SrfResponse) => unknown;
export interface SrfDialog {
  readonly id: string;
  readonly remote: { sdp: string; uri: string };
  on(event: string, handler: (...args: never[]) => unknown): void;
  request(options: object): Promise<SrfResponse>;
  modify(sdp: string): Promise<void>;
  destroy(options?: object): Promise<SrfRequest>;
}
export interface SrfError extends Error {
  readonly status: number;
  readonly reason: string;
  readonly res: SrfResponse;
}
export interface SrfClient {
  on(event: string, listener: (...args: never[]) => void): void;
  connect(options: object): void;
  disconnect(): void;
  use(verb: string, handler: Handler): void;
  invite(handler: Handler): void;
  request(uri: string, options: object, callback: (error: Error | null, req: SrfRequest) => void): void;
  createUAC(uri: string, options: object, progress?: object): Promise<SrfDialog>;
  createUAS(req: SrfRequest, res: SrfResponse, options: object): Promise<SrfDialog>;
  createB2BUA(
    req: SrfRequest,
    res: SrfResponse,
    uri: string,
    options?: object,
  ): Promise<{ uas: SrfDialog; uac: SrfDialog }>;
  proxyRequest(
    req: SrfRequest,
    destination: string | string[],
    options?: object,
  ): Promise<{ connected: boolean; finalStatus: number }>;
}

/** Timers shortened 25-fold. */
export const FAST = { t1: 20, t2: 160, t4: 60, d: 200 };

/** An embedded server in its thread with an unmodified drachtio-srf. */
export interface Node {
  readonly server: EmbeddedServer<SipServerStats>;
  readonly srf: SrfClient;
  /** `ip:port` of SIP. */
  readonly sip: string;
  close(): Promise<void>;
}

/** Connects another application. Its later errors belong to the test. */
export async function connectSrf(server: EmbeddedServer<SipServerStats>, tags: string[] = []): Promise<SrfClient> {
  const srf = new Srf() as unknown as SrfClient;
  const [host = '', port = ''] = (server.addresses.app ?? '').split(':');
  await new Promise<void>((resolve, reject) => {
    srf.on('connect', (error: Error | null) => (error ? reject(error) : resolve()));
    srf.on('error', (error: Error) => reject(error));
    // A refused one, or one whose server has ended, must not reconnect: the test run would not end.
    srf.connect({ host, port: Number(port), secret: 'cymru', tags, reconnect: { maxAttempts: 1 } });
  });
  return srf;
}

export async function startNode(options: Partial<SipServerOptions> = {}): Promise<Node> {
  const server = await startSipServer({ app: '127.0.0.1:0', secret: 'cymru', sip: ['127.0.0.1:0'], ...options });
  const srf = await connectSrf(server);
  return {
    server,
    srf,
    sip: server.addresses.sip ?? '',
    close: async () => {
      srf.disconnect();
      await server.close();
    },
  };
}

/** The error of a call that must fail. */
export async function failure(call: Promise<unknown>): Promise<SrfError> {
  return call.then(
    () => {
      throw new Error('the call was answered');
    },
    (error: SrfError) => error,
  );
}

/** Polls until the condition holds. */
export async function until(condition: () => boolean | Promise<boolean>, what: string, within = 5000): Promise<void> {
  const end = performance.now() + within;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${within} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
