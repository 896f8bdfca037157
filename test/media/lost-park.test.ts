import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { FsEndpoint, FsEvent } from 'drachtio-fsmrf';
import { ChannelSession } from '../../runtime/media/channel-session.ts';
import { MediaEndpoint } from '../../runtime/media/endpoint.ts';
import type { EndpointServer } from '../../runtime/media/endpoint-server.ts';
import { FiguresDesk } from '../../runtime/media/media-figures.ts';
import { SilenceLimit } from '../../runtime/media/silence-limit.ts';

/** A channel of a media server that parks only the other leg of a bridge, as FreeSWITCH does at times. */
class Channel extends EventEmitter {
  readonly uuid: string;
  readonly local = { sdp: '' };
  readonly dialog = null;
  readonly conn = Object.assign(new EventEmitter(), { getInfo: () => ({ getHeader: () => undefined }) });
  readonly asked: string[] = [];
  other: Channel | undefined;

  constructor(uuid: string) {
    super();
    this.uuid = uuid;
  }

  execute(application: string): Promise<FsEvent> {
    return Promise.resolve({ getHeader: () => application } as unknown as FsEvent);
  }

  api(command: string, args = ''): Promise<FsEvent> {
    if (command === 'uuid_transfer') {
      this.asked.push(args);
      (args.includes('-both') ? this.other : this)?.parks();
    }
    return Promise.resolve({ getBody: () => '+OK\n' } as FsEvent);
  }

  parks(): void {
    const event = { getHeader: (name: string) => (name === 'Application' ? 'park' : undefined) } as FsEvent;
    setImmediate(() => this.conn.emit(`esl::event::CHANNEL_EXECUTE::${this.uuid}`, event));
  }
}

function endpointOf(channel: Channel): MediaEndpoint {
  const fs = channel as unknown as FsEndpoint;
  const session = new ChannelSession(fs, new SilenceLimit(0, undefined), {});
  const server = { entered: () => undefined, left: () => undefined, figures: new FiguresDesk() };
  return new MediaEndpoint(fs, server as unknown as EndpointServer, { via: undefined, srtp: undefined, session });
}

describe('media: the end of a bridge', () => {
  it('parks a leg again that the media server has left idle, where it would play nothing', async () => {
    const [first, second] = [new Channel('first'), new Channel('second')];
    first.other = second;
    const [a, b] = [endpointOf(first), endpointOf(second)];
    await a.bridge(b);
    await a.unbridge(b);
    expect(first.asked).to.deep.equal(['first -both park inline', 'first park inline']);
    expect(second.asked).to.deep.equal([]);
  });
});
