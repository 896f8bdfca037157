import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidFieldError } from '../../runtime/domain/errors.ts';
import { BAN_FAILURES, BAN_WINDOW_MS, BanFilter, banKey } from '../../runtime/iam/ban-filter.ts';

const IP = '198.51.100.7';

async function attempt(filter: BanFilter, ip: string, fails: boolean): Promise<boolean> {
  const admission = await filter.admit(ip);
  if (admission.admitted) admission.done(fails);
  return admission.admitted;
}

describe('login ban', () => {
  let now = 0;
  beforeEach(() => {
    now = 1_000_000;
  });
  const filterWith = (allowList: readonly string[] = []) => new BanFilter({ allowList, now: () => now });

  it('refuses after five failures, until the oldest is 180 s old', async () => {
    const filter = filterWith();
    for (let n = 0; n < BAN_FAILURES; n++) {
      expect(await attempt(filter, IP, true)).to.equal(true);
      now += 10_000;
    }
    expect(await filter.admit(IP)).to.deep.equal({ admitted: false, retryAfterSeconds: 130 });
    expect(filter.retryAfter(IP)).to.equal(130);
    now += 129_999;
    expect(await attempt(filter, IP, true)).to.equal(false);
    now += 1;
    expect(await attempt(filter, IP, true)).to.equal(true);
    expect(filter.retryAfter(IP)).to.equal(10);
  });

  it('counts neither refused attempts nor successes', async () => {
    const filter = filterWith();
    for (let n = 0; n < 20; n++) await attempt(filter, IP, false);
    for (let n = 0; n < BAN_FAILURES; n++) await attempt(filter, IP, true);
    for (let n = 0; n < 20; n++) expect(await attempt(filter, IP, true)).to.equal(false);
    now += BAN_WINDOW_MS;
    expect(filter.retryAfter(IP)).to.equal(0);
  });

  it('does not affect other addresses', async () => {
    const filter = filterWith();
    for (let n = 0; n < BAN_FAILURES; n++) filter.fail(IP);
    expect(await attempt(filter, IP, false)).to.equal(false);
    expect(await attempt(filter, '198.51.100.8', false)).to.equal(true);
  });

  it('limits concurrent attempts', async () => {
    const filter = filterWith();
    let tried = 0;
    const results = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const admission = await filter.admit(IP);
        if (!admission.admitted) return false;
        tried++;
        await new Promise((resolve) => setImmediate(resolve));
        admission.done(true);
        return true;
      }),
    );
    expect(tried).to.equal(BAN_FAILURES);
    expect(results.filter(Boolean)).to.have.length(BAN_FAILURES);
  });

  it('admits many concurrent valid logins', async () => {
    const filter = filterWith();
    const admitted = await Promise.all(Array.from({ length: 30 }, () => attempt(filter, IP, false)));
    expect(admitted).to.deep.equal(Array.from({ length: 30 }, () => true));
    expect(filter.size).to.equal(0);
  });

  it('never bans addresses and networks on the allow list', async () => {
    const filter = filterWith(['192.0.2.1', '10.0.0.0/8', '2001:db8::/32']);
    for (const ip of ['192.0.2.1', '10.9.9.9', '2001:db8:1::1', '::ffff:10.1.1.1']) {
      for (let n = 0; n < 10; n++) expect(await attempt(filter, ip, true), ip).to.equal(true);
    }
  });

  it('names an invalid entry of the allow list', () => {
    for (const entry of ['localhost', '10.0.0.0/99', '', '1.2.3']) {
      expect(() => filterWith(['127.0.0.1', entry]), entry).to.throw(InvalidFieldError, `\`${entry}\` is neither`);
    }
  });

  it('keeps a bounded number of addresses, and drops old ones', () => {
    const filter = filterWith();
    for (let n = 0; n < 60_000; n++) filter.fail(`10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
    expect(filter.size).to.be.at.most(50_000);
    now += BAN_WINDOW_MS;
    filter.fail(IP);
    filter.fail('192.0.2.200');
    for (let n = 0; n < 10; n++) filter.fail(IP);
    expect(filter.size).to.be.lessThan(50);
  });

  it('groups IPv6 by /64 and IPv4-mapped addresses as IPv4', () => {
    const keys: readonly [ip: string, key: string][] = [
      ['192.0.2.1', '192.0.2.1'],
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['::FFFF:192.0.2.1', '192.0.2.1'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['::', '0:0:0:0::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['1::', '1:0:0:0::/64'],
      ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
    ];
    for (const [ip, key] of keys) expect(banKey(ip), ip).to.equal(key);
  });

  it('has one key for every notation of an address of a /64', () => {
    fc.assert(
      fc.property(fc.ipV6(), (ip) => {
        const mapped = /^::ffff:\d+\.\d+\.\d+\.\d+$/i.test(ip);
        expect(banKey(ip)).to.match(mapped ? /^\d+\.\d+\.\d+\.\d+$/ : /^[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){3}::\/64$/);
      }),
      { numRuns: 500, seed: 2 },
    );
  });
});
