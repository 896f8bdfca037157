import { expect } from 'chai';
import { keySound } from '../../phones/media/keypad.ts';
import { Arrivals, Moment } from '../../phones/wait.ts';
import { type Collected, type Endpoint, type FsEvent, text } from '../support/fsmrf.ts';
import { type Connected, useMediaStage } from '../support/media-stage.ts';
import type { Request, Response } from '../support/srf.ts';

interface Digit {
  readonly dtmf: string;
  readonly duration: string;
  readonly source: string;
}

/** The INFO requests of the media server for this endpoint. */
function infosOf({ endpoint }: Connected): Arrivals<Request> {
  const infos = new Arrivals<Request>('INFO of the media server');
  endpoint.dialog.on('info', (request: Request, response: Response) => {
    infos.push(request);
    response.send(200);
  });
  return infos;
}

async function carries(infos: Arrivals<Request>, digit: string): Promise<void> {
  const request = await infos.next(2000);
  expect(request.get('Content-Type')).to.equal('application/dtmf-relay');
  const [, signal, duration] = /^Signal=(.)\r\nDuration=(\d+)\r\n$/.exec(request.body) ?? [];
  expect(signal).to.equal(digit);
  expect(Number(duration), 'milliseconds').to.be.within(80, 250);
}

/** Collects, and presses these keys at the phone once it does: earlier digits are lost. */
async function collect(
  { call, endpoint }: Connected,
  keys: string,
  options: Parameters<Endpoint['playCollect']>[0],
): Promise<Collected> {
  const begun = new Moment<true>('beginning of the application');
  const executed = (event: FsEvent): void => {
    if (event.getHeader('Application') === 'play_and_get_digits') begun.reach(true);
  };
  endpoint.conn.on(`esl::event::CHANNEL_EXECUTE::${endpoint.uuid}`, executed);
  const collecting = endpoint.playCollect(options);
  await begun.wait(3000);
  endpoint.conn.off(`esl::event::CHANNEL_EXECUTE::${endpoint.uuid}`, executed);
  await call.sendDtmf(keys);
  return await collecting;
}

