import { expect } from 'chai';
import { sql } from 'kysely';
import type { NoticePayload, Storage } from '../../runtime/storage/index.ts';
import { describePostgres, describeStorages, type Place } from './support/storages.ts';

/** Collects what a listener is told, and lets a test wait for it. */
class Told {
  readonly notices: NoticePayload[] = [];
  gaps = 0;
  #changed = Promise.withResolvers<void>();

  notice(payload: NoticePayload): void {
    this.notices.push(payload);
    this.#tell();
  }

  gap(): void {
    this.gaps += 1;
    this.#tell();
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) await this.#changed.promise;
  }

  #tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

describePostgres('change notices', (newPlace) => {
  let place: Place;
  let a: Storage;
  let b: Storage;
  before(async () => {
    place = await newPlace();
    a = await place.open();
    b = await place.open();
  });
  after(async () => {
    await a.close();
    await b.close();
  });

  it('reach the other nodes in commit order, and not the sender', async () => {
    const [own, other] = [new Told(), new Told()];
    const stops = [a.notices.subscribe('t', own), b.notices.subscribe('t', other)];
    for (let n = 0; n < 20; n += 1) await a.notices.publish('t', { n });
    await other.until(() => other.notices.length === 20);
    expect(other.notices).to.deep.equal(Array.from({ length: 20 }, (_, n) => ({ n })));
    expect(own.notices).to.deep.equal([]);
    for (const stop of stops) stop();
  });

  it('are sent with the commit of their transaction, never without it', async () => {
    const told = new Told();
    const stop = b.notices.subscribe('t', told);
    const undone = a.db.transaction().execute(async (tx) => {
      await a.notices.publish('t', 'undone', tx);
      throw new Error('undo');
    });
    await undone.catch(() => undefined);
    await a.db.transaction().execute(async (tx) => {
      await a.notices.publish('t', 'done', tx);
      expect(told.notices).to.deep.equal([]);
    });
    await told.until(() => told.notices.length > 0);
    expect(told.notices).to.deep.equal(['done']);
    stop();
  });

  it('have any size and any text', async () => {
    const told = new Told();
    const stop = b.notices.subscribe('t', told);
    const payloads = ['ü'.repeat(100_000), { quotes: `'"\\$1` }, null, ['x'.repeat(6_990)], 'x'];
    for (const payload of payloads) await a.notices.publish('t', payload);
    await told.until(() => told.notices.length === payloads.length);
    expect(told.notices).to.deep.equal(payloads);
    stop();
  });

  it('lost with the connection lead to a reload', async () => {
    const told = new Told();
    const stop = b.notices.subscribe('t', told);
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'ringmaster notices' and datname = current_database()`.execute(a.db);
    await told.until(() => told.gaps === 1);
    await a.notices.publish('t', 'after');
    await told.until(() => told.notices.length === 1);
    expect(told.notices).to.deep.equal(['after']);
    stop();
  });

  it('that a listener fails to handle make it reload, without stopping later ones', async () => {
    const told = new Told();
    let refuse = true;
    const stop = b.notices.subscribe('t', {
      notice: (payload) => {
        if (!refuse) return told.notice(payload);
        refuse = false;
        throw new Error('defect');
      },
      gap: () => told.gap(),
    });
    await a.notices.publish('t', 1);
    await a.notices.publish('t', 2);
    await told.until(() => told.notices.length === 1);
    expect([told.gaps, told.notices]).to.deep.equal([1, [2]]);
    stop();
  });

  it('show whether a node was alone when it opened the database', async () => {
    const own = await newPlace();
    const first = await own.open();
    const second = await own.open();
    expect([first.notices.wasAlone, second.notices.wasAlone]).to.deep.equal([true, false]);
    expect(second.notices.hasOthers).to.equal(true);
    // The second has told that it is there.
    const told = new Told();
    const stop = first.notices.subscribe('t', told);
    await second.notices.publish('t', null);
    await told.until(() => told.notices.length > 0);
    expect(first.notices.hasOthers).to.equal(true);
    stop();
    await first.close();
    const third = await own.open();
    expect(third.notices.wasAlone).to.equal(false);
    await second.close();
    await third.close();
    const fourth = await own.open();
    expect(fourth.notices.wasAlone).to.equal(true);
    await fourth.close();
  });
});

describeStorages('a single node', (newPlace) => {
  it('can publish and subscribe without receiving its own notices', async () => {
    const storage = await (await newPlace()).shared();
    const told = new Told();
    const stop = storage.notices.subscribe('single', told);
    await storage.notices.publish('single', 1);
    expect(told.notices).to.deep.equal([]);
    stop();
  });
});
