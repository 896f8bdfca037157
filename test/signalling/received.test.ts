import { expect } from 'chai';
import { sinceReceived } from '../../runtime/signalling/received.ts';

describe('the time since the SIP server received a message', () => {
  const noon = Date.UTC(2026, 0, 1, 12);

  it('is read from its time of day, to the microsecond', () => {
    expect(sinceReceived('11:59:58.500250', noon)).to.be.closeTo(1499.75, 0.001);
  });

  it('goes on at midnight', () => {
    expect(sinceReceived('23:59:59.000000', Date.UTC(2026, 0, 2, 0, 0, 1))).to.equal(2000);
  });

  it('is 0 for a clock that is ahead, and for a time that cannot be read', () => {
    expect([
      sinceReceived('12:00:00.500000', noon),
      sinceReceived('noon', noon),
      sinceReceived(undefined),
    ]).to.deep.equal([0, 0, 0]);
  });
});
