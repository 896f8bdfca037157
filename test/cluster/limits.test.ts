import { expect } from 'chai';
import { SessionRate } from '../../rest-bridge/session-rate.ts';
import { NatsLink } from '../../runtime/cluster/link/nats-link.ts';
import { SharedCounts } from '../../runtime/cluster/limits/shared-counts.ts';
import { SharedSpending } from '../../runtime/cluster/limits/shared-spending.ts';
import { readConfig } from '../../runtime/config/index.ts';
import { SourceRate } from '../../runtime/switch/index.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/log.ts';
import { NatsServer, requireNats } from './support/nats-server.ts';

describe('limits of a cluster', function () {
  this.timeout(30_000);
  let nats: NatsServer;
  let links: NatsLink[] = [];
  let counts: SharedCounts[] = [];

  before(async function () {
    requireNats(this);
    nats = await NatsServer.start();
  });
  beforeEach(async () => {
    const env = { DATABASE_URL: 'postgres://localhost/x', RINGMASTER_CLUSTER: nats.url };
    links = ['n1', 'n2', 'n3'].map(
      (name) => new NatsLink(readConfig({ ...env, RINGMASTER_NODE: name }).cluster ?? expect.fail(), silentLog),
    );
    for (const link of links) link.open();
    await eventually(async () => expect(links.every(({ connection }) => connection !== undefined)).to.equal(true));
  });
  afterEach(async () => {
    for (const each of counts) each.close();
    for (const link of links) await link.close();
    counts = [];
  });
  after(() => nats?.remove());

  it('add up the calls of a provider at all nodes, without those of a node that died', async () => {
    const own = links.map(() => new Map<string, number>());
    counts = links.map((link, at) => new SharedCounts(link, `p${at}`, 'provider-calls', () => own[at] ?? new Map()));
    const put = (at: number, key: string, count: number): void => {
      if (count > 0) own[at]?.set(key, count);
      else own[at]?.delete(key);
      counts[at]?.changed([key]);
    };
    const elsewhere = (key: string) => counts.map((each) => each.elsewhere(key));
    // Until its subscription is there, NATS tells a node nothing.
    await eventually(async () => {
      put(0, 'acme', 2);
      put(1, 'acme', 1);
      put(2, 'other', 5);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect([elsewhere('acme'), elsewhere('other')]).to.deep.equal([
        [1, 2, 3],
        [5, 5, 0],
      ]);
    });
    put(0, 'acme', 0);
    await eventually(async () => expect(elsewhere('acme')).to.deep.equal([1, 0, 1]));
    counts[1]?.close();
    await eventually(async () => expect(elsewhere('acme')[0], 'the second node is silent').to.equal(0), 10_000);
    expect(elsewhere('other')[0], 'the third one is not').to.equal(5);
  });

  it('bound the requests of a session and of an address over all nodes together', async () => {
    const now = () => 0;
    const sessions = links.map(
      (link, at) => new SessionRate(10, { elsewhere: new SharedSpending(link, `p${at}`, 'requests'), now }),
    );
    const addresses = links.map(
      (link, at) => new SourceRate(10, now, new SharedSpending(link, `p${at}`, 'sip-requests')),
    );
    // Once the first node's are told, nothing is left at the others.
    await eventually(async () => {
      const key = Math.random().toString(36);
      const address = `192.0.2.${Math.ceil(Math.random() * 250)}`;
      for (let count = 0; count < 10; count += 1) expect(sessions[0]?.take(key)).to.equal(0);
      for (let count = 0; count < 50; count += 1) addresses[0]?.take(address);
      await eventually(async () => {
        expect(sessions[1]?.take(key), 'a session at another node').to.equal(1);
        expect(addresses[2]?.take(address), 'an address at another node').to.equal(false);
      }, 1000);
    });
  });
});
