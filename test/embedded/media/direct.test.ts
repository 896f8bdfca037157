import { type EventEmitter, once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { expect } from 'chai';
import { MediaAgent } from '../../../runtime/embedded/index.ts';
import { type Bench, type Endpoint, type MediaServerClient, startBench } from './support/fixture.ts';
import { RtpPhone, until } from './support/rtp-phone.ts';

/** What the agent's dialogs have beside those of SIP. */
interface Dialog {
  request(options: { body: string }): Promise<{ status: number; body: string }>;
  destroy(): Promise<void>;
}

/** The connection of drachtio-modesl. */
interface Connection extends EventEmitter {
  disconnect(): void;
  sendRecv(command: string, done: () => void): void;
}

describe('embedded media server: calls from within the process', () => {
  let bench: Bench;
  let agent: MediaAgent;
  let ms: MediaServerClient;
  /** Of channels, so far. */
  let connections = 0;
  const phones: RtpPhone[] = [];

  async function phone(events = true): Promise<RtpPhone> {
    const opened = await RtpPhone.open();
    phones.push(opened);
    if (events) return opened;
    const sdp = opened.sdp();
    opened.sdp = () => sdp.replace(/^(m=audio \d+ RTP\/AVP 0) 101/m, '$1').replace(/^a=(rtpmap|fmtp):101.*\r\n/gm, '');
    return opened;
  }

  const dialogOf = ({ dialog }: Endpoint): Dialog => dialog as unknown as Dialog;

  const connectionOf = (endpoint: Endpoint): Connection => (endpoint as unknown as { conn: Connection }).conn;

  async function refusal(options: Record<string, unknown>): Promise<unknown> {
    return ms.createEndpoint(options).catch((error: unknown) => error);
  }

  beforeEach(async () => {
    agent = new MediaAgent();
    bench = await startBench({ direct: agent.port });
    ms = await bench.connectAnother({}, agent);
    // oxlint-disable-next-line no-underscore-dangle -- the listener for connections from the media server
    const { server } = (ms as unknown as { _server: { server: Server } })._server;
    connections = 0;
    agent.onControl = (socket) => {
      connections += 1;
      server.emit('connection', socket as unknown as Socket);
    };
  });
  afterEach(async () => {
    for (const opened of phones.splice(0)) await opened.close();
    await bench.close();
  });

  it('answer an offer, without a SIP transaction', async () => {
    const far = await phone();
    const endpoint = await ms.createEndpoint({ remoteSdp: far.sdp() });
    expect(endpoint.local.sdp).to.include(`m=audio ${endpoint.local.mediaPort} RTP/AVP 0 101\r\n`);
    expect(endpoint.remote.mediaPort).to.equal(String(far.port));
    await until(() => far.audio().length >= 5);
    expect(await bench.server.stats()).to.include({ channels: 1, sipDialogs: 1, sipTransactions: 0 });
    await endpoint.destroy();
    await bench.settled();
  });

  it('make the offer, and take the answer later', async () => {
    const far = await phone();
    const endpoint = await ms.createEndpoint();
    const { status, body } = await dialogOf(endpoint).request({ body: far.sdp() });
    expect(status).to.equal(200);
    expect(body).to.include(`m=audio ${endpoint.local.mediaPort} RTP/AVP 0 101\r\n`);
    await until(() => far.audio().length >= 5);
    const refused = far.sdp().replace(/^m=audio \d+ .*$/m, 'm=audio 9 RTP/AVP 3');
    const answering = await ms.createEndpoint({ remoteSdp: far.sdp() });
    expect(await dialogOf(answering).request({ body: refused })).to.deep.equal({ status: 488, body: '' });
    await dialogOf(endpoint).destroy();
    await dialogOf(answering).destroy();
    await bench.settled();
  });

  it('end by either side, once', async () => {
    const far = await phone();
    const [first, second] = [
      await ms.createEndpoint({ remoteSdp: far.sdp() }),
      await ms.createEndpoint({ remoteSdp: far.sdp() }),
    ];
    const ended = once(first.dialog, 'destroy');
    await second.api('uuid_kill', first.uuid);
    await ended;
    await dialogOf(first).destroy();
    expect(await dialogOf(first).request({ body: far.sdp() })).to.deep.equal({ status: 481, body: '' });
    let told = 0;
    second.dialog.on('destroy', () => (told += 1));
    const gone = once(second, 'destroy');
    await dialogOf(second).destroy();
    await dialogOf(second).destroy();
    await gone;
    expect(told).to.equal(0);
    await bench.settled();
  });

  it('bring digits to a far end without telephone-events as INFO', async () => {
    const endpoint = await ms.createEndpoint({ remoteSdp: (await phone(false)).sdp() });
    const info = once(endpoint.dialog, 'info') as unknown as Promise<[{ body: string; get(name: string): unknown }]>;
    await endpoint.api('uuid_send_dtmf', `${endpoint.uuid} 7@160`);
    const [request] = await info;
    expect(request.get('Content-Type')).to.equal('application/dtmf-relay');
    expect(request.body).to.equal('Signal=7\r\nDuration=160\r\n');
  });

  it('are controlled by a connection that ends with them, and they with it', async () => {
    const far = await phone();
    const [first, second] = [await ms.createEndpoint({ remoteSdp: far.sdp() }), await ms.createEndpoint()];
    expect(await bench.server.stats()).to.include({ eventSockets: 4 });
    const { playbackMilliseconds } = await first.play('silence_stream://100');
    expect(Number(playbackMilliseconds)).to.be.within(80, 160);
    // What the server says meanwhile finds no connection.
    void first.execute('playback', 'silence_stream://1000').catch(() => undefined);
    const [firstEnded, secondEnded] = [once(first.dialog, 'destroy'), once(connectionOf(second), 'esl::end')];
    connectionOf(first).disconnect();
    await firstEnded;
    await dialogOf(second).destroy();
    await secondEnded;
    await bench.settled();
    expect(connections).to.equal(2);
  });

  it('leave a connection that lingers for its time', async () => {
    const endpoint = await ms.createEndpoint();
    const connection = connectionOf(endpoint);
    await new Promise<void>((resolve) => connection.sendRecv('linger 1', resolve));
    const ended = once(connection, 'esl::end');
    const began = performance.now();
    await dialogOf(endpoint).destroy();
    await ended;
    expect(performance.now() - began).to.be.within(900, 3000);
    await bench.settled();
  });

  it('are refused with the status that SIP has', async () => {
    const sdp = (await phone()).sdp();
    const statuses = [
      { remoteSdp: sdp.replace(/^m=audio \d+ .*$/m, 'm=audio 9 RTP/AVP 3') },
      { remoteSdp: 'nonsense' },
      { remoteSdp: sdp.replaceAll('IN IP4 127.0.0.1', 'IN IP6 ::1') },
    ].map(async (options) => ((await refusal(options)) as { status?: number }).status);
    expect(await Promise.all(statuses)).to.deep.equal([488, 400, 488]);
    const unnamed = await agent.createUAC('', { localSdp: sdp }).catch((error: unknown) => error);
    expect(unnamed).to.include({ name: 'MediaCallError', status: 404, reason: 'Not Found' });
    await bench.settled();
  });

  it('end with the server, and are refused afterwards', async () => {
    const endpoint = await ms.createEndpoint();
    const ended = once(endpoint.dialog, 'destroy');
    const closing = bench.server.close();
    await ended;
    await closing;
    expect(agent.connected).to.equal(false);
    const late = await agent.createUAC('', {}).catch((error: unknown) => error);
    expect(late).to.include({ name: 'MediaCallError', status: 503 });
  });

  it('that wait for their answer are refused when the server ends', async () => {
    const making = agent.createUAC('', { localSdp: (await phone()).sdp() }).catch((error: unknown) => error);
    const closing = bench.server.close();
    // The server may have answered before it took the request to close.
    const outcome = await making;
    await closing;
    expect(outcome).to.satisfy((error: { status?: number }) => error.status === 404 || error.status === 503);
  });
});
