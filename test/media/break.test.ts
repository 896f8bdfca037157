import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { FsEndpoint, FsEvent } from 'drachtio-fsmrf';
import { ChannelSession } from '../../runtime/media/channel-session.ts';
import { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import type { EndpointServer } from '../../runtime/media/endpoint-server.ts';
import { FiguresDesk } from '../../runtime/media/media-figures.ts';
import { SilenceLimit } from '../../runtime/media/silence-limit.ts';

const UUID = '9a9fdd1f-cdcb-4073-b059-1216e442a019';

/** A channel of a media server that forgets breaks, as FreeSWITCH does while it changes the codec. */
class ForgetfulChannel extends EventEmitter {
  readonly uuid = UUID;
  readonly local = { sdp: '' };
  readonly dialog = null;
  readonly conn = Object.assign(new EventEmitter(), { getInfo: () => ({ getHeader: () => undefined }) });
  breaks = 0;
  readonly #forgets: number;
  #complete: (event: FsEvent) => void = () => undefined;

  constructor(forgets: number) {
    super();
    this.#forgets = forgets;
  }

  execute(application: string): Promise<FsEvent> {
    const event = { getHeader: (name: string) => (name === 'Application' ? application : undefined) } as FsEvent;
    setImmediate(() => this.conn.emit(`esl::event::CHANNEL_EXECUTE::${UUID}`, event));
    if (application !== 'playback') return Promise.resolve(event);
    return new Promise((resolve) => (this.#complete = () => resolve(event)));
  }

  api(command: string): Promise<FsEvent> {
    const event = { getBody: () => '+OK\n' } as FsEvent;
    if (command === 'uuid_break' && ++this.breaks > this.#forgets) this.#complete(event);
    return Promise.resolve(event);
  }
}

describe('media: the end of a sound', () => {
  const server = {
    entered: () => undefined,
    left: () => undefined,
    figures: new FiguresDesk(),
  } as unknown as EndpointServer;

  it('is requested until it happens', async () => {
    const channel = new ForgetfulChannel(2);
    const made = channel as unknown as FsEndpoint;
    const session = new ChannelSession(made, new SilenceLimit(0, undefined), {});
    const endpoint = new MediaEndpoint(made, server, { via: undefined, srtp: undefined, session });
    const stop = new AbortController();
    const played = endpoint.play('tone_stream://%(1000,4000,425);loops=-1', stop.signal);
    stop.abort(new Error('answered'));
    expect(await played.catch((error: Error) => error.message)).to.equal('answered');
    expect(channel.breaks).to.equal(3);
  });
});
