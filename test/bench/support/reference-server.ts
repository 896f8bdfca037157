/**
 * The floor of the benchmarks, in a separate process like the node: drachtio-srf alone on the embedded SIP server,
 * and a bare Fastify, whose `POST /call` places one call. First argument: the HTTP port.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import Srf from 'drachtio-srf';
import Fastify from 'fastify';
import { startSipServer } from '../../../runtime/embedded/index.ts';
import { MEMORY_MODULE } from '../../../runtime/memory/index.ts';

const SDP = [
  'v=0',
  'o=- 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio 40000 RTP/AVP 0',
  'a=rtpmap:0 PCMU/8000',
  '',
].join('\r\n');

const secret = randomBytes(16).toString('hex');
const server = await startSipServer({ app: '127.0.0.1:0', secret, sip: ['127.0.0.1:0'] }, { atRest: MEMORY_MODULE });
const srf = new Srf();
void srf.connect({ host: '127.0.0.1', port: Number(server.addresses.app?.split(':')[1]), secret });
await once(srf, 'connect');

const http = Fastify();
http.get('/healthz', () => ({}));
http.post<{ Body: { to: string } }>('/call', async ({ body }) => {
  try {
    await srf.createUAC(body.to, { localSdp: SDP });
    return { result: 'ok' };
  } catch (error) {
    return { result: 'rejected', status: (error as { status?: number }).status };
  }
});
await http.listen({ host: '127.0.0.1', port: Number(process.argv[2]) });

process.once('SIGTERM', () => {
  void (async () => {
    await http.close();
    srf.disconnect();
    await server.close();
    process.exit(0);
  })();
});
