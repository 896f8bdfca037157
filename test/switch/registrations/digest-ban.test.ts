import { expect } from 'chai';
import { DigestBan } from '../../../runtime/switch/registrations/digest-ban.ts';

const HERE = '192.0.2.1';

describe('the ban after wrong SIP passwords', () => {
  let now = 0;
  let ban: DigestBan;
  beforeEach(() => {
    now = 1000;
    ban = new DigestBan(
      (address) => address === '10.0.0.1',
      () => now,
    );
  });
  const fail = (account: string, times = 1, address = HERE): boolean[] =>
    Array.from({ length: times }, () => ban.fail(address, account));

  it('begins with the fifth failure of an account, for that account and address alone', () => {
    expect(fail('alice', 5)).to.deep.equal([false, false, false, false, true]);
    expect(ban.retryAfter(HERE, 'alice')).to.equal(180);
    expect(ban.retryAfter(HERE, 'bob')).to.equal(0);
    expect(ban.retryAfter('192.0.2.2', 'alice')).to.equal(0);
  });

  it('counts the addresses of an IPv6 /64 as one', () => {
    for (const last of [1, 2, 3, 4]) fail('alice', 1, `2001:db8:0:1::${last}`);
    expect(fail('alice', 1, '2001:db8:0:1:ffff::9')).to.deep.equal([true]);
    expect(ban.retryAfter('2001:db8:0:1::77', 'alice')).to.equal(180);
    expect(ban.retryAfter('2001:db8:0:2::1', 'alice')).to.equal(0);
  });

  it('begins with failures of five accounts, for every account', () => {
    fail('alice', 3);
    for (const account of ['bob', 'carol', 'dave']) fail(account);
    expect(ban.retryAfter(HERE, 'frank')).to.equal(0);
    expect(fail('erin')).to.deep.equal([true]);
    expect(ban.retryAfter(HERE, 'frank')).to.equal(180);
  });

  it('ends when the oldest failure leaves the window, and is not prolonged by attempts', () => {
    fail('alice');
    now += 100_000;
    fail('alice', 4);
    expect(ban.retryAfter(HERE, 'alice')).to.equal(80);
    now += 79_000;
    expect(fail('alice')).to.deep.equal([false]);
    expect(ban.retryAfter(HERE, 'alice')).to.equal(1);
    now += 1000;
    expect(ban.retryAfter(HERE, 'alice')).to.equal(0);
    expect(fail('alice')).to.deep.equal([true]);
  });

  it('spares the addresses of the allow list', () => {
    fail('alice', 10, '10.0.0.1');
    expect(ban.retryAfter('10.0.0.1', 'alice')).to.equal(0);
  });
});
