import { expect } from 'chai';
import { SharedContacts } from '../../runtime/cluster/contacts/shared-contacts.ts';
import { NatsLink } from '../../runtime/cluster/link/nats-link.ts';
import { readConfig } from '../../runtime/config/index.ts';
import type { ContactBinding } from '../../runtime/domain/directory.ts';
import { openDirectory, openLocation, type PersistentLocation } from '../../runtime/domain/index.ts';
import { describePostgres, withStorage } from '../storage/support/storages.ts';
import { eventually } from '../support/eventually.ts';
import { silentLog } from '../support/log.ts';
import { NatsServer, requireNats } from './support/nats-server.ts';

interface Registrar {
  readonly location: PersistentLocation;
  /** Milliseconds by which its clock is ahead. */
  readonly clock: { ahead: number };
  /** Connects it to NATS. */
  connect(): void;
  cutOff(): Promise<void>;
}

describePostgres('contacts that several nodes share', (newPlace) => {
  const storage = withStorage(newPlace);
  let nats: NatsServer;
  let registrars: Registrar[] = [];

  before(async function () {
    requireNats(this);
    nats = await NatsServer.start();
  });
  after(() => nats?.remove());
  beforeEach(async () => {
    const directory = await openDirectory(storage());
    const { id } = await directory.collections.domains.create({ name: 'demo.local' });
    await directory.collections.sipusers.create({ id: 'alice', domain_id: id, login: 'alice', pwd: 'x' });
    registrars = [await registrar(), await registrar()];
    async function registrar(): Promise<Registrar> {
      const clock = { ahead: 0 };
      const location = await openLocation(storage(), directory, () => Date.now() + clock.ahead);
      const made = { clock, location, connect: () => {}, cutOff: () => Promise.resolve() };
      made.connect = () => {
        const { cluster } = readConfig({ DATABASE_URL: 'postgres://h/x', RINGMASTER_CLUSTER: nats.url });
        const link = new NatsLink(cluster ?? expect.fail(), silentLog);
        const shared = new SharedContacts(link, made.location, silentLog);
        link.open();
        made.cutOff = async () => {
          shared.close();
          await link.close();
        };
      };
      return made;
    }
  });
  afterEach(async () => {
    for (const each of registrars) {
      for (const { contact } of each.location.contacts('alice')) await each.location.remove('alice', contact);
      await each.cutOff();
      await each.location.close();
    }
  });

  const binding = (contact: string, changes: Partial<ContactBinding> = {}): ContactBinding => ({
    sipUserId: 'alice',
    contact,
    callId: 'call-1',
    cseq: 1,
    source: { protocol: 'tcp', address: '192.0.2.1', port: 5060 },
    expires: Date.now() + 60_000,
    userAgent: 'Phone',
    allowEvents: ['talk'],
    server: 'sip1:9022',
    path: ['<sip:edge.example;lr>'],
    ...changes,
  });
  const two = (): readonly [Registrar, Registrar] => {
    const [one, other] = registrars;
    if (one === undefined || other === undefined) throw new Error('no registrars');
    return [one, other];
  };
  const known = (at: Registrar) => at.location.contacts('alice').map(({ contact }) => contact);
  const agree = (...contacts: string[]) =>
    eventually(async () => {
      for (const each of registrars) expect(known(each).toSorted()).to.deep.equal(contacts.toSorted());
    });

  it('a contact is known with all of its fields, renewed, and removed everywhere', async () => {
    const [one, other] = two();
    for (const each of registrars) each.connect();
    const saved = binding('sip:a@192.0.2.1');
    const told: string[] = [];
    other.location.onChange((id) => told.push(id));
    await one.location.save(saved);
    await agree('sip:a@192.0.2.1');
    expect(other.location.contacts('alice')[0]).to.deep.include(saved);
    expect(told).to.deep.equal(['alice']);
    await other.location.save(binding('sip:a@192.0.2.1', { cseq: 2, server: 'sip2:9022' }));
    await eventually(async () =>
      expect(one.location.contacts('alice')[0]).to.deep.include({ cseq: 2, server: 'sip2:9022' }),
    );
    await one.location.removeAll('alice');
    await agree();
  });

  it('a contact ends everywhere at its time', async () => {
    const [one] = two();
    for (const each of registrars) each.connect();
    await one.location.save(binding('sip:short', { expires: Date.now() + 1500 }));
    await agree('sip:short');
    await agree();
  });

  it('a node that starts knows what others registered; what registered without NATS is told when it is back', async () => {
    const [one, other] = two();
    await one.location.save(binding('sip:before'));
    await one.location.save(binding('sip:removed'));
    one.connect();
    await one.location.remove('alice', 'sip:removed');
    other.connect();
    await agree('sip:before');
    await nats.stop();
    await one.location.save(binding('sip:meanwhile'));
    await other.location.save(binding('sip:elsewhere'));
    expect(known(other)).not.to.include('sip:meanwhile');
    await nats.start();
    await agree('sip:before', 'sip:meanwhile', 'sip:elsewhere');
  });

  it('the newest change wins, in whatever order nodes come back', async () => {
    const [one, other] = two();
    for (const each of registrars) each.connect();
    for (const contact of ['sip:kept', 'sip:gone']) await one.location.save(binding(contact));
    await agree('sip:kept', 'sip:gone');
    await nats.stop();
    // The first node has the older changes, and the second one the newer.
    other.clock.ahead = 5000;
    await one.location.remove('alice', 'sip:kept');
    await one.location.save(binding('sip:gone', { cseq: 2 }));
    await other.location.save(binding('sip:kept', { cseq: 3 }));
    await other.location.remove('alice', 'sip:gone');
    await nats.start();
    await agree('sip:kept');
    expect(one.location.contacts('alice')[0]).to.deep.include({ cseq: 3 });
  });

  it('a registration is in the database as on a single node, and outlives NATS', async () => {
    const [one] = two();
    for (const each of registrars) each.connect();
    await one.location.save(binding('sip:stored'));
    await agree('sip:stored');
    const again = await openLocation(storage(), await openDirectory(storage()));
    expect(again.contacts('alice').map(({ contact }) => contact)).to.deep.equal(['sip:stored']);
    await again.close();
  });
});
