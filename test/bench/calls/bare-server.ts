/**
 * The process of bare-calls.ts: embedded servers in worker threads as in a node, or the real ones that
 * RINGMASTER_DRACHTIO and RINGMASTER_FREESWITCH name. Arguments: HTTP port for /healthz, contacts by number in JSON,
 * first and last RTP port.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import Mrf from 'drachtio-fsmrf';
import Srf from 'drachtio-srf';
import type { ServerAddress } from '../../../runtime/config/config.ts';
import { type EmbeddedServer, startMediaServer, startSipServer } from '../../../runtime/embedded/index.ts';
import { MEMORY_MODULE } from '../../../runtime/memory/index.ts';
import { Nursery, programRunner } from '../../../runtime/processes/index.ts';
import type { MediaServer } from '../../conformance/support/fsmrf.ts';
import { realDrachtio, realFreeSwitch } from '../../support/real-servers.ts';
import { serveCalls } from './bare-calls.ts';

const [httpPort, contacts = '{}', fromPort, toPort] = process.argv.slice(2);
const secret = 'secret';
const embedded: EmbeddedServer<object>[] = [];
const nursery = new Nursery();
const drachtio = realDrachtio ?? (await embeddedSip());
const freeswitch = realFreeSwitch ?? (await embeddedMedia());

const srf = new Srf();
void srf.connect(drachtio);
const [, sip] = (await once(srf, 'connect')) as [unknown, string];
const media = await new Mrf(srf).connect({
  address: freeswitch.host,
  port: freeswitch.port,
  secret: freeswitch.secret,
  listenAddress: '127.0.0.1',
  listenPort: 0,
});
serveCalls(srf, media as unknown as MediaServer, JSON.parse(contacts) as Record<string, string>);

const http = createServer((_request, response) => void response.end(JSON.stringify({ sip: udpAddress(sip) })));
http.listen(Number(httpPort), '127.0.0.1');
process.once('SIGTERM', () => {
  void (async () => {
    http.close();
    media.disconnect();
    srf.disconnect();
    for (const server of embedded) await server.close();
    nursery.close();
    process.exit(0);
  })();
});

async function embeddedSip(): Promise<ServerAddress> {
  const server = await startSipServer({ app: '127.0.0.1:0', secret, sip: ['127.0.0.1:0'] }, { atRest: MEMORY_MODULE });
  embedded.push(server);
  return { ...hostPort(server.addresses.app), secret };
}

async function embeddedMedia(): Promise<ServerAddress> {
  nursery.open();
  const server = await startMediaServer(
    {
      eventSocket: '127.0.0.1:0',
      password: secret,
      media: '127.0.0.1:0',
      profile: 'drachtio_mrf',
      rtpPorts: { from: Number(fromPort), to: Number(toPort) },
      sounds: tmpdir(),
      recordings: tmpdir(),
    },
    { run: programRunner(nursery), atRest: MEMORY_MODULE },
  );
  embedded.push(server);
  return { ...hostPort(server.addresses.eventSocket), secret };
}

function hostPort(address = ''): { host: string; port: number } {
  const [host = '', port] = address.split(':');
  return { host, port: Number(port) };
}

/** @param addresses `udp/127.0.0.1:5060,tcp/127.0.0.1:5060` */
function udpAddress(addresses: string): string {
  return /udp\/([\d.]+:\d+)/.exec(addresses)?.[1] ?? '';
}
