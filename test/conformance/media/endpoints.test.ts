import { connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import { expect } from 'chai';
import { Moment } from '../../phones/wait.ts';
import { connectMedia, text } from '../support/fsmrf.ts';
import { useMediaStage } from '../support/media-stage.ts';
import { sdp } from '../support/sdp.ts';

describe('Conformance, media server: connection and endpoints', () => {
  const stage = useMediaStage();

  it('sofia status shows the SIP address', () => {
    expect(stage.media.sip.ipv4.udp.address).to.match(/^127\.0\.0\.1:\d+$/);
    expect(stage.media.connected()).to.equal(true);
  });

  it('API commands of the connection are answered', async () => {
    expect(await stage.media.api('status')).to.match(/^UP /);
    expect(await stage.media.api('uuid_nosuch x')).to.equal('-ERR uuid_nosuch Command not found!\n');
    expect(await stage.media.api('show channels count')).to.match(/^\n\d+ total\.\n$/);
    expect(await stage.media.api('uuid_exists 00000000-0000-0000-0000-000000000000')).to.equal('false');
  });

  it('a wrong password is refused and the connection closed', async () => {
    const { host, port } = stage.address;
    const socket = connectTcp({ host, port }).setEncoding('utf8');
    const received = new Moment<string>('refusal');
    let all = '';
    socket.on('data', (chunk: string) => {
      all += chunk;
      if (all.includes('-ERR')) received.reach(all);
    });
    const closed = once(socket, 'close');
    await once(socket, 'connect');
    socket.write('auth wrong\n\n');
    expect(await received.wait(3000)).to.match(
      /^Content-Type: auth\/request\n\nContent-Type: command\/reply\nReply-Text: -ERR invalid\n\n/,
    );
    await closed;
  });

  it('an endpoint for a caller answers its offer', async () => {
    const { call, endpoint, dialog } = await stage.connect(['PCMA']);
    expect(endpoint.uuid).to.match(/^[0-9a-f-]{36}$/);
    expect(endpoint.connected).to.equal(true);
    expect(endpoint.dtmfType).to.equal('rfc2833');
    expect(endpoint.remote.mediaPort).to.equal(String(call.session.rtp.port));
    expect(endpoint.local.mediaPort).to.equal(String(call.session.remote?.port));
    expect(call.session.remote?.codecs).to.deep.equal(['PCMA']);
    expect(call.session.remote?.telephoneEvent).to.equal(101);
    expect(dialog.local.sdp).to.equal(endpoint.local.sdp);
    expect(text(await endpoint.api('uuid_exists', endpoint.uuid))).to.equal('true');
  });

  it('an endpoint without far end offers its codecs and telephone-events, and takes the answer later', async () => {
    const endpoint = stage.keep(await stage.media.createEndpoint());
    expect(endpoint.local.sdp).to.match(/^m=audio \d+ RTP\/AVP \d+ 9 0 8 (?:\d+ )?101/m);
    expect(endpoint.local.sdp).to.match(/^a=rtpmap:101 telephone-event\/8000/m);
    // A phone that rejects RTCP multiplexing would still get reports at its RTP port.
    expect(endpoint.local.sdp).not.to.contain('a=rtcp-mux');
    const answer = await endpoint.modify(sdp(41_234, 2));
    // FreeSWITCH also names the telephone-events of its own offer that the far end left out.
    expect(answer).to.match(/^m=audio \d+ RTP\/AVP 0 (?:103 )?101/m);
    expect(endpoint.local.sdp).to.match(new RegExp(`^m=audio ${endpoint.local.mediaPort} `, 'm'));
  });

  it('mu-law is chosen when both codecs are offered, in any order, to avoid transcoding', async () => {
    const both = sdp(41_000).replace('RTP/AVP 0 101', 'RTP/AVP 8 0 101');
    const offer = both.replace('a=rtpmap:0', 'a=rtpmap:8 PCMA/8000\r\na=rtpmap:0');
    const endpoint = stage.keep(await stage.media.createEndpoint({ remoteSdp: offer }));
    expect(endpoint.local.sdp).to.match(/^m=audio \d+ RTP\/AVP 0 101/m);
  });

  it('an offer without a common codec is refused with 488', async () => {
    const offer = sdp(41_000).replace('RTP/AVP 0 101', 'RTP/AVP 18').replace('a=rtpmap:0 PCMU', 'a=rtpmap:18 G729');
    const status = await stage.media.createEndpoint({ remoteSdp: offer }).then(
      () => undefined,
      (error: unknown) => (error as { status?: number }).status,
    );
    expect(status).to.equal(488);
  });

  for (const [offered, answered] of [
    ['sendonly', 'recvonly'],
    ['inactive', 'inactive'],
    ['recvonly', 'sendonly'],
  ] as const) {
    it(`an offer with ${offered} is answered with ${answered}, and the call resumes`, async () => {
      const endpoint = stage.keep(await stage.media.createEndpoint({ remoteSdp: sdp(41_000) }));
      expect(await endpoint.modify(sdp(41_000, 2, offered))).to.match(new RegExp(`^a=${answered}\\r?$`, 'm'));
      expect(await endpoint.modify(sdp(41_000, 3))).not.to.match(/^a=(recvonly|inactive|sendonly)/m);
    });
  }

  it('variables can be set and read', async () => {
    const { endpoint } = await stage.connect();
    await endpoint.set('lab_a', 'two words');
    expect(text(await endpoint.api('uuid_getvar', `${endpoint.uuid} lab_a`))).to.equal('two words');
    expect(text(await endpoint.api('uuid_setvar', `${endpoint.uuid} lab_b 7`))).to.equal('+OK');
    expect(text(await endpoint.api('uuid_getvar', `${endpoint.uuid} lab_b`))).to.equal('7');
    expect(text(await endpoint.api('uuid_getvar', `${endpoint.uuid} lab_none`))).to.equal('_undef_');
    const variables = await endpoint.getChannelVariables(true);
    expect(variables['variable_lab_a']).to.equal('two words');
    expect(variables['Unique-ID']).to.equal(endpoint.uuid);
    expect(Number(variables['variable_rtp_audio_in_packet_count'])).to.be.greaterThan(0);
  });

  it('a destroyed endpoint sends BYE and is gone', async () => {
    const endpoint = await stage.media.createEndpoint({ remoteSdp: sdp(41_000) });
    await endpoint.destroy();
    expect(endpoint.connected).to.equal(false);
    expect(await stage.media.api(`uuid_exists ${endpoint.uuid}`)).to.equal('false');
  });

  it('the application learns of a killed endpoint', async () => {
    const endpoint = await stage.media.createEndpoint({ remoteSdp: sdp(41_000) });
    const destroyed = new Moment<true>('destroy');
    endpoint.on('destroy', () => destroyed.reach(true));
    expect((await stage.media.api(`uuid_kill ${endpoint.uuid}`)).trim()).to.equal('+OK');
    await destroyed.wait(2000);
    expect((await stage.media.api(`uuid_kill ${endpoint.uuid}`)).trim()).to.equal('-ERR No such channel!');
  });

  it('an endpoint hangs up with the cause of the application', async () => {
    const endpoint = await stage.media.createEndpoint({ remoteSdp: sdp(41_000) });
    const bye = new Moment<string | undefined>('BYE');
    endpoint.dialog.on('destroy', (message: { get(name: string): string | undefined }) =>
      bye.reach(message.get('Reason')),
    );
    void endpoint.execute('hangup', 'USER_BUSY').catch(() => undefined);
    expect(await bye.wait(10_000)).to.equal('Q.850;cause=17;text="USER_BUSY"');
  });

  it('an endpoint hangs up when the application closes its socket', async () => {
    const endpoint = await stage.media.createEndpoint({ remoteSdp: sdp(41_000) });
    const bye = new Moment<true>('BYE');
    endpoint.dialog.on('destroy', () => bye.reach(true));
    // FreeSWITCH does not notice a closed socket before the channel is parked; an executed application shows that it is parked.
    await endpoint.set('parked', 'yes');
    endpoint.conn.socket.end();
    await bye.wait(10_000);
  });

  it('an endpoint hangs up on an unknown application', async () => {
    const endpoint = await stage.media.createEndpoint({ remoteSdp: sdp(41_000) });
    const bye = new Moment<string | undefined>('BYE');
    endpoint.dialog.on('destroy', (message: { get(name: string): string | undefined }) =>
      bye.reach(message.get('Reason')),
    );
    void endpoint.execute('nosuchapp').catch(() => undefined);
    expect(await bye.wait(10_000)).to.match(/^Q\.850;cause=27;/);
  });

  it('an endpoint ends when its application is unreachable', async () => {
    const unreachable = await connectMedia(stage.srf, stage.address, {
      advertisedAddress: '127.0.0.1',
      advertisedPort: 9,
    });
    const message = await unreachable.createEndpoint({ remoteSdp: sdp(41_000) }).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    expect(message).to.equal('Connection timeout');
    unreachable.disconnect();
  });
});
