import type { ServerAddress } from '../../../runtime/config/config.ts';
import type { EmbeddedServer } from '../../../runtime/embedded/index.ts';
import { Nursery, programRunner } from '../../../runtime/processes/index.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { freeUdpRange } from '../../support/ports.ts';
import { realDrachtio, realFreeSwitch } from '../../support/real-servers.ts';
import { disposableFolder } from '../../support/temporary-folder.ts';

/** A server that is held for a test file. */
export interface Held {
  readonly address: ServerAddress;
  close(): Promise<void>;
}

export interface HeldSipServer extends Held {
  /** RFC 3261's 64*T1, in milliseconds. */
  readonly timeoutMs: number;
}

const RFC3261_T1 = 500;

/**
 * The SIP server. It reports its SIP addresses to a connecting application.
 * @param options.t1 milliseconds for the embedded one, for short time-outs; a real one uses RFC 3261's
 * @param options.ipv6 the embedded one has ::1 too; a real one as configured
 * @param options.secure the embedded one takes TLS and WebSockets, if a certificate can be made; a real one as configured
 */
export async function sipServer({
  t1,
  secure = false,
  ipv6 = false,
}: {
  t1?: number;
  ipv6?: boolean;
  secure?: boolean;
} = {}): Promise<HeldSipServer> {
  if (realDrachtio !== undefined) return { address: realDrachtio, timeoutMs: 64 * RFC3261_T1, close: async () => {} };
  const { startSipServer } = await import('../../../runtime/embedded/index.ts');
  const secret = 'conformance';
  const certificate = secure ? makeCertificate() : undefined;
  const server = await startSipServer({
    app: '127.0.0.1:0',
    secret,
    sip: ['127.0.0.1:0', ...(ipv6 ? ['[::1]:0'] : [])],
    ...(secure ? { tls: ['127.0.0.1:0'], ws: ['127.0.0.1:0'], wss: ['127.0.0.1:0'] } : {}),
    ...(certificate === undefined ? {} : { certificate }),
    ...(t1 === undefined ? {} : { timerValues: { t1, t2: t1 * 8, t4: t1 * 10, d: t1 * 64 } }),
  });
  return {
    address: { ...hostPort(server, 'app'), secret },
    timeoutMs: 64 * (t1 ?? RFC3261_T1),
    close: () => server.close(),
  };
}

/** The media server. It must serve the profile `drachtio_mrf`. */
export async function mediaServer(): Promise<Held> {
  if (realFreeSwitch !== undefined) return { address: realFreeSwitch, close: async () => {} };
  const { startMediaServer } = await import('../../../runtime/embedded/index.ts');
  const secret = 'conformance';
  const folder = await disposableFolder();
  const nursery = new Nursery();
  const options = {
    eventSocket: '127.0.0.1:0',
    password: secret,
    media: '127.0.0.1:0',
    profile: 'drachtio_mrf',
    rtpPorts: await freeUdpRange(1000),
    sounds: folder.path,
    recordings: folder.path,
  };
  const server = await startMediaServer(options, { run: programRunner(nursery) });
  return {
    address: { ...hostPort(server, 'eventSocket'), secret },
    close: async () => {
      await server.close();
      nursery.close();
      await folder.remove();
    },
  };
}

function hostPort(server: EmbeddedServer<object>, role: string): { host: string; port: number } {
  const [host = '', port = ''] = (server.addresses[role] ?? '').split(':');
  return { host, port: Number(port) };
}
