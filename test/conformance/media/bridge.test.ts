import { expect } from 'chai';
import { Moment } from '../../phones/wait.ts';
import { eventually } from '../../support/eventually.ts';
import { text } from '../support/fsmrf.ts';
import { type Connected, fallsSilent, useMediaStage } from '../support/media-stage.ts';

async function talk(one: Connected, other: Connected): Promise<void> {
  one.call.play(440);
  other.call.play(620);
  await Promise.all([one.call.hears(620), other.call.hears(440)]);
}

describe('Conformance, media server: bridges', () => {
  const stage = useMediaStage();

  it('two phones hear each other until they are separated', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    await talk(a, b);
    await a.endpoint.unbridge();
    await Promise.all([fallsSilent(a.call, 620), fallsSilent(b.call, 440)]);
    expect([a.endpoint.connected, b.endpoint.connected]).to.deep.equal([true, true]);
  });

  it('two endpoints are bridged, separated, play, and are bridged again', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    await talk(a, b);
    await a.endpoint.unbridge();
    a.call.play(undefined);
    const played = a.endpoint.play('tone_stream://%(400,0,1300)');
    await a.call.hears(1300);
    await played;
    await b.endpoint.bridge(a.endpoint);
    await talk(a, b);
  });

  it('sound is transcoded between mu-law and A-law', async () => {
    const [a, b] = [await stage.connect(['PCMU']), await stage.connect(['PCMA'])];
    await a.endpoint.bridge(b.endpoint);
    await talk(a, b);
  });

  it('digits pass from one phone to the other', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    await talk(a, b);
    await a.call.sendDtmf('58');
    await b.call.receivesDtmf('58');
  });

  it('an endpoint survives the end of the other one', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    await talk(a, b);
    await a.endpoint.destroy();
    expect(b.endpoint.connected).to.equal(true);
    const played = b.endpoint.play('tone_stream://%(400,0,1300)');
    await b.call.hears(1300);
    await played;
  });

  it('the bridging endpoint survives when the other ends before the bridge is established', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    expect(text(await a.endpoint.api('uuid_bridge', `${a.endpoint.uuid} ${b.endpoint.uuid}`))).to.match(/^\+OK/);
    expect(text(await a.endpoint.api('uuid_kill', b.endpoint.uuid))).to.match(/^\+OK/);
    // A play during that moment ends at once.
    await eventually(async () => {
      const { playbackMilliseconds } = await a.endpoint.play('silence_stream://100');
      expect(Number(playbackMilliseconds)).to.be.greaterThan(0);
    });
  });

  it('an endpoint can move from one bridge to another', async () => {
    const [a, b, c] = [await stage.connect(), await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    await talk(a, b);
    await a.endpoint.bridge(c.endpoint);
    await talk(a, c);
    expect(b.endpoint.connected).to.equal(true);
  });

  it('a bridge with an unknown channel is refused', async () => {
    const { endpoint } = await stage.connect();
    const message = await endpoint.bridge('00000000-0000-0000-0000-000000000000').then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );
    expect(message).to.equal('-ERR Invalid uuid\n');
  });

  it('a bridge goes on when the application closes the sockets of its channels', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    await talk(a, b);
    for (const { endpoint } of [a, b]) endpoint.conn.socket.destroy();
    await talk(a, b);
    for (const { endpoint } of [a, b]) {
      const bye = new Moment<true>('BYE');
      endpoint.dialog.on('destroy', () => bye.reach(true));
      await stage.media.api(`uuid_kill ${endpoint.uuid}`);
      await bye.wait(10_000);
    }
  });

  it('CHANNEL_BRIDGE is sent to its subscribers for an established bridge', async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    const bridged = new Moment<Set<string | undefined>>('CHANNEL_BRIDGE');
    const connection = a.endpoint.conn as unknown as {
      subscribe(events: string): void;
      on(event: string, listener: (event: { getHeader(name: string): string | undefined }) => void): void;
    };
    connection.on(`esl::event::CHANNEL_BRIDGE::${a.endpoint.uuid}`, (event) =>
      bridged.reach(new Set([event.getHeader('Bridge-A-Unique-ID'), event.getHeader('Bridge-B-Unique-ID')])),
    );
    connection.subscribe('CHANNEL_BRIDGE');
    await a.endpoint.bridge(b.endpoint);
    expect(await bridged.wait(2000)).to.deep.equal(new Set([a.endpoint.uuid, b.endpoint.uuid]));
    // From now on no sent packet is lost on either side.
    expect(text(await b.endpoint.api('uuid_send_dtmf', `${b.endpoint.uuid} 7`))).to.match(/^\+OK/);
    await b.call.receivesDtmf('7');
  });

  it("echo returns a phone's own sound, until it is parked", async () => {
    const { call, endpoint } = await stage.connect();
    // It settles only at the end of the echo, and never when the channel ends first.
    void endpoint.execute('echo');
    call.play(700);
    await call.hears(700);
    expect(text(await endpoint.api('uuid_transfer', `${endpoint.uuid} -both park inline`))).to.match(/^\+OK/);
    await fallsSilent(call, 700);
    expect(endpoint.connected).to.equal(true);
  });

  it("uuid_audio mutes and unmutes a phone's sound", async () => {
    const [a, b] = [await stage.connect(), await stage.connect()];
    await a.endpoint.bridge(b.endpoint);
    await talk(a, b);
    expect(text(await a.endpoint.api('uuid_audio', `${a.endpoint.uuid} start read mute 1`))).to.match(/^\+OK/);
    await fallsSilent(b.call, 440);
    expect(text(await a.endpoint.api('uuid_audio', `${a.endpoint.uuid} stop`))).to.match(/^\+OK/);
    await b.call.hears(440);
  });
});
