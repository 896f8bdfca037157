import { expect } from 'chai';
import type { Provider } from '../../../runtime/domain/directory.ts';
import { TrunkGate } from '../../../runtime/switch/esg/trunk-gate.ts';
import { provider } from './support.ts';

describe('addresses of a provider', () => {
  const from = async (
    providers: readonly Provider[],
    address: string,
    port = 5060,
    protocol: 'udp' | 'tcp' = 'udp',
  ) => {
    const gate = new TrunkGate((err) => {
      throw err;
    });
    await gate.update(providers);
    const found = gate.from({ protocol, address, port });
    gate.close();
    return found.map(({ code }) => code);
  };

  it('are those of its host; over UDP, the port must match', async () => {
    const one = provider({ host: '192.0.2.7', port: 5070 });
    expect(await from([one], '192.0.2.7', 5070)).to.deep.equal(['operator']);
    expect(await from([one], '192.0.2.7', 5071)).to.deep.equal([]);
    expect(await from([one], '192.0.2.7', 40000, 'tcp')).to.deep.equal(['operator']);
    expect(await from([one], '192.0.2.8', 5070)).to.deep.equal([]);
  });

  it('are those that its host name resolves to', async () => {
    expect(await from([provider({ host: 'localhost' })], '127.0.0.1')).to.deep.equal(['operator']);
  });

  it('are those in its networks, when it has any', async () => {
    const one = provider({ host: '192.0.2.7', addresses: ['198.51.100.0/24', '2001:db8::/32', '203.0.113.9'] });
    expect(await from([one], '198.51.100.200', 1)).to.deep.equal(['operator']);
    expect(await from([one], '2001:db8::7', 1)).to.deep.equal(['operator']);
    expect(await from([one], '203.0.113.9', 1)).to.deep.equal(['operator']);
    expect(await from([one], '192.0.2.7')).to.deep.equal([]);
  });

  it('may belong to several providers', async () => {
    const both = [provider({ code: 'one', host: '192.0.2.7' }), provider({ code: 'two', host: '192.0.2.7' })];
    expect(await from(both, '192.0.2.7')).to.deep.equal(['one', 'two']);
  });

  it('are empty for an unresolvable name, which is reported', async () => {
    const reported: string[] = [];
    const gate = new TrunkGate((_err, { code }) => reported.push(code));
    await gate.update([provider({ host: 'no-such-host.invalid' })]);
    expect(reported).to.deep.equal(['operator']);
    expect(gate.from({ protocol: 'udp', address: '127.0.0.1', port: 5060 })).to.deep.equal([]);
    gate.close();
  });
});
