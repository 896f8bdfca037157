import { mock } from 'node:test';
import { expect } from 'chai';
import type { FsEvent } from 'drachtio-fsmrf';
import { bothFigures, FiguresDesk, readFigures } from '../../runtime/media/media-figures.ts';
import { useLinkedServer } from './linked-server.ts';

/** CHANNEL_HANGUP_COMPLETE of a FreeSWITCH, with its variables. */
function hangup(uuid: string, variables: Readonly<Record<string, string>>): FsEvent {
  const headers: Record<string, string> = { 'Unique-ID': uuid };
  for (const [name, value] of Object.entries(variables)) headers[`variable_${name}`] = value;
  return { getHeader: (name) => headers[name], getBody: () => '' };
}

// As recorded from a real server.
const RECORDED = {
  rtp_use_codec_name: 'PCMA',
  read_codec: 'L16',
  rtp_audio_in_packet_count: '378',
  rtp_audio_in_flaw_total: '6',
  rtp_audio_in_jitter_max_variance: '6.25',
  rtp_audio_in_mos: '4.42',
  rtp_audio_out_packet_count: '352',
};

describe('media: figures of an endpoint', () => {
  const server = useLinkedServer();

  it('arrive at its end, whichever side ended it', async () => {
    const [one, other] = [await server.endpoint(), await server.endpoint()];
    for (const { phone, endpoint } of [one, other]) phone.talk(endpoint.localSdp, 440);
    await one.endpoint.play('silence_stream://400', AbortSignal.timeout(3000));
    await one.endpoint.destroy();
    await other.endpoint.command('uuid_kill', '').catch(() => 'the connection ends with the channel');
    for (const { endpoint } of [one, other]) {
      const figures = await endpoint.figures;
      expect(figures).to.include({ codec: 'PCMU', lostOut: null });
      expect(figures?.packetsIn).to.be.above(5);
    }
    expect((await one.endpoint.figures)?.packetsOut).to.be.above(5);
  });

  it('are unknown when the media server does not tell them, and at the end of the link', async () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      const desk = new FiguresDesk();
      const gone = new AbortController();
      const [late, open] = [desk.of('1', gone.signal), desk.of('2', new AbortController().signal)];
      gone.abort();
      mock.timers.tick(2000);
      expect(await late).to.equal(undefined);
      desk.take(hangup('1', RECORDED));
      desk.close();
      expect(await open).to.equal(undefined);
    } finally {
      mock.timers.reset();
    }
  });

  it("are read from FreeSWITCH's variables; a far end without a packet has no score", () => {
    const read = readFigures(hangup('1', RECORDED));
    expect(read).to.deep.equal({
      codec: 'PCMA',
      packetsIn: 378,
      packetsOut: 352,
      lostIn: 6,
      jitterMsIn: 2.5,
      mosIn: 4.42,
      lostOut: null,
      jitterMsOut: null,
    });
    const silent = readFigures(hangup('1', { ...RECORDED, rtp_audio_in_packet_count: '0', rtp_audio_in_mos: '4.50' }));
    expect(silent.mosIn).to.equal(null);
    expect(bothFigures(read, undefined)).to.equal(read);
    expect(bothFigures(silent, { ...read, jitterMsIn: 9, lostOut: 2 })).to.deep.include({
      packetsIn: 378,
      packetsOut: 704,
      lostIn: 12,
      jitterMsIn: 9,
      mosIn: 4.42,
      lostOut: 2,
    });
  });
});
