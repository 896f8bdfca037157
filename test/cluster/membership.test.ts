import { expect } from 'chai';
import type { NatsLink } from '../../runtime/cluster/link/nats-link.ts';
import type { Member } from '../../runtime/cluster/members/member.ts';
import { Membership } from '../../runtime/cluster/members/membership.ts';
import { eventually } from '../support/eventually.ts';
import { keepingLog } from '../support/log.ts';
import { linkTo } from './support/nats-link.ts';
import { NatsServer, requireNats } from './support/nats-server.ts';

const HERE = 'info: a node of the cluster is here';

describe('the members of a cluster', function () {
  this.timeout(30_000);
  let nats: NatsServer;
  const links: NatsLink[] = [];

  before(async function () {
    requireNats(this);
    nats = await NatsServer.start();
  });
  after(async () => {
    for (const link of links) await link.close();
    await nats?.remove();
  });

  function member(id: string) {
    const [log, link] = [keepingLog(), linkTo(nats)];
    links.push(link);
    const members = new Membership(link, id, log);
    link.open();
    const load = { calls: 0, runs: 0, subscriptions: 0 };
    const self: Omit<Member, 'state' | 'load'> = {
      id,
      node: id,
      site: 'main',
      roles: [],
      version: '1',
      http: '',
      started: 0,
    };
    members.join(() => ({ ...self, state: 'accepting', load }));
    return { log, link, members };
  }

  it('do not come back by a last heartbeat that NATS tells again', async () => {
    const [first, second] = [member('first'), member('second')];
    const known = () => first.members.others.map(({ id }) => id);
    await eventually(async () => expect(known()).to.deep.equal(['second']));
    await second.link.close();
    await eventually(async () => expect(known()).to.deep.equal([]));
    const asked = performance.now();
    first.link.again();
    // The entry of the second node is the older one.
    await eventually(async () => expect(first.members.silenceMs).to.be.lessThan(performance.now() - asked));
    expect(known()).to.deep.equal([]);
    expect(first.log.lines.filter((line) => line === HERE)).to.have.lengthOf(1);
  });
});
