import { expect } from 'chai';
import { asDomainName } from '../../runtime/domain-name/index.ts';
import { EventBus, type NodeEvent } from '../../runtime/events/event-bus.ts';

const event = (type: string, domain = 'demo.local') => ({
  domain: asDomainName(domain),
  class: 'callevents',
  type,
  data: {},
});

describe('event bus', () => {
  it('numbers events without gaps and calls matching listeners', () => {
    const bus = new EventBus({ now: () => 7, onListenerError: () => undefined });
    const heard: string[] = [];
    const stop = bus.subscribe({ domain: asDomainName('demo.local'), type: 'call_end' }, ({ seq, type }) =>
      heard.push(`${seq} ${type}`),
    );
    bus.publish(event('call_init'));
    bus.publish(event('call_end'));
    bus.publish(event('call_end', 'other.local'));
    expect(bus.publish(event('call_end'))).to.deep.equal({ ...event('call_end'), seq: 4, ts: 7 });
    stop();
    bus.publish(event('call_end'));
    expect(heard).to.deep.equal(['2 call_end', '4 call_end']);
    expect(bus.listeners).to.equal(0);
  });

  it('continues when a listener throws or unsubscribes during an event', () => {
    const failed: NodeEvent[] = [];
    const bus = new EventBus({ onListenerError: (_, which) => failed.push(which) });
    const heard: number[] = [];
    const stop = bus.subscribe({}, () => {
      stop();
      throw new Error('no');
    });
    bus.subscribe({}, ({ seq }) => heard.push(seq));
    bus.publish(event('a'));
    bus.publish(event('b'));
    expect(heard).to.deep.equal([1, 2]);
    expect(failed.map(({ type }) => type)).to.deep.equal(['a']);
  });

  it('gives the past, and says when it is no longer kept', () => {
    const bus = new EventBus({ kept: 3, onListenerError: () => undefined });
    for (const type of ['a', 'b', 'c', 'd', 'e']) bus.publish(event(type));
    const since = (seq: number) => {
      const { events, complete } = bus.since(seq);
      return [events.map(({ type }) => type).join(''), complete];
    };
    expect(since(2)).to.deep.equal(['cde', true]);
    expect(since(1)).to.deep.equal(['cde', false]);
    expect(since(4)).to.deep.equal(['e', true]);
    expect(since(5)).to.deep.equal(['', true]);
    expect(since(9)).to.deep.equal(['', false]);
    expect(bus.since(2, { type: 'd' }).events.map(({ seq }) => seq)).to.deep.equal([4]);
  });
});
