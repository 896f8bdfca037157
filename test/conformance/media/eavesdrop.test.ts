import { expect } from 'chai';
import { RtpPhone } from '../../embedded/media/support/rtp-phone.ts';
import { eventually } from '../../support/eventually.ts';
import { text } from '../support/fsmrf.ts';
import { type Connected, fallsSilent, useMediaStage } from '../support/media-stage.ts';

const [A, B, C, SPY] = [440, 700, 1100, 1900] as const;

describe('Conformance, media server: eavesdropping', () => {
  const stage = useMediaStage();

  const pair = async (): Promise<{ a: Connected; b: Connected }> => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    a.call.play(A);
    b.call.play(B);
    await a.endpoint.bridge(b.endpoint);
    await a.call.hears(B);
    return { a, b };
  };
  /** Starts to listen; settles when the application has ended. Sets the variables first, as commands wait meanwhile. */
  const listen = async (spy: Connected, target: Connected, variables: Record<string, string> = {}): Promise<void> => {
    for (const [name, value] of Object.entries(variables)) await spy.endpoint.set(name, value);
    await spy.endpoint.execute('eavesdrop', target.endpoint.uuid);
  };
  const exists = async ({ endpoint }: Connected): Promise<boolean> =>
    (await stage.media.api(`uuid_exists ${endpoint.uuid}`)).trim() === 'true';

  it('the listener hears both legs and is not heard, and follows the leg into another bridge', async () => {
    const { a, b } = await pair();
    const [spy, c] = [await stage.connect(), await stage.connect()];
    c.call.play(C);
    spy.call.play(SPY);
    const ended = listen(spy, a);
    await Promise.all([spy.call.hears(A), spy.call.hears(B)]);
    await Promise.all([a.call.hearsNot(SPY, { forMs: 200 }), b.call.hearsNot(SPY, { forMs: 200 })]);
    await a.endpoint.bridge(c.endpoint);
    await Promise.all([spy.call.hears(C), spy.call.hears(A)]);
    await fallsSilent(spy.call, B);
    await a.endpoint.unbridge();
    await fallsSilent(spy.call, C);
    await spy.call.hears(A);
    await a.call.hangup();
    await ended;
    expect(await exists(spy)).to.equal(true);
  });

  it('the listener can be limited to one leg', async () => {
    const { a } = await pair();
    const [said, heard] = [await stage.connect(), await stage.connect()];
    const ends = [
      listen(said, a, { eavesdrop_bridge_aleg: 'true' }),
      listen(heard, a, { eavesdrop_bridge_bleg: 'true' }),
    ];
    await Promise.all([said.call.hears(A), heard.call.hears(B)]);
    await Promise.all([said.call.hearsNot(B, { forMs: 200 }), heard.call.hearsNot(A, { forMs: 200 })]);
    await a.call.hangup();
    await Promise.all(ends);
  });

  it('the listener hears sound played to a leg', async () => {
    const [a, spy] = [await stage.connect(), await stage.connect()];
    const ended = listen(spy, a);
    const played = a.endpoint.play('tone_stream://%(1500,0,1900)');
    await spy.call.hears(1900);
    await played;
    await a.call.hangup();
    await ended;
  });

  it("the listener's digits select who hears it, and * ends it", async () => {
    const { a, b } = await pair();
    const spy = await stage.connect();
    const ended = listen(spy, a);
    await spy.call.hears(B);
    spy.call.play(SPY);
    await spy.call.sendDtmf('2');
    await a.call.hears(SPY);
    await b.call.hearsNot(SPY, { forMs: 200 });
    await spy.call.sendDtmf('1');
    spy.call.play(SPY);
    await b.call.hears(SPY);
    await fallsSilent(a.call, SPY);
    await spy.call.sendDtmf('3');
    spy.call.play(SPY);
    await Promise.all([a.call.hears(SPY), b.call.hears(SPY)]);
    await spy.call.sendDtmf('0');
    spy.call.play(SPY);
    await Promise.all([fallsSilent(a.call, SPY), fallsSilent(b.call, SPY)]);
    await spy.call.sendDtmf('*');
    await ended;
    await fallsSilent(spy.call, A);
  });

  it('a break does not end eavesdropping, a transfer does', async () => {
    const { a } = await pair();
    const spy = await stage.connect();
    const ended = listen(spy, a, { eavesdrop_enable_dtmf: 'false' });
    await spy.call.hears(A);
    await spy.call.sendDtmf('*');
    await stage.media.api(`uuid_break ${spy.endpoint.uuid} all`);
    await spy.call.hearsNot(SPY, { forMs: 300 });
    await spy.call.hears(A);
    expect(text(await spy.endpoint.api('uuid_transfer', `${spy.endpoint.uuid} park inline`))).to.equal('+OK');
    await ended;
    await fallsSilent(spy.call, A);
  });

  it('eavesdropping on an unknown channel ends at once', async () => {
    const spy = await stage.connect();
    await spy.endpoint.execute('eavesdrop', '00000000-0000-4000-8000-000000000000');
    expect(await exists(spy)).to.equal(true);
  });

  it('a call can be heard at an RTP socket of the application, which need not send', async () => {
    const { a } = await pair();
    const socket = await RtpPhone.open();
    const endpoint = stage.keep(await stage.media.createEndpoint({ remoteSdp: socket.sdp() }));
    const ended = endpoint.execute('eavesdrop', a.endpoint.uuid);
    await eventually(async () => {
      const since = performance.now() - 200;
      for (const tone of [A, B]) expect(socket.level(tone, since), `${tone} Hz`).to.be.greaterThan(2000);
    });
    await a.call.hangup();
    await ended;
    await socket.close();
  });
});
