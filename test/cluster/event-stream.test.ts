import { expect } from 'chai';
import type { EventStream } from '../../runtime/cluster/events/event-stream.ts';
import { Follower } from '../../runtime/cluster/events/follower.ts';
import { messageOf, toldOf } from '../../runtime/cluster/events/message.ts';
import { pastOf } from '../../runtime/cluster/events/past.ts';
import { asDomainName } from '../../runtime/domain-name/index.ts';

const DOMAIN = asDomainName('one.test');
const LAST = 5;
const STATE = { epoch: 'e', first: 1, last: LAST };

/** A server of NATS that does not have its copy yet: it tells all messages, whatever it is asked for. */
function behind(): { readonly stream: EventStream; tell(position: number): void } {
  let hear: (position: number, text: string) => void = () => undefined;
  const tell = (position: number): void => {
    const event = { domain: DOMAIN, class: 'callevents', type: 'call_init', ts: 0, seq: 0, data: { n: position } };
    hear(position, messageOf([toldOf(event)]));
  };
  const stream = {
    open: () => Promise.resolve(STATE),
    state: () => Promise.resolve(STATE),
    read: (...[, , listener]: Parameters<EventStream['read']>) => {
      hear = listener;
      for (let position = 1; position <= LAST; position += 1) tell(position);
      return Promise.resolve({ waiting: LAST, over: new Promise(() => undefined), stop: () => undefined });
    },
  };
  return { stream: stream as unknown as EventStream, tell };
}

describe('events of a server of NATS that tells more than it was asked for', () => {
  it('are told once', async () => {
    const { stream, tell } = behind();
    const told: unknown[] = [];
    const follower = new Follower(DOMAIN, stream, 'e', {
      heard: (events) => told.push(...events.map(({ data }) => data['n'])),
      lost: () => expect.fail(),
    });
    await follower.opened;
    tell(LAST + 1);
    await follower.reopen();
    tell(LAST + 2);
    follower.close();
    expect(told).to.deep.equal([LAST + 1, LAST + 2]);
  });

  it('are not taken for those after the place at which somebody resumes', async () => {
    const past = await pastOf(behind().stream, { domain: DOMAIN, epoch: 'e', after: 3, upTo: LAST });
    expect(past?.map(({ data }) => data['n'])).to.deep.equal([4, 5]);
  });
});
