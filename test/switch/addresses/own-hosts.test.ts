import { expect } from 'chai';
import { asDomainName } from '../../../runtime/domain-name/index.ts';
import { OwnHosts } from '../../../runtime/switch/addresses/own-hosts.ts';

const DEMO = asDomainName('demo.local');

describe('own hosts of a domain', () => {
  const hosts = () =>
    new OwnHosts(
      (host) => host === '192.0.2.1' || host === '2001:db8::1',
      (name) => (name === 'demo.local' ? DEMO : undefined),
    );

  it('include the domain itself, the addresses of its servers, and telephone numbers', () => {
    const own = hosts();
    for (const here of ['', 'demo.local', '192.0.2.1', '[2001:DB8::1]']) {
      expect(own.isHere(here, DEMO), here).to.equal(true);
    }
    for (const elsewhere of ['other.local', '192.0.2.2', 'sub.demo.local', '[2001:db8::2]']) {
      expect(own.isHere(elsewhere, DEMO), elsewhere).to.equal(false);
    }
  });

  it('include addresses learned from phones of the domain, limited in number, but not those of other domains', () => {
    const own = hosts();
    own.learn(DEMO, '198.51.100.1');
    expect(own.isHere('198.51.100.1', DEMO)).to.equal(true);
    expect(own.isHere('198.51.100.1', asDomainName('other.local'))).to.equal(false);
    for (let n = 1; n <= 40; n += 1) {
      own.learn(DEMO, `198.51.100.${n}`);
      own.learn(DEMO, '198.51.100.1');
    }
    expect(own.isHere('198.51.100.1', DEMO)).to.equal(true);
    expect(own.isHere('198.51.100.2', DEMO)).to.equal(false);
    expect(own.isHere('198.51.100.40', DEMO)).to.equal(true);
  });
});
