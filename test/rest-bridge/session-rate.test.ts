import { expect } from 'chai';
import { SessionRate } from '../../rest-bridge/session-rate.ts';
import { RestNode } from './support/rest-node.ts';

describe('REST: request rate of a session', () => {
  it('allows a burst of a second, and then as many each second', () => {
    let now = 0;
    const rate = new SessionRate(2, { now: () => now });
    expect([1, 2, 3].map(() => rate.take('a'))).to.deep.equal([0, 0, 1]);
    expect(rate.take('b'), 'another session').to.equal(0);
    now += 499;
    expect(rate.take('a')).to.equal(1);
    now += 1;
    expect([rate.take('a'), rate.take('a')]).to.deep.equal([0, 1]);
    now += 10_000;
    expect([1, 2, 3].map(() => rate.take('a'))).to.deep.equal([0, 0, 1]);
  });

  it('is unlimited by default, and keeps no buckets of thousands of sessions', () => {
    const free = new SessionRate(0, { now: () => 0 });
    for (let count = 0; count < 100; count += 1) expect(free.take('a')).to.equal(0);
    let now = 0;
    const rate = new SessionRate(1, { now: () => now });
    for (let session = 0; session < 5000; session += 1) {
      now += 1;
      rate.take(`session ${session}`);
    }
    expect([rate.take('session 4999'), rate.take('session 0')]).to.deep.equal([1, 0]);
  });

  it('answers 429 with Retry-After over the limit, and other sessions continue', async () => {
    const node = await RestNode.start({ sessionRequests: 1 });
    try {
      const authorization = `Bearer ${await node.token('admin')}`;
      const ask = () => node.call('GET', '/rest/v1/uc/calls', { headers: { authorization } });
      const replies = await Promise.all(Array.from({ length: 10 }, ask));
      expect(replies[0]?.status).to.equal(200);
      const refused = replies.find(({ status }) => status !== 200);
      expect([refused?.status, refused?.headers.get('retry-after')]).to.deep.equal([429, '1']);
      expect(refused?.body).to.deep.equal({
        error_code: 1429,
        error_message: 'Too many requests; try again in 1 s',
        error_details: { seconds: 1 },
      });
      expect((await node.as('admin', 'GET', '/uc/calls')).status, 'another session').to.equal(200);
    } finally {
      await node.close();
    }
  });
});