describe('Conformance, media server: digits', () => {
  const stage = useMediaStage();

  it('RFC 4733 digits are reported with length and source', async () => {
    const { call, endpoint } = await stage.connect();
    const digits = new Arrivals<Digit>('dtmf event');
    endpoint.on('dtmf', (event: Digit) => digits.push(event));
    await call.sendDtmf('15*#');
    for (const dtmf of '15*#') {
      const event = await digits.next(1000);
      expect(event.dtmf).to.equal(dtmf);
      expect(event.source).to.equal('RTP');
      expect(Number(event.duration), 'samples').to.be.within(640, 1120);
    }
  });

  it('digits are reported during a play, which continues', async () => {
    const { call, endpoint } = await stage.connect();
    const digits = new Arrivals<Digit>('dtmf event');
    endpoint.on('dtmf', (event: Digit) => digits.push(event));
    const playing = endpoint.play('tone_stream://%(1000,0,800)');
    await call.hears(800);
    await call.sendDtmf('7');
    expect((await digits.next(1000)).dtmf).to.equal('7');
    expect((await playing).playbackMilliseconds).to.equal('1000');
  });

  it('collecting ends at the maximum of digits', async () => {
    const options = { file: 'silence_stream://100', min: 1, max: 3, timeout: 3000 };
    expect(await collect(await stage.connect(), '123', options)).to.include({ digits: '123', terminatorUsed: null });
  });

  it('collecting ends at a terminator, which is not part of the digits', async () => {
    const options = { file: 'silence_stream://100', min: 1, max: 6, timeout: 3000 };
    expect(await collect(await stage.connect(), '42#', options)).to.include({ digits: '42', terminatorUsed: '#' });
  });

  it('the first digit stops the prompt', async () => {
    const { call, endpoint } = await stage.connect();
    const started = performance.now();
    const collecting = endpoint.playCollect({ file: 'tone_stream://%(5000,0,800)', min: 1, max: 1, timeout: 3000 });
    await call.hears(800);
    await call.sendDtmf('9');
    expect((await collecting).digits).to.equal('9');
    expect(performance.now() - started).to.be.lessThan(3000);
  });

  it('collecting without digits returns none', async () => {
    const { endpoint } = await stage.connect();
    const collecting = endpoint.playCollect({ file: 'silence_stream://100', min: 1, max: 4, timeout: 500 });
    expect((await collecting).digits).to.equal(null);
  });

  it('collecting ends at the pause between digits, and repeats for digits that do not match', async () => {
    const connected = await stage.connect();
    const options = { file: 'silence_stream://100', min: 1, max: 4, timeout: 2000, digitTimeout: 600 };
    expect((await collect(connected, '12', options)).digits).to.equal('12');
    const strict = collect(connected, '9', {
      ...options,
      max: 1,
      tries: 2,
      regexp: '[1-3]',
      invalidFile: 'tone_stream://%(300,0,1100)',
    });
    await connected.call.hears(1100, { withinMs: 6000 });
    await connected.call.sendDtmf('2');
    expect((await strict).digits).to.equal('2');
  });

  it('digits are sent to the phone by RFC 4733', async () => {
    const { call, endpoint } = await stage.connect();
    expect(text(await endpoint.api('uuid_send_dtmf', `${endpoint.uuid} 48*#`))).to.equal(
      `+OK ${endpoint.uuid} sent DTMF 48*#.`,
    );
    await call.receivesDtmf('48*#');
  });

  it('digits received from the application count like those of the phone', async () => {
    const { endpoint } = await stage.connect();
    const digits = new Arrivals<Digit>('dtmf event');
    endpoint.on('dtmf', (event: Digit) => digits.push(event));
    expect(text(await endpoint.api('uuid_recv_dtmf', `${endpoint.uuid} 6`))).to.equal(
      `+OK ${endpoint.uuid} received DTMF 6.`,
    );
    expect(await digits.next(1000)).to.include({ dtmf: '6', source: 'APP' });
  });

  it('digits are received by INFO', async () => {
    const { endpoint } = await stage.connect();
    const digits = new Arrivals<Digit>('dtmf event');
    endpoint.on('dtmf', (event: Digit) => digits.push(event));
    // drachtio-fsmrf returns the endpoint while its event subscription is still on its way.
    await endpoint.set('subscribed', 'yes');
    const response = await endpoint.dialog.request({
      method: 'INFO',
      headers: { 'Content-Type': 'application/dtmf-relay' },
      body: 'Signal=3\r\nDuration=160\r\n',
    });
    expect(response.status).to.equal(200);
    expect(await digits.next(1000)).to.include({ dtmf: '3', duration: '1280', source: 'ENDPOINT' });
    await endpoint.dialog.request({ method: 'INFO', headers: { 'Content-Type': 'application/dtmf' }, body: '7' });
    expect(await digits.next(1000)).to.include({ dtmf: '7', duration: '2000' });
  });

  it('digits are sent by INFO to a far end without telephone-events', async () => {
    const connected = await stage.connect(['PCMU'], { keysByRtp: false });
    const infos = infosOf(connected);
    expect(connected.endpoint.dtmfType).to.equal('info');
    const { endpoint } = connected;
    expect(text(await endpoint.api('uuid_send_dtmf', `${endpoint.uuid} 4#`))).to.equal(
      `+OK ${endpoint.uuid} sent DTMF 4#.`,
    );
    for (const digit of '4#') await carries(infos, digit);
  });

  it('start_dtmf reports digits in the sound, once each, until stop_dtmf', async () => {
    const { call, endpoint } = await stage.connect(['PCMA'], { keysByRtp: false });
    const digits = new Arrivals<Digit>('dtmf event');
    endpoint.on('dtmf', (event: Digit) => digits.push(event));
    await endpoint.execute('start_dtmf');
    await endpoint.execute('start_dtmf');
    await call.say(keySound('159D*0#'));
    for (const dtmf of '159D*0#') {
      expect(await digits.next(3000)).to.include({ dtmf, source: 'INBAND_AUDIO' });
    }
    await endpoint.execute('stop_dtmf');
    await call.say(keySound('22'));
    await endpoint.api('uuid_recv_dtmf', `${endpoint.uuid} 3`);
    expect((await digits.next(3000)).dtmf).to.equal('3');
  });

  it('a digit in the sound ends a prompt that waits for it', async () => {
    const connected = await stage.connect(['PCMU'], { keysByRtp: false });
    const { call, endpoint } = connected;
    await endpoint.execute('start_dtmf');
    const collecting = endpoint.playCollect({ file: 'tone_stream://%(5000,0,800)', min: 1, max: 2, timeout: 3000 });
    await call.hears(800);
    await call.say(keySound('46'));
    expect((await collecting).digits).to.equal('46');
  });

  it('after start_dtmf_generate digits marked by ~ are sent as tones, which is reported, to a phone that is idle, hears a sound, or is bridged', async () => {
    const [one, other] = [await stage.connect(), await stage.connect(['PCMU'], { keysByRtp: false })];
    const { call, endpoint } = other;
    const sent: FsEvent[] = [];
    endpoint.conn.on(`esl::event::DTMF::${endpoint.uuid}`, (event: FsEvent) => sent.push(event));
    await endpoint.execute('start_dtmf_generate', 'write');
    const send = async (keys: string): Promise<void> => {
      const heard = call.hearsKeys(keys, { withinMs: 8000 });
      await endpoint.api('uuid_send_dtmf', `${endpoint.uuid} ~${keys}`);
      await heard;
    };
    await send('155#');
    const playing = endpoint.play('tone_stream://%(3000,0,800)');
    await call.hears(800);
    await send('A0');
    await call.hears(800);
    await playing;
    await one.endpoint.bridge(endpoint);
    one.call.play(440);
    await call.hears(440);
    await send('7*');
    await call.hears(440);
    expect(sent.map((event) => event.getHeader('DTMF-Digit')).join('')).to.equal('155#A07*');
    expect(new Set(sent.map((event) => event.getHeader('DTMF-Conversion')))).to.deep.equal(new Set(['native:inband']));
  });

  it('a bridge passes on digits by INFO to a side without telephone-events', async () => {
    const [one, other] = [await stage.connect(), await stage.connect(['PCMU'], { keysByRtp: false })];
    const infos = infosOf(other);
    await one.endpoint.bridge(other.endpoint);
    one.call.play(440);
    await other.call.hears(440);
    await one.call.sendDtmf('8');
    await carries(infos, '8');
  });
});
